/** Owners, each with the list of its pods. */
import { createLiveQueryCollection, eq, toArray } from '@tanstack/db';
import { liveJoin, toView } from 'rx-informer';
import type { Outcome, Scenario } from './outcome.ts';
import {
  adopted,
  OWNERS,
  owners,
  type Pod,
  pods,
  Source,
  type Thing,
  touched,
  type Update,
} from './pods.ts';
import { reading } from './sorted.ts';
import { synchronized, TANSTACK } from './tanstack.ts';
import { type Contestant, inTurns, type Timing } from './turns.ts';

const PODS = 100_000;
const EVENTS = 500;
/** How many batches the slowest contestant takes. */
const FEW = 5;

interface Joined {
  readonly left: Thing;
  readonly right: readonly Pod[];
}

interface World {
  readonly left: Source<Thing>;
  readonly right: Source<Pod>;
}

/** A change of an owner or of a pod. */
type Event =
  | { readonly side: 'left'; readonly change: Update<Thing> }
  | { readonly side: 'right'; readonly change: Update<Pod> };

type JoinContestant = Contestant<Event>;

function write(
  events: readonly Event[],
  left: (changes: readonly Update<Thing>[]) => void,
  right: (changes: readonly Update<Pod>[]) => void,
): void {
  const [first] = events;
  if (first?.side === 'left') left(events.map(({ change }) => change as Update<Thing>));
  else right(events.map(({ change }) => change as Update<Pod>));
}

function named({ metadata }: Thing): string {
  return `${metadata.uid} ${metadata.resourceVersion}`;
}

/** Rows in a form that shows the version of every object, in the order of the ids. */
function plain(rows: readonly Joined[]): unknown {
  return rows.map(({ left, right }) => [named(left), ...right.map(named).sort()].join()).sort();
}

async function ours({ left, right }: World): Promise<JoinContestant> {
  const join = liveJoin<Thing, Pod>(right.changes$, { on: { owner: 'left' } });
  const view = toView(left.changes$.pipe(join));
  const send = (events: readonly Event[]) =>
    write(
      events,
      (changes) => left.send(changes),
      (changes) => right.send(changes),
    );
  return reading(view, send, plain);
}

function rowsOf({ left, right }: World): Joined[] {
  const byOwner = new Map<string, Pod[]>();
  for (const pod of right.objects) {
    const list = byOwner.get(pod.ownerUid);
    if (list === undefined) byOwner.set(pod.ownerUid, [pod]);
    else list.push(pod);
  }
  return left.objects.map((owner) => ({
    left: owner,
    right: byOwner.get(owner.metadata.uid) ?? [],
  }));
}

/** All pods are filtered and put into lists again for each batch. */
function scratch({ left, right }: World): JoinContestant {
  let rows: Joined[] = [];
  return {
    name: 'filter and join',
    batch: () => {
      const objects = right.objects.filter(({ node }) => node !== '');
      rows = rowsOf({ left, right: { objects } as Source<Pod> });
    },
    answer: () => plain(rows),
  };
}

/** Lists by owner, of which those that change are copied. */
function byHand(world: World): JoinContestant {
  const rows = new Map(rowsOf(world).map((row) => [row.left.metadata.uid, row]));
  let list: readonly Joined[] = [];
  const change = (uid: string, fresh: Set<string>, edit: (pods: Pod[]) => void) => {
    const row = rows.get(uid) as Joined;
    const right = fresh.has(uid) ? (row.right as Pod[]) : row.right.slice();
    edit(right);
    if (fresh.has(uid)) return;
    fresh.add(uid);
    rows.set(uid, { left: row.left, right });
  };
  return {
    name: 'lists by hand',
    batch: (events) => {
      const fresh = new Set<string>();
      for (const { side, change: event } of events) {
        if (side === 'left') {
          const { uid } = event.object.metadata;
          rows.set(uid, { left: event.object, right: (rows.get(uid) as Joined).right });
          continue;
        }
        const { previous, object } = event as Update<Pod>;
        if (previous.ownerUid === object.ownerUid) {
          change(object.ownerUid, fresh, (all) => all.splice(all.indexOf(previous), 1, object));
        } else {
          change(previous.ownerUid, fresh, (all) => all.splice(all.indexOf(previous), 1));
          change(object.ownerUid, fresh, (all) => all.push(object));
        }
      }
      list = [...rows.values()];
    },
    answer: () => plain(list),
  };
}

async function tanstack({ left, right }: World): Promise<JoinContestant> {
  const [lefts, rights] = [synchronized(left), synchronized(right)];
  const live = createLiveQueryCollection({
    startSync: true,
    query: (q) =>
      q.from({ owner: lefts.collection }).select(({ owner }) => ({
        left: owner,
        right: toArray(
          q
            .from({ pod: rights.collection })
            .where(({ pod }) => eq(pod.ownerUid, owner.metadata.uid)),
        ),
      })),
  });
  await live.preload();
  live.subscribeChanges(() => undefined);
  let rows = live.toArray as unknown as readonly Joined[];
  return {
    name: TANSTACK,
    batch: (events) => {
      write(events, lefts.write, rights.write);
      rows = live.toArray as unknown as readonly Joined[];
    },
    answer: () => plain(rows),
  };
}

export const joins: Scenario = async ({ warmUp, batches, isLong }) => {
  const world: World = { left: new Source(owners()), right: new Source(pods(PODS)) };
  const { left, right } = world;
  const expected = () => plain(rowsOf(world));
  const podEvents = (next: (pod: Pod) => Pod) => (): Event[] =>
    right.batch(EVENTS, next).map((change) => ({ side: 'right', change }));
  const ownerEvents = (): Event[] =>
    left.batch(EVENTS, touched).map((change) => ({ side: 'left', change }));
  const kinds = [
    { title: `${EVENTS} pod events`, changes: podEvents(touched) },
    { title: `${EVENTS} pod events, one in ten with another owner`, changes: podEvents(adopted) },
    { title: `${EVENTS} owner events`, changes: ownerEvents },
  ];
  const quick = [await ours(world), byHand(world)];
  for (const { changes } of kinds) {
    inTurns({ changes, expected, contestants: quick, warmUp, batches: 1 });
  }
  const all = [...quick, scratch(world)];
  // TanStack DB needs seconds for a batch, so it takes only a few.
  const few: Timing[][] = [];
  if (isLong) {
    // TanStack DB needs seconds for a batch, so it takes only a few.
    const slow = [...all, await tanstack(world)];
    for (const { changes } of kinds) {
      const turns = { changes, expected, contestants: slow, warmUp: 0, batches: FEW };
      few.push(inTurns(turns).slice(all.length));
    }
  }
  return kinds.map(({ title, changes }, at): Outcome => {
    const timings = inTurns({ changes, expected, contestants: all, warmUp: 5, batches });
    timings.push(...(few[at] ?? []));
    const budget = { limit: 3, figure: timings[0]?.median ?? Number.NaN, unit: 'ms' } as const;
    return {
      title: `join of ${OWNERS.toLocaleString('en')} owners with ${PODS.toLocaleString('en')} pods, ${title}`,
      timings,
      budgets: [{ title: 'a batch', ...budget }],
    };
  });
};
