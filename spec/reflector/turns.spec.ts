/**
 * Requests that the client ends although nothing has failed, tries that a change of the network makes earlier, and lists that are requested
 * from outside the reflector.
 */
import {
  ApiError,
  type ReflectOptions,
  type ReflectorStatus,
  type RefreshOrder,
  reflect,
} from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { concat, NEVER, of, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { rig } from './rig.ts';
import { answer, brief, events, expired, listPart, opened, type Pod, script } from './script.ts';

const half = { random: () => 0.5 };
const yielded = ApiError.local('Yielded', 'others have their turn');
const queued = { kind: 'queued', reason: 'it is the turn of others' } as const;
const sending = { kind: 'sending' } as const;

describe('a request that yields', () => {
  it('R28: a watch resumes at its last version, without a wait, an error or a count', () => {
    marbles(({ cold, scheduler, flush }) => {
      const values = { o: opened, q: queued, s: sending, e: events('~a@5') };
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [cold('oe 8ms #', values, yielded), cold('q 99ms s-o', values)],
      });
      const statuses: ReflectorStatus[] = [];
      const errors: ApiError[] = [];
      const run = reflect(scripted.listerWatcher, {
        ...{ scheduler, ...half },
        onStatus: (status) => void statuses.push(status),
        onError: (error) => {
          errors.push(error);
          return 'stop';
        },
      }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 1_000);
      flush();
      expect(
        statuses.map(({ phase, waitingFor, staleSinceMs }) => [phase, waitingFor, staleSinceMs]),
      ).toEqual([
        ['listing', undefined, 0],
        ['connecting', undefined, 0],
        ['watching', undefined, undefined],
        ['queued', undefined, 10],
        ['queued', 'it is the turn of others', 10],
        ['connecting', undefined, 10],
        ['watching', undefined, undefined],
      ]);
      expect(scripted.requested).toEqual(['L0', 'W1', 'W5']);
      expect(statuses.at(-1)).toMatchObject({ attempt: 0, reconnects: 0, relists: 0 });
      expect(errors).toEqual([]);
    });
  });

  it('R28: a list begins again', () => {
    marbles(({ cold, scheduler, flush }) => {
      const scripted = script({
        lists: [cold('-#', undefined, yielded), of(listPart('7'))],
        watches: [concat(of(opened), NEVER)],
      });
      const emitted: string[] = [];
      const statuses: ReflectorStatus[] = [];
      const run = reflect(scripted.listerWatcher, {
        ...{ scheduler, ...half },
        onStatus: (status) => void statuses.push(status),
      }).subscribe((deltas) => emitted.push(brief(deltas)));
      scheduler.schedule(() => run.unsubscribe(), 100);
      flush();
      expect(statuses.map(({ phase }) => phase)).toEqual(['listing', 'connecting', 'watching']);
      expect(scripted.requested).toEqual(['L0', 'L0', 'W7']);
      expect(statuses.at(-1)).toMatchObject({ attempt: 0, relists: 0 });
    });
  });

  it('R15, R28, R32: a wait for a turn is not a silence of the server', () => {
    marbles(({ cold, scheduler, flush }) => {
      const values = { q: queued, s: sending, o: opened };
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [cold('q 30m s-o', values)],
      });
      const statuses: ReflectorStatus[] = [];
      const onStatus = (status: ReflectorStatus) => void statuses.push(status);
      const run = reflect(scripted.listerWatcher, { scheduler, ...half, onStatus }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 31 * 60_000);
      flush();
      expect(statuses.map(({ phase, error }) => [phase, error])).toEqual(
        ['listing', 'connecting', 'queued', 'connecting', 'watching', 'watching'].map((each) => [
          each,
          undefined,
        ]),
      );
    });
  });
});

