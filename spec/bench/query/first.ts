/** The time until a view has its first rows, and the longest time in which the event loop does not turn. */
import { createLiveQueryCollection } from '@tanstack/db';
import { liveSort, toView } from 'rx-informer';
import { concat, NEVER, of } from 'rxjs';
import { OURS, ratio, type Scenario } from './outcome.ts';
import { type Pod, pods, Source } from './pods.ts';
import { synchronized, TANSTACK } from './tanstack.ts';
import { type Timing, timing } from './turns.ts';

const PODS = 100_000;
const SORTED = 'toSorted';

const compare = (one: Pod, other: Pod) => one.created - other.created;

/** The CPU time of this thread in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Waits until the view is synced, and returns the most CPU that one turn of the event loop took. */
async function longestSlice(source: Source<Pod>): Promise<{ took: number; slice: number }> {
  // Made before, because the cost of a set of all objects is not that of the query.
  const snapshot$ = concat(of(source.snapshot()), NEVER);
  const view = toView(snapshot$.pipe(liveSort<Pod>(compare)));
  const start = performance.now();
  let before = cpuMs();
  let slice = 0;
  const release = view.subscribe(() => undefined);
  for (;;) {
    const now = cpuMs();
    slice = Math.max(slice, now - before);
    before = now;
    if (view.getSnapshot().synced) break;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { rows } = view.getSnapshot();
  const took = performance.now() - start;
  const sorted = source.objects.toSorted(compare);
  if (sorted.some(({ created }, at) => created !== rows[at]?.created)) {
    throw new Error('the first answer is wrong');
  }
  release();
  return { took, slice };
}

async function tanstackMs(source: Source<Pod>): Promise<number> {
  const { collection } = synchronized(source);
  const start = performance.now();
  const live = createLiveQueryCollection({
    startSync: true,
    query: (q) => q.from({ pod: collection }).orderBy(({ pod }) => pod.created),
  });
  await live.preload();
  const { length } = live.toArray;
  if (length !== PODS) throw new Error('the first answer of TanStack DB is wrong');
  return performance.now() - start;
}

export const firstAnswer: Scenario = async ({ batches, isLong }) => {
  const source = new Source(pods(PODS));
  const rounds = Math.max(5, Math.round(batches / 8));
  const own: number[] = [];
  const sorted: number[] = [];
  const slices: number[] = [];
  for (let round = -2; round < rounds; round++) {
    globalThis.gc?.();
    const start = performance.now();
    source.objects.toSorted(compare);
    const sortedMs = performance.now() - start;
    const { took, slice } = await longestSlice(source);
    if (round < 0) continue;
    sorted.push(sortedMs);
    own.push(took);
    slices.push(slice);
  }
  const timings: Timing[] = [timing(OURS, own), timing(SORTED, sorted)];
  if (isLong) timings.push(timing(TANSTACK, [await tanstackMs(source)]));
  const { median } = timing('', slices);
  return [
    {
      title: `first answer over ${PODS.toLocaleString('en')} pods in order`,
      timings,
      budgets: [
        { title: 'of toSorted', limit: 4, figure: ratio(timings, SORTED), unit: '×' },
        {
          title: 'CPU of the longest slice (median of the rounds)',
          limit: 16,
          figure: median,
          unit: 'ms',
        },
      ],
    },
  ];
};
