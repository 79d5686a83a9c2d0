/**
 * Operators of RxJS that pass change sets on, in any order and number, between informers, live operators and a view. Whatever
 * stands between, the view has the rows and the status of the informers that are subscribed.
 */
import {
  type ChangeSet,
  conflateByKey,
  createInformerFactory,
  createSharedInformer,
  deliver,
  liveFilter,
  liveIndex,
  liveJoin,
  liveMap,
  liveShare,
  liveSort,
  liveUnion,
  toView,
  type View,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import {
  BehaviorSubject,
  catchError,
  concatMap,
  defer,
  delay,
  EMPTY,
  filter,
  finalize,
  from,
  map,
  merge,
  mergeMap,
  NEVER,
  Observable,
  observeOn,
  of,
  retry,
  Subject,
  subscribeOn,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { worldOf } from '../factory/clusters/world.ts';
import type { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import {
  added,
  deleted,
  type Pod as ServedPod,
  scriptedListWatch,
  pod as servedPod,
} from '../support/scripted-list-watch.ts';

type Sets = Observable<ChangeSet<Pod>>;

/** What may stand between an informer and a view without changing the sets. */
const BETWEEN: Record<string, (sets$: Sets, time: VirtualTime) => Sets> = {
  tap: (sets$) => sets$.pipe(tap()),
  map: (sets$) => sets$.pipe(map((set) => set)),
  filter: (sets$) => sets$.pipe(filter(() => true)),
  finalize: (sets$) => sets$.pipe(finalize(() => undefined)),
  takeUntil: (sets$) => sets$.pipe(takeUntil(NEVER)),
  catchError: (sets$) => sets$.pipe(catchError(() => EMPTY)),
  retry: (sets$) => sets$.pipe(retry()),
  defer: (sets$) => defer(() => sets$),
  'new Observable': (sets$) => new Observable((subscriber) => sets$.subscribe(subscriber)),
  switchMap: (sets$) => new BehaviorSubject(0).pipe(switchMap(() => sets$)),
  mergeMap: (sets$) => merge(of(0), NEVER).pipe(mergeMap(() => sets$)),
  concatMap: (sets$) => of(0).pipe(concatMap(() => sets$)),
  merge: (sets$) => merge(sets$, EMPTY),
  delay: (sets$, time) => sets$.pipe(delay(5, time)),
  observeOn: (sets$, time) => sets$.pipe(observeOn(time)),
  subscribeOn: (sets$, time) => sets$.pipe(subscribeOn(time)),
  liveFilter: (sets$) => sets$.pipe(liveFilter(() => true)),
  liveMap: (sets$) => sets$.pipe(liveMap((row) => row)),
  liveShare: (sets$) => sets$.pipe(liveShare()),
  conflateByKey: (sets$) => sets$.pipe(conflateByKey()),
};

const SOURCES = ['clusters', 'north', 'south'] as const;
type Source = (typeof SOURCES)[number];

/** The cluster that objects of a source are written to. */
const SERVER: Record<Source, string> = { clusters: 'east', north: 'north', south: 'south' };

const between = fc.array(fc.constantFrom(...Object.keys(BETWEEN)), { maxLength: 3 });

const pipelines = fc.record({
  sources: fc.shuffledSubarray([...SOURCES], { minLength: 1 }),
  /** Before the sources are brought together. */
  before: fc.tuple(between, between, between),
  /** `switchMap` follows one of the sources, the others follow all. */
  together: fc.constantFrom('merge', 'mergeMap', 'mergeMap later', 'switchMap'),
  after: between,
});

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('put', 'remove', 'choose', 'stop', 'restart', 'replace'),
    at: fc.nat(2),
    name: fc.constantFrom('a', 'b'),
  }),
  { maxLength: 8 },
);

function rig() {
  const { time, clusters, fake, clients$, clientsOf } = worldOf(['east', 'west', 'north', 'south']);
  clients$.next(clientsOf('east', 'west'));
  const factory = (name: string) =>
    createInformerFactory(fake(name).client, { scheduler: time, random: () => 0.5 });
  const factories = { north: factory('north'), south: factory('south') };
  return { time, clusters, fake, factories };
}

