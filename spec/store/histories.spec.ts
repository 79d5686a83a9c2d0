import { applyDeltas, type ChangeSet, createIndexer, type Delta, deltaFifo } from 'rx-informer';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Waiting } from '../../lib/store/waiting.ts';
import { compressions } from '../delta/compressions.ts';
import { added, deleted, keyOf, lost, type Pod, pod, updated } from '../delta/pods.ts';
import * as fc from '../support/fast-check.ts';

const step = fc.record({
  what: fc.constantFrom(
    ...(['put', 'put', 'put', 'put', 'delete', 'delete', 'lost', 'recreate', 'replay'] as const),
    ...(['quiet', 'relist', 'parts', 'abort', 'restore', 'bookmark', 'resync', 'pop'] as const),
  ),
  key: fc.constantFrom('shop/a', 'shop/b', 'shop/c', 'lab/a', 'lab/b'),
  scope: fc.constantFrom(undefined, 'shop', 'lab'),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A server with its reflector, which emits deltas in order, and none for changes that it missed. */
class Server {
  readonly there = new Map<string, Pod>();
  #log: Delta<Pod>[] = [];
  #version = 10;
  #born = 0;
  /** Whether a change was missed, so that a list is needed. */
  behind = true;
  /**
   * Whether a watch has repeated events. A repeated event may restore a deleted object until its deletion is repeated.
   */
  replayed = false;

  act({ what, key, scope }: Step): Delta<Pod>[] {
    const old = this.there.get(key);
    if (what === 'quiet') {
      // A change for which no event is emitted.
      this.behind = true;
      if (old && scope === 'lab') this.there.delete(key);
      else this.#put(key, scope === 'shop' ? old : undefined);
      return [];
    }
    if (['relist', 'parts', 'restore'].includes(what)) return this.#list(what, scope);
    if (what === 'abort') {
      const scoped = scope === undefined ? {} : { scope };
      const objects = this.#in(scope).slice(0, 1);
      const part: Delta<Pod> = { type: 'replacing', objects, ...scoped };
      return [part, { type: 'replace-abort', ...scoped }];
    }
    // A watch emits events only after a list.
    if (this.behind) return [];
    const event = this.#event(what, key, old);
    this.#log.push(...event.filter((delta) => delta.type !== 'bookmark'));
    if (what !== 'replay') return event;
    this.replayed = true;
    return this.#log.slice(-3);
  }

  #event(what: Step['what'], key: string, old: Pod | undefined): Delta<Pod>[] {
    if (what === 'put') return [old ? updated(this.#put(key, old)) : added(this.#put(key))];
    if (what === 'recreate') return [updated(this.#put(key))];
    if (what === 'bookmark') {
      return [{ type: 'bookmark', resourceVersion: String(++this.#version) }];
    }
    if (old === undefined || (what !== 'delete' && what !== 'lost')) return [];
    this.there.delete(key);
    this.#version++;
    return [what === 'lost' ? lost(key) : deleted(pod(key, this.#version, old.metadata.uid))];
  }

  #put(key: string, old?: Pod): Pod {
    this.#version++;
    const made = pod(key, this.#version, old?.metadata.uid ?? `u${++this.#born}`);
    this.there.set(key, made);
    return made;
  }

  #in(scope: string | undefined): Pod[] {
    const all = [...this.there.values()];
    return all.filter(({ metadata }) => scope === undefined || metadata.namespace === scope);
  }

  #list(what: Step['what'], scope: string | undefined): Delta<Pod>[] {
    const restored = what === 'restore';
    const asked = restored || this.behind ? undefined : scope;
    if (restored) {
      // An older backup was restored: versions start again below those already seen, with other contents.
      this.#version = 10;
      for (const [key, old] of [...this.there]) this.#put(key, old);
    }
    this.behind = false;
    this.#log = [];
    const scoped = asked === undefined ? {} : { scope: asked };
    const objects = this.#in(asked).map((it) => structuredClone(it));
    const half = what === 'parts' ? Math.ceil(objects.length / 2) : 0;
    const end: Delta<Pod> = {
      type: 'replaced',
      ...scoped,
      objects: objects.slice(half),
      resourceVersion: String(++this.#version),
      trustVersions: !restored,
    };
    return half === 0
      ? [end]
      : [{ type: 'replacing', objects: objects.slice(0, half), ...scoped }, end];
  }
}

/** A consumer, whose state follows from the change sets that it received. */
class Consumer {
  readonly has = new Map<string, Pod>();
  readonly #ended = new Set<string>();
  #rev = 0;

  take(set: ChangeSet<Pod>, replayed: boolean): void {
    expect(set.rev).toBeGreaterThan(this.#rev);
    this.#rev = set.rev;
    expect(new Set(set.changes.map(({ id }) => id)).size).toBe(set.changes.length);
    const kinds = set.changes.map(({ object }) => object === undefined);
    expect(kinds.lastIndexOf(true)).toBeLessThan(
      kinds.indexOf(false) < 0 ? 1e9 : kinds.indexOf(false),
    );
    for (const { id, key, previous, object, last } of set.changes) {
      // add → update* → delete, and a UID is never added again.
      expect(this.has.get(key)).toBe(previous);
      if (!replayed) expect(this.#ended.has(id)).toBe(false);
      if (previous) expect(previous.metadata.uid).toBe(id);
      if (object) {
        expect(object.metadata.uid).toBe(id);
        this.has.set(key, object);
      } else {
        expect(last?.metadata.uid).toBe(id);
        this.has.delete(key);
        this.#ended.add(id);
      }
    }
  }
}

function play(steps: readonly Step[], compression: 'none' | 'latest', everyTake: number): number {
  const server = new Server();
  const indexer = createIndexer<Pod>({ indexers: { uid: (it) => [it.metadata.uid] } });
  const source = new Subject<readonly Delta<Pod>[]>();
  const [open, resync$] = [new Subject<void>(), new Subject<void>()];
  const [prompt, slow] = [new Consumer(), new Consumer()];
  const waiting = new Waiting<Pod>();
  let sets = 0;
  const pipe = source.pipe(
    deltaFifo({
      known: indexer,
      ready: () => open,
      resync$,
      compression: compressions[compression],
    }),
    applyDeltas(indexer),
  );
  const flush = () => {
    const set = waiting.take();
    if (set !== undefined) slow.take(set, server.replayed);
    expect(slow.has).toEqual(prompt.has);
  };
  // RxJS would report an error that is thrown in a callback, so errors are collected and thrown outside.
  const failures: unknown[] = [];
  const guarded = (test: () => void) => {
    try {
      test();
    } catch (error) {
      failures.push(error);
    }
  };
  const receive = (set: ChangeSet<Pod>) => {
    sets++;
    prompt.take(set, server.replayed);
    // The store shows this commit: its contents equal the state that follows from all change sets.
    expect(new Map(indexer.list().map((it) => [keyOf(it), it]))).toEqual(prompt.has);
    waiting.push(set);
    if (sets % everyTake === 0) flush();
  };
  pipe.subscribe((set) => guarded(() => receive(set)));
  const end: Step = { what: 'relist', key: 'shop/a', scope: undefined };
  for (const next of [...steps, ...(server.behind ? [end] : [])]) {
    if (next.what === 'pop') open.next();
    else if (next.what === 'resync') resync$.next();
    else {
      const deltas = server.act(next);
      if (deltas.length > 0) source.next(deltas);
    }
    if (failures.length > 0) throw failures[0];
    if (next.what === 'pop' && !server.behind) check();
  }
  open.next();
  if (failures.length > 0) throw failures[0];
  check();
  flush();
  return sets;

  function check(): void {
    expect(new Map(indexer.list().map((it) => [keyOf(it), it]))).toEqual(server.there);
    expect([...indexer.listIndexFuncValues('uid')].sort()).toEqual(
      [...server.there.values()].map(({ metadata }) => metadata.uid).sort(),
    );
  }
}

describe('histories', () => {
  it.each(['none', 'latest'] as const)(
    'S5, S7, S8, S15: on random histories the store equals the server, the change sets and their folds lead to the contents of the store, and each UID is added, updated, deleted; compression %s',
    (compression) => {
      let sets = 0;
      fc.assert(
        fc.property(
          fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }),
          fc.integer({ min: 1, max: 6 }),
          (steps, everyTake) => {
            sets += play(steps, compression, everyTake);
          },
        ),
        { numRuns: 400, seed: 11 },
      );
      expect(sets).toBeGreaterThan(1000);
    },
  );
});
