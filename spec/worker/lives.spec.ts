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
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { workerQuery } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { BrowserRig, follow, type RigTab } from './browser-rig.ts';

interface Row {
  readonly name: string;
  readonly phase?: string;
  /** Of the stream: how many Pods have this phase. */
  readonly alike?: number;
}

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
};

const QUERIES = [
  liveQuery({ from: pods, select: columns }),
  liveQuery({
    from: pods,
    select: columns,
    orderBy: [{ path: 'status.phase' }, { path: 'metadata.name' }],
  }),
  liveQuery({
    from: pods,
    select: columns,
    where: { path: 'status.phase', ne: 'b' },
    orderBy: { path: 'metadata.name', direction: 'desc' },
    offset: 1,
    limit: 3,
  }),
  liveQuery({ from: pods, orderBy: { path: 'metadata.name' }, limit: 2 }),
  workerQuery<typeof streams, 'alike'>('alike', 'c'),
  workerQuery<typeof streams, 'alike'>('alike', ''),
  // A change of the phase moves a row of which it changes nothing.
  liveQuery({
    from: pods,
    select: { name: 'metadata.name' },
    orderBy: [{ path: 'status.phase', direction: 'desc' }, { path: 'metadata.name' }],
  }),
  liveQuery({
    from: pods,
    select: { name: 'metadata.name' },
    orderBy: [{ path: 'status.phase' }, { path: 'metadata.name' }],
    offset: 1,
    limit: 3,
  }),
];
const USERS = ['ann', 'bob'];

/** The rows of a query, from the objects of the server. */
function answerOf(at: number, objects: readonly Pod[]): readonly Row[] {
  const rows = objects
    .map(({ metadata, status }) => ({ name: metadata?.name ?? '', phase: status?.phase ?? '' }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const byPhase = (sign: number) =>
    rows.toSorted((a, b) => sign * (a.phase < b.phase ? -1 : a.phase > b.phase ? 1 : 0));
  const nameOnly = ({ name }: Row) => ({ name });
  if (at === 1) return byPhase(1);
  if (at === 6) return byPhase(-1).map(nameOnly);
  if (at === 7) return byPhase(1).slice(1, 4).map(nameOnly);
  if (at === 2)
    return rows
      .filter(({ phase }) => phase !== 'b')
      .reverse()
      .slice(1, 4);
  if (at > 3) {
    const without = at === 4 ? 'c' : '';
    return rows
      .filter(({ phase }) => phase !== without)
      .map((row) => ({ ...row, alike: rows.filter(({ phase }) => phase === row.phase).length }));
  }
  return at === 3 ? rows.slice(0, 2) : rows;
}

function shownRow(row: unknown): Row {
  const { metadata, status } = row as Pod;
  if (metadata === undefined) return row as Row;
  return { name: metadata.name ?? '', phase: status?.phase ?? '' };
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
  #names = 0;
  /** Who has signed out and not in again, and how many workers have ended since. */
  readonly #signedOut = new Map<string, number>();
  /** The user whose session the worker has, if it has been seen to have it since the last sign-in or sign-out. */
  #confirmed: string | undefined;
  /** How many workers have ended since. */
  #kills = 0;

  constructor(hasLocks: boolean) {
    this.rig.hasLocks = hasLocks;
    this.rig.queries = streams;
    this.rig.factoryOptions = ({ identity }) => ({ namespace: identity, lingerMs: 5_000 });
  }

  objectsOf(user: string): Pod[] {
    const all: readonly Pod[] = this.rig.server.objects.list(pods);
    return all.filter(({ metadata }) => metadata?.namespace === user);
  }

  write(user: string, kind: number, phase: string): void {
    const { objects } = this.rig.server;
    const present = this.objectsOf(user);
    const pod = present[kind % Math.max(1, present.length)];
    if (kind % 3 === 0 || pod === undefined) {
      const name = `${user}-${this.#names++ % 7}-${this.#names}`;
      objects.create(pods, { metadata: { namespace: user, name }, status: { phase } });
    } else if (kind % 3 === 1) objects.update(pods, { ...pod, status: { phase } });
    else objects.delete(pods, { namespace: user, name: pod.metadata?.name ?? '' });
  }

  async step([what, which, other]: Step): Promise<void> {
    const { rig, tabs } = this;
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
    } else if (what === 'write') this.write(user, which, 'abc'[other % 3] as string);
    else if (what === 'kill') rig.kill();
    else if (what === 'load') rig.isUnavailable = other % 2 === 0;
    else if (what === 'delay') rig.delayMs = [1, 40, 700][other % 3] as number;
    else if (what === 'cut') rig.server.faults.closeWatches();
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
      if (!asked.has(at)) asked.set(at, follow(tab.cluster, QUERIES[at] as never));
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
          expect(shownRow(row).name.startsWith(`${identity}-`)).toBe(true);
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
    await rig.pass(90_000);
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
        const expected = answerOf(at, this.objectsOf(identity));
        if (at === 0) rows.sort((a, b) => (a.name < b.name ? -1 : 1));
        expect(rows, `query ${at} of ${identity}`).toEqual(expected);
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

const KINDS = [
  ...['open', 'ask', 'ask', 'leave', 'write', 'write', 'write', 'kill', 'load', 'delay', 'cut'],
  ...['pass', 'pass', 'sign-in', 'sign-out', 'turn', 'turn', 'freeze', 'thaw'],
] as const;
type Step = readonly [what: (typeof KINDS)[number], which: number, other: number];
const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom(...KINDS), fc.nat(9), fc.nat(59));

describe('lives of tabs and workers', () => {
  it('B1, B2, B5, B7, B8, B9, B17: whatever happens, tabs show the rows of their user, and the right ones in the end', async () => {
    const numRuns = Number(process.env['WORKER_LIVES'] ?? 60);
    const steps = fc.array(step, { minLength: 5, maxLength: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(fc.boolean(), steps, async (hasLocks, all) => {
        const life = new Life(hasLocks);
        for (const user of USERS) for (let at = 0; at < 4; at++) life.write(user, 0, 'a');
        await life.step(['open', 0, 1]);
        for (const [at, each] of all.entries()) {
          await life.step(each);
          if (at % 15 === 14) await life.settle();
        }
        await life.settle();
        await life.end();
      }),
      { numRuns },
    );
  }, 600_000);
});
