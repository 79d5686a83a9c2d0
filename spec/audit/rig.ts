/** The test setup of the audit: an informer with an audit over a fake server, in virtual time. */
import {
  type AuditStatus,
  audit,
  createClient,
  createListWatch,
  createSharedInformer,
  type InformerStatus,
  type ListerWatcher,
  type ListWatchOptions,
  type SharedInformer,
  type SharedInformerOptions,
} from 'rx-informer';
import { createFakeApiServer, type FakeApiServer, seededRandom } from 'rx-informer/testing';
import type { Observable } from 'rxjs';
import { map } from 'rxjs/operators';
import { onTestFinished } from 'vitest';
import { sharedInformerOf } from '../../lib/informer/create-shared-informer.ts';
import { InformerLifecycle } from '../../lib/informer/lifecycle.ts';
import { type Pod, pods } from '../faults/history.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

export const PERIOD_MS = 60_000;
/** From the beginning of one round to the beginning of the next. */
export const BETWEEN_MS = 0.7 * PERIOD_MS;
/** The server sends a bookmark once a minute. After it every missing event counts as lost, not as late. */
export const BOOKMARK_MS = 60_000;

/** A summary of one request. */
export interface Requested {
  readonly atMs: number;
  readonly what: 'list' | 'audit' | 'watch';
  readonly query: Readonly<Record<string, string>>;
}

export interface AuditRig {
  readonly time: VirtualTime;
  readonly server: FakeApiServer;
  readonly informer: SharedInformer<Pod>;
  readonly requests: Requested[];
  /** The requests of audits. */
  readonly audits: readonly Requested[];
  /** What the status says about the audit. */
  readonly audit: AuditStatus | undefined;
  /** Creates a pod on the server. */
  create(name: string, namespace?: string): void;
  /** Changes a pod without sending an event to any watch. */
  lose(change: 'create' | 'modify' | 'delete', name: string, namespace?: string): void;
  /** The keys whose objects differ between the store and the server. */
  wrong(): string[];
  end(): Promise<void>;
}

export interface AuditRigOptions {
  readonly seed?: number;
  readonly objects?: number;
  readonly scopes?: readonly ListWatchOptions<Pod>[];
  /** The scopes that replace the present ones. */
  readonly scopes$?: Observable<readonly ListWatchOptions<Pod>[]>;
  readonly informer?: SharedInformerOptions<Pod>;
  readonly wrap?: (listWatch: ListerWatcher<Pod>) => ListerWatcher<Pod>;
}

export const auditOf = ({ audit }: InformerStatus): AuditStatus | undefined =>
  typeof audit === 'object' ? audit : undefined;

export async function auditRig(options: AuditRigOptions = {}): Promise<AuditRig> {
  const { seed = 1, objects = 3, scopes = [{}], wrap = (same) => same } = options;
  const time = new VirtualTime();
  const random = seededRandom(seed);
  const server = createFakeApiServer({ scheduler: time, random });
  const create = (name: string, namespace = 'a') => {
    server.objects.create(pods, { metadata: { namespace, name } } as unknown as Pod);
  };
  for (let at = 0; at < objects; at++) create(`pod-${at}`, at % 2 === 0 ? 'a' : 'b');
  const requests: Requested[] = [];
  let lost = 0;
  const client = createClient({
    baseUrl: 'http://fake',
    scheduler: time,
    livenessMs: Number.POSITIVE_INFINITY,
    fetch: (input, init) => {
      const query = Object.fromEntries(new URL(input).searchParams);
      const accept = init?.headers?.['accept'] ?? '';
      const audits = accept.includes('PartialObjectMetadataList');
      const what = query['watch'] === 'true' ? 'watch' : audits ? 'audit' : 'list';
      requests.push({ atMs: time.now(), what, query });
      return server.fetch(input, init as RequestInit);
    },
  });
  const listWatchesOf = (of: readonly ListWatchOptions<Pod>[]) =>
    of.map((scope) => wrap(createListWatch(client, pods, { ...scope, scheduler: time })));
  const listerWatchers = listWatchesOf(scopes);
  const sources$ = options.scopes$?.pipe(map((of) => ({ listerWatchers: listWatchesOf(of) })));
  const informerOptions: SharedInformerOptions<Pod> = {
    scheduler: time,
    random,
    audit: audit({ periodMs: PERIOD_MS }),
    onWarning: () => undefined,
    ...options.informer,
  };
  const informer =
    sources$ === undefined
      ? createSharedInformer<Pod>(listerWatchers, informerOptions)
      : sharedInformerOf<Pod>(
          new InformerLifecycle({ listerWatchers, sources$, caller: 'test' }, informerOptions),
        );
  const namespaces = scopes.map(({ namespace }) => namespace);
  return {
    ...{ time, server, informer, requests, create },
    get audits() {
      return requests.filter(({ what }) => what === 'audit');
    },
    get audit() {
      return auditOf(informer.status);
    },
    lose(change, name, namespace = 'a') {
      const at = { namespace, name };
      const write = { silent: true };
      if (change === 'delete') server.objects.delete(pods, at, write);
      else if (change === 'create') server.objects.create(pods, { metadata: at } as Pod, write);
      else {
        const draft = { ...server.objects.get(pods, at), status: { phase: `lost ${++lost}` } };
        server.objects.update(pods, draft as Pod, write);
      }
    },
    wrong() {
      const there = new Map(
        (server.objects.list(pods) as Pod[])
          .filter(({ metadata }) =>
            namespaces.some((one) => one === undefined || one === metadata.namespace),
          )
          .map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]),
      );
      const keys = new Set([...there.keys(), ...informer.indexer.listKeys()]);
      return [...keys].filter((key) => {
        const [a, b] = [there.get(key), informer.indexer.getByKey(key)];
        return (
          a?.metadata.uid !== b?.metadata.uid ||
          a?.metadata.resourceVersion !== b?.metadata.resourceVersion
        );
      });
    },
    async end() {
      await informer.stop();
      await time.advance(200_000);
    },
  };
}

/** A rig whose informer runs until the test ends. */
export async function startedAudit(options?: AuditRigOptions): Promise<AuditRig> {
  const rig = await auditRig(options);
  rig.informer.start();
  onTestFinished(() => rig.informer.stop());
  return rig;
}