describe('a network that may have changed', () => {
  it('R29: a wait before a retry ends, but not before Retry-After', () => {
    marbles(({ cold, scheduler, flush }) => {
      const awake$ = new Subject<void>();
      const busy = ApiError.fromStatus({ code: 429, message: 'wait' }, 429, { retryAfterMs: 500 });
      const scripted = script({
        lists: [cold('#', undefined, answer(500)), cold('#', undefined, busy), of(listPart('1'))],
        watches: [concat(of(opened), NEVER)],
      });
      const seen: [number, string][] = [];
      const run = reflect(Object.assign(scripted.listerWatcher, { awake$ }), {
        ...{ scheduler, ...half, backoff: () => 60_000 },
        onStatus: ({ phase }) => void seen.push([scheduler.now(), phase]),
      }).subscribe();
      for (const atMs of [100, 200, 300]) scheduler.schedule(() => awake$.next(), atMs);
      scheduler.schedule(() => run.unsubscribe(), 2_000);
      flush();
      expect(seen.filter(([, phase]) => phase === 'listing').map(([atMs]) => atMs)).toEqual([
        ...[0, 100, 600],
      ]);
      expect(seen.at(-1)).toEqual([600, 'watching']);
    });
  });

  it('R29, I71: what was emitted is stale since the server was last heard, not since the network changed', () => {
    marbles(({ cold, scheduler, flush }) => {
      const awake$ = new Subject<void>();
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [
          cold('o 9999ms a', { o: opened, a: { kind: 'alive' } }),
          cold('9ms o', { o: opened }),
        ],
      });
      const seen: unknown[] = [];
      const run = reflect(Object.assign(scripted.listerWatcher, { awake$ }), {
        ...{ scheduler, ...half },
        onStatus: ({ phase, live, staleSinceMs }) => seen.push([phase, live, staleSinceMs]),
      }).subscribe();
      scheduler.schedule(() => awake$.next(), 50_000);
      scheduler.schedule(() => run.unsubscribe(), 60_000);
      flush();
      expect(seen.slice(-4)).toEqual([
        ['watching', true, undefined],
        ['connecting', false, 10_000],
        ['watching', false, 10_000],
        ['watching', true, undefined],
      ]);
    });
  });

  it('R29: an open watch is requested again, but not one that waits or is new', () => {
    marbles(({ cold, scheduler, flush }) => {
      const awake$ = new Subject<void>();
      const values = { o: opened, q: queued };
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [cold('o', values), cold('q', values)],
      });
      const run = reflect(Object.assign(scripted.listerWatcher, { awake$ }), {
        ...{ scheduler, ...half },
      }).subscribe();
      for (const atMs of [500, 5_000, 50_000]) scheduler.schedule(() => awake$.next(), atMs);
      scheduler.schedule(() => run.unsubscribe(), 60_000);
      flush();
      expect(scripted.requested).toEqual(['L0', 'W1', 'W1']);
    });
  });
});

const open = concat(of(opened), NEVER);

function run(answers: Parameters<typeof script>[0], options: ReflectOptions<Pod> = {}) {
  const time = new VirtualTime();
  const scripted = script(answers);
  const refresh$ = new Subject<RefreshOrder>();
  const emitted: string[] = [];
  const subscription = reflect(scripted.listerWatcher, {
    scheduler: time,
    random: () => 0.5,
    refresh$,
    onRefreshed: (error?: ApiError) => emitted.push(`refreshed ${error?.code ?? 'ok'}`),
    ...options,
  }).subscribe((deltas) => emitted.push(brief(deltas)));
  const order = (trustVersions = true) => refresh$.next({ trustVersions });
  return { time, emitted, order, refresh$, subscription, requested: scripted.requested };
}

