/**
 * Tests tabs that move from a worker of their own to a shared one that has loaded slowly. Random lives of such tabs, whose users sign in and
 * out meanwhile, are compared with a plain model.
 */

import { snapshotsIn } from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { editInWorker } from 'rx-informer/worker';
import { describe, expect, it } from 'vitest';
import { PROTOCOL } from '../../lib/worker/messages.ts';
import { MemoryStore } from '../persist/memory-store.ts';
import * as fc from '../support/fast-check.ts';
import { type BrowserRig, follow, type RigTab } from './browser-rig.ts';
import { names, podOf, rigWith } from './rig-pods.ts';
// The worker loads it with the first edit, which takes real time.
import '../../lib/worker/server/edits.ts';

/** The options of a tab whose shared worker loads slowly. */
const late = (rig: BrowserRig, loadMs = 12_000) => ({
  loadMs,
  dedicated: () => rig.dedicated(true),
});
const label = (draft: { metadata: { labels?: unknown } }) => {
  draft.metadata.labels = { edited: 'yes' };
};

const USERS = ['ann', 'bob'];
const STEPS = ['sign-in', 'sign-in', 'sign-out', 'leave', 'return', 'hide', 'wait'] as const;
const step = fc.tuple(
  fc.constantFrom(...STEPS),
  fc.nat(4),
  fc.constantFrom(...USERS),
  fc.constantFrom(0, 1, 3, 200, 1_000, 3_000),
);

interface LivingTab {
  readonly tab: RigTab;
  readonly view: ReturnType<typeof follow>;
  user: string | undefined;
  isLeft: boolean;
}

/** A tab whose shared worker has loaded, and some whose shared worker loads for a while. */
class Life {
  readonly rig: BrowserRig = rigWith('a');
  /** Who has signed out and not in again. */
  readonly #out = new Set<string>();
  readonly #tabs: LivingTab[];

