/**
 * What operators of RxJS do to change sets: tests the table of docs/guide/queries.md. Each operator named there gives wrong
 * rows or an error, and what is said to be safe gives the right ones.
 */

import { readFileSync } from 'node:fs';
import { type ChangeSet, liveFilter, toView } from 'rx-informer';
import { changeSet, marbles } from 'rx-informer/testing';
import {
  combineLatest,
  concat,
  config,
  debounceTime,
  filter,
  merge,
  Observable,
  of,
  type SchedulerLike,
  Subject,
  skip,
  timer,
  VirtualTimeScheduler,
  zip,
} from 'rxjs';
import * as rx from 'rxjs/operators';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isProduction } from '../support/production.ts';
import { type Item, item, World } from './world.ts';

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly phase: string;
}
type Sets = Observable<ChangeSet<Pod>>;

const pod = (name: string, version: number, phase = 'Running'): Pod => ({
  metadata: { name, uid: name, resourceVersion: String(version) },
  phase,
});

/** A store whose stream begins with its contents, like `changes$` of an informer. */
function store(...first: Pod[]) {
  const held = new Map(first.map((object) => [object.metadata.uid, object]));
  const sets = new Subject<ChangeSet<Pod>>();
  const changes$: Sets = new Observable((subscriber) => {
    subscriber.next(changeSet({ added: [...held.values()], reset: true, cause: 'snapshot' }));
    subscriber.add(sets.subscribe(subscriber));
  });
  return {
    changes$,
    rows: () => [...held.values()],
    put(object: Pod) {
      const previous = held.get(object.metadata.uid);
      held.set(object.metadata.uid, object);
      sets.next(
        changeSet(
          previous === undefined ? { added: [object] } : { updated: [{ previous, object }] },
        ),
      );
    },
    remove(name: string) {
      const object = held.get(name) as Pod;
      held.delete(name);
      sets.next(changeSet({ deleted: [object] }));
    },
  };
}

type Store = ReturnType<typeof store>;

function change(a: Store, b: Store): void {
  a.put(pod('a1', 2, 'Failed'));
  a.put(pod('a3', 1));
  b.put(pod('b2', 1));
  a.remove('a2');
  b.remove('b1');
  a.put(pod('a3', 2));
}

const text = (rows: readonly Pod[]) =>
  rows
    .map(({ metadata }) => `${metadata.name}:${metadata.resourceVersion}`)
    .sort()
    .join(' ');

type Wrap = (a$: Sets, b$: Sets, scheduler: SchedulerLike) => Sets;

/** The rows of a view behind the operator, those it should have, and the error of a live operator behind it. */
function outcome(wrap: Wrap, wanted: (a: Store, b: Store) => readonly Pod[] = (a) => a.rows()) {
  const a = store(pod('a0', 1), pod('a1', 1), pod('a2', 1));
  const b = store(pod('b0', 1), pod('b1', 1));
  let error = '';
  let shown: () => string = () => '';
  marbles(({ scheduler }) => {
    const stream = wrap(a.changes$, b.changes$, scheduler);
    const view = toView(stream);
    const checked = toView(stream.pipe(liveFilter(() => true)));
    checked.items$.subscribe({ error: (cause: Error) => (error = cause.message) });
    const leave = view.subscribe(() => undefined);
    shown = () => text(view.getSnapshot().rows);
    scheduler.schedule(() => change(a, b), 15);
    // The streams of the stores never end, and a timer of an operator may repeat for ever.
    scheduler.schedule(() => {
      const last = shown();
      shown = () => last;
      leave();
    }, 90);
  });
  return { shown: shown(), wanted: text(wanted(a, b)), error };
}

const both = (a: Store, b: Store) => [...a.rows(), ...b.rows()];
const ofB = (_a: Store, b: Store) => b.rows();
const running = (a: Store) => a.rows().filter(({ phase }) => phase === 'Running');
/** A stream whose second subscriber is late. */
const late = (shared$: Sets): Sets => {
  shared$.subscribe();
  return timer(50).pipe(rx.switchMap(() => shared$));
};
/** As a stream of an informer, its sets have an origin, which those that the test makes have not. */
const live = (sets$: Sets): Sets => sets$.pipe(liveFilter(() => true));
const task = (set: ChangeSet<Pod>) => timer(2).pipe(rx.map(() => set));

