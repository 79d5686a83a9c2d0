/** Random lives of tabs whose worker is one page of a server: what they show as current is so, and is what a page of its own shows. */
import { type LiveQuery, liveQuery, type View } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { campaign, type Played } from '../support/campaign.ts';
import type { RigTab } from '../worker/browser-rig.ts';
import { rigOfTabs } from './tabs-rig.ts';
import { namesOf } from './users-rig.ts';

const TABS = { name: 'TABS', seeds: 6, command: 'spec/server/random-tabs.spec.ts' };

const select = { name: 'metadata.name' } as const;
/** The first one is also compared with what the API server has had a moment ago. */
const QUERIES = [
  namesOf('a'),
  liveQuery({ from: pods, namespace: 'a', select, orderBy: { path: 'metadata.name' }, limit: 2 }),
  liveQuery({ from: pods, namespace: 'a', select }),
  namesOf('b'),
] as readonly LiveQuery[];
/** How old rows may be that are shown as current, in milliseconds. */
const RECENT_MS = 3_000;

const namesIn = (view: View<unknown>) =>
  view.getSnapshot().rows.map((row) => (row as { readonly name: string }).name);

/** What a view shows, but ages, the order of rows that have none, and the phase, which changes with each try. */
function shownBy(view: View<unknown>): string {
  const { status, synced, stale, total } = view.getSnapshot();
  const { live, blocked } = status;
  return JSON.stringify([namesIn(view).sort(), total, synced, stale, live, blocked]);
}

interface OpenTab {
  readonly tab: RigTab;
  isHidden: boolean;
  readonly asked: Map<LiveQuery, { readonly view: View<unknown>; leave(): void }>;
}

async function play(seed: number): Promise<Played> {
  const random = seededRandom(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const { users, browser, open: openTab } = rigOfTabs({ random });
  const { scheduler } = users;
  const wrong: string[] = [];
  const seen = new Map([
    ['current rows', 0],
    ['compared views', 0],
    ['killed workers', 0],
  ]);
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  const direct = users.page('t-ann');
  const right = new Map(QUERIES.map((query) => [query, direct.view(query)]));
  for (const view of right.values()) view.subscribe(() => undefined);
  /** What the API server has had in the namespace of the first query, and since when. */
  const states = [{ sinceMs: scheduler.now(), names: 'api web' }];
  const own = ['api', 'web'];
  const noteState = () =>
    states.push({ sinceMs: scheduler.now(), names: [...own].sort().join(' ') });
  const look = (open: OpenTab, view: View<unknown>) => {
    const { synced, stale, status } = view.getSnapshot();
    if (open.isHidden || !synced || stale || !status.live) return;
    count('current rows');
    const fromMs = scheduler.now() - RECENT_MS;
    const names = namesIn(view).join(' ');
    const isRecent = states.some(
      (state, at) => state.names === names && (states[at + 1]?.sinceMs ?? Infinity) >= fromMs,
    );
    if (!isRecent) wrong.push(`at ${scheduler.now()}: "${names}" is shown as current`);
  };
  const tabs: OpenTab[] = [];
  const open = () => {
    tabs.push({ tab: openTab(), isHidden: false, asked: new Map() });
  };
  const ask = (each: OpenTab) => {
    const query = pick(QUERIES);
    const known = each.asked.get(query);
    if (known !== undefined) {
      known.leave();
      each.asked.delete(query);
      return;
    }
    const view = each.tab.cluster.view(query);
    const leave = view.subscribe(() => {
      if (query === QUERIES[0]) look(each, view);
    });
    each.asked.set(query, { view, leave });
  };
  let created = 0;
  const steps: readonly (() => void)[] = [
    ...[open, () => ask(pick(tabs)), () => ask(pick(tabs)), () => ask(pick(tabs))],
    ...[0, 1, 2].map(() => () => {
      const each = pick(tabs);
      each.isHidden = !each.isHidden;
      each.tab.turn(each.isHidden ? 'hidden' : 'shown');
    }),
    ...[0, 1, 2, 3].map(() => () => {
      const name = `p${++created}-${Math.floor(random() * 10)}`;
      users.create('a', name);
      own.push(name);
      noteState();
    }),
    () => {
      const name = own.shift();
      if (name === undefined) return;
      users.api.objects.delete(pods, { namespace: 'a', name });
      noteState();
    },
    () => users.create('b', `q${++created}`),
    () => users.cut(users.sockets.at(-1)?.[0]),
    () => {
      count('killed workers');
      browser.kill();
    },
    () => {
      const [closed] = tabs.splice(Math.floor(random() * tabs.length), 1);
      closed?.tab.cluster.close();
      if (tabs.length === 0) open();
    },
  ];
  open();
  for (let round = 0; round < 6; round++) {
    for (let step = 0; step < 12; step++) {
      pick(steps)();
      await users.pass(pick([0, 1, 50, 500, 3_000]));
    }
    await users.pass(30_000);
    for (const { isHidden, asked } of tabs) {
      for (const [query, { view }] of isHidden ? [] : asked) {
        count('compared views');
        const [is, should] = [shownBy(view), shownBy(right.get(query) as View<unknown>)];
        if (is !== should) wrong.push(`round ${round}: shown ${is}, right is ${should}`);
      }
    }
  }
  for (const { tab } of tabs) tab.cluster.close();
  direct.close();
  users.users.drain();
  return { wrong, seen };
}

describe('random lives of tabs that share a server', () => {
  it('E21: each tab shows as current only what is, and in the end what a page with a connection of its own shows', async () => {
    const { wrong, seen, isReplay } = await campaign(TABS, play);
    expect(wrong).toEqual([]);
    if (!isReplay) for (const times of seen.values()) expect(times).toBeGreaterThan(10);
  });
});
