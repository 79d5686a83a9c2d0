/** Pods in the order of their creation: all of them, or a window of 50. */
import { createLiveQueryCollection } from '@tanstack/db';
import { liveSort, liveWindow, toView, type View } from 'rx-informer';
import { type Budget, type Effort, OURS, type Outcome, ratio, type Scenario } from './outcome.ts';
import { moved, type Pod, pods, Source, type Update } from './pods.ts';
import { synchronized, TANSTACK } from './tanstack.ts';
import { type Contestant, inTurns } from './turns.ts';

const ARRAY = 'sorted array';
const SCRATCH = 'filter and sort';
const WINDOW = 50;

type PodContestant = Contestant<Update<Pod>>;

const compare = (one: Pod, other: Pod) => one.created - other.created;

/** The comparison with the id as the last resort, as ours and TanStack DB have it. */
function compareFully(one: Pod, other: Pod): number {
  return compare(one, other) || (one.metadata.uid < other.metadata.uid ? -1 : 1);
}

/** The rows in order, or a window of them. */
interface Question {
  readonly source: Source<Pod>;
  /** Where the window begins; `undefined` without a window. */
  readonly offset: number | undefined;
}

function cut(rows: readonly Pod[], offset: number | undefined): readonly Pod[] {
  return offset === undefined ? rows : rows.slice(offset, offset + WINDOW);
}

const uids = (rows: readonly Pod[]) => rows.map(({ metadata }) => metadata.uid);

export async function synced<T>(view: View<T>): Promise<void> {
  while (!view.getSnapshot().synced) await new Promise((resolve) => setImmediate(resolve));
}

/** The library: changes go in, and the rows of a view are read. */
export async function reading<T, C>(
  view: View<T>,
  send: (changes: readonly C[]) => void,
  plain: (rows: readonly T[]) => unknown,
): Promise<Contestant<C>> {
  view.subscribe(() => undefined);
  await synced(view);
  let { rows } = view.getSnapshot();
  return {
    name: OURS,
    batch: (changes) => {
      send(changes);
      rows = view.getSnapshot().rows;
    },
    answer: () => plain(rows),
  };
}

async function ours({ source, offset }: Question): Promise<PodContestant> {
  const sorted$ = source.changes$.pipe(liveSort<Pod>(compare));
  const view = toView(offset === undefined ? sorted$ : sorted$.pipe(liveWindow(offset, WINDOW)));
  return reading(view, (changes) => source.send(changes), uids);
}

/** The place of a pod in a sorted array. */
function placeOf(rows: readonly Pod[], pod: Pod): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareFully(rows[middle] as Pod, pod) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An array in which each changed pod is moved, and which is copied once a batch so that readers keep theirs. */
function array({ source, offset }: Question): PodContestant {
  let sorted = source.objects.toSorted(compareFully);
  let rows = cut(sorted, offset);
  return {
    name: ARRAY,
    batch: (changes) => {
      const copy = sorted.slice();
      for (const { previous, object } of changes) {
        copy.splice(placeOf(copy, previous), 1);
        copy.splice(placeOf(copy, object), 0, object);
      }
      sorted = copy;
      rows = cut(sorted, offset);
    },
    answer: () => uids(rows),
  };
}

/** All pods are filtered and sorted again for each batch. The filter lets all of them through. */
function scratch({ source, offset }: Question): PodContestant {
  let rows: readonly Pod[] = [];
  return {
    name: SCRATCH,
    batch: () => {
      const sorted = source.objects.filter(({ node }) => node !== '').sort(compareFully);
      rows = cut(sorted, offset);
    },
    answer: () => uids(rows),
  };
}

async function tanstack({ source, offset }: Question): Promise<PodContestant> {
  const { collection, write } = synchronized(source);
  const live = createLiveQueryCollection({
    startSync: true,
    query: (q) => {
      const sorted = q.from({ pod: collection }).orderBy(({ pod }) => pod.created);
      return offset === undefined ? sorted : sorted.offset(offset).limit(WINDOW);
    },
  });
  await live.preload();
  live.subscribeChanges(() => undefined);
  let rows = live.toArray as readonly Pod[];
  return {
    name: TANSTACK,
    batch: (changes) => {
      write(changes);
      rows = live.toArray as readonly Pod[];
    },
    answer: () => uids(rows),
  };
}

interface Measured {
  readonly title: string;
  readonly events: number;
  readonly budgets: (timings: Outcome['timings']) => readonly Budget[];
}

async function measured(
  question: Question,
  effort: Effort,
  each: readonly Measured[],
): Promise<Outcome[]> {
  const { source } = question;
  const { batches, isLong } = effort;
  const expected = () => uids(cut(source.objects.toSorted(compareFully), question.offset));
  const quick = [await ours(question), array(question)];
  for (const { events } of each) {
    const changes = () => source.batch(events, moved);
    const warmUp = events === 1 ? 1_000 : effort.warmUp;
    inTurns({ changes, expected, contestants: quick, warmUp, batches: 1 });
  }
  const all = [...quick, scratch(question)];
  if (isLong || source.objects.length <= 10_000) all.push(await tanstack(question));
  return each.map(({ title, events, budgets }) => {
    const changes = () => source.batch(events, moved);
    const timings = inTurns({ changes, expected, contestants: all, warmUp: 5, batches });
    return { title, timings, budgets: budgets(timings) };
  });
}

/** A view of all pods. */
export function sortedView(count: number): Scenario {
  const rows = `${count.toLocaleString('en')} pods`;
  return (effort) =>
    measured(
      { source: new Source(pods(count)), offset: undefined },
      effort,
      [1, 500].map((events) => ({
        events,
        title: `full sorted view of ${rows}, ${events === 1 ? '1 event' : `${events} events`}`,
        budgets: (timings) => {
          const limits: Budget[] = [
            { title: 'of the sorted array', limit: 3, figure: ratio(timings, ARRAY), unit: '×' },
          ];
          if (count === 10_000 && events === 1) {
            const figure = 1 / ratio(timings, TANSTACK);
            const title = 'faster than TanStack DB';
            limits.push({ title, limit: 50, figure, unit: '×', isLeast: true });
          }
          return limits;
        },
      })),
    );
}

/** A view of 50 pods in the middle of the order, where every other event moves the rows of the window. */
export function windowView(count: number): Scenario {
  return (effort) =>
    measured({ source: new Source(pods(count)), offset: count / 2 }, effort, [
      {
        events: 1,
        title: `window of ${WINDOW} over ${count.toLocaleString('en')} pods, 1 event`,
        budgets: ([own]) => [
          { title: 'an event', limit: 0.1, figure: own?.median ?? Number.NaN, unit: 'ms' },
        ],
      },
    ]);
}
