/** What waits for a slow reader, compared with the changes as they happened: for a reader of sets and one of single changes. */
import { type Change, type ChangeSet, createChangeSet } from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { WaitingChanges } from '../../lib/informer/handlers/waiting-changes.ts';
import { LimitedWaiting } from '../../lib/store/limited-waiting.ts';
import { Waiting } from '../../lib/store/waiting.ts';
import { type Pod, pod } from '../delta/pods.ts';
import * as fc from '../support/fast-check.ts';

const NAMES = ['a', 'b', 'c', 'd'];
const head = {
  cause: 'watch',
  reset: false,
  synced: true,
  initial: false,
  resourceVersion: '',
} as const;

/** Pushes change sets of random writes. */
class Writer {
  readonly now = new Map<string, Pod>();
  readonly #ended = new Set<string>();
  readonly #recreates: boolean;
  #version = 0;

  constructor(recreates = true) {
    this.#recreates = recreates;
  }

  write(names: readonly string[], end: boolean): ChangeSet<Pod> {
    const deletions: Change<Pod>[] = [];
    const others: Change<Pod>[] = [];
    for (const key of new Set(names)) {
      const previous = this.now.get(key);
      if (end ? previous === undefined : !this.#recreates && this.#ended.has(key)) continue;
      const id = previous?.metadata.uid ?? `${key}-${this.#version}`;
      const object = pod(key, ++this.#version, id);
      if (end && previous !== undefined) {
        deletions.push({ id, key, previous, last: object });
        this.now.delete(key);
        this.#ended.add(key);
      } else {
        others.push({ id, key, object, ...(previous && { previous }) });
        this.now.set(key, object);
      }
    }
    return createChangeSet<Pod>({ ...head, rev: this.#version }, [...deletions, ...others]);
  }
}

/** Keeps what it reads. */
class Reader {
  readonly had = new Map<string, Pod>();

  read({ key, previous, object }: Change<Pod>): void {
    expect(this.had.get(key)).toBe(previous);
    if (object === undefined) this.had.delete(key);
    else this.had.set(key, object);
  }
}

const step = fc.record({
  do: fc.constantFrom('put', 'put', 'end', 'read', 'read'),
  names: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }),
});
const steps = fc.array(step, { maxLength: 60, size: 'max' });
const limit = fc.constantFrom(0, 1, 3);

describe('what waits for a reader', () => {
  it('S15: each change of a reader of sets begins with what it had, and at most one of a row waits beyond the limit', () => {
    let most = 0;
    fc.assert(
      fc.property(limit, steps, (limit, steps) => {
        const [writer, reader] = [new Writer(), new Reader()];
        const waiting = new LimitedWaiting<Pod>({ limit });
        const take = () => {
          for (const change of waiting.take()?.changes ?? []) reader.read(change);
        };
        for (const { do: what, names } of steps) {
          if (what === 'read') take();
          else waiting.push(writer.write(names, what === 'end'));
          // A deletion and its successor, or `limit` sets, of which the only one may have all names.
          const bound = Math.max(2, limit) * NAMES.length;
          expect(waiting.size).toBeLessThanOrEqual(bound);
          most = Math.max(most, waiting.size);
        }
        while (!waiting.isEmpty) take();
        expect(reader.had).toEqual(writer.now);
        expect(waiting.size).toBe(0);
      }),
      { numRuns: 300 },
    );
    expect(most).toBeGreaterThan(NAMES.length);
  });

  it('I20: each change of a reader of single changes begins with what it had, and at most one of a key waits beyond the limit', () => {
    fc.assert(
      fc.property(limit, steps, (limit, steps) => {
        const [writer, reader] = [new Writer(), new Reader()];
        const waiting = new WaitingChanges<Pod>({ limit });
        for (const { do: what, names } of steps) {
          const change = what === 'read' ? waiting.next() : undefined;
          if (change !== undefined) reader.read(change);
          const set = what === 'read' ? undefined : writer.write(names, what === 'end');
          if (set !== undefined && set.changes.length > 0) waiting.push(set);
          // The set that is read, and `limit` others; and the successor of an object whose deletion was read.
          expect(waiting.size).toBeLessThanOrEqual((limit + 1) * NAMES.length + 1);
        }
        for (let most = waiting.size * 2; most > 0; most--) {
          const change = waiting.next();
          if (change !== undefined) reader.read(change);
        }
        expect(waiting.size).toBe(0);
        expect(reader.had).toEqual(writer.now);
      }),
      { numRuns: 300 },
    );
  });

  it('I12: a set has passed once all that waits since it was read, or has come and gone', () => {
    let passed = 0;
    fc.assert(
      fc.property(steps, fc.nat({ max: 20 }), (steps, markAt) => {
        const [writer, reader] = [new Writer(false), new Reader()];
        const waiting = new WaitingChanges<Pod>();
        const isBehind = (key: string) => reader.had.get(key) !== writer.now.get(key);
        let mark: { readonly end: number; behind: string[] } | undefined;
        for (const [at, { do: what, names }] of steps.entries()) {
          const change = what === 'read' ? waiting.next() : undefined;
          if (change !== undefined) reader.read(change);
          const set = what === 'read' ? undefined : writer.write(names, what === 'end');
          if (set !== undefined && set.changes.length > 0) waiting.push(set);
          if (at === markAt) mark = { end: waiting.end, behind: NAMES.filter(isBehind) };
          if (mark === undefined) continue;
          mark.behind = mark.behind.filter(isBehind);
          expect(waiting.hasPassed(mark.end)).toBe(mark.behind.length === 0);
          if (mark.behind.length === 0 && waiting.size > 0) passed++;
        }
      }),
      { numRuns: 300 },
    );
    expect(passed).toBeGreaterThan(20);
  });

  it('I12: a set has not passed between the deletion and the addition of an object that was created again', () => {
    const writer = new Writer();
    const waiting = new WaitingChanges<Pod>();
    const push = (end: boolean) => {
      waiting.push(writer.write(['a'], end));
      return waiting.end;
    };
    const ends = [push(false)];
    waiting.next();
    ends.push(push(true), push(false));
    const passed = () => ends.map((end) => waiting.hasPassed(end));
    expect(waiting.next()?.object).toBeUndefined();
    expect(passed()).toEqual([true, false, false]);
    expect(waiting.next()?.object).toBe(writer.now.get('a'));
    expect(passed()).toEqual([true, true, true]);
  });
});

describe('changes that wait', () => {
  it('S15: for a consumer that takes nothing during 100,000 events of 500 objects, at most 500 changes wait', () => {
    const waiting = new Waiting<Pod>();
    const first = Array.from({ length: 500 }, (_, at) => pod(`p${at}`, 1));
    let now = [...first];
    for (let event = 0; event < 100_000; event += 20) {
      const updated = Array.from({ length: 20 }, (_, step) => {
        const at = (event + step) % 500;
        return { previous: now[at] as Pod, object: pod(`p${at}`, event + 2) };
      });
      for (const { object } of updated) {
        now = now.with(Number(object.metadata.name.slice(1)), object);
      }
      waiting.push(changeSet<Pod>({ updated }));
      expect(waiting.size).toBeLessThanOrEqual(500);
    }
    waiting.push(changeSet<Pod>({ deleted: [now[7] as Pod] }));
    waiting.push(changeSet<Pod>({ added: [pod('p7', 9, 'second')] }));
    waiting.push(changeSet<Pod>({ deleted: [now[8] as Pod] }));
    // The successor of p7 is another object.
    expect(waiting.size).toBe(501);
    for (let again = 0; again < 100; again++) {
      const shortLived = pod('p8', again, `uid-${again}`);
      waiting.push(changeSet<Pod>({ added: [shortLived] }));
      waiting.push(changeSet<Pod>({ deleted: [shortLived] }));
    }
    expect(waiting.size).toBe(501);
    const set = waiting.take();
    expect(set?.updated.map(({ previous }) => previous)).toEqual(
      first.filter((_, at) => at !== 7 && at !== 8),
    );
    expect(set?.deleted.map(({ key, previous }) => [key, previous])).toEqual([
      ['p7', first[7]],
      ['p8', first[8]],
    ]);
    expect(set?.added).toEqual([pod('p7', 9, 'second')]);
    expect([waiting.size, waiting.isEmpty, waiting.take()]).toEqual([0, true, undefined]);
  });

  it('S15: a folded set has the newest version, is initial only if all its sets are, and has the cause `watch` if their causes differ', () => {
    const fold = (...parts: Parameters<typeof changeSet<Pod>>[0][]) => {
      const waiting = new Waiting<Pod>();
      let at = 0;
      for (const part of parts) {
        at++;
        waiting.push(
          changeSet({ added: [pod(`p${at}`, at)], rev: at, resourceVersion: `${at}`, ...part }),
        );
      }
      const set = waiting.take();
      return set && [set.cause, set.initial, set.reset, set.synced, set.rev, set.resourceVersion];
    };
    const initial = { initial: true, synced: false } as const;
    const snapshot = { cause: 'snapshot', initial: true, reset: true, synced: false } as const;
    expect(fold(initial, initial)).toEqual(['initial', true, false, false, 2, '2']);
    expect(fold(initial, { initial: true })).toEqual(['initial', true, false, true, 2, '2']);
    expect(fold(initial, {})).toEqual(['watch', false, false, true, 2, '2']);
    expect(fold({ cause: 'resync' }, { cause: 'resync' })).toEqual([
      ...['resync', false, false, true, 2, '2'],
    ]);
    expect(fold({ cause: 'relist' }, { cause: 'resync' })?.[0]).toBe('watch');
    // Sets after a reset become part of it; sets before it are dropped.
    expect(fold(snapshot, {})).toEqual(['snapshot', true, true, true, 2, '2']);
    expect(fold({}, snapshot)).toEqual(['snapshot', true, true, false, 2, '2']);
    expect(fold({}, snapshot, { cause: 'relist' })?.slice(0, 3)).toEqual(['snapshot', true, true]);
  });
});
