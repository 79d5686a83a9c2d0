/** A reflector on a fake API server, in virtual time. */

import type { ReflectorStatus } from 'rx-informer';
import {
  type ApiError,
  createClient,
  createListWatch,
  type Delta,
  defineResource,
  type ListWatchOptions,
  type ReflectOptions,
  reflect,
} from 'rx-informer';
import {
  createFakeApiServer,
  type FakeApiServer,
  type FakeApiServerOptions,
  type RequestRecord,
} from 'rx-informer/testing';
import type { Subscription } from 'rxjs';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief, type Pod } from './script.ts';

export const pods = defineResource<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

export interface Rig {
  readonly time: VirtualTime;
  readonly server: FakeApiServer;
  readonly deltas: readonly Delta<Pod>[];
  /** The emitted deltas, one line per batch. */
  readonly emitted: string[];
  readonly statuses: ReflectorStatus[];
  readonly errors: ApiError[];
  readonly status: ReflectorStatus | undefined;
  readonly completed: boolean;
  readonly subscription: Subscription;
  /** The requests that the server received: `L0` a list, `S` a streaming list, `W5` a watch, `P` a probe. */
  requested(): string;
  create(name: string): void;
  touch(name: string): void;
  delete(name: string): void;
  advance(ms: number): Promise<void>;
}

export function word({ use, query }: RequestRecord): string {
  const version = query['resourceVersion'] ?? '';
  if (use !== 'watch') return `L${version}`;
  // Only a probe has such a short timeout.
  if (query['timeoutSeconds'] === '5') return 'P';
  return `${query['sendInitialEvents'] === 'true' ? 'S' : 'W'}${version}`;
}

export interface RigOptions {
  readonly server?: FakeApiServerOptions;
  readonly reflect?: ReflectOptions<Pod>;
  readonly listWatch?: ListWatchOptions<Pod>;
  readonly objects?: readonly string[];
  /** @defaultValue Infinity, so that only the reflector sends requests */
  readonly livenessMs?: number;
  readonly fetch?: (server: FakeApiServer) => typeof globalThis.fetch;
}

/** Starts a reflector. `prepare` can set faults before the first request. */
export function rig(
  options: RigOptions = {},
  prepare: (server: FakeApiServer) => void = () => {},
): Rig {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time, random: () => 0.5, ...options.server });
  for (const name of options.objects ?? ['a']) {
    server.objects.create(pods, { metadata: { name, namespace: 'd' } } as Pod);
  }
  prepare(server);
  const client = createClient({
    baseUrl: 'http://fake',
    fetch: (options.fetch?.(server) ?? server.fetch) as typeof globalThis.fetch,
    scheduler: time,
    livenessMs: options.livenessMs ?? Number.POSITIVE_INFINITY,
  });
  const listWatch = { scheduler: time, ...options.listWatch };
  const deltas: Delta<Pod>[] = [];
  const emitted: string[] = [];
  const statuses: ReflectorStatus[] = [];
  const errors: ApiError[] = [];
  let completed = false;
  const subscription = reflect(createListWatch(client, pods, listWatch), {
    scheduler: time,
    random: () => 0.5,
    onStatus: (status) => statuses.push(status),
    ...options.reflect,
    onError: (error) => {
      errors.push(error);
      return options.reflect?.onError?.(error);
    },
  }).subscribe({
    next: (batch) => {
      deltas.push(...batch);
      emitted.push(brief(batch));
    },
    complete: () => {
      completed = true;
    },
  });
  const ref = (name: string) => ({ name, namespace: 'd' });
  return {
    time,
    server,
    deltas,
    emitted,
    statuses,
    errors,
    subscription,
    get status() {
      return statuses.at(-1);
    },
    get completed() {
      return completed;
    },
    requested: () => server.requests.map(word).join(' '),
    create: (name) =>
      void server.objects.create(pods, { metadata: { name, namespace: 'd' } } as Pod),
    touch: (name) =>
      void server.objects.modify(pods, ref(name), (draft) => {
        Object.assign(draft.metadata, { labels: { at: String(server.objects.resourceVersion) } });
      }),
    delete: (name) => server.objects.delete(pods, ref(name)),
    advance: (ms) => time.advance(ms),
  };
}
