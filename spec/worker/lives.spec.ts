/**
 * Random lives of tabs, workers, queries and sessions over ports that delay messages and lose their ends, compared with a
 * plain recomputation. Each user sees a namespace of its own, so rows that reach the wrong user are noticed at any moment.
 */

import {
  count,
  type LiveQueries,
  liveGroupBy,
  liveJoin,
  liveMap,
  liveQuery,
  liveSort,
  liveUnion,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { workerQuery } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import {
  type Act,
  actOf,
  BLOWS,
  ChangingCluster,
  MANNERS,
  type Manner,
  OUTAGES,
} from '../support/changing-cluster.ts';
import * as fc from '../support/fast-check.ts';
import { BrowserRig, follow, type RigTab } from './browser-rig.ts';

interface Row {
  readonly name: string;
  readonly phase: string;
  readonly form: string;
  /** Whether no message can have the object, because of its many levels. */
  readonly isDeep: boolean;
}

const formed = { name: 'metadata.name', form: 'metadata.labels.form' } as const;
const columns = { name: 'metadata.name', phase: 'status.phase' } as const;

const streams = {
  alike: (without: string, live: LiveQueries) => {
    const pods$ = live.stream(liveQuery({ from: pods, select: columns }));
    const counts$ = pods$.pipe(
      liveGroupBy(({ phase }) => (phase === without ? undefined : phase), { pods: count() }),
    );
    return pods$.pipe(
      liveJoin(counts$, {
        on: { left: ({ phase }) => phase, right: ({ key }) => key },
        type: 'inner',
        one: true,
      }),
      liveMap(({ left: { name, phase }, right }) => ({ name, phase, alike: right.pods })),
      liveSort((one, other) => ((one.name ?? '') < (other.name ?? '') ? -1 : 1)),
    );
  },
  /** Rows that are no objects in a join by labels. */
  labelled: (_: undefined, live: LiveQueries) =>
    liveUnion({ x: live.stream(liveQuery({ from: pods, select: formed })) }).pipe(
      liveJoin(live.stream(liveQuery({ from: pods })), {
        on: { selectorOf: ({ form = '' }) => ({ matchLabels: { form } }) },
        project: ({ name }, others) => ({ name, others: others.length }),
      }),
    ),
  shapes: (_: undefined, live: LiveQueries) =>
    live.stream(liveQuery({ from: pods, select: columns })).pipe(liveMap((row) => shapeOf(row))),
};

function shapeOf({
  name,
  phase,
}: {
  readonly name?: string | undefined;
  readonly phase?: unknown;
}) {
  return phase === 'a' ? name : phase === 'b' ? null : [name, [], 0];
}

const byPhase = (rows: readonly Row[], sign: number) =>
  rows.toSorted((a, b) => sign * (a.phase < b.phase ? -1 : Number(a.phase > b.phase)));
const nameOnly = ({ name }: Row) => ({ name });
const both = ({ name, phase }: Row) => ({ name, phase });
const alike = (rows: readonly Row[], without: string) =>
  rows
    .filter(({ phase }) => phase !== without)
    .map((row) => ({
      ...both(row),
      alike: rows.filter((each) => each.phase === row.phase).length,
    }));
const byName = { path: 'metadata.name' } as const;
const name = { name: 'metadata.name' } as const;
type Answer = (rows: readonly Row[]) => readonly unknown[];

/** Each query, and the rows that it has of these, which are ordered by their names. */
const QUERIES: readonly (readonly [query: unknown, answer: Answer])[] = [
  [liveQuery({ from: pods, select: columns }), (rows) => rows.map(both)],
  [workerQuery<typeof streams, 'shapes'>('shapes'), (rows) => rows.map(shapeOf)],
  [
    workerQuery<typeof streams, 'labelled'>('labelled'),
    (rows) =>
      rows.map(({ name, form }) => ({
        ...{ name, others: rows.filter((each) => each.form === form).length },
      })),
  ],
  [
    liveQuery({ from: pods, select: columns, orderBy: [{ path: 'status.phase' }, byName] }),
    (rows) => byPhase(rows, 1).map(both),
  ],
  [
    liveQuery({
      ...{ from: pods, select: columns, where: { path: 'status.phase', ne: 'b' } },
      ...{ orderBy: { ...byName, direction: 'desc' }, offset: 1, limit: 3 },
    }),
    (rows) => {
      const left = rows.filter(({ phase }) => phase !== 'b');
      return left.reverse().slice(1, 4).map(both);
    },
  ],
  [
    liveQuery({ from: pods, orderBy: byName, limit: 6 }),
    (rows) => {
      const first = rows.slice(0, 6);
      return first.filter(({ isDeep }) => !isDeep).map(both);
    },
  ],
  [workerQuery<typeof streams, 'alike'>('alike', 'c'), (rows) => alike(rows, 'c')],
  [workerQuery<typeof streams, 'alike'>('alike', ''), (rows) => alike(rows, '')],
  // A change of the phase moves a row of which it changes nothing.
  [
    liveQuery({
      ...{ from: pods, select: name },
      orderBy: [{ path: 'status.phase', direction: 'desc' }, byName],
    }),
    (rows) => byPhase(rows, -1).map(nameOnly),
  ],
  [
    liveQuery({
      ...{ from: pods, select: name, orderBy: [{ path: 'status.phase' }, byName] },
      ...{ offset: 1, limit: 3 },
    }),
    (rows) => byPhase(rows, 1).slice(1, 4).map(nameOnly),
  ],
];
/** This many are not in an order. */
const UNORDERED = 3;
const USERS = ['ann', 'bob'];
const PLACES = ['p', 'q', 'r', 's'].flatMap((each) =>
  USERS.map((user) => ({ namespace: user, name: `${user}-${each}` })),
);

/** Longer than the longest wait between two tries. */
const HEALED_MS = 200_000;
/** Between two writes, which must not keep an informer waiting for the end of a list that never comes. */
const WRITE_MS = 10_000;

/** A life takes about a tenth of a second. */
const SHRINKS = 100;

const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();

function shownRow(row: unknown): unknown {
  const { metadata, status } = (row ?? {}) as Pod;
  return metadata === undefined ? row : { name: metadata.name, phase: status?.phase };
}

interface LivingTab {
  readonly tab: RigTab;
  identity: string | undefined;
  isAway: boolean;
  /** Whether messages wait, so that what the tab shows is no knowledge of the worker. */
  isFrozen: boolean;
  /** Whether the page was left and not shown since. */
  isLeft: boolean;
  /** Whether no worker has been seen to answer since the sign-in. */
  isNew: boolean;
  readonly asked: Map<number, ReturnType<typeof follow>>;
}

class Life {
  readonly rig = new BrowserRig();
  readonly tabs: LivingTab[] = [];
  readonly cluster: ChangingCluster<Pod>;
  /** Who has signed out and not in again, and how many workers have ended since. */
  readonly #signedOut = new Map<string, number>();
  /** The user whose session the worker has, if it has been seen to have it since the last sign-in or sign-out. */
  #confirmed: string | undefined;
  /** How many workers have ended since. */
  #kills = 0;

  constructor(hasLocks: boolean, manner: Manner) {
    this.cluster = new ChangingCluster(this.rig.server, {
      ...{ resource: pods, places: PLACES, manner },
      contentOf: (n) => ({ status: { phase: 'abc'[n % 3] } }),
    });
    this.rig.fetch = this.cluster.fetch;
    this.rig.hasLocks = hasLocks;
    this.rig.queries = streams;
    this.rig.factoryOptions = ({ identity }) => ({ namespace: identity, lingerMs: 5_000 });
  }

  #answer(at: number, user: string): readonly unknown[] {
    const rows = this.cluster.objects
      .filter(({ metadata }) => metadata?.namespace === user)
      .map(({ metadata, status, spec }) => ({
        ...{ name: metadata?.name ?? '', form: metadata?.labels?.['form'] ?? '' },
        ...{ phase: status?.phase ?? '', isDeep: spec !== undefined },
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return QUERIES[at]?.[1](rows) ?? [];
  }

  async step(step: Step): Promise<void> {
    const { rig, tabs } = this;
    const [what, which, other] = step;
    const user = USERS[other % 2] ?? '';
    const living = tabs[which % Math.max(1, tabs.length)];
    this.#note(what, user, living);
    if (what === 'open' && tabs.length < 4) {
      const hidden = other % 5 === 0;
      // A page with a worker of its own moves to the shared one if that loads slowly.
      const dedicated = other % 3 === 0 ? () => rig.dedicated(true) : undefined;
      const loadMs = dedicated === undefined ? 0 : ([7_000, 20_000][which % 2] ?? 0);
      const tab = rig.open({ identity: user, hidden, loadMs, dedicated });
      const isAway = other % 5 === 0;
      const life = { isAway, isFrozen: false, isLeft: false, isNew: true };
      tabs.push({ tab, identity: user, ...life, asked: new Map() });
    } else if (CLUSTER.includes(what as never)) this.cluster.act(step as Act);
    else if (what === 'kill') rig.kill();
    else if (what === 'load') rig.isUnavailable = other % 2 === 0;
    else if (what === 'delay') rig.delayMs = [1, 40, 700][other % 3] as number;
    else if (what === 'pass') await rig.pass([5, 300, 3_000, 70_000][other % 4] as number);
    else if (living !== undefined) this.#live(what, living, other, user);
    this.checkUsers();
    if (what !== 'pass') return;
    this.#noteSignedOut();
    for (const each of tabs) {
      if (each.tab.cluster.connection.phase === 'open') each.isNew = false;
    }
    if (other % 4 < 2) return;
    // Every message has arrived by now, also the last one of a host that was given up.
    expect(rig.counts.tabs, 'tabs in the worker').toBeLessThanOrEqual(tabs.length);
    const isOpen = tabs.every(
      ({ tab, isFrozen }) => !isFrozen && tab.cluster.connection.phase === 'open',
    );
    const users = new Set(tabs.map(({ identity }) => identity));
    if (!isOpen || users.size > 1) return;
    [this.#confirmed] = users;
    this.#kills = 0;
  }

  #note(what: Step[0], user: string, living: LivingTab | undefined): void {
    if (what === 'kill') {
      this.#kills++;
      for (const [out, kills] of this.#signedOut) this.#signedOut.set(out, kills + 1);
    }
    if (what !== 'open' && what !== 'sign-in' && what !== 'sign-out') return;
    this.#confirmed = undefined;
    if (what !== 'sign-out') this.#signedOut.delete(user);
    else if (living?.identity !== undefined) {
      // A sign-in that no worker has answered yet may come after it.
      const same = this.tabs.filter(({ identity }) => identity === living.identity);
      if (same.some(({ isNew }) => isNew)) this.#signedOut.delete(living.identity);
      else this.#signedOut.set(living.identity, 0);
    }
  }

  #live(what: Step[0], living: LivingTab, other: number, user: string): void {
    const { tab, asked } = living;
    const at = other % QUERIES.length;
    if (what === 'ask') {
      if (!asked.has(at)) asked.set(at, follow(tab.cluster, QUERIES[at]?.[0] as never));
    } else if (what === 'leave') {
      asked.get(at)?.leave();
      asked.delete(at);
    } else if (what === 'sign-in') {
      living.identity = user;
      living.isNew = true;
      tab.cluster.signedIn(user);
    } else if (what === 'sign-out') {
      living.identity = undefined;
      tab.cluster.signedOut();
    } else if (what === 'turn') {
      const change = (['shown', 'hidden', 'left'] as const)[other % 3] ?? 'shown';
      living.isAway = change !== 'shown';
      if (change !== 'hidden') living.isLeft = change === 'left';
      tab.turn(change);
    } else if (what === 'freeze') {
      living.isAway = true;
      living.isFrozen = true;
      tab.freeze();
    } else if (what === 'thaw') {
      living.isAway = false;
      living.isFrozen = false;
      living.isLeft = false;
      tab.thaw();
    }
  }

  /** Tabs that have learned that another user is signed in. */
  #noteSignedOut(): void {
    for (const living of this.tabs) {
      if (living.tab.cluster.connection.phase !== 'signed-out') continue;
      // No tab that was away brings back a user who was there before.
      if (this.#kills < 2) expect(living.identity ?? 'nobody').not.toBe(this.#confirmed);
      living.identity = undefined;
    }
  }

  /** No tab ever shows rows of another user. */
  checkUsers(): void {
    for (const { tab, asked, identity, isLeft } of this.tabs) {
      if (isLeft) expect(tab.isConnected(), 'a page that was left has no port').toBe(false);
      for (const { shown } of asked.values()) {
        for (const row of shown.rows) {
          expect(identity, 'the tab is signed out').toBeDefined();
          const [other] = USERS.filter((user) => user !== identity);
          expect(JSON.stringify(row)).not.toContain(`${other}-`);
        }
        if (tab.cluster.connection.phase === 'signed-out') expect(shown.rows).toEqual([]);
      }
    }
  }

  /** Once everything works again, every shown tab shows what the server has. */
  async settle(): Promise<void> {
    const { rig, tabs } = this;
    rig.isUnavailable = false;
    rig.delayMs = 1;
    for (const living of tabs) {
      living.isAway = false;
      living.isFrozen = false;
      living.isLeft = false;
      living.tab.thaw();
    }
    this.cluster.act(['heal', 0, 0]);
    for (let write = 0; write < HEALED_MS / WRITE_MS; write++) {
      this.cluster.act(['put', write % 2, write]);
      await rig.pass(WRITE_MS);
    }
    this.#noteSignedOut();
    for (const { identity = '' } of tabs) {
      // A page may have been in a session that it had brought back, of whose end no tab knows.
      const kills = this.#signedOut.get(identity) ?? Infinity;
      expect(kills, `${identity} has signed out`).toBeGreaterThan(1);
    }
    this.checkUsers();
    const users = new Set(tabs.flatMap(({ identity }) => identity ?? []));
    expect(users.size).toBeLessThanOrEqual(1);
    for (const { tab, asked, identity } of tabs) {
      if (identity === undefined) continue;
      expect(tab.cluster.connection).toMatchObject({ phase: 'open' });
      for (const [at, { shown }] of asked) {
        const rows = shown.rows.map(shownRow);
        const expected = this.#answer(at, identity);
        const [shownRows, expectedRows] =
          at < UNORDERED ? [sorted(rows), sorted(expected)] : [rows, expected];
        expect(shownRows, `query ${at} of ${identity}`).toEqual(expectedRows);
        expect([shown.synced, shown.stale, shown.status.live]).toEqual([true, undefined, true]);
      }
    }
    expect(rig.mostUnacknowledged).toBeLessThanOrEqual(1);
    expect(rig.sessions.filter(({ signal }) => !signal.aborted).length).toBeLessThanOrEqual(
      rig.starts,
    );
  }

  /** Nothing is left of tabs that have left. */
  async end(): Promise<void> {
    const { rig, tabs } = this;
    for (const { tab, asked } of tabs) {
      for (const { leave } of asked.values()) leave();
      tab.cluster.close();
    }
    await rig.pass(120_000);
    expect(rig.counts).toEqual({ tabs: 0, pipelines: 0 });
    const before = rig.requests.length;
    await rig.pass(600_000);
    expect(rig.requests.slice(before)).toEqual([]);
  }
}

const CLUSTER = [
  ...(['put', 'delete', 'recreate', 'deepen', 'crowd', 'purge'] as const),
  ...[...BLOWS, ...OUTAGES, 'heal' as const],
] as const;
const TABS = [
  ...(['open', 'ask', 'ask', 'ask', 'leave', 'kill', 'load', 'delay'] as const),
  ...(['pass', 'pass', 'sign-in', 'sign-out', 'turn', 'turn', 'freeze', 'thaw'] as const),
] as const;
type Step = Act<(typeof CLUSTER)[number] | (typeof TABS)[number]>;

/** A few kinds in each life. With all, orders that need two of a kind would rarely occur. */
const steps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.subarray([...CLUSTER], { maxLength: 6 }), fc.subarray([...TABS], { maxLength: 8 }))
  .chain(([cluster, tabs]) => {
    const kinds = [
      ...cluster,
      ...tabs,
      'open',
      'ask',
      'put',
      'put',
      'deepen',
      'refuse',
      'pass',
    ] as const;
    return fc.array(actOf(...kinds), { minLength: 5, maxLength: 40, size: 'max' });
  });

describe('lives of tabs and workers', () => {
  it('B1, B2, B5, B7, B8, B9, B17: whatever happens, tabs show the rows of their user, and the right ones in the end', async () => {
    const numRuns = Number(process.env['WORKER_LIVES'] ?? 60);
    const asks = fc.subarray([...QUERIES.keys()], { maxLength: 5 });
    const manners = fc.constantFrom(...MANNERS);
    const check = fc.shrinking(
      SHRINKS,
      async (hasLocks: boolean, manner: Manner, asked: readonly number[], all: readonly Step[]) => {
        const life = new Life(hasLocks, manner);
        for (const at of PLACES.keys()) await life.step(['put', at, 0]);
        await life.step(['open', 0, 1]);
        for (const at of asked) await life.step(['ask', 0, at]);
        for (const [at, each] of all.entries()) {
          await life.step(each);
          if (at % 15 === 14) await life.settle();
        }
        await life.settle();
        await life.end();
      },
    );
    await fc.assert(fc.asyncProperty(fc.boolean(), manners, asks, steps, check), { numRuns });
  }, 600_000);
});
