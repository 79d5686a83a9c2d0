/**
 * What Pods and Nodes use now, from `metrics.k8s.io`, which serves lists without versions and watches. A cluster may not serve it, or
 * not to this user: then nothing is known, and nothing is said.
 */
import {
  type ChangeStream,
  createChangeSet,
  type Demand,
  type KubeClient,
  liveShare,
  parseQuantity,
  type Stored,
} from 'rx-informer';
import {
  asyncScheduler,
  catchError,
  concat,
  concatMap,
  defer,
  delay,
  exhaustMap,
  from,
  map,
  type Observable,
  of,
  range,
  type SchedulerLike,
  startWith,
  take,
  timer,
} from 'rxjs';
import { headOf, KnownRows } from '../cluster/row-changes.ts';
import type { Used } from '../kinds/usage.ts';

/** What has metrics. */
export type Metered = 'pods' | 'nodes';

/** The metrics server itself measures every 15 s. */
const EVERY_MS = 30_000;

const ROOT = '/apis/metrics.k8s.io/v1beta1';

interface Metrics {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly usage?: Amounts;
  readonly containers?: readonly { readonly usage: Amounts }[];
}

interface Amounts {
  readonly cpu: string;
  readonly memory: string;
}

/** So that a row is not replaced for a difference that nobody sees. A full node must not show more than it has. */
function rounded(value: number, digits: number): number {
  return Number(value.toPrecision(digits));
}

function usedIn({ metadata, usage, containers = [] }: Metrics): Used {
  const { name, namespace } = metadata;
  const all = usage === undefined ? containers.map((each) => each.usage) : [usage];
  const sum = (of: (amounts: Amounts) => number) =>
    rounded(
      all.reduce((total, amounts) => total + of(amounts), 0),
      usage === undefined ? 2 : 3,
    );
  return {
    key: namespace === undefined ? name : `${namespace}/${name}`,
    milliCpu: sum(({ cpu }) => parseQuantity(cpu).milli),
    bytes: sum(({ memory }) => parseQuantity(memory).value),
  };
}

function isSame(one: Used, other: Used): boolean {
  return one.milliCpu === other.milliCpu && one.bytes === other.bytes;
}

/** The most rows of a later list that change at once, and the time until the next ones, so that no page stands still. */
const AT_ONCE = 200;
const NEXT_MS = 100;

/** The change sets of lists: only what differs from the list before. It begins empty and complete, so that nothing waits for it. */
export function changesOfUsage(
  lists$: Observable<readonly Used[]>,
  scheduler: SchedulerLike = asyncScheduler,
): ChangeStream<Used> {
  const known = new KnownRows<Used>(({ key }) => key);
  return lists$.pipe(
    startWith([]),
    map((list) => {
      const rows = list.map((used) => {
        const before = known.get(used.key);
        return before && isSame(before, used) ? before : (used as Stored<Used>);
      });
      return known.next(rows);
    }),
    concatMap((changes, list) => {
      // The rows of the first list appear together.
      const most = list < 2 ? changes.length : AT_ONCE;
      const rest = range(1, Math.max(0, Math.ceil(changes.length / most) - 1)).pipe(
        concatMap((part) =>
          of(changes.slice(part * most, (part + 1) * most)).pipe(delay(NEXT_MS, scheduler)),
        ),
      );
      return concat(of(changes.slice(0, most)), rest);
    }),
    map((changes, at) => createChangeSet<Used>(headOf(at + 1), changes)),
  ) as ChangeStream<Used>;
}

/** Reads a list again and again while somebody looks. */
function listsOf(client: KubeClient, path: string, demand: Demand | undefined) {
  const read = async () => (await client.request<{ items: readonly Metrics[] }>({ path })).items;
  return timer(0, EVERY_MS).pipe(
    exhaustMap(() =>
      defer(() => demand?.() ?? of(true)).pipe(
        take(1),
        exhaustMap(() => from(read())),
        map((items) => items.map(usedIn)),
        catchError(() => of([])),
      ),
    ),
  );
}

let streams: Readonly<Record<Metered, ChangeStream<Used>>> | undefined;

/** Begins a session of the worker. Nothing is read before somebody asks. */
export function readUsageOver(
  client: KubeClient,
  namespace: string,
  demand: Demand | undefined,
): void {
  const within = namespace === '' ? '' : `/namespaces/${namespace}`;
  const stream = (path: string) =>
    defer(() => changesOfUsage(listsOf(client, `${ROOT}${path}`, demand))).pipe(
      liveShare(),
    ) as ChangeStream<Used>;
  streams = { pods: stream(`${within}/pods`), nodes: stream('/nodes') };
}

/** What is used, by the names of the Pods or the Nodes; `undefined` where nothing reads it. */
export function usedBy(metered: Metered): ChangeStream<Used> | undefined {
  return streams?.[metered];
}
