/** Make before break: the next watch is requested before the open one ends. */
import {
  type ApiError,
  createClient,
  createListWatch,
  type ListerWatcher,
  type ReflectOptions,
  type RefreshOrder,
  reflect,
  type WatchSignal,
} from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { concat, defer, merge, NEVER, type Observable, of, Subject, throwError, timer } from 'rxjs';
import { finalize, map, mergeMap, takeUntil } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { Clock } from '../rx/clock.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { pods, rig, word } from './rig.ts';
import { answer, brief, events, listPart, opened, type Pod, refused, script } from './script.ts';

const watch = { use: 'watch' } as const;

describe('a closed demand', () => {
  it('R26, R7: the Retry-After of the response to a watch is read, also while the demand is closed', async () => {
    const time = new VirtualTime();
    const server = createFakeApiServer({ scheduler: time });
    server.faults.failNext({ use: 'watch' }, { status: 503, retryAfterSeconds: 58 });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const waits: unknown[] = [];
    const subscription = createListWatch(client, pods, { scheduler: time })
      .watch({ resourceVersion: '1', timeoutSeconds: 60, demand: () => NEVER })
      .subscribe({ error: ({ retryAfterMs }: ApiError) => waits.push(retryAfterMs) });
    await time.advance(1_000);
    subscription.unsubscribe();
    expect(waits).toEqual([58_000]);
  });
});

describe('a server that takes 60 s to answer a watch', () => {
  async function emitted(makeBeforeBreak: boolean, delayMs: number) {
    const { time, server, advance, create, emitted, subscription, statuses } = rig({
      reflect: { makeBeforeBreak },
    });
    await advance(1_000);
    server.faults.delay(delayMs, watch);
    const late: number[] = [];
    for (let second = 0; second < 3_600; second++) {
      const before = emitted.length;
      create(`pod-${second}`);
      await advance(1_000);
      if (emitted.length === before) late.push(second);
    }
    await advance(120_000);
    const added = emitted.join(' ').match(/\+pod-\d+/g) ?? [];
    const live = statuses.map((status) => status.live).lastIndexOf(false);
    subscription.unsubscribe();
    expect([server.openWatches.length, time.pending]).toEqual([0, 0]);
    // Probes for held-back responses are not watches of the reflector.
    const watches = server.requests.filter((request) => word(request) !== 'P').length;
    return { added, late, watches, live, statuses: statuses.length };
  }

  it('R26: no event is delayed, and no event is delivered twice', async () => {
    const { added, late, watches, live, statuses } = await emitted(true, 60_000);
    expect(late).toEqual([]);
    expect(new Set(added).size).toBe(3_600);
    expect(added.length).toBe(3_600);
    // Each watch lasts 450 s, and the next one is requested 95 s before its end.
    expect(watches).toBe(1 + Math.floor(3_600 / 355));
    expect(live).toBeLessThan(4);
    expect(statuses).toBeLessThan(8);
  });

  it('R26: with `makeBeforeBreak: false` events wait for the response at each end of a watch', async () => {
    const { added, late } = await emitted(false, 20_000);
    expect([added.length, new Set(added).size]).toEqual([3_600, 3_600]);
    expect(late.length).toBeGreaterThan(100);
  });
});

type Scripted = (time: VirtualTime) => Observable<WatchSignal<Pod>>;

/** A reflector with scripted watches; its requests, each with the second, and the number of open watches. */
function run(
  scripts: readonly Scripted[],
  options: ReflectOptions<Pod> = {},
  onEmitted: (deltas: string) => void = () => {},
  awake$: Observable<void> = NEVER,
) {
  const time = new VirtualTime();
  const watches = scripts.map((scripted) => scripted(time));
  const { listerWatcher } = script({ lists: [of(listPart('5'))], watches });
  const requested: string[] = [];
  const emitted: string[] = [];
  const errors: string[] = [];
  const phases: string[] = [];
  let open = 0;
  const seconds = () => time.now() / 1000;
  const watching: ListerWatcher<Pod> = {
    ...listerWatcher,
    watchList: false,
    mayOverlap: true,
    awake$,
    watch: (request) =>
      defer(() => {
        requested.push(`W${request.resourceVersion}@${seconds()}`);
        open++;
        return listerWatcher.watch(request).pipe(finalize(() => open--));
      }),
  };
  const subscription = reflect(watching, {
    scheduler: time,
    random: () => 0,
    idleTimeoutMs: 1e9,
    onError: ({ reason }) => void errors.push(`${reason}@${seconds()}`),
    onStatus: ({ phase }) => void phases.push(phase),
    ...options,
  }).subscribe((deltas) => {
    emitted.push(brief(deltas));
    onEmitted(brief(deltas));
  });
  return { time, requested, emitted, errors, phases, subscription, open: () => open };
}

