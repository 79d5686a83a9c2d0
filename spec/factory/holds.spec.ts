/** Whoever comes and goes: an informer runs as long as somebody needs it, and a linger longer. */
import fc from 'fast-check';
import type { InformerHandle } from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { rig } from './rig.ts';

const LINGER_MS = 1_000;
const SCOPES = [{ namespace: 'shop' }, { namespace: 'till' }] as const;

type Act =
  | { readonly act: 'acquire'; readonly scope: 0 | 1 }
  | { readonly act: 'keep'; readonly scope: 0 | 1 }
  | { readonly act: 'stop'; readonly scope: 0 | 1 }
  | { readonly act: 'release'; readonly which: number }
  | { readonly act: 'wait'; readonly ms: number };

const scope = fc.constantFrom(0 as const, 1 as const);
const acts = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ act: fc.constant('acquire' as const), scope }) },
    { weight: 5, arbitrary: fc.record({ act: fc.constant('release' as const), which: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('keep' as const), scope }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant('stop' as const), scope }) },
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

/** What must be there, in the plainest words: of each scope an informer, or none. */
class Model {
  readonly #of = SCOPES.map(() => ({ life: 0, kept: false, holds: 0, endsAt: -1, isThere: false }));
  now = 0;

  #at(index: number) {
    const entry = this.#of[index];
    if (entry === undefined) throw new Error(`no scope ${index}`);
    return entry;
  }

  ask(index: number, how: 'keep' | 'acquire'): number {
    const entry = this.#at(index);
    if (!entry.isThere) Object.assign(entry, { life: entry.life + 1, isThere: true });
    entry.endsAt = -1;
    if (how === 'keep') entry.kept = true;
    else entry.holds++;
    return entry.life;
  }

  release(index: number, life: number): void {
    const entry = this.#at(index);
    if (!entry.isThere || entry.life !== life) return;
    entry.holds--;
    if (entry.holds === 0 && !entry.kept) entry.endsAt = this.now + LINGER_MS;
  }

  end(index: number): void {
    Object.assign(this.#at(index), { isThere: false, kept: false, holds: 0, endsAt: -1 });
  }

  wait(ms: number): void {
    this.now += ms;
    this.#of.forEach(({ endsAt }, index) => {
      if (endsAt >= 0 && endsAt <= this.now) this.end(index);
    });
  }

  get there(): boolean[] {
    return this.#of.map(({ isThere }) => isThere);
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
  own.start();
  const model = new Model();
  const held: Held[] = [];
  for (const act of script) {
    if (act.act === 'acquire') {
      const handle = own.acquire(pods, SCOPES[act.scope]);
      held.push({ handle, scope: act.scope, life: model.ask(act.scope, 'acquire') });
    } else if (act.act === 'keep') {
      own.lister(pods, SCOPES[act.scope]);
      model.ask(act.scope, 'keep');
    } else if (act.act === 'wait') {
      await time.advance(act.ms);
      model.wait(act.ms);
    } else if (act.act === 'stop') {
      await own.stop(pods, SCOPES[act.scope]);
      model.end(act.scope);
    } else {
      const [gone] = held.splice(act.which % Math.max(1, held.length), 1);
      if (gone === undefined) continue;
      gone.handle.release();
      gone.handle.release();
      model.release(gone.scope, gone.life);
    }
    const there = SCOPES.map(({ namespace }) => own.informers.includes(`pods/${namespace}`));
    expect(there).toEqual(model.there);
  }
  await time.advance(10);
  model.wait(10);
  const watched = SCOPES.map(({ namespace }) =>
    server.openWatches.some(({ request }) => request.path.includes(`/${namespace}/`)),
  );
  expect(watched).toEqual(model.there);
  expect(server.openWatches).toHaveLength(model.there.filter(Boolean).length);
  await own.stop();
  expect(server.openWatches).toHaveLength(0);
  expect(time.pending).toBe(0);
}

describe('holds', () => {
  it('G5, G6: in any order leave running what somebody needs, and nothing else', async () => {
    await fc.assert(fc.asyncProperty(acts, play), { numRuns: 60 });
  });
});
