/** The next watch is asked for before the one that is open ends. */
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
import { answer, brief, events, opened, type Pod, refused, script, whole } from './script.ts';

const watch = { use: 'watch' } as const;

describe('a consumer without room', () => {
  it('R27, R7: does not hold up the Retry-After of the answer to a watch', async () => {
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
  async function told(makeBeforeBreak: boolean, delayMs: number) {
    const { time, server, advance, create, told, subscription, statuses } = rig({
      reflect: { makeBeforeBreak },
    });
    await advance(1_000);
    server.faults.delay(delayMs, watch);
    const late: number[] = [];
    for (let second = 0; second < 3_600; second++) {
      const before = told.length;
      create(`pod-${second}`);
      await advance(1_000);
      if (told.length === before) late.push(second);
    }
    await advance(120_000);
    const added = told.join(' ').match(/\+pod-\d+/g) ?? [];
    const live = statuses.map((status) => status.live).lastIndexOf(false);
    subscription.unsubscribe();
    expect([server.openWatches.length, time.pending]).toEqual([0, 0]);
    // What looks into late answers is no watch of the reflector.
    const watches = server.requests.filter((request) => word(request) !== 'P').length;
    return { added, late, watches, live, statuses: statuses.length };
  }

  it('R26: delays no event, and none is told twice', async () => {
    const { added, late, watches, live, statuses } = await told(true, 60_000);
    expect(late).toEqual([]);
    expect(new Set(added).size).toBe(3_600);
    expect(added.length).toBe(3_600);
    // 450 s each, the next one 95 s before the end.
    expect(watches).toBe(1 + Math.floor(3_600 / 355));
    expect(live).toBeLessThan(4);
    expect(statuses).toBeLessThan(8);
  });

  it('R26: lets the events of that time wait at each end of a watch where it is switched off', async () => {
    const { added, late } = await told(false, 20_000);
    expect([added.length, new Set(added).size]).toEqual([3_600, 3_600]);
    expect(late.length).toBeGreaterThan(100);
  });
});

type Scripted = (time: VirtualTime) => Observable<WatchSignal<Pod>>;

/** A reflector whose watches are given; what it asks, with the second, and how many watches are open. */
function run(
  scripts: readonly Scripted[],
  options: ReflectOptions<Pod> = {},
  onTold: (deltas: string) => void = () => {},
) {
  const time = new VirtualTime();
  const watches = scripts.map((scripted) => scripted(time));
  const { listerWatcher } = script({ lists: [of(whole('5'))], watches });
  const asked: string[] = [];
  const told: string[] = [];
  const errors: string[] = [];
  const phases: string[] = [];
  let open = 0;
  const seconds = () => time.now() / 1000;
  const watching: ListerWatcher<Pod> = {
    ...listerWatcher,
    watchList: false,
    mayOverlap: true,
    watch: (request) =>
      defer(() => {
        asked.push(`W${request.resourceVersion}@${seconds()}`);
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
    told.push(brief(deltas));
    onTold(brief(deltas));
  });
  return { time, asked, told, errors, phases, subscription, open: () => open };
}

/** These events, each at its second, and the end. */
function lasting(endS: number, ...all: readonly (readonly [number, ...string[]])[]) {
  return (time: VirtualTime): Observable<WatchSignal<Pod>> =>
    defer(() => {
      const at = (second: number) => timer(second * 1000, time);
      const each = all.map(([second, ...words]) => at(second).pipe(map(() => events(...words))));
      return merge(of(opened), NEVER, ...each).pipe(takeUntil(at(endS)));
    });
}

/** They last 300 s, so that the next one is asked for after 205 s. */
describe('the next watch', () => {
  it('R26: takes the place of the one before when it is answered', async () => {
    const first = lasting(300, [10, '~a@6'], [206, '~a@7'], [212, '~a@8']);
    const second = (time: VirtualTime) =>
      timer(5_000, time).pipe(mergeMap(() => lasting(300, [1, '~a@7', '~b@9'])(time)));
    const { time, asked, told, phases, open } = run([first, second]);
    await time.advance(208_000);
    expect(open()).toBe(2);
    await time.advance(12_000);
    expect(open()).toBe(1);
    expect(asked).toEqual(['W5@0', 'W6@205']);
    expect(told).toEqual([')@5', '~a@6', '~a@7', '~b@9']);
    expect(phases).toEqual(['listing', 'connecting', 'watching']);
    await time.advance(190_000);
    expect(asked).toEqual(['W5@0', 'W6@205', 'W9@410']);
  });

  it('R27: that fails leaves the one before as it is, until its end', async () => {
    const first = lasting(300, [250, '~a@6']);
    const failing = () => throwError(() => answer(500));
    const { time, asked, told, errors, phases } = run([first, failing, lasting(300)]);
    await time.advance(301_000);
    expect(asked).toEqual(['W5@0', 'W5@205', 'W6@300']);
    expect([told, errors]).toEqual([[')@5', '~a@6'], []]);
    expect(phases).toEqual(['listing', 'connecting', 'watching', 'connecting', 'watching']);
  });

  it.each([
    [20, 300],
    [120, 325],
  ])('R27, R7: that is told to wait %d s: the one after it comes at %d s', async (forS, atS) => {
    const failing = () => throwError(() => answer(429, '', forS * 1000));
    const { time, asked } = run([lasting(300), failing, lasting(300)]);
    await time.advance(326_000);
    expect(asked).toEqual(['W5@0', 'W5@205', `W5@${atS}`]);
  });

  it('R27: is waited for when the one before ends earlier', async () => {
    const second = (time: VirtualTime) =>
      timer(60_000, time).pipe(mergeMap(() => lasting(300, [0, '~a@6', '~a@7'])(time)));
    const { time, asked, told, phases, errors } = run([lasting(230, [220, '~a@6']), second]);
    await time.advance(270_000);
    expect(asked).toEqual(['W5@0', 'W5@205']);
    expect(told).toEqual([')@5', '~a@6', '~a@7']);
    expect(phases).toEqual(['listing', 'connecting', 'watching', 'connecting', 'watching']);
    expect(errors).toEqual([]);
  });

  it('R27: is given up when the one before fails: nothing waits for two', async () => {
    const lost = (time: VirtualTime) =>
      concat(of(opened), timer(210_000, time).pipe(mergeMap(() => throwError(() => refused))));
    const { time, asked, open, errors } = run([lost, () => NEVER, lasting(300)]);
    await time.advance(210_500);
    expect([open(), errors]).toEqual([0, ['Network@210']]);
    await time.advance(500);
    expect(asked).toEqual(['W5@0', 'W5@205', 'W5@210.8']);
  });

  it('R26: has 90 s to be answered', async () => {
    const { time, asked, open, errors } = run([lasting(400), () => NEVER, lasting(300)], {
      minWatchTimeoutMs: 400_000,
    });
    await time.advance(394_999);
    expect(open()).toBe(2);
    await time.advance(1);
    expect([open(), errors]).toEqual([1, []]);
    await time.advance(6_000);
    expect(asked).toEqual(['W5@0', 'W5@305', 'W5@400']);
  });

  it.each([
    ['an older object', ['~a@7', '~b@6']],
    ['an older bookmark', ['b@7', 'b@6']],
  ])('R27, R21: is judged by its own order: %s', async (_name, words) => {
    const first = lasting(300, [206, '~a@9']);
    const second = (time: VirtualTime) =>
      timer(5_000, time).pipe(mergeMap(() => lasting(300, [1, ...words])(time)));
    const { time, told, errors } = run([first, second, lasting(300)]);
    await time.advance(211_500);
    expect(told).toEqual([')@5', '~a@9', ')@5!']);
    expect(errors).toEqual(['Expired@211']);
  });

  it.each([
    ['a refused object and a bookmark', ['?c@6', 'b@7'], []],
    ['an end that was told', ['-a@6'], []],
    ['what the one before has not told yet', ['~a@6', '~a@7', '-a@8', '+a@10'], ['+a@10']],
    ['a failure', ['~a@6'], []],
  ])('R27: tells no news twice: %s', async (_name, words, news) => {
    const first = lasting(300, [206, '~a@6', '~a@7', '-a@8', 'b@9']);
    const second = (time: VirtualTime) =>
      timer(5_000, time).pipe(mergeMap(() => lasting(300, [1, ...words])(time)));
    const { time, told, errors } = run([first, second]);
    await time.advance(212_000);
    expect(told).toEqual([')@5', '~a@6 ~a@7 -a@8 b@9', ...news]);
    expect(errors).toEqual([]);
  });

  it('R27: goes on where the news stood, when it ends among what is none', async () => {
    const first = lasting(300, [206, '~a@9']);
    const second = (time: VirtualTime) =>
      timer(5_000, time).pipe(mergeMap(() => lasting(20, [1, '~a@6'])(time)));
    const { time, asked } = run([first, second, lasting(300)]);
    await time.advance(231_000);
    expect(asked).toEqual(['W5@0', 'W5@205', 'W9@230']);
  });

  it.each([
    ['one watch is all there may be', { mayOverlap: false }, {}],
    ['the ListerWatcher says nothing', { mayOverlap: undefined }, {}],
    ['it is switched off', {}, { makeBeforeBreak: false }],
    ['there is no order of versions', { version: '' }, {}],
  ])('R26: is asked for after the end where %s', async (_name, source, options) => {
    const time = new VirtualTime();
    const { version = '5', ...own } = source as { version?: string };
    const watches = [lasting(300)(time), lasting(300)(time)];
    const { listerWatcher, asked } = script({ lists: [of(whole(version))], watches });
    const { mayOverlap = true } = own as { mayOverlap?: boolean };
    const given = 'mayOverlap' in own && own.mayOverlap === undefined ? {} : { mayOverlap };
    const subscription = reflect(
      { ...listerWatcher, watchList: false, ...given },
      { scheduler: time, random: () => 0, idleTimeoutMs: 1e9, ...options },
    ).subscribe();
    await time.advance(299_000);
    expect(asked.length).toBe(2);
    await time.advance(2_000);
    expect(asked.length).toBe(3);
    subscription.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('R26: tells all that it brings with its answer, also where both come at once', async () => {
    const second = () => concat(of(opened, events('~a@6', '~a@7')), NEVER);
    const { time, told } = run([lasting(300), second]);
    await time.advance(205_000);
    expect(told).toEqual([')@5', '~a@6 ~a@7']);
  });

  it('R26: is answered by its first event where it does not say so', async () => {
    const second = (time: VirtualTime) =>
      concat(timer(5_000, time).pipe(map(() => events('~a@6'))), NEVER);
    const { time, told, open } = run([lasting(300), second]);
    await time.advance(211_000);
    expect([told, open()]).toEqual([[')@5', '~a@6'], 1]);
  });

  it.each([
    ['closes', (watch: Subject<WatchSignal<Pod>>) => watch.complete()],
    ['fails', (watch: Subject<WatchSignal<Pod>>) => watch.error(refused)],
  ])(
    'R27: that %s in the callback in which the one before ends is followed by another',
    async (_how, end) => {
      const first = new Subject<WatchSignal<Pod>>();
      const second = new Subject<WatchSignal<Pod>>();
      const ends = () => {
        first.complete();
        end(second);
      };
      const watches = [() => merge(of(opened), first), () => second, lasting(300)];
      const { time, asked, subscription } = run(
        watches,
        {},
        (deltas) => deltas === 'b@6' && ends(),
      );
      await time.advance(250_000);
      first.next(events('b@6'));
      await time.advance(10_000);
      expect(asked.length).toBe(3);
      subscription.unsubscribe();
    },
  );

  it('R26, R17: leaves nothing when it is unsubscribed while two are open', async () => {
    const { time, open, subscription } = run([lasting(300), () => NEVER]);
    await time.advance(206_000);
    expect(open()).toBe(2);
    subscription.unsubscribe();
    expect([open(), time.pending]).toEqual([0, 0]);
  });

  it('R27, R7, I81: that is told to wait holds up a refresh and the watch after a failure, too', async () => {
    const failing = () => throwError(() => answer(429, '', 50_000));
    const refresh$ = new Subject<RefreshOrder>();
    const waiting = run([lasting(300), failing, lasting(300)], { refresh$ });
    await waiting.time.advance(210_000);
    refresh$.next({ trustVersions: true });
    await waiting.time.advance(44_999);
    expect(waiting.told).toEqual([')@5']);
    await waiting.time.advance(1);
    expect(waiting.told).toEqual([')@5', ')@5']);
    const lost = (time: VirtualTime) =>
      concat(of(opened), timer(210_000, time).pipe(mergeMap(() => throwError(() => refused))));
    const failed = run([lost, failing, lasting(300)]);
    await failed.time.advance(300_000);
    expect(failed.asked).toEqual(['W5@0', 'W5@205', 'W5@255']);
  });

  it('R27, I81, X9: that is told to wait holds up no refresh for longer when the clock is set back', async () => {
    const failing = () => throwError(() => answer(429, '', 50_000));
    const refresh$ = new Subject<RefreshOrder>();
    const time = new VirtualTime();
    const scheduler = new Clock(time, 1e12);
    const watches = [lasting(400)(time), failing(), lasting(300)(time)];
    const { listerWatcher, asked } = script({ lists: [of(whole('5'))], watches });
    const subscription = reflect(
      { ...listerWatcher, watchList: false, mayOverlap: true },
      { ...{ scheduler, refresh$ }, random: () => 0, idleTimeoutMs: 1e9 },
    ).subscribe();
    await time.advance(210_000);
    refresh$.next({ trustVersions: true });
    scheduler.set(-3_600_000);
    await time.advance(51_000);
    expect(asked).toEqual(['L0', 'W5', 'W5', 'L', 'W5']);
    subscription.unsubscribe();
  });
});