/** Operators with which a view shows wrong rows. */
const wrong: Readonly<Record<string, readonly [Wrap, ((a: Store, b: Store) => readonly Pod[])?]>> =
  {
    filter: [
      (a$) =>
        a$.pipe(rx.filter(({ changes }) => changes.some((each) => each.object !== undefined))),
    ],
    map: [
      (a$) =>
        a$.pipe(
          rx.map((set) => ({
            ...set,
            changes: set.changes.filter(({ object }) => object?.phase === 'Running'),
          })),
        ),
      running,
    ],
    debounceTime: [(a$) => a$.pipe(rx.debounceTime(10))],
    throttleTime: [(a$) => a$.pipe(rx.throttleTime(10))],
    sampleTime: [(a$) => a$.pipe(rx.sampleTime(10), rx.takeUntil(timer(80)))],
    auditTime: [(a$) => a$.pipe(rx.auditTime(10))],
    concat: [(a$, b$) => concat(a$.pipe(rx.takeUntil(timer(20))), b$), both],
    zip: [(a$, b$) => zip(a$, b$).pipe(rx.map(([set]) => set))],
    withLatestFrom: [
      (a$, b$) =>
        a$.pipe(
          rx.withLatestFrom(b$.pipe(rx.delay(5))),
          rx.map(([set]) => set),
        ),
    ],
    distinctUntilChanged: [
      (a$) =>
        a$.pipe(
          rx.distinctUntilChanged((one, other) => one.changes.length === other.changes.length),
        ),
    ],
    take: [(a$) => a$.pipe(rx.take(2))],
    first: [(a$) => a$.pipe(rx.first())],
    takeLast: [(a$) => a$.pipe(rx.takeUntil(timer(20)), rx.takeLast(1))],
    switchMap: [(a$) => a$.pipe(rx.switchMap(task))],
    exhaustMap: [(a$) => a$.pipe(rx.exhaustMap(task))],
    shareReplay: [(a$) => late(a$.pipe(rx.shareReplay(1)))],
  };

/** Operators after which a live operator says that the stream is wrong. */
const refused: Readonly<Record<string, Wrap>> = {
  debounceTime: (a$) => a$.pipe(rx.debounceTime(10)),
  combineLatest: (a$, b$) => combineLatest([a$, b$]).pipe(rx.map(([set]) => set)),
  skip: (a$) => a$.pipe(rx.skip(1)),
  startWith: (a$) => a$.pipe(rx.startWith(changeSet<Pod>({ reset: true, synced: false }))),
  share: (a$) => {
    const shared$ = a$.pipe(rx.share());
    shared$.subscribe();
    return shared$;
  },
};

/** Operators that keep all sets, in their order. */
const safe: Readonly<Record<string, readonly [Wrap, ((a: Store, b: Store) => readonly Pod[])?]>> = {
  tap: [(a$) => a$.pipe(rx.tap(() => undefined))],
  finalize: [(a$) => a$.pipe(rx.finalize(() => undefined))],
  takeUntil: [(a$) => a$.pipe(rx.takeUntil(timer(80)))],
  delay: [(a$) => a$.pipe(rx.delay(10))],
  observeOn: [(a$, _b$, scheduler) => a$.pipe(rx.observeOn(scheduler))],
  concatMap: [(a$) => a$.pipe(rx.concatMap(task))],
  merge: [(a$, b$) => merge(live(a$), live(b$)), both],
  mergeMap: [(a$, b$) => of(a$, b$).pipe(rx.mergeMap(live)), both],
  bufferTime: [
    (a$) =>
      a$.pipe(
        rx.bufferTime(10),
        rx.takeUntil(timer(80)),
        rx.concatMap((sets) => sets),
      ),
  ],
  switchMap: [
    (a$, b$) =>
      timer(0, 20).pipe(
        rx.take(2),
        rx.switchMap((n) => (n ? b$ : a$)),
      ),
    ofB,
  ],
};

afterEach(() => {
  config.onUnhandledError = null;
});

