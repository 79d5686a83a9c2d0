/** Pods by node, with aggregates. */
import {
  count as countOf,
  createLiveQueryCollection,
  max as maxOf,
  min as minOf,
  sum as sumOf,
} from '@tanstack/db';
import { count, liveGroupBy, max, min, sum, toView } from 'rx-informer';
import type { Outcome, Scenario } from './outcome.ts';
import { consumed, NODES, type Pod, pods, Source, type Update } from './pods.ts';
import { reading } from './sorted.ts';
import { synchronized, TANSTACK } from './tanstack.ts';
import { type Contestant, inTurns } from './turns.ts';

const PODS = 100_000;
const EVENTS = 500;

type PodContestant = Contestant<Update<Pod>>;

/** The pods and the cpu of each node, or the least and the greatest cpu. */
type Kind = 'count and sum' | 'min and max';

interface Row {
  readonly key: string;
  readonly one: number;
  readonly other: number;
}

function plain(rows: readonly { key: string; one: unknown; other: unknown }[]): Row[] {
  return rows
    .map(({ key, one, other }) => ({ key, one: one as number, other: other as number }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

async function ours(kind: Kind, source: Source<Pod>): Promise<PodContestant> {
  const cpu = (pod: Pod) => pod.cpu;
  const node = (pod: Pod) => pod.node;
  const view = toView(
    kind === 'count and sum'
      ? source.changes$.pipe(liveGroupBy(node, { one: count<Pod>(), other: sum(cpu) }))
      : source.changes$.pipe(liveGroupBy(node, { one: min(cpu), other: max(cpu) })),
  );
  return reading(view, (changes) => source.send(changes), plain);
}

/** One pass over all pods. */
function rowsOf(kind: Kind, all: readonly Pod[]): Row[] {
  const byNode = new Map<string, { key: string; one: number; other: number }>();
  const isSum = kind === 'count and sum';
  for (const { node, cpu } of all) {
    const row = byNode.get(node);
    if (row === undefined) {
      byNode.set(node, { key: node, one: isSum ? 1 : cpu, other: cpu });
    } else if (isSum) {
      row.one++;
      row.other += cpu;
    } else {
      if (cpu < row.one) row.one = cpu;
      if (cpu > row.other) row.other = cpu;
    }
  }
  return [...byNode.values()];
}

function scratch(kind: Kind, source: Source<Pod>): PodContestant {
  let rows: Row[] = [];
  return {
    name: 'filter and group',
    batch: () => {
      rows = rowsOf(
        kind,
        source.objects.filter(({ node }) => node !== ''),
      );
    },
    answer: () => plain(rows),
  };
}

/** Counts and sums by hand: rows of integers, which are copied once a batch. */
function byHand(source: Source<Pod>): PodContestant {
  let rows = new Map(rowsOf('count and sum', source.objects).map((row) => [row.key, row]));
  let list: readonly Row[] = [];
  const add = (node: string, one: number, other: number) => {
    const row = rows.get(node) as Row;
    rows.set(node, { key: node, one: row.one + one, other: row.other + other });
  };
  return {
    name: 'sums by hand',
    batch: (changes) => {
      rows = new Map(rows);
      for (const { previous, object } of changes) {
        add(previous.node, -1, -previous.cpu);
        add(object.node, 1, object.cpu);
      }
      list = [...rows.values()];
    },
    answer: () => plain(list),
  };
}

async function tanstack(kind: Kind, source: Source<Pod>): Promise<PodContestant> {
  const { collection, write } = synchronized(source);
  const live = createLiveQueryCollection({
    startSync: true,
    query: (q) =>
      q
        .from({ pod: collection })
        .groupBy(({ pod }) => pod.node)
        .select(({ pod }) => ({
          key: pod.node,
          one: kind === 'count and sum' ? countOf(pod.cpu) : minOf(pod.cpu),
          other: kind === 'count and sum' ? sumOf(pod.cpu) : maxOf(pod.cpu),
        })),
  });
  await live.preload();
  live.subscribeChanges(() => undefined);
  let rows = live.toArray;
  return {
    name: TANSTACK,
    batch: (changes) => {
      write(changes);
      rows = live.toArray;
    },
    answer: () => plain(rows),
  };
}

export const groups: Scenario = async ({ warmUp, batches, isLong }) => {
  const outcomes: Outcome[] = [];
  for (const kind of ['count and sum', 'min and max'] as const) {
    const source = new Source(pods(PODS));
    const changes = () => source.batch(EVENTS, consumed);
    const expected = () => plain(rowsOf(kind, source.objects));
    const quick = [await ours(kind, source)];
    if (kind === 'count and sum') quick.push(byHand(source));
    inTurns({ changes, expected, contestants: quick, warmUp, batches: 1 });
    const all = [...quick, scratch(kind, source)];
    if (isLong) all.push(await tanstack(kind, source));
    const timings = inTurns({ changes, expected, contestants: all, warmUp: 5, batches });
    outcomes.push({
      title: `${PODS.toLocaleString('en')} pods by ${NODES} nodes, ${kind}, ${EVENTS} events`,
      timings,
      budgets: [
        { title: 'a batch', limit: 1, figure: timings[0]?.median ?? Number.NaN, unit: 'ms' },
      ],
    });
  }
  return outcomes;
};
