/**
 * The connection of the page to the cluster: one client, one factory of informers, and the live queries over them. All
 * parts of the page share the informers, which list and watch over `fetch`.
 */
import {
  allOf,
  atMostEvery,
  audit,
  type ChangeStream,
  conflateByKey,
  createClient,
  createInformerFactory,
  createLiveQueries,
  createMetadataListWatch,
  type Demand,
  forResource,
  indexedDbSnapshots,
} from 'rx-informer';
import {
  daemonSets,
  deployments,
  events,
  jobs,
  namespaces,
  nodes,
  pods,
  replicaSets,
  services,
  statefulSets,
} from 'rx-informer/resources';
import { BehaviorSubject, filter, tap } from 'rxjs';
import type { Kind } from '../kinds/kind.ts';
import { natsListWatch } from './nats.ts';

/** The shortest time between two renderings of changed rows, in milliseconds, so that time is left for input. */
const PAINT_EVERY_MS = 200;

/** How long an informer runs on after the user has left its page, so that coming back costs no list. */
const LINGER_MS = 30_000;

/** The period of the audit, in milliseconds: an event that was lost without an error is found within this time. */
const AUDIT_PERIOD_MS = 600_000;

const meta = (name: string) =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

/** The embedded cluster sends a bookmark every two seconds, a real one every minute. */
const timeouts =
  meta('cluster') === 'embedded' ? { idleTimeoutMs: 6000, requestTimeoutMs: 6000 } : {};

/** The only namespace of the page, or '' for all. */
export const onlyNamespace = meta('namespace');

/** Who reads the objects, if the browser may store them. */
const identity = decodeURIComponent(meta('identity'));

/** The kinds that a table begins with after a reload. What is of use for a moment only, such as Events, is not stored. */
const persist =
  identity === ''
    ? undefined
    : indexedDbSnapshots({
        identity,
        kinds: [
          ...[pods, deployments, replicaSets, statefulSets, daemonSets],
          ...[jobs, services, nodes, namespaces],
        ],
        // The details show them.
        env: 'stored',
      });

export const client = createClient({ baseUrl: window.location.origin });

export const factory = createInformerFactory(client, {
  ...timeouts,
  listWatch: meta('nats') === '' ? undefined : natsListWatch(meta('nats'), meta('bucket')),
  projections: { metadata: createMetadataListWatch },
  lingerMs: LINGER_MS,
  audit: audit({ periodMs: AUDIT_PERIOD_MS }),
  persist,
  ...(onlyNamespace === '' ? {} : { namespaces: [onlyNamespace] }),
  resources: [
    // The details of an object read its events through this index.
    forResource(events, {
      indexers: {
        object: ({ involvedObject }) => (involvedObject.uid ? [involvedObject.uid] : []),
      },
    }),
  ],
});

/** The queries of the table. The other components use the hooks of `rx-informer/react`. */
export const queries = createLiveQueries(factory);

/** Whether the user has paused the table. */
export const paused$ = new BehaviorSubject(false);

/**
 * Paces a stream for the screen: at most five times per second, and never while the table is paused. The changes in between
 * are folded. A stream that begins during a pause delivers its contents once, so that the user can filter a paused table.
 */
export function paced<T>(): (source: ChangeStream<T>) => ChangeStream<T> {
  let isComplete = false;
  const unpaused: Demand = () =>
    paused$.value && isComplete ? paused$.pipe(filter((isPaused) => !isPaused)) : null;
  const ready = allOf(unpaused, atMostEvery(PAINT_EVERY_MS));
  return (source) =>
    source.pipe(
      conflateByKey<T>({ ready }),
      tap(({ synced }) => {
        isComplete = synced;
      }),
    );
}

/** Starts the informers as soon as they are used. The returned function stops them. */
export function start(): () => void {
  factory.start();
  return () => void factory.stop();
}

/** Sends the request of a kind immediately instead of waiting. The status shows the outcome. */
export function retryNow({ resource, as }: Pick<Kind, 'resource' | 'as'>): void {
  const { informer, release } =
    as === undefined ? factory.acquire(resource) : factory.acquire(resource, { as });
  if (!informer.status.live) informer.refresh().catch(() => undefined);
  release();
}