/** A watch with these events, each at its second, that ends at `endS`. */
function lasting(endS: number, ...all: readonly (readonly [number, ...string[]])[]) {
  return (time: VirtualTime): Observable<WatchSignal<Pod>> =>
    defer(() => {
      const at = (second: number) => timer(second * 1000, time);
      const each = all.map(([second, ...words]) => at(second).pipe(map(() => events(...words))));
      return merge(of(opened), NEVER, ...each).pipe(takeUntil(at(endS)));
    });
}

/** Most watches last 300 s, so the next one is requested after 205 s. */
describe('the next watch', () => {
  it('R26: the next watch replaces the open one when it is answered', async () => {
    const first = lasting(300, [10, '~a@6'], [206, '~a@7'], [212, '~a@8']);
    const second = (time: VirtualTime) =>
      timer(5_000, time).pipe(mergeMap(() => lasting(300, [1, '~a@7', '~b@9'])(time)));
    const { time, requested, emitted, phases, open } = run([first, second]);
    await time.advance(208_000);
    expect(open()).toBe(2);
    await time.advance(12_000);
    expect(open()).toBe(1);
    expect(requested).toEqual(['W5@0', 'W6@205']);
    expect(emitted).toEqual([')@5', '~a@6', '~a@7', '~b@9']);
    expect(phases).toEqual(['listing', 'connecting', 'watching']);
    await time.advance(190_000);
    expect(requested).toEqual(['W5@0', 'W6@205', 'W9@410']);
  });

  it('R26: if the next watch fails, the open one lasts until its end', async () => {
    const first = lasting(300, [250, '~a@6']);
    const failing = () => throwError(() => answer(500));
    const { time, requested, emitted, errors, phases } = run([first, failing, lasting(300)]);
    await time.advance(301_000);
    expect(requested).toEqual(['W5@0', 'W5@205', 'W6@300']);
    expect([emitted, errors]).toEqual([[')@5', '~a@6'], []]);
    expect(phases).toEqual(['listing', 'connecting', 'watching', 'connecting', 'watching']);
  });

  it.each([
    [20, 300],
    [120, 325],
  ])(
    'R26, R7: after a Retry-After of %d s for the next watch, the watch after it is requested at %d s',
    async (forS, atS) => {
      const failing = () => throwError(() => answer(429, '', forS * 1000));
      const { time, requested } = run([lasting(300), failing, lasting(300)]);
      await time.advance(326_000);
      expect(requested).toEqual(['W5@0', 'W5@205', `W5@${atS}`]);
    },
  );

  it('R26, R32: if the open watch ends before the next one is answered, the reflector waits for the next one', async () => {
    const second = (time: VirtualTime) =>
      timer(60_000, time).pipe(mergeMap(() => lasting(300, [0, '~a@6', '~a@7'])(time)));
    const { time, requested, emitted, phases, errors } = run([lasting(230, [220, '~a@6']), second]);
    await time.advance(270_000);
    expect(requested).toEqual(['W5@0', 'W5@205']);
    expect(emitted).toEqual([')@5', '~a@6', '~a@7']);
    expect(phases).toEqual([
      'listing',
      'connecting',
      'watching',
      'connecting',
      ...['watching', 'watching'],
    ]);
    expect(errors).toEqual([]);
  });

  it('R26: if the open watch fails, the request for the next one is aborted', async () => {
    const lost = (time: VirtualTime) =>
      concat(of(opened), timer(210_000, time).pipe(mergeMap(() => throwError(() => refused))));
    const { time, requested, open, errors } = run([lost, () => NEVER, lasting(300)]);
    await time.advance(210_400);
    expect([open(), errors]).toEqual([1, ['Network@210']]);
    await time.advance(500);
    expect(requested).toEqual(['W5@0', 'W5@205', 'W5@210']);
  });

  it('R26: the next watch must be answered within 90 s', async () => {
    const { time, requested, open, errors } = run([lasting(400), () => NEVER, lasting(300)], {
      minWatchTimeoutMs: 400_000,
    });
    await time.advance(394_999);
    expect(open()).toBe(2);
    await time.advance(1);
    expect([open(), errors]).toEqual([1, []]);
    await time.advance(6_000);
    expect(requested).toEqual(['W5@0', 'W5@305', 'W5@400']);
  });

  it.each([
    ['an older object', ['~a@7', '~b@6']],
    ['an older bookmark', ['b@7', 'b@6']],
  ])('R26, R21: the next watch is checked by its own order: %s', async (_name, words) => {
    const first = lasting(300, [206, '~a@9']);
    const second = (time: VirtualTime) =>
      timer(5_000, time).pipe(mergeMap(() => lasting(300, [1, ...words])(time)));
    const { time, emitted, errors } = run([first, second, lasting(300)]);
    await time.advance(211_500);
    expect(emitted).toEqual([')@5', '~a@9', ')@5!']);
    expect(errors).toEqual(['Expired@211']);
  });

  it.each([
    ['a refused object and a bookmark', ['?c@6', 'b@7'], []],
    ['a deletion', ['-a@6'], []],
    ['a deletion with the version of the object, which is older', ['~a@7', '-a@6'], []],
    [
      'an event that the first watch has not delivered',
      ['~a@6', '~a@7', '-a@8', '+a@10'],
      ['+a@10'],
    ],
    ['a change', ['~a@6'], []],
  ])(
    'R26: events that the first watch has delivered are dropped from the second: %s',
    async (_name, words, fresh) => {
      const first = lasting(300, [206, '~a@6', '~a@7', '-a@8', 'b@9']);
      const second = (time: VirtualTime) =>
        timer(5_000, time).pipe(mergeMap(() => lasting(300, [1, ...words])(time)));
      const { time, emitted, errors } = run([first, second]);
      await time.advance(212_000);
      expect(emitted).toEqual([')@5', '~a@6 ~a@7 -a@8 b@9', ...fresh]);
      expect(errors).toEqual([]);
    },
  );

  it('R26: if the second watch ends within the repeated events, the third resumes from the last delivered version', async () => {
    const first = lasting(300, [206, '~a@9']);
    const second = (time: VirtualTime) =>
      timer(5_000, time).pipe(mergeMap(() => lasting(20, [1, '~a@6'])(time)));
    const { time, requested } = run([first, second, lasting(300)]);
    await time.advance(231_000);
    expect(requested).toEqual(['W5@0', 'W5@205', 'W9@230']);
  });

  it.each([
    ['the ListerWatcher permits only one watch', { mayOverlap: false }, {}],
    ['the ListerWatcher says nothing', { mayOverlap: undefined }, {}],
    ['`makeBeforeBreak` is false', {}, { makeBeforeBreak: false }],
    ['versions cannot be compared', { version: 'opaque' }, {}],
  ])(
    'R26: the next watch is requested after the end of the open one if %s',
    async (_name, source, options) => {
      const time = new VirtualTime();
      const { version = '5', ...own } = source as { version?: string };
      const watches = [lasting(300)(time), lasting(300)(time)];
      const { listerWatcher, requested } = script({ lists: [of(listPart(version))], watches });
      const { mayOverlap = true } = own as { mayOverlap?: boolean };
      const given = 'mayOverlap' in own && own.mayOverlap === undefined ? {} : { mayOverlap };
      const subscription = reflect(
        { ...listerWatcher, watchList: false, ...given },
        { scheduler: time, random: () => 0, idleTimeoutMs: 1e9, ...options },
      ).subscribe();
      await time.advance(299_000);
      expect(requested.length).toBe(2);
      await time.advance(2_000);
      expect(requested.length).toBe(3);
      subscription.unsubscribe();
      expect(time.pending).toBe(0);
    },
  );

  it('R26: events that arrive together with the response of the next watch are delivered', async () => {
    const second = () => concat(of(opened, events('~a@6', '~a@7')), NEVER);
    const { time, emitted } = run([lasting(300), second]);
    await time.advance(205_000);
    expect(emitted).toEqual([')@5', '~a@6 ~a@7']);
  });

  it('R26: the first event of the next watch counts as its response', async () => {
    const second = (time: VirtualTime) =>
      concat(timer(5_000, time).pipe(map(() => events('~a@6'))), NEVER);
    const { time, emitted, open } = run([lasting(300), second]);
    await time.advance(211_000);
    expect([emitted, open()]).toEqual([[')@5', '~a@6'], 1]);
  });

  it.each([
    ['closes', (watch: Subject<WatchSignal<Pod>>) => watch.complete()],
    ['fails', (watch: Subject<WatchSignal<Pod>>) => watch.error(refused)],
  ])(
    'R26: a next watch that %s in the same callback in which the open one ends is followed by another',
    async (_how, end) => {
      const first = new Subject<WatchSignal<Pod>>();
      const second = new Subject<WatchSignal<Pod>>();
      const ends = () => {
        first.complete();
        end(second);
      };
      const watches = [() => merge(of(opened), first), () => second, lasting(300)];
      const { time, requested, subscription } = run(
        watches,
        {},
        (deltas) => deltas === 'b@6' && ends(),
      );
      await time.advance(250_000);
      first.next(events('b@6'));
      await time.advance(10_000);
      expect(requested.length).toBe(3);
      subscription.unsubscribe();
    },
  );

  it('R26, R16: unsubscribing while two watches are open leaves no watch and no timer', async () => {
    const { time, open, subscription } = run([lasting(300), () => NEVER]);
    await time.advance(206_000);
    expect(open()).toBe(2);
    subscription.unsubscribe();
    expect([open(), time.pending]).toEqual([0, 0]);
  });

  it('R26, R7, I81: the Retry-After of the next watch also delays a refresh and the watch after a failure', async () => {
    const failing = () => throwError(() => answer(429, '', 50_000));
    const refresh$ = new Subject<RefreshOrder>();
    const waiting = run([lasting(300), failing, lasting(300)], { refresh$ });
    await waiting.time.advance(210_000);
    refresh$.next({ trustVersions: true });
    await waiting.time.advance(44_999);
    expect(waiting.emitted).toEqual([')@5']);
    await waiting.time.advance(1);
    expect(waiting.emitted).toEqual([')@5', ')@5']);
    const lost = (time: VirtualTime) =>
      concat(of(opened), timer(210_000, time).pipe(mergeMap(() => throwError(() => refused))));
    const failed = run([lost, failing, lasting(300)]);
    await failed.time.advance(300_000);
    expect(failed.requested).toEqual(['W5@0', 'W5@205', 'W5@255']);
  });

  it('R26, R16, R7: the Retry-After of the next watch also delays the watch after a pause', async () => {
    const room = new Subject<void>();
    let full = false;
    const run = rig({ reflect: { demand: () => (full ? room : null) } });
    await run.advance(350_000);
    run.server.faults.failNext(watch, { status: 503, retryAfterSeconds: 300 });
    await run.advance(10_000);
    full = true;
    run.create('b');
    await run.advance(70_000);
    expect([run.status?.phase, run.requested()]).toEqual(['paused', 'S W2']);
    full = false;
    room.next();
    await run.advance(220_000);
    expect([run.status?.phase, run.requested()]).toEqual(['backoff', 'S W2']);
    await run.advance(10_000);
    expect([run.status?.phase, run.requested()]).toEqual(['watching', 'S W2 W3']);
    run.subscription.unsubscribe();
  });

  it('R29, R7: the Retry-After of the next watch also delays the watch after a sleep', async () => {
    const failing = () => throwError(() => answer(429, '', 50_000));
    const awake$ = new Subject<void>();
    const scripts = [lasting(300), failing, lasting(300)];
    const { time, requested } = run(scripts, {}, undefined, awake$);
    await time.advance(254_000);
    awake$.next();
    expect(requested).toEqual(['W5@0', 'W5@205']);
    await time.advance(2_000);
    awake$.next();
    expect(requested).toEqual(['W5@0', 'W5@205', 'W5@256']);
  });

  it('R26, I81, X5: setting the clock back does not extend the Retry-After that delays a refresh', async () => {
    const failing = () => throwError(() => answer(429, '', 50_000));
    const refresh$ = new Subject<RefreshOrder>();
    const time = new VirtualTime();
    const scheduler = new Clock(time, 1e12);
    const watches = [lasting(400)(time), failing(), lasting(300)(time)];
    const { listerWatcher, requested } = script({ lists: [of(listPart('5'))], watches });
    const subscription = reflect(
      { ...listerWatcher, watchList: false, mayOverlap: true },
      { ...{ scheduler, refresh$ }, random: () => 0, idleTimeoutMs: 1e9 },
    ).subscribe();
    await time.advance(210_000);
    refresh$.next({ trustVersions: true });
    scheduler.set(-3_600_000);
    await time.advance(51_000);
    expect(requested).toEqual(['L0', 'W5', 'W5', 'L', 'W5']);
    subscription.unsubscribe();
  });
});
