/** Model test of holds: an informer runs while it is held or subscribed, and lingers afterwards. */

import type { InformerHandle } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import type { Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { rig } from './rig.ts';

const LINGER_MS = 1_000;
const SCOPES = [{ namespace: 'shop' }, { namespace: 'till' }] as const;

type ScopeAction = 'acquire' | 'keep' | 'forget';
/** Actions on a handle: release it, subscribe through it, end a subscription, stop its informer separately. */
type HandleAction = 'release' | 'watch' | 'leave' | 'stop';
type Action =
  | { readonly action: ScopeAction; readonly scope: 0 | 1 }
  | { readonly action: HandleAction; readonly choice: number }
  | { readonly action: 'start all' | 'stop all' }
  | { readonly action: 'wait'; readonly ms: number };

const scope = fc.constantFrom(0 as const, 1 as const);
const ofScope = (action: ScopeAction) => fc.record({ action: fc.constant(action), scope });
const ofHandle = (action: HandleAction) =>
  fc.record({ action: fc.constant(action), choice: fc.nat(9) });
const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: ofScope('acquire') },
    { weight: 1, arbitrary: ofScope('keep') },
    { weight: 1, arbitrary: ofScope('forget') },
    { weight: 5, arbitrary: ofHandle('release') },
    { weight: 3, arbitrary: ofHandle('watch') },
    { weight: 2, arbitrary: ofHandle('leave') },
    { weight: 1, arbitrary: ofHandle('stop') },
    {
      weight: 2,
      arbitrary: fc.record({ action: fc.constantFrom('start all' as const, 'stop all' as const) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        action: fc.constant('wait' as const),
        ms: fc.constantFrom(10, 400, LINGER_MS),
      }),
    },
  ),
  { maxLength: 40 },
);

const ABSENT = { exists: false, kept: false, holds: 0, endsAt: -1 };
const NOT_RUNNING = { pinned: false, stopped: false, watchers: 0, idleAt: -1 };

/** The expected state: for each scope no informer, or one that runs or does not run. */
class Model {
  readonly #of = SCOPES.map(() => ({ life: 0, ...ABSENT, ...NOT_RUNNING }));
  #started = false;
  now = 0;

  #at(index: number) {
    const entry = this.#of[index];
    if (entry === undefined) throw new Error(`no scope ${index}`);
    return entry;
  }

  #runs({ pinned, watchers, idleAt }: typeof NOT_RUNNING): boolean {
    return pinned || watchers > 0 || idleAt > this.now;
  }

  request(index: number, how: 'keep' | 'acquire'): number {
    const entry = this.#at(index);
    if (!entry.exists) {
      Object.assign(entry, NOT_RUNNING, {
        life: entry.life + 1,
        exists: true,
        pinned: this.#started,
      });
    } else if (this.#started && entry.stopped) {
      Object.assign(entry, { stopped: false, pinned: true });
    }
    entry.endsAt = -1;
    if (how === 'keep') entry.kept = true;
    else entry.holds++;
    return entry.life;
  }

  release(index: number, life: number): void {
    const entry = this.#at(index);
    if (!entry.exists || entry.life !== life) return;
    entry.holds--;
    if (entry.holds > 0 || entry.kept) return;
    if (this.#runs(entry)) entry.endsAt = this.now + LINGER_MS;
    else this.forget(index);
  }

  watch(index: number): void {
    const entry = this.#at(index);
    Object.assign(entry, { stopped: false, watchers: entry.watchers + 1, idleAt: -1 });
  }

  leave(index: number): void {
    const entry = this.#at(index);
    entry.watchers--;
    if (entry.watchers === 0 && !entry.pinned) entry.idleAt = this.now + LINGER_MS;
  }

  stop(index: number): void {
    Object.assign(this.#at(index), NOT_RUNNING, { stopped: true });
  }

  forget(index: number): void {
    Object.assign(this.#at(index), ABSENT, NOT_RUNNING);
  }

  startAll(): void {
    this.#started = true;
    for (const entry of this.#of) {
      if (entry.exists) Object.assign(entry, { pinned: true, stopped: false, idleAt: -1 });
    }
  }

  stopAll(): void {
    this.#started = false;
    this.#of.forEach((entry, index) => {
      if (!entry.exists) return;
      if (entry.kept || entry.holds > 0) this.stop(index);
      else this.forget(index);
    });
  }

  wait(ms: number): void {
    this.now += ms;
    this.#of.forEach(({ endsAt }, index) => {
      if (endsAt >= 0 && endsAt <= this.now) this.forget(index);
    });
  }

  /** Whether a handle belongs to the current informer of the scope. */
  isCurrent(index: number, life: number): boolean {
    const entry = this.#at(index);
    return entry.exists && entry.life === life;
  }

  get existing(): boolean[] {
    return this.#of.map(({ exists }) => exists);
  }

  get running(): boolean[] {
    return this.#of.map((entry) => this.#runs(entry));
  }
}

