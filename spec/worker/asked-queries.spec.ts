/** Tests what a worker says about the queries of its tabs. */

import { askedQueries, workerQuery } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { type BrowserRig, follow, type RigTab } from './browser-rig.ts';
import { names, rigWith } from './rig-pods.ts';

function rigOf(...podNames: string[]): BrowserRig {
  const rig = rigWith(...podNames);
  rig.queries = {
    asked: (_page: string) => askedQueries(rig.served, { scheduler: rig.scheduler }),
  };
  return rig;
}

/** Asks as the page of this name. */
const panel = ({ cluster }: RigTab, page: string) =>
  follow(
    cluster,
    workerQuery<{ asked: (page: string) => ReturnType<typeof askedQueries> }, 'asked'>(
      'asked',
      page,
    ),
  );

/** `podsOf 1 2h`: the query of the tabs 1 and 2, of which the second is hidden. */
function shown(followed: ReturnType<typeof panel>): string[] {
  const { rows } = followed.view.getSnapshot();
  return rows
    .map(({ query, tabs }) => {
      const numbers = tabs.map(({ tab, isHidden }) => `${tab}${isHidden ? 'h' : ''}`);
      return [query['named'] ?? 'pods', ...numbers].join(' ');
    })
    .sort();
}

describe('what tabs ask', () => {
  it('B19: equal queries are one row with the numbers of their tabs, hidden ones marked', async () => {
    const rig = rigOf('a');
    const tabs = [rig.open(), rig.open(), rig.open({ hidden: true })] as const;
    const first = panel(tabs[0], 'one');
    await rig.pass(100);
    follow(tabs[0].cluster, names);
    follow(tabs[1].cluster, names);
    follow(tabs[2].cluster, names);
    // A tab that asks twice counts once.
    follow(tabs[1].cluster, names);
    await rig.pass(1_100);
    expect(shown(first)).toEqual(['asked 1', 'pods 1 2 3h']);
    tabs[2].turn('shown');
    tabs[1].turn('hidden');
    await rig.pass(1_100);
    expect(shown(first)).toEqual(['asked 1', 'pods 1 2h 3']);
  });

  it('B19: a page finds itself, and a query and a tab that are gone leave the rows', async () => {
    const rig = rigOf('a');
    const tabs = [rig.open(), rig.open()] as const;
    const first = panel(tabs[0], 'one');
    const second = panel(tabs[1], 'two');
    const asked = follow(tabs[0].cluster, names);
    await rig.pass(1_100);
    expect(shown(second)).toEqual(['asked 1', 'asked 2', 'pods 1']);
    const own = second.view.getSnapshot().rows.find(({ query }) => query['params'] === 'two');
    expect(own?.tabs).toEqual([{ tab: 2, isHidden: false }]);
    asked.leave();
    await rig.pass(1_100);
    expect(shown(second)).toEqual(['asked 1', 'asked 2']);
    tabs[0].turn('left');
    await rig.pass(1_100);
    expect(shown(second)).toEqual(['asked 2']);
    // Another tab has another number.
    expect(first.view.getSnapshot().stale).toBe(true);
    const third = panel(rig.open(), 'three');
    await rig.pass(1_100);
    expect(shown(third)).toEqual(['asked 2', 'asked 3']);
  });

  it('B19: after the death of the worker the rows are those of the next one', async () => {
    const rig = rigOf('a');
    const tabs = [rig.open(), rig.open()] as const;
    const first = panel(tabs[0], 'one');
    follow(tabs[1].cluster, names);
    await rig.pass(1_100);
    rig.kill();
    await rig.pass(3_000);
    expect(rig.starts).toBe(2);
    const both = shown(first).join(' ');
    expect(both).toMatch(/^asked [12] pods [12]$/);
    expect(new Set(both.match(/[12]/g)).size).toBe(2);
  });

  it('refuses what is not a server of queries', () => {
    expect(() => askedQueries({} as never)).toThrow(
      'askedQueries: the first argument is {}; it must be what serveQueries(…) returned',
    );
    const rig = rigOf('a');
    rig.open();
    for (const periodMs of [-1, 0, Number.NaN]) {
      expect(() => askedQueries(rig.served, { periodMs })).toThrow('askedQueries: periodMs');
    }
  });
});