describe('operators of RxJS on change sets', () => {
  it.each(Object.entries(wrong))('Q24: %s gives wrong rows', (_name, [wrap, wanted]) => {
    config.onUnhandledError = () => undefined;
    const { shown, wanted: right } = outcome(wrap, wanted);
    expect(shown).not.toBe(right);
  });

  it.each(Object.entries(refused))('Q24: a live operator refuses %s before it', (_name, wrap) => {
    config.onUnhandledError = () => undefined;
    // The check costs time, so a production program has none.
    const expected = isProduction ? /^$/ : /which it had not added|two first sets/;
    expect(outcome(wrap).error).toMatch(expected);
  });

  it.each(Object.entries(safe))('Q24: %s keeps the rows right', (_name, [wrap, wanted]) => {
    const { shown, wanted: right, error } = outcome(wrap, wanted);
    expect([shown, error]).toEqual([right, '']);
    expect(right).not.toBe('');
  });

  it('Q24: the documentation names exactly these operators', () => {
    const page = readFileSync(new URL('../../docs/guide/queries.md', import.meta.url), 'utf8');
    const section = page.split('\n## ').find((each) => each.startsWith('Operators of RxJS')) ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`(\w+)(?:\(\d\))?`/g)].map((match) => match[1]),
    );
    expect(new Set(named)).toEqual(new Set([...Object.keys(wrong), ...Object.keys(refused)]));
    const safeText = section.split('are safe:')[1]?.split('\n\n')[0] ?? '';
    const namedSafe = [...safeText.matchAll(/`(\w+)`/g)].map((match) => match[1]);
    expect(new Set(namedSafe)).toEqual(new Set(Object.keys(safe)));
  });
});

afterEach(() => vi.unstubAllEnvs());

const all = liveFilter<Item>(() => true);
function errorOf(source: Observable<ChangeSet<Item>>, change?: () => void): string {
  let message = 'none';
  const subscription = all(source).subscribe({ error: (error) => (message = error.message) });
  change?.();
  subscription.unsubscribe();
  return message;
}
function worldOf(): World {
  const world = new World();
  world.reset([{ name: 'a', n: 1 }]);
  return world;
}
const step = { name: 'a', what: 'set', n: 2, group: 'a' } as const;

describe('a source that RxJS operators have damaged', () => {
  it.skipIf(isProduction)('Q24: merge of two sources errors and names liveUnion', () => {
    const mixed = merge(worldOf().changes$, worldOf().changes$);
    expect(errorOf(mixed)).toMatch(/^liveFilter: its source emitted two first sets.*liveUnion/);
  });

  it.skipIf(isProduction)(
    'Q24: an update or a deletion of an unknown id errors and names the id',
    () => {
      for (const [what, name] of [
        ['set', 'an update'],
        ['delete', 'the deletion'],
      ] as const) {
        const world = worldOf();
        const dropped = world.changes$.pipe(filter(({ reset }) => !reset));
        expect(errorOf(world.changes$, () => world.commit([step]))).toBe('none');
        const id = world.items.get('a')?.metadata.uid;
        // The first set of what is left adds another row, so that the operator has an answer.
        const left = merge(of(changeSet({ added: [item('b', 'ub', 1)] })), dropped);
        expect(errorOf(left, () => world.commit([{ ...step, what }]))).toBe(
          `liveFilter: its source emitted ${name} of "${id}", which it had not added. An RxJS operator that drops, delays or mixes sets (filter, debounceTime, merge) may stand before it: use liveFilter, conflateByKey or liveUnion instead`,
        );
      }
    },
  );

  it.skipIf(isProduction)('Q24: a source that lost its first set or sets in between errors', () => {
    const world = worldOf();
    const scheduler = new VirtualTimeScheduler();
    const delayed = world.changes$.pipe(debounceTime(5, scheduler));
    const error = errorOf(delayed, () => {
      scheduler.flush();
      world.commit([{ ...step, name: 'b' }]);
      world.commit([{ ...step, name: 'b', n: 3 }]);
      scheduler.flush();
    });
    expect(error).toMatch(/emitted an update of/);
    expect(errorOf(worldOf().changes$.pipe(skip(1)))).toBe('none');
    const late = worldOf();
    expect(errorOf(late.changes$.pipe(skip(1)), () => late.commit([step]))).toMatch(
      /emitted an update of/,
    );
  });

  it('Q24: in production nothing is checked', () => {
    vi.stubEnv('NODE_ENV', 'production');
    expect(errorOf(merge(worldOf().changes$, worldOf().changes$))).toBe('none');
  });
});