  constructor(loads: readonly number[]) {
    this.#tabs = [0, ...loads].map((loadMs) => {
      const tab = this.rig.open({ ...late(this.rig, loadMs), identity: undefined });
      const view = follow(tab.cluster, names);
      return { tab, view, user: undefined, isLeft: false };
    });
  }

  async step(what: (typeof STEPS)[number], at: number, user: string, ms: number): Promise<void> {
    const living = this.#tabs[at % this.#tabs.length] as LivingTab;
    const { tab, isLeft } = living;
    if (what === 'return' && isLeft) await this.#return(living);
    else if (what === 'sign-in' && !isLeft) {
      tab.cluster.signedIn(user);
      for (const other of USERS) if (other !== user) this.#signOut(other);
      this.#out.delete(user);
      living.user = user;
    } else if (what === 'sign-out' && !isLeft && living.user !== undefined) {
      tab.cluster.signedOut();
      this.#signOut(living.user);
    } else if (what === 'leave' && living !== this.#tabs[0]) {
      living.isLeft = true;
      tab.turn('left');
    } else if (what === 'hide' && !isLeft) {
      tab.turn('hidden');
      await this.rig.pass(ms);
      tab.turn('shown');
    }
    await this.rig.pass(1_000 + ms);
    const phases = this.#tabs.map(({ tab }) => tab.cluster.connection.phase);
    // A tab that moves has no session for two messages.
    if (phases.includes('connecting')) await this.rig.pass(10);
    for (const { tab, view, user, isLeft } of this.#tabs) {
      if (isLeft) continue;
      const shown = [tab.cluster.connection.phase, view.shown.rows.length];
      expect(shown).toEqual(user === undefined ? ['signed-out', 0] : ['open', 1]);
    }
  }

  #signOut(user: string): void {
    this.#out.add(user);
    for (const each of this.#tabs) if (!each.isLeft && each.user === user) each.user = undefined;
  }

  /** A page that returns may have been signed out. It is never signed in after its user has signed out. */
  async #return(living: LivingTab): Promise<void> {
    living.isLeft = false;
    living.tab.turn('shown');
    await this.rig.pass(1_000);
    if (living.tab.cluster.connection.phase === 'open') {
      expect(this.#out.has(living.user ?? 'nobody')).toBe(false);
    } else living.user = undefined;
  }

  /** Nothing is left of tabs that have closed. */
  async end(): Promise<void> {
    for (const { tab, isLeft } of this.#tabs) if (isLeft) tab.turn('shown');
    await this.rig.pass(60_000);
    for (const { tab } of this.#tabs) tab.cluster.close();
    await this.rig.pass(100_000);
    expect([this.rig.counts, this.rig.server.openWatches]).toEqual([{ tabs: 0, pipelines: 0 }, []]);
  }
}

describe('a tab whose shared worker loads slowly', () => {
  it('B10: a tab whose shared worker loads slowly has rows of a worker of its own meanwhile, then moves', async () => {
    const rig = rigWith('a');
    const dedicated = () => rig.dedicated(true);
    const { cluster } = rig.open({ loadMs: 12_000, dedicated });
    const tab = follow(cluster, names);
    await rig.pass(11_000);
    expect(cluster.connection).toMatchObject({ phase: 'open', host: 'dedicated', workers: 1 });
    const [row] = tab.shown.rows;
    expect(row).toBeDefined();
    await rig.pass(2_000);
    expect(cluster.connection).toMatchObject({ phase: 'open', host: 'shared', workers: 2 });
    expect(tab.shown.rows[0]).toBe(row);
    expect([tab.shown.synced, tab.shown.stale]).toEqual([true, undefined]);
    rig.server.objects.create(pods, podOf('b'));
    await rig.pass(1_000);
    expect(tab.shown.rows).toHaveLength(2);
    expect(rig.counts).toEqual({ tabs: 1, pipelines: 1 });
    // The worker of the page has ended, so its watch has, too.
    expect(rig.server.openWatches).toHaveLength(1);
  });

  it('B10: a tab moves after its edits have ended', async () => {
    const rig = rigWith('a');
    const dedicated = () => rig.dedicated(true);
    const { cluster } = rig.open({ loadMs: 12_000, dedicated });
    follow(cluster, names);
    await rig.pass(11_000);
    rig.server.faults.delay(5_000, { method: 'PATCH' });
    const edited = editInWorker(cluster, pods, 'shop/a', (draft) => {
      draft.metadata.labels = { edited: 'yes' };
    });
    await rig.pass(4_000);
    expect(cluster.connection.host).toBe('dedicated');
    await rig.pass(4_000);
    expect((await edited).metadata.labels).toEqual({ edited: 'yes' });
    expect(cluster.connection.host).toBe('shared');
  });

  it('B10: a tab moves once, because its shared worker may answer too late each time', async () => {
    const rig = rigWith('a');
    const own: unknown[] = [];
    const dedicated = () => {
      const worker = rig.dedicated(true);
      own.push(worker);
      return worker;
    };
    const sluggish = () => {
      const worker = rig.dedicated();
      const { postMessage: send, terminate: close } = worker;
      const postMessage = (message: unknown) => {
        rig.scheduler.schedule(() => send(message), 6_000);
      };
      return { port: Object.assign(worker, { postMessage, close }), onerror: null };
    };
    const { cluster } = rig.open({ shared: sluggish, dedicated });
    const tab = follow(cluster, names);
    await rig.pass(60_000);
    expect([cluster.connection.host, tab.shown.synced, own.length]).toEqual(['dedicated', true, 2]);
  });

  it.each([
    ['closes the cluster', 'has loaded', 11_000],
    ['leaves the page', 'has loaded', 11_000],
    ['closes the cluster', 'is used', 13_000],
    ['leaves the page', 'is used', 13_000],
  ] as const)(
    'B8: a tab that %s before its shared worker %s leaves nothing behind in any worker',
    async (how, _, afterMs) => {
      const rig = rigWith('a');
      const tab = rig.open({ loadMs: 12_000, dedicated: () => rig.dedicated(true) });
      follow(tab.cluster, names);
      await rig.pass(6_000);
      // The tab does not move before its edit has ended.
      rig.server.faults.delay(20_000, { method: 'PATCH' });
      const edited = editInWorker(tab.cluster, pods, 'shop/a', (draft) => {
        draft.metadata.labels = { edited: 'yes' };
      });
      edited.catch(() => undefined);
      await rig.pass(afterMs - 6_000);
      if (how === 'leaves the page') tab.turn('left');
      else tab.cluster.close();
      await rig.pass(5_000);
      expect(tab.cluster.connection.phase).toBe('left');
      expect([tab.isConnected(), rig.counts]).toEqual([false, { tabs: 0, pipelines: 0 }]);
      expect(rig.server.openWatches).toEqual([]);
    },
  );

  it.each(['this tab', 'another tab'])(
    'B5: a user who signs in in %s before the shared worker has loaded stays signed in',
    async (where) => {
      const rig = rigWith('a');
      const one = rig.open(late(rig));
      const other = rig.open({ isAlone: true });
      const { cluster } = where === 'this tab' ? one : other;
      const shown = follow(cluster, names);
      await rig.pass(8_000);
      cluster.signedIn('bob');
      await rig.pass(3_000);
      expect([cluster.connection.phase, shown.shown.rows.length]).toEqual(['open', 1]);
      await rig.pass(10_000);
      expect([cluster.connection.phase, shown.shown.rows.length]).toEqual(['open', 1]);
    },
  );

  it('B5: a cluster that was closed before its shared worker has loaded does not sign out the next user', async () => {
    const rig = rigWith('a');
    const ann = rig.open(late(rig));
    const bob = rig.open({ identity: undefined, isAlone: true });
    await rig.pass(3_000);
    ann.cluster.close();
    bob.cluster.signedIn('bob');
    await rig.pass(15_000);
    expect(bob.cluster.connection.phase).toBe('open');
  });

  it('B5: what is stored for a user who signs in before the shared worker has loaded stays', async () => {
    const rig = rigWith('a');
    const store = new MemoryStore();
    rig.persist = ({ identity }) =>
      snapshotsIn(store, { identity, kinds: [pods], env: 'left-out' });
    const { cluster } = rig.open(late(rig));
    follow(cluster, names);
    await rig.pass(6_000);
    cluster.signedIn('bob');
    await rig.pass(5_900);
    expect(store.only?.head).toContain('"bob"');
    await rig.pass(10_000);
    expect(store.only?.head).toContain('"bob"');
  });

  it('B5: a user who signs in in a worker of the tab while the shared one has a session of another user stays signed in', async () => {
    const rig = rigWith('a');
    const ann = rig.open();
    follow(ann.cluster, names);
    const one = rig.open({ ...late(rig), identity: undefined });
    const shown = follow(one.cluster, names);
    await rig.pass(8_000);
    one.cluster.signedIn('bob');
    await rig.pass(2_000);
    expect([ann.cluster.connection.phase, one.cluster.connection.phase]).toEqual([
      'signed-out',
      'open',
    ]);
    await rig.pass(10_000);
    expect([one.cluster.connection.phase, shown.shown.rows.length]).toEqual(['open', 1]);
  });

  it('B5: a tab whose clock is another one than that of its worker is asked for a second hello, and served', async () => {
    const rig = rigWith('a');
    const { post, received } = rig.connectRaw();
    const hello = { type: 'hello', protocol: PROTOCOL, identity: 'ann', sentMs: -1e9 };
    const types = () => received.map((message) => (message as { type: string }).type);
    post({ ...hello, isHidden: false, hasCredentials: false });
    await rig.pass(10);
    expect(types()).toEqual(['unknown']);
    post({ ...hello, isHidden: false, hasCredentials: false });
    await rig.pass(10);
    expect(types()).toEqual(['unknown', 'welcome']);
  });

  it('B7: a cluster that a subscriber of a view closes while the tab moves stays closed', async () => {
    const rig = rigWith('a');
    const tab = rig.open(late(rig));
    const { view } = follow(tab.cluster, names);
    await rig.pass(11_000);
    view.subscribe(() => {
      if (view.getSnapshot().stale) tab.cluster.close();
    });
    await rig.pass(20_000);
    expect(tab.cluster.connection.phase).toBe('left');
    expect([tab.isConnected(), rig.counts, rig.server.openWatches.length]).toEqual([
      false,
      { tabs: 0, pipelines: 0 },
      0,
    ]);
  });

  it('B5: a tab that is signed out does not move, because only its worker may know of the sign-out', async () => {
    const rig = rigWith('a');
    const one = rig.open({ ...late(rig), identity: undefined });
    const away = rig.open({ isAlone: true });
    const shown = follow(away.cluster, names);
    await rig.pass(5_500);
    one.cluster.signedIn('ann');
    await rig.pass(500);
    away.turn('left');
    await rig.pass(2_000);
    one.cluster.signedOut();
    await rig.pass(10_000);
    away.turn('shown');
    await rig.pass(5_000);
    expect([away.cluster.connection.phase, shown.shown.rows.length]).toEqual(['signed-out', 0]);
  });

  it('B5: what is stored of a user who signs out is deleted, although the shared worker answers meanwhile', async () => {
    const rig = rigWith('a');
    const store = new MemoryStore();
    let sessions = 0;
    let isDead = false;
    // A disk that takes 300 ms to delete; the worker of the tab, which has the first session, deletes nothing once it has ended.
    rig.persist = ({ identity }) => {
      const isFirst = sessions++ === 0;
      const slow: MemoryStore = Object.create(store, {
        read: { value: (id: string) => store.read(id) },
        heads: { value: () => store.heads() },
        write: { value: (id: string, change: never) => store.write(id, change) },
        close: { value: async () => undefined },
        delete: {
          value: async (id: string) => {
            await new Promise<void>((resolve) => rig.scheduler.schedule(() => resolve(), 300));
            if (isFirst && isDead) return await new Promise<never>(() => {});
            return await store.delete(id);
          },
        },
      });
      return snapshotsIn(slow, { identity, kinds: [pods], env: 'left-out' });
    };
    const dedicated = () => {
      const worker = rig.dedicated(true);
      const { terminate } = worker;
      const end = () => {
        isDead = true;
        terminate();
      };
      return Object.assign(worker, { terminate: end });
    };
    const { cluster } = rig.open({ loadMs: 12_000, dedicated });
    follow(cluster, names);
    await rig.pass(11_950);
    expect(store.collections.size).toBe(1);
    cluster.signedOut();
    await rig.pass(20_000);
    expect([cluster.connection.phase, store.collections.size]).toEqual(['signed-out', 0]);
  });

  it('B6: a tab that waits for its edits to move does not hold up the credentials of other tabs', async () => {
    const rig = rigWith('a');
    rig.isTokenRequired = true;
    const credentials = () => ({ authorization: 'Bearer t1' });
    const one = rig.open({ ...late(rig), credentials });
    follow(one.cluster, names);
    await rig.pass(11_000);
    rig.server.faults.delay(15_000, { method: 'PATCH' });
    editInWorker(one.cluster, pods, 'shop/a', label).catch(() => undefined);
    await rig.pass(1_500);
    const shown = follow(rig.open({ credentials }).cluster, names);
    await rig.pass(3_000);
    expect(shown.shown.rows).toHaveLength(1);
  });

  it('B10: a worker of the page that has loaded late is not ended and loaded again', async () => {
    const rig = rigWith('a');
    let started = 0;
    const dedicated = () => {
      started++;
      return rig.dedicated(true, 6_000);
    };
    rig.connectRaw();
    const page = async () => ({ served: { connect: (port: never) => rig.served.connect(port) } });
    const { cluster } = rig.open({ shared: undefined, dedicated, page });
    const tab = follow(cluster, names);
    // The messages of a page that serves itself take turns of the event loop.
    const pass = async (ms: number) => {
      for (let at = 0; at < ms; at += 100) {
        await rig.pass(100);
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await pass(5_900);
    expect([cluster.connection.host, tab.shown.synced]).toEqual(['page', true]);
    let staleMs = 0;
    for (let at = 0; at < 150; at++) {
      await pass(100);
      if (tab.shown.stale) staleMs += 100;
    }
    expect([staleMs < 1_000, started]).toEqual([true, 1]);
  });

  it('B10: a tab does not leave its worker for a shared one of another version', async () => {
    const rig = rigWith('a');
    let own = 0;
    const shared = () => {
      const ms = rig.scheduler.now() < 1_000 ? 12_000 : 1;
      const port = {
        postMessage: (_: unknown): void => undefined,
        close: () => undefined,
        onmessage: null as ((event: never) => void) | null,
      };
      port.postMessage = () => {
        rig.scheduler.schedule(
          () => port.onmessage?.({ data: { type: 'incompatible', protocol: 2 } } as never),
          ms,
        );
      };
      return { port, onerror: null };
    };
    const dedicated = () => {
      own++;
      return rig.dedicated(true);
    };
    const tab = follow(rig.open({ shared, dedicated }).cluster, names);
    await rig.pass(11_000);
    const calls = tab.calls();
    await rig.pass(20_000);
    expect([own, tab.calls() - calls]).toEqual([1, 0]);
  });

  it('B5, B10: whoever signs in and out meanwhile, tabs show the rows of those who are signed in', async () => {
    const steps = fc.array(step, { minLength: 5, maxLength: 30, size: 'max' });
    const loads = fc.array(fc.integer({ min: 5_500, max: 30_000 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(loads, steps, async (load, all) => {
        const life = new Life(load);
        await life.rig.pass(5_200);
        for (const each of all) await life.step(...each);
        await life.end();
      }),
      { numRuns: Number(process.env['WORKER_LIVES'] ?? 60) },
    );
  }, 600_000);
});