describe('a refresh', () => {
  it('I81: the list of a refresh that does not trust versions does not trust them, and several refreshes share one list', () => {
    const lists = [of(listPart('5')), of(listPart('6')), NEVER];
    const { emitted, order } = run({ lists, watches: [open] });
    order(false);
    expect(emitted).toEqual([')@5', ')@6!', 'refreshed ok']);
    const waiting = run({ lists: [of(listPart('5')), concat(NEVER)], watches: [open] });
    waiting.order();
    waiting.order(false);
    waiting.order();
    expect(waiting.requested).toEqual(['L0', 'W5', 'L']);
  });

  it('I81: a list does not trust versions if one of the refreshes that it serves does not', async () => {
    const list = new Subject<ReturnType<typeof listPart>>();
    const { emitted, order, time } = run({ lists: [of(listPart('5')), list], watches: [open] });
    order();
    order(false);
    order();
    list.next(listPart('6', ['a@6']));
    list.complete();
    await time.advance(0);
    expect(emitted).toEqual([')@5', '(a@6', ')@6!', 'refreshed ok']);
  });

  it('I81: the list of the next refresh trusts versions again', async () => {
    const { emitted, order, time } = run({
      lists: [of(listPart('5')), of(listPart('6'))],
      watches: [open],
    });
    order(false);
    order();
    await time.advance(0);
    expect(emitted).toEqual([')@5', ')@6!', 'refreshed ok', ')@6', 'refreshed ok']);
  });

  it('I81, R9: the list after an expired version serves the refresh', async () => {
    const watches = [throwError(() => answer(500)), throwError(() => expired), open];
    const { time, emitted, order, requested } = run({
      lists: [of(listPart('5')), of(listPart('9'))],
      watches,
    });
    order();
    await time.advance(5_000);
    expect(requested).toEqual(['L0', 'W5', 'W5', 'L', 'W9']);
    expect(emitted).toEqual([')@5', ')@9', 'refreshed ok']);
  });

  it('I81: a refresh has failed when the reflector begins to wait, and is not reported again', async () => {
    const lists = [of(listPart('5')), throwError(() => answer(500)), of(listPart('9'))];
    const { time, emitted, order, requested } = run({ lists, watches: [open] });
    order();
    await time.advance(60_000);
    expect(requested).toEqual(['L0', 'W5', 'L', 'L', 'W9']);
    expect(emitted).toEqual([')@5', 'x', 'refreshed 500', ')@9']);
  });

  it('I81, R16, I80: a refresh during a pause is sent when the demand opens', async () => {
    const door = new Subject<void>();
    const refresh$ = new Subject<RefreshOrder>();
    let room = true;
    const { time, touch, requested, status, emitted, ...paused } = rig({
      reflect: { refresh$, demand: () => (room ? null : door) },
    });
    await time.advance(1_000);
    room = false;
    for (let minute = 0; minute < 2; minute++) {
      touch('a');
      await time.advance(60_000);
    }
    expect(paused.statuses.at(-1)).toMatchObject({ phase: 'paused', live: false });
    refresh$.next({ trustVersions: true });
    expect(requested()).toBe('S');
    room = true;
    door.next();
    await time.advance(0);
    expect(requested()).toBe('S W3 S');
    expect(emitted.at(-1)).toBe('a@4)@4');
    paused.subscription.unsubscribe();
  });

  it('I81, R6: a refresh sends the LIST in pages that is due after three failed streaming lists', async () => {
    const time = new VirtualTime();
    const scripted = script(
      { lists: [of(listPart('5'))], watches: [throwError(() => answer(500))] },
      { watchList: true },
    );
    const refresh$ = new Subject<RefreshOrder>();
    const subscription = reflect(scripted.listerWatcher, {
      ...{ scheduler: time, random: () => 0.5, refresh$ },
    }).subscribe();
    for (let second = 0; second < 3; second++) {
      await time.advance(100);
      refresh$.next({ trustVersions: true });
    }
    expect(scripted.requested.slice(0, 4)).toEqual(['S', 'S', 'S', 'L']);
    subscription.unsubscribe();
  });

  it('I81: the run continues after `refresh$` has completed', async () => {
    const { time, order, refresh$, requested, subscription } = run({
      lists: [of(listPart('5')), of(listPart('6'))],
      watches: [open],
    });
    order();
    refresh$.complete();
    await time.advance(1_000);
    expect([requested, subscription.closed]).toEqual([['L0', 'W5', 'L', 'W6'], false]);
  });
});