interface Held {
  readonly handle: InformerHandle<Pod>;
  readonly scope: number;
  readonly life: number;
}

async function play(script: readonly Action[]): Promise<void> {
  const { server, time, factory } = rig();
  const own = factory({ lingerMs: LINGER_MS });
  const model = new Model();
  const held: Held[] = [];
  let watching: { readonly held: Held; readonly subscription: Subscription }[] = [];
  const pick = <T>(from: readonly T[], choice: number): T | undefined => from[choice % from.length];
  const run: {
    readonly [A in Action['action']]: (action: Extract<Action, { action: A }>) => unknown;
  } = {
    acquire: ({ scope }) => {
      const handle = own.acquire(pods, SCOPES[scope]);
      held.push({ handle, scope, life: model.request(scope, 'acquire') });
    },
    keep: ({ scope }) => {
      own.lister(pods, SCOPES[scope]);
      model.request(scope, 'keep');
    },
    forget: async ({ scope }) => {
      await own.stop(pods, SCOPES[scope]);
      model.forget(scope);
    },
    release: ({ choice }) => {
      const released = pick(held, choice);
      if (released === undefined) return;
      held.splice(held.indexOf(released), 1);
      released.handle.release();
      released.handle.release();
      model.release(released.scope, released.life);
    },
    watch: ({ choice }) => {
      const chosen = pick(held, choice);
      if (chosen === undefined || !model.isCurrent(chosen.scope, chosen.life)) return;
      watching.push({ held: chosen, subscription: chosen.handle.informer.changes$.subscribe() });
      model.watch(chosen.scope);
    },
    leave: ({ choice }) => {
      watching = watching.filter(({ subscription }) => !subscription.closed);
      const chosen = pick(watching, choice);
      if (chosen === undefined) return;
      chosen.subscription.unsubscribe();
      model.leave(chosen.held.scope);
    },
    stop: async ({ choice }) => {
      const chosen = pick(held, choice);
      if (chosen === undefined || !model.isCurrent(chosen.scope, chosen.life)) return;
      await chosen.handle.informer.stop();
      model.stop(chosen.scope);
    },
    'start all': () => {
      own.start();
      model.startAll();
    },
    'stop all': async () => {
      await own.stop();
      model.stopAll();
    },
    wait: async ({ ms }) => {
      await time.advance(ms);
      model.wait(ms);
    },
  };
  for (const action of script) {
    await run[action.action](action as never);
    const existing = SCOPES.map(({ namespace }) => own.informers.includes(`pods/${namespace}`));
    expect(existing).toEqual(model.existing);
  }
  await time.advance(10);
  model.wait(10);
  const watched = SCOPES.map(({ namespace }) =>
    server.openWatches.some(({ request }) => request.path.includes(`/${namespace}/`)),
  );
  expect(watched).toEqual(model.running);
  expect(server.openWatches).toHaveLength(model.running.filter(Boolean).length);
  await own.stop();
  expect(server.openWatches).toHaveLength(0);
  expect(time.pending).toBe(0);
}

describe('holds', () => {
  it('G5, G2: after actions in any order, exactly the held or subscribed informers run', async () => {
    await fc.assert(fc.asyncProperty(actions, play), { numRuns: 150 });
  });
});
