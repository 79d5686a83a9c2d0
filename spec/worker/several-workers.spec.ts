/**
 * Tests tabs whose workers differ, as after a deployment, or where a page has a worker of its own: they learn of sign-outs from
 * each other. Random lives are compared with a plain model.
 */

import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { type BrowserRig, follow } from './browser-rig.ts';
import { names, rigWith } from './rig-pods.ts';

const USERS = ['ann', 'bob'];
const STEPS = ['sign-in', 'sign-in', 'sign-out', 'leave', 'return'] as const;
const step = fc.tuple(fc.constantFrom(...STEPS), fc.nat(4), fc.constantFrom(...USERS));

/** A worker, as far as the model knows: the user of its session. */
interface ModelWorker {
  user: string | undefined;
}

/** Two tabs of one shared worker, and three with workers of their own, which end when their page is left. */
class Life {
  readonly rig: BrowserRig = rigWith('a');
  readonly #shared: ModelWorker = { user: undefined };
  /** Who has signed out and not in again. */
  readonly #out = new Set<string>();
  readonly #tabs = [false, false, true, true, true].map((isAlone) => {
    const tab = this.rig.open({ identity: undefined, isAlone });
    const view = follow(tab.cluster, names);
    const worker: ModelWorker = isAlone ? { user: undefined } : this.#shared;
    const user = undefined as string | undefined;
    return { tab, view, isAlone, worker, user, isLeft: false, wasSignedIn: false };
  });

  async step(what: (typeof STEPS)[number], at: number, user: string): Promise<void> {
    const living = this.#tabs[at];
    if (living === undefined || living.isLeft === (what !== 'return')) return;
    const { tab, worker, isAlone } = living;
    if (what === 'sign-in') {
      tab.cluster.signedIn(user);
      for (const each of this.#tabs) {
        if (each.worker.user !== user) this.#signOut(each.worker.user);
        // The shared worker knows of the user of a page that was left, whose worker has ended.
        if (each.user !== undefined && each.user !== user) this.#out.add(each.user);
      }
      this.#out.delete(user);
      worker.user = user;
      living.user = user;
      living.wasSignedIn = true;
    } else if (what === 'sign-out') {
      tab.cluster.signedOut();
      // Whoever has been signed out does not sign out the next user.
      if (living.user !== undefined || !living.wasSignedIn) this.#signOut(worker.user);
    } else {
      living.isLeft = what === 'leave';
      tab.turn(living.isLeft ? 'left' : 'shown');
      if (isAlone) {
        const users = this.#tabs.flatMap((each) => each.worker.user ?? []);
        const isOut = (name: string) => this.#out.has(name) || users.some((user) => user !== name);
        if (living.user !== undefined && isOut(living.user)) living.user = undefined;
        worker.user = living.isLeft ? undefined : living.user;
      } else if (!living.isLeft && living.user !== worker.user) living.user = undefined;
    }
    await this.rig.pass(1_000);
    for (const { tab, view, user, isLeft } of this.#tabs) {
      if (isLeft) continue;
      const { phase } = tab.cluster.connection;
      const shown = [phase, view.shown.rows.length];
      expect(shown).toEqual(user === undefined ? ['signed-out', 0] : ['open', 1]);
    }
  }

  #signOut(user: string | undefined): void {
    if (user === undefined) return;
    this.#out.add(user);
    for (const living of this.#tabs) {
      if (living.worker.user === user) living.worker.user = undefined;
      // A page that is left learns it when it returns, if the user has not signed in again.
      if (living.user === user && !living.isLeft) living.user = undefined;
    }
  }
}

describe('several workers of one origin', () => {
  it.each(['signs out', 'signs in as another user'])(
    'B5: a user who %s does so for the tabs of other workers, and may sign in again',
    async (how) => {
      const rig = rigWith('a');
      const tabs = [rig.open(), rig.open({ isAlone: true }), rig.open({ isAlone: true })] as const;
      const shown = tabs.map(({ cluster }) => follow(cluster, names));
      await rig.pass(1_000);
      const rows = () => shown.map((each) => each.shown.rows.length);
      const phases = () => tabs.map(({ cluster }) => cluster.connection.phase);
      expect(rows()).toEqual([1, 1, 1]);
      if (how === 'signs out') tabs[1].cluster.signedOut();
      else tabs[1].cluster.signedIn('bob');
      await rig.pass(5_000);
      const own = how === 'signs out' ? 'signed-out' : 'open';
      expect(phases()).toEqual(['signed-out', own, 'signed-out']);
      expect(rows()).toEqual([0, own === 'open' ? 1 : 0, 0]);
      for (const { cluster } of tabs) cluster.signedIn('ann');
      await rig.pass(5_000);
      expect([phases(), rows()]).toEqual([
        ['open', 'open', 'open'],
        [1, 1, 1],
      ]);
    },
  );

  it.each(['the shared worker', 'a worker of another page'])(
    'B5: a page whose worker has ended is signed out when it returns, if another user has signed in and out in %s',
    async (where) => {
      const rig = rigWith('a');
      const isAlone = where !== 'the shared worker';
      const shared = rig.open({ identity: undefined });
      const { cluster } = isAlone ? rig.open({ identity: undefined, isAlone }) : shared;
      const away = rig.open({ isAlone: true });
      const shown = follow(away.cluster, names);
      await rig.pass(1_000);
      expect(shown.shown.rows).toHaveLength(1);
      away.turn('left');
      cluster.signedIn('bob');
      await rig.pass(1_000);
      cluster.signedOut();
      await rig.pass(1_000);
      away.turn('shown');
      await rig.pass(1_000);
      expect([away.cluster.connection.phase, shown.shown.rows]).toEqual(['signed-out', []]);
    },
  );

  it('B5: a user who signs in signs out no other user of another application, and a sign-out ends both sessions of the user', async () => {
    const rig = rigWith('a');
    const ann = rig.open({ isAlone: true, folder: '/shop/' });
    const bob = rig.open({ isAlone: true, folder: '/admin/', identity: 'bob' });
    const phases = () => [ann, bob].map(({ cluster }) => cluster.connection.phase);
    await rig.pass(1_000);
    expect(phases()).toEqual(['open', 'open']);
    bob.cluster.signedIn('ann');
    await rig.pass(1_000);
    expect(phases()).toEqual(['open', 'open']);
    bob.cluster.signedOut();
    await rig.pass(1_000);
    expect(phases()).toEqual(['signed-out', 'signed-out']);
  });

  it('B5: whoever signs in and out, and leaves and returns, tabs show the rows of those who are signed in', async () => {
    const steps = fc.array(step, { minLength: 5, maxLength: 30, size: 'max' });
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const life = new Life();
        await life.rig.pass(100);
        for (const each of all) await life.step(...each);
      }),
      { numRuns: Number(process.env['WORKER_LIVES'] ?? 60) },
    );
  }, 600_000);
});