describe('RxJS operators that pass sets on', () => {
  it('Q14: show the rows and the status of the informers behind them, after any changes, stops and switches', async () => {
    const property = fc.asyncProperty(pipelines, steps, async (pipeline, taken) => {
      const { time, clusters, fake, factories } = rig();
      const informers = {
        clusters: clusters.informer(pods),
        north: factories.north.informer(pods),
        south: factories.south.informer(pods),
      };
      const objects = new Map<Source, Set<string>>(SOURCES.map((each) => [each, new Set()]));
      const over = (names: readonly string[], sets$: Sets) =>
        names.reduce(
          (all$, name) => (BETWEEN[name] as (typeof BETWEEN)[string])(all$, time),
          sets$,
        );
      const { sources, before, together, after } = pipeline;
      const each = sources.map((source, at) => over(before[at] ?? [], informers[source].changes$));
      const chosen$ = new BehaviorSubject(0);
      const later$ = of(...each.keys()).pipe(delay(1, time));
      const all: Record<typeof together, () => Sets> = {
        merge: () => merge(...each),
        mergeMap: () => of(...each).pipe(mergeMap((sets$) => sets$)),
        'mergeMap later': () => later$.pipe(mergeMap((at) => each[at] as Sets)),
        switchMap: () => chosen$.pipe(switchMap((at) => each[at] as Sets)),
      };
      const view = toView(over(after, all[together]()));
      const leave = view.subscribe(() => undefined);
      const put = (source: Source, name: string) => {
        fake(SERVER[source]).put(`${source}-${name}`);
        objects.get(source)?.add(`${source}-${name}`);
      };
      for (const source of SOURCES) put(source, 'a');
      const stopped = new Set<Source>();
      const readSources = () =>
        together === 'switchMap' ? [sources[chosen$.value] as Source] : sources;
      const check = async () => {
        await time.advance(5_000);
        const read = readSources();
        if (read.some((source) => stopped.has(source))) {
          expect(view.getSnapshot().status).toMatchObject({ phase: 'stopped', live: false });
          return;
        }
        const shown = view.getSnapshot().rows.map(({ metadata }) => metadata.name);
        expect(shown.sort()).toEqual(
          read.flatMap((source) => [...(objects.get(source) ?? [])]).sort(),
        );
        expect(view.getSnapshot()).toMatchObject({
          synced: true,
          status: { phase: 'watching', live: true },
        });
      };
      // The view subscribes to all of its sources again when one of them runs again.
      const runsAgain = (source: Source) => {
        if (readSources().includes(source)) for (const each of readSources()) stopped.delete(each);
      };
      await check();
      for (const { what, at, name } of taken) {
        const source = sources[at % sources.length] as Source;
        const from = source === 'clusters' ? clusters : factories[source];
        if (what === 'put') put(source, name);
        else if (what === 'remove' && objects.get(source)?.delete(`${source}-${name}`)) {
          fake(SERVER[source]).remove(`${source}-${name}`);
        } else if (what === 'choose') {
          chosen$.next(at % sources.length);
          // A subscription starts it.
          if (together === 'switchMap') stopped.delete(source);
        } else if (what === 'stop' && !stopped.has(source)) {
          stopped.add(source);
          await from.stop();
        } else if (what === 'replace' && source === 'clusters' && !stopped.has(source)) {
          // The informer of one cluster, which other code has removed.
          const factory = clusters.get('east')?.factory;
          await factory?.stop(pods);
          factory?.informer(pods);
          if (factory !== undefined) runsAgain(source);
        } else if (what === 'restart' && stopped.delete(source)) {
          from.start();
          runsAgain(source);
        }
        await check();
      }
      leave();
      await Promise.all([clusters.stop(), factories.north.stop(), factories.south.stop()]);
      await time.advance(5_000);
      expect(time.pending).toBe(0);
    });
    await fc.assert(property, { numRuns: 100 });
  });

  /** What may stand between merged streams and a reader. */
  const readers: Record<string, (sets$: Observable<ChangeSet<ServedPod>>) => typeof sets$> = {
    nothing: (sets$) => sets$,
    liveFilter: (sets$) => sets$.pipe(liveFilter(() => true)),
    liveShare: (sets$) => sets$.pipe(liveShare()),
    conflateByKey: (sets$) => sets$.pipe(conflateByKey()),
  };

  it('Q94: a reset of one of merged informers replaces its own rows', () => {
    for (const over of Object.values(readers)) {
      const sources = [scriptedListWatch(), scriptedListWatch()] as const;
      const [one, other] = [createSharedInformer(sources[0]), createSharedInformer(sources[1])];
      const ready = new Subject<void>();
      const delivery = deliver(one, { kind: 'drop', limit: 1, ready: () => ready });
      const view = toView(over(merge(delivery.changes$, other.changes$)));
      const leave = view.subscribe(() => undefined);
      const shown = () => view.getSnapshot().rows.map(({ metadata }) => metadata?.name);
      sources[0].listed(1, servedPod('a', 1), servedPod('b', 1));
      sources[1].listed(1, servedPod('y', 1), servedPod('z', 1));
      for (let times = 0; times < 4; times++) ready.next();
      expect(shown()).toEqual(['a', 'b', 'y', 'z']);
      sources[1].send(deleted(servedPod('y', 2)));
      // More than the limit wait, so they are dropped for a reset with the present rows.
      for (const name of ['c', 'd', 'e']) sources[0].send(added(servedPod(name, 5)));
      sources[0].send(deleted(servedPod('a', 6)));
      for (let times = 0; times < 4; times++) ready.next();
      expect(shown().sort()).toEqual(['b', 'c', 'd', 'e', 'z']);
      leave();
    }
  });

  it('Q94: rows of a stream that switchMap has left go, and those of a stream beside it stay', () => {
    const sources = [0, 1, 2].map(() => scriptedListWatch());
    const informers = sources.map((source) => createSharedInformer(source));
    for (const [at, source] of sources.entries()) source.listed(1, servedPod(`p${at}`, 1));
    const chosen$ = new BehaviorSubject(0);
    const switched$ = chosen$.pipe(switchMap((at) => informers[at]?.changes$ ?? EMPTY));
    for (const merged$ of [
      merge(switched$, informers[2]?.changes$ ?? EMPTY),
      merge(informers[2]?.changes$ ?? EMPTY, switched$),
    ]) {
      chosen$.next(0);
      const view = toView(merged$);
      const leave = view.subscribe(() => undefined);
      const shown = () =>
        view
          .getSnapshot()
          .rows.map(({ metadata }) => metadata?.name)
          .sort();
      expect(shown()).toEqual(['p0', 'p2']);
      chosen$.next(1);
      expect(shown()).toEqual(['p1', 'p2']);
      chosen$.next(0);
      expect(shown()).toEqual(['p0', 'p2']);
      leave();
    }
  });

  it('Q94: merged streams of which one has an order are refused by an operator, and have no order in a view', () => {
    const sources = [scriptedListWatch(), scriptedListWatch()] as const;
    const [one, other] = [createSharedInformer(sources[0]), createSharedInformer(sources[1])];
    sources[0].listed(1, servedPod('b', 1), servedPod('a', 1));
    sources[1].listed(1, servedPod('z', 1));
    const byName = liveSort<ServedPod>((left, right) =>
      String(left.metadata?.name).localeCompare(String(right.metadata?.name)),
    );
    const merged$ = merge(one.changes$.pipe(byName), other.changes$) as Observable<
      ChangeSet<ServedPod>
    >;
    const view = toView(merged$);
    const leave = view.subscribe(() => undefined);
    expect(view.getSnapshot().rows.map(({ metadata }) => metadata?.name)).toEqual(['a', 'b', 'z']);
    let message = '';
    const reversed$ = merge(other.changes$, one.changes$.pipe(byName)) as Observable<
      ChangeSet<ServedPod>
    >;
    reversed$
      .pipe(liveFilter(() => true))
      .subscribe({ error: (error) => (message = error.message) });
    expect(message).toMatch(/^liveFilter: its source mixes an ordered stream with others/);
    leave();
  });

  const informerOf = (...names: readonly string[]) => {
    const source = scriptedListWatch();
    source.listed(1, ...names.map((name) => servedPod(name, 1)));
    const informer = createSharedInformer(source, {
      indexers: { byName: ({ metadata }) => [metadata?.name ?? ''] },
    });
    return { source, informer };
  };
  const shownBy = (view: View<ServedPod>) =>
    view
      .getSnapshot()
      .rows.map(({ metadata }) => metadata?.name)
      .sort();

  it('Q94: merged values of one index, and a union of no sources, take no rows away', () => {
    const { informer } = informerOf('a', 'b', 'c');
    const values = ['a', 'b'].map((name) => liveIndex(informer, 'byName', name));
    const empty$ = liveUnion({}) as unknown as Observable<ChangeSet<ServedPod>>;
    for (const merged$ of [
      merge(...values, empty$),
      from([...values, empty$]).pipe(mergeMap((each$) => each$)),
    ]) {
      const view = toView(merged$);
      const leave = view.subscribe(() => undefined);
      expect(shownBy(view)).toEqual(['a', 'b']);
      leave();
    }
  });

  it('Q94: ordered streams that are merged keep their rows while conflateByKey holds them back', () => {
    const [a, b] = [informerOf('a'), informerOf('b')];
    const opened = new Subject<void>();
    const byName = liveSort<ServedPod>((one, other) =>
      String(one.metadata?.name).localeCompare(String(other.metadata?.name)),
    );
    const merged$ = merge(a.informer.changes$.pipe(byName), b.informer.changes$);
    const view = toView(
      (merged$ as Observable<ChangeSet<ServedPod>>).pipe(conflateByKey({ ready: () => opened })),
    );
    view.subscribe(() => undefined);
    for (let times = 0; times < 4; times++) opened.next();
    expect(shownBy(view)).toEqual(['a', 'b']);
  });

  it.each(Object.entries(readers))(
    'Q95: a reader of merged streams is synced when each of them is, behind %s',
    (_name, over) => {
      for (const isFirst of [true, false]) {
        const [source, late] = [scriptedListWatch(), createSharedInformer(scriptedListWatch())];
        const [one, other] = [createSharedInformer(source), informerOf('b').informer];
        for (const each of [one, late, other]) each.start();
        const streams = [one.changes$, other.changes$];
        const view = toView(over(merge(...(isFirst ? streams : streams.reverse()))));
        view.subscribe(() => undefined);
        expect([shownBy(view), view.getSnapshot().synced]).toEqual([['b'], false]);
        source.listed(1, servedPod('a', 1));
        expect([shownBy(view), view.getSnapshot().synced]).toEqual([['a', 'b'], true]);
        // One that is merged later counts from its first set on.
        const later$ = new BehaviorSubject(0);
        const all$ = later$.pipe(mergeMap((at) => [one, late][at]?.changes$ ?? EMPTY));
        const mapped = toView(over(all$));
        mapped.subscribe(() => undefined);
        expect(mapped.getSnapshot().synced).toBe(true);
        later$.next(1);
        expect([shownBy(mapped), mapped.getSnapshot().synced]).toEqual([['a'], false]);
        source.send(added(servedPod('c', 2)));
        expect([shownBy(mapped), mapped.getSnapshot().synced]).toEqual([['a', 'c'], false]);
      }
    },
  );

  it.each(Object.entries(readers))(
    'Q95: a stream that was left or has ended before it was synced does not count, behind %s',
    async (_name, over) => {
      const { source, informer } = informerOf('b');
      informer.start();
      const never = () => createSharedInformer(scriptedListWatch());
      const chosen$ = new BehaviorSubject(never());
      const switched = toView(over(chosen$.pipe(switchMap(({ changes$ }) => changes$))));
      switched.subscribe(() => undefined);
      expect(switched.getSnapshot().synced).toBe(false);
      chosen$.next(informer);
      expect([shownBy(switched), switched.getSnapshot().synced]).toEqual([['b'], true]);
      const ending = never();
      const merged = toView(over(merge(ending.changes$, informer.changes$)));
      merged.subscribe(() => undefined);
      expect(merged.getSnapshot().synced).toBe(false);
      await ending.stop();
      source.send(added(servedPod('c', 2)));
      expect([shownBy(merged), merged.getSnapshot().synced]).toEqual([['b', 'c'], true]);
    },
  );

  it('Q96: the first sets of merged streams are one set of an operator', () => {
    const [a, b] = [informerOf('a').informer, informerOf('b').informer];
    for (const each of [a, b]) each.start();
    for (const behind of [liveFilter<ServedPod>(() => true), liveShare(), conflateByKey()]) {
      const sets: string[] = [];
      const merged$: Observable<ChangeSet<ServedPod>> = merge(a.changes$, b.changes$);
      merged$.pipe(behind).subscribe((set) => {
        const { reset, cause, synced } = set as ChangeSet<ServedPod>;
        const names = (set as ChangeSet<ServedPod>).added.map(({ metadata }) => metadata.name);
        sets.push(`${reset} ${cause} ${synced} ${names}`);
      });
      expect(sets).toEqual(['true snapshot true a,b']);
    }
  });

  it('Q96: the restart of one of merged informers removes and adds no row that is the same', async () => {
    for (const order of [0, 1]) {
      const [{ source, informer }, other] = [informerOf('a'), informerOf('b', 'c')];
      for (const each of [informer, other.informer]) each.start();
      const streams = [informer.changes$, other.informer.changes$];
      const shared$ = merge(...(order === 0 ? streams : streams.reverse())).pipe(liveShare());
      const changed: string[] = [];
      shared$.subscribe((set) => {
        if (set.reset) return;
        for (const { key, object, previous } of set.changes) {
          changed.push(`${object === undefined ? '-' : previous === undefined ? '+' : '~'}${key}`);
        }
      });
      const shared = toView(shared$);
      shared.subscribe(() => undefined);
      const { rows } = shared.getSnapshot();
      await informer.stop();
      informer.start();
      source.listed(1, servedPod('a', 1));
      expect(changed).toEqual([]);
      expect(shared.getSnapshot()).toMatchObject({ synced: true, status: { live: true } });
      expect(shared.getSnapshot().rows).toBe(rows);
    }
  });

  it.each(Object.entries(readers))(
    'Q15: what an operator over a stopped informer refused stays beside its rows, behind merge and %s',
    async (_name, over) => {
      const [a, b] = [informerOf('a', 'bad-a'), informerOf('b', 'bad-b')];
      const refusing = liveFilter<ServedPod>(({ metadata: { name, labels } }) => {
        if (name.startsWith('bad') && labels === undefined) throw new Error(`no ${name}`);
        return true;
      });
      for (const { informer } of [a, b]) informer.start();
      const bad = [a, b].map(({ informer }) => informer.changes$.pipe(refusing));
      const view = toView(over(merge(...bad)));
      view.subscribe(() => undefined);
      const refused = () => {
        const { refusedRows } = view.getSnapshot().status;
        return refusedRows.map(({ key }) => key).sort();
      };
      expect(refused()).toEqual(['shop/bad-a', 'shop/bad-b']);
      await a.informer.stop();
      b.source.send(added(servedPod('c', 5)));
      expect([shownBy(view), refused()]).toEqual([
        ['a', 'b', 'c'],
        ['shop/bad-a', 'shop/bad-b'],
      ]);
      a.informer.start();
      const metadata = { ...servedPod('bad-a', 7).metadata, labels: {} };
      a.source.listed(7, servedPod('a', 1), { metadata });
      expect([shownBy(view), refused()]).toEqual([['a', 'b', 'bad-a', 'c'], ['shop/bad-b']]);
    },
  );

  it('Q14: behind conflateByKey an informer that was left does not count any more', async () => {
    const all = ['a', 'b', 'c'].map((name) => informerOf(name).informer);
    const chosen$ = new BehaviorSubject(0);
    const switched$ = chosen$.pipe(switchMap((at) => all[at]?.changes$ ?? EMPTY));
    const view = toView(merge(all[2]?.changes$ ?? EMPTY, switched$).pipe(conflateByKey()));
    view.subscribe(() => undefined);
    chosen$.next(1);
    expect(shownBy(view)).toEqual(['b', 'c']);
    await all[0]?.stop();
    expect(view.getSnapshot().status.phase).toBe('watching');
  });

  it('Q14: an informer whose objects end a stream is no informer of the view', async () => {
    const [a, b] = [informerOf('a'), informerOf('b')];
    const view = toView(a.informer.changes$.pipe(takeUntil(b.informer.deleted$)));
    view.subscribe(() => undefined);
    b.informer.start();
    await b.informer.stop();
    expect(view.getSnapshot()).toMatchObject({ synced: true, status: { phase: 'watching' } });
  });

  it('U12: a join selects within a cluster, also if one side is subscribed later', async () => {
    for (const side of ['left', 'right']) {
      const { time, clusters, fake } = rig();
      for (const name of ['east', 'west']) fake(name).put(`web-${name}`);
      const pods$ = clusters.informer(pods).changes$;
      const late = (is: string) => (is === side ? pods$.pipe(subscribeOn(time)) : pods$);
      const joined$ = late('left').pipe(
        liveJoin(late('right'), {
          on: { selectorOf: () => '' },
          project: ({ metadata }, all) =>
            `${metadata.name}: ${all.map((each) => each.metadata.name)}`,
        }),
      );
      const view = toView(joined$);
      const leave = view.subscribe(() => undefined);
      await time.advance(5_000);
      expect([...view.getSnapshot().rows].sort()).toEqual([
        'web-east: web-east',
        'web-west: web-west',
      ]);
      leave();
      await clusters.stop();
    }
  });
});
