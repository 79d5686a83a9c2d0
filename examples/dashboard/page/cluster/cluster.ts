/**
 * The connection of the page to the cluster. One worker lists, watches and answers the queries of all tabs, or, where users sign in, one
 * server those of all users; the page itself reads logs, and sends actions.
 */
import {
  type ChangeStream,
  conflateByKey,
  createClient,
  type Demand,
  type KubeClient,
} from 'rx-informer';
import {
  connectPaintedWorker,
  connectWorker,
  type WorkerCluster,
  workerQuery,
} from 'rx-informer/worker';
import { BehaviorSubject, filter, tap } from 'rxjs';
import type { Kind } from '../kinds/kind.ts';
import { storedKinds } from '../kinds/stored.ts';
import type { Queries } from '../worker/cluster.worker.ts';
import { identity, settings } from './settings.ts';

export type { Queries };

/** A user who has signed in. */
export interface SignedInUser {
  readonly name: string;
  /** Whose queries the server answers. */
  readonly cluster: WorkerCluster;
  /** Those of requests as this user. */
  readonly headers: Readonly<Record<string, string>>;
  signOut(): void;
}

/** The user who has signed in; `undefined` where nobody does. */
export let user: SignedInUser | undefined;

/** The client of logs and actions. */
export let client: KubeClient;

export let cluster: WorkerCluster;

const hosts = {
  shared: () =>
    new SharedWorker(new URL('../worker/cluster.worker.ts', import.meta.url), { type: 'module' }),
  dedicated: () =>
    new Worker(new URL('../worker/cluster.worker.ts', import.meta.url), { type: 'module' }),
  page: () => import('../worker/cluster.worker.ts'),
};

/** The worker. If the browser may store the objects, it also stores the rows on screen, which the next page begins with. */
function connectedWorker(): WorkerCluster {
  if (settings.storedFor === '') return connectWorker({ identity, ...hosts });
  const paint = { kinds: storedKinds, queries: ['rows'], env: 'stored' } as const;
  return connectPaintedWorker({ identity, ...hosts, paint });
}

/** Connects the page, before anything of it is rendered. */
export function connectPage(signedIn?: SignedInUser): void {
  user = signedIn;
  cluster = signedIn?.cluster ?? connectedWorker();
  const baseUrl = `${window.location.origin}${settings.base}`;
  client = createClient({ baseUrl, headers: signedIn?.headers });
}

export const paused$ = new BehaviorSubject(false);

/**
 * Holds the changes back while the table is paused, and folds them. A stream that begins during a pause delivers its contents
 * once, so that the user can filter a paused table.
 */
export function unlessPaused<T>(): (source: ChangeStream<T>) => ChangeStream<T> {
  let isComplete = false;
  const ready: Demand = () =>
    paused$.value && isComplete ? paused$.pipe(filter((isPaused) => !isPaused)) : null;
  return (source) =>
    source.pipe(
      conflateByKey<T>({ ready }),
      tap(({ synced }) => {
        isComplete = synced;
      }),
    );
}

/** Sends the request of a kind immediately instead of waiting. The status shows the outcome. */
export function retryNow({ id }: Pick<Kind, 'id'>): void {
  const view = cluster.view(workerQuery<Queries, 'retry'>('retry', { kind: id, atMs: Date.now() }));
  const leave = view.subscribe(() => undefined);
  setTimeout(leave, ASKED_MS);
}

/** How long the page asks for a retry, in milliseconds. */
const ASKED_MS = 1000;
