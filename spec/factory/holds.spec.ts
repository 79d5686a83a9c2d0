/** Model test of holds: an informer runs while it is held or subscribed, and lingers afterwards. */
import fc from 'fast-check';
import type { InformerHandle } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import type { Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { rig } from './rig.ts';

const LINGER_MS = 1_000;
const SCOPES = [{ namespace: 'shop' }, { namespace: 'till' }] as const;

type OfScope = 'acquire' | 'keep' | 'forget';
/** Acts on a handle: release it, subscribe through it, end a subscription, stop its informer separately. */
type OfHandle = 'release' | 'watch' | 'leave' | 'stop';
type Act =
  | { readonly act: OfScope; readonly scope: 0 | 1 }
  | { readonly act: OfHandle; readonly which: number }
  | { readonly act: 'start all' | 'stop all' }
  | { readonly act: 'wait'; readonly ms: number };

const scope = fc.constantFrom(0 as const, 1 as const);
const ofScope = (act: OfScope) => fc.record({ act: fc.constant(act), scope });
const ofHandle = (act: OfHandle) => fc.record({ act: fc.constant(act), which: fc.nat(9) });
const acts: fc.Arbitrary<Act[]> = fc.array(
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
      arbitrary: fc.record({ act: fc.constantFrom('start all' as const, 'stop all' as const) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        act: fc.constant('wait' as const),
        ms: fc.constantFrom(10, 400, LINGER_MS),
      }),
    },
  ),
  { maxLength: 40 },
);

const NOBODY = { isThere: false, kept: false, holds: 0, endsAt: -1 };
const AT_REST = { pinned: false, stopped: false, watchers: 0, idleAt: -1 };

/** The expected state: for each scope no informer, or one that runs or does not run. */
class Model {
  readonly #of = SCOPES.map(() => ({ life: 0, ...NOBODY, ...AT_REST }));
  #started = false;
  now = 0;

  #at(index: number) {
    const entry = this.#of[index];
    if (entry === undefined) throw new Error(`no scope ${index}`);
    return entry;
  }

  #runs({ pinned, watchers, idleAt }: typeof AT_REST): boolean {
    return pinned || watchers > 0 || idleAt > this.now;
  }

  ask(index: number, how: 'keep' | 'acquire'): number {
    const entry = this.#at(index);
    if (!entry.isThere) {
      Object.assign(entry, AT_REST, { life: entry.life + 1, isThere: true, pinned: this.#started });
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
    if (!entry.isThere || entry.life !== life) return;
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
    Object.assign(this.#at(index), AT_REST, { stopped: true });
  }

  forget(index: number): void {
    Object.assign(this.#at(index), NOBODY, AT_REST);
  }

  startAll(): void {
    this.#started = true;
    for (const entry of this.#of) {
      if (entry.isThere) Object.assign(entry, { pinned: true, stopped: false, idleAt: -1 });
    }
  }

  stopAll(): void {
    this.#started = false;
    this.#of.forEach((entry, index) => {
      if (!entry.isThere) return;
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
    return entry.isThere && entry.life === life;
  }

  get there(): boolean[] {
    return this.#of.map(({ isThere }) => isThere);
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

async function play(script: readonly Act[]): Promise<void> {
  const { server, time, factory } = rig();
  const own = factory({ lingerMs: LINGER_MS });
  const model = new Model();
  const held: Held[] = [];
  let watching: { readonly held: Held; readonly subscription: Subscription }[] = [];
  const pick = <T>(from: readonly T[], which: number): T | undefined => from[which % from.length];
  const run: { readonly [A in Act['act']]: (act: Extract<Act, { act: A }>) => unknown } = {
    acquire: ({ scope }) => {
      const handle = own.acquire(pods, SCOPES[scope]);
      held.push({ handle, scope, life: model.ask(scope, 'acquire') });
    },
    keep: ({ scope }) => {
      own.lister(pods, SCOPES[scope]);
      model.ask(scope, 'keep');
    },
    forget: async ({ scope }) => {
      await own.stop(pods, SCOPES[scope]);
      model.forget(scope);
    },
    release: ({ which }) => {
      const gone = pick(held, which);
      if (gone === undefined) return;
      held.splice(held.indexOf(gone), 1);
      gone.handle.release();
      gone.handle.release();
      model.release(gone.scope, gone.life);
    },
    watch: ({ which }) => {
      const one = pick(held, which);
      if (one === undefined || !model.isCurrent(one.scope, one.life)) return;
      watching.push({ held: one, subscription: one.handle.informer.changes$.subscribe() });
      model.watch(one.scope);
    },
    leave: ({ which }) => {
      watching = watching.filter(({ subscription }) => !subscription.closed);
      const one = pick(watching, which);
      if (one === undefined) return;
      one.subscription.unsubscribe();
      model.leave(one.held.scope);
    },
    stop: async ({ which }) => {
      const one = pick(held, which);
      if (one === undefined || !model.isCurrent(one.scope, one.life)) return;
      await one.handle.informer.stop();
      model.stop(one.scope);
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
  for (const act of script) {
    await run[act.act](act as never);
    const there = SCOPES.map(({ namespace }) => own.informers.includes(`pods/${namespace}`));
    expect(there).toEqual(model.there);
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
  it('G5, G6, G15: acts in any order keep exactly the informers that are held or subscribed', async () => {
    await fc.assert(fc.asyncProperty(acts, play), { numRuns: 150 });
  });
});
