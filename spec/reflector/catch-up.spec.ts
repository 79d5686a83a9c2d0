import { exponentialBackoff, type ReflectorStatus, reflect, type WatchSignal } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import {
  concat,
  EMPTY,
  interval,
  merge,
  NEVER,
  type Observable,
  of,
  throwError,
  timer,
} from 'rxjs';
import { map, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import type { ReflectorConfig, ReflectorInput, Watching } from '../../lib/reflector/state.ts';
import { initialMemory } from '../../lib/reflector/state.ts';
import { nextReflector } from '../../lib/reflector/transitions.ts';
import * as fc from '../support/fast-check.ts';
import { rig } from './rig.ts';
import { answer, events, listPart, opened, type Pod, script } from './script.ts';

type Signals = Observable<WatchSignal<Pod>>;

/**
 * Runs a reflector whose first watch breaks after 100 ms. The next one is requested 800 ms later, or, if `fails` is set,
 * refused then and requested again after 1600 ms more; it is answered after `outageMs`. Returns when the status was live, and since when it was stale, in milliseconds since the answer.
 */
function afterOutage(outageMs: number, second: Signals, fails = false) {
  const shown: (readonly [atMs: number, live: boolean, phase: string])[] = [];
  let staleSinceMs: readonly (number | undefined)[] = [];
  marbles(({ scheduler, cold, flush }) => {
    const broken = cold<WatchSignal<Pod>>('o 99ms #', { o: opened }, answer(500));
    const answered = concat(timer(outageMs, scheduler).pipe(map(() => opened)), second);
    const failing = cold<WatchSignal<Pod>>('#', {}, answer(500));
    const watches = [broken, ...(fails ? [failing] : []), answered as Signals];
    const { listerWatcher } = script({ lists: [of(listPart('1'))], watches });
    const answeredMs = 100 + 800 + (fails ? 1_600 : 0) + outageMs;
    const statuses: ReflectorStatus[] = [];
    const run = reflect(listerWatcher, {
      scheduler,
      random: () => 0,
      onStatus: (status) => {
        statuses.push(status);
        if (scheduler.now() < answeredMs) return;
        shown.push([scheduler.now() - answeredMs, status.live, status.phase]);
      },
    }).subscribe();
    scheduler.schedule(() => run.unsubscribe(), answeredMs + 20_000);
    flush();
    const behind = statuses.filter(({ staleSinceMs }) => staleSinceMs !== undefined);
    staleSinceMs = [...new Set(behind.map((status) => status.staleSinceMs))];
  });
  return { shown, staleSinceMs };
}

/** The moment at which the status became live. */
const liveAt = ({ shown }: ReturnType<typeof afterOutage>) => shown.find(([, live]) => live)?.[0];

const backlog = (count: number, periodMs: number): Signals =>
  concat(
    interval(periodMs).pipe(
      take(count),
      map((nth) => events(`~a@${nth + 2}`)),
    ),
    NEVER,
  );

describe('a watch after an outage', () => {
  it('R32: it is live when nothing has arrived for a moment, and stale until then', () => {
    const quiet = afterOutage(5_000, NEVER);
    expect(quiet.shown).toEqual([
      [0, false, 'watching'],
      [3_000, true, 'watching'],
    ]);
    expect(quiet.staleSinceMs).toEqual([0, 100]);
  });

  it('R32: it is not live while the changes of the outage arrive', () => {
    const slow = afterOutage(1_500, backlog(40, 200));
    const lastMs = 40 * 200;
    expect(slow.shown.filter(([atMs, live]) => live && atMs < lastMs)).toEqual([]);
    expect(liveAt(slow)).toBeGreaterThanOrEqual(lastMs + 1_500);
    expect(liveAt(slow)).toBeLessThanOrEqual(lastMs + 2_250);
    expect(slow.staleSinceMs).toEqual([0, 100]);
  });

  it('R32: it is live at a bookmark, and in a busy collection after 10 s', () => {
    const marked = concat(backlog(5, 50).pipe(take(5)), of(events('b@9')), NEVER);
    expect(liveAt(afterOutage(5_000, marked))).toBe(250);
    expect(liveAt(afterOutage(5_000, backlog(1_000, 50)))).toBe(10_000);
  });

  it('R32: it is live immediately after less than 2 s', () => {
    expect(liveAt(afterOutage(1_100, backlog(100, 50)))).toBe(0);
    expect(liveAt(afterOutage(1_300, backlog(100, 50)))).toBeGreaterThan(5_000);
  });

  it('R32: bytes without an event are an arrival', () => {
    const bytes = concat(
      interval(500).pipe(
        take(10),
        map((): WatchSignal<Pod> => ({ kind: 'alive' })),
      ),
      NEVER,
    );
    expect(liveAt(afterOutage(5_000, bytes))).toBeGreaterThan(6_000);
  });

  it('R32: no pattern of a backlog whose gaps are shorter than 200 ms is taken for its end', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 199 }), { minLength: 1, maxLength: 45 });
    const property = fc.property(gaps, fc.integer({ min: 0, max: 200 }), (waits, answerMs) => {
      let atMs = 0;
      const arrivals = waits.map((waitMs, nth) => {
        atMs += waitMs;
        return timer(atMs).pipe(map(() => events(`~a@${nth + 2}`)));
      });
      const live = liveAt(afterOutage(answerMs, merge(...arrivals, NEVER), true));
      expect(live).toBeGreaterThanOrEqual(atMs);
      expect(live).toBeLessThanOrEqual(atMs + 300);
    });
    fc.assert(property, { numRuns: 60 });
  });

  it('R32: a server that answers fast is waited for 300 ms', async () => {
    const { time, server, statuses, touch, subscription } = rig();
    await time.advance(2_000);
    const outage = server.faults.refuse();
    server.faults.dropWatches();
    touch('a');
    const before = statuses.length;
    await time.advance(4_000);
    outage.heal();
    await time.advance(10_000);
    const at = statuses.slice(before).findIndex(({ phase }) => phase === 'watching');
    const [answered, live] = statuses.slice(before + at);
    expect(answered).toMatchObject({ phase: 'watching', live: false, staleSinceMs: 2_000 });
    expect(live).toMatchObject({ phase: 'watching', live: true });
    expect(live?.staleSinceMs).toBeUndefined();
    subscription.unsubscribe();
    expect(time.pending).toBe(0);
  });
});

/**
 * When the status is live after a list, and since when it is stale until then, in milliseconds after the list began. The
 * changes that were made during the list follow it every 50 ms.
 */
function afterList(listMs: number, how: 'pages' | 'stream') {
  const changesMs = 2_000;
  const statuses: (readonly [atMs: number, status: ReflectorStatus])[] = [];
  marbles(({ scheduler, flush }) => {
    const at = <Value>(value: Value) => timer(listMs, scheduler).pipe(map(() => value));
    const changes = backlog(changesMs / 50, 50);
    const lists = [at(listPart('1', ['a@1']))];
    const initial = how === 'stream' ? at(events('+a@1', 'end@1')) : EMPTY;
    const watch = concat(of(opened), initial, changes);
    const { listerWatcher } = script({ lists, watches: [watch] }, { watchList: how === 'stream' });
    const run = reflect(listerWatcher, {
      scheduler,
      onStatus: (status) => statuses.push([scheduler.now(), status]),
    }).subscribe();
    scheduler.schedule(() => run.unsubscribe(), listMs + 20_000);
    flush();
  });
  const liveMs = statuses.find(([, { live }]) => live)?.[0] ?? Number.NaN;
  const behind = statuses.filter(([, { synced, live }]) => synced && !live);
  const staleSinceMs = [...new Set(behind.map(([, status]) => status.staleSinceMs))];
  return { liveMs: liveMs - listMs, changesMs, staleSinceMs };
}

/** When a run that begins with a watch from a given version was live, in milliseconds. */
function afterResume(watches: Signals[]): number {
  let liveMs = Number.NaN;
  marbles(({ scheduler, flush }) => {
    const { listerWatcher } = script({ watches });
    const run = reflect(listerWatcher, {
      ...{ scheduler, resumeFrom: '1', random: () => 0 },
      onStatus: ({ live }) => {
        if (live && Number.isNaN(liveMs)) liveMs = scheduler.now();
      },
    }).subscribe();
    scheduler.schedule(() => run.unsubscribe(), 20_000);
    flush();
  });
  return liveMs;
}

describe('a watch from a given version', () => {
  it('R32: it is live when the changes since that version have arrived, because its age is not known', () => {
    expect(afterResume([concat(of(opened), backlog(40, 50))])).toBeGreaterThanOrEqual(2_000);
    expect(afterResume([concat(of(opened), NEVER)])).toBe(300);
  });

  it('R32: the same holds if that watch fails at first', () => {
    const failing = throwError(() => answer(500));
    const watch = concat(of(opened), backlog(40, 50));
    expect(afterResume([failing, watch])).toBeGreaterThanOrEqual(800 + 2_000);
  });
});

describe('a watch after a list', () => {
  for (const how of ['pages', 'stream'] as const) {
    it(`R32: it is not live while the changes arrive that were made during the list (${how})`, () => {
      const { liveMs, changesMs, staleSinceMs } = afterList(5_000, how);
      expect(liveMs).toBeGreaterThanOrEqual(changesMs);
      expect(liveMs).toBeLessThanOrEqual(changesMs + 300);
      expect(staleSinceMs).toEqual([0]);
    });

    it(`R32: it is live immediately after a list that took less than 2 s (${how})`, () => {
      expect(afterList(1_900, how).liveMs).toBe(0);
    });
  }
});

describe('the timer of a watch after an outage', () => {
  const config: ReflectorConfig = {
    scope: undefined,
    initialList: 'pages',
    mayStream: () => false,
    renewsEarly: false,
    mayOverlap: () => false,
    isHeldBack: () => false,
    pageSize: undefined,
    minWatchTimeoutMs: 300_000,
    backoff: exponentialBackoff(),
    healthyMs: 120_000,
  };
  const waiting: Watching = {
    phase: 'watching',
    memory: { ...initialMemory(0), resourceVersion: '5', synced: true },
    ...{ queued: undefined, opened: false, requestedMs: 60_000, timeoutMs: 300_000 },
    ...{ adopting: true, renewal: undefined, repeats: undefined, tickMs: 0, quiet: 0 },
    delivered: false,
  };
  const tick = { kind: 'tick' } as const;
  type Timed = readonly [nowMs: number, input: ReflectorInput, isReading?: boolean];
  /** Since when the state after these inputs is stale. */
  const staleAfter = (inputs: readonly Timed[], changes: Partial<ReflectorConfig> = {}) => {
    let state: ReturnType<typeof nextReflector>[0] = waiting;
    for (const [nowMs, input, isReading = true] of inputs) {
      const known = { nowMs, random: 0.5, silentMs: 0, isReading };
      [state] = nextReflector(state, input, { ...known, config: { ...config, ...changes } });
    }
    return state.memory.staleSinceMs;
  };
  const answered: Timed = [60_000, { kind: 'opened' }];
  const ticks = (...at: readonly number[]) => at.map((each): Timed => [each, tick]);

  it('R32: three ticks without an arrival make the watch live', () => {
    expect(staleAfter([answered, ...ticks(60_100, 60_200)])).toBe(0);
    expect(staleAfter([answered, ...ticks(60_100, 60_200, 60_300)])).toBeUndefined();
    const event = events('~a@6') as ReflectorInput;
    const arrival: Timed = [60_210, event];
    expect(staleAfter([answered, ...ticks(60_100, 60_200), arrival, ...ticks(60_300)])).toBe(0);
  });

  it('R32: bytes that arrived while the thread was blocked are read before the last tick', () => {
    const event = events('~a@6') as ReflectorInput;
    const arrival = (atMs: number): Timed => [atMs, event];
    // The thread was blocked from the arrival on, so the next timer fires first.
    const blocked = [answered, arrival(60_090), ...ticks(60_100, 62_000), arrival(62_001)];
    expect(staleAfter([...blocked, ...ticks(62_100, 62_200)])).toBe(0);
    expect(staleAfter([...blocked, ...ticks(62_100, 62_200, 62_300)])).toBeUndefined();
  });

  it('R32: while the consumer does not read, a tick shows no silence', () => {
    const full: Timed = [60_300, tick, false];
    const shut = [answered, ...ticks(60_100, 60_200), full];
    expect(staleAfter([...shut, ...ticks(60_400, 60_500)])).toBe(0);
    expect(staleAfter([...shut, ...ticks(60_400, 60_500, 60_600)])).toBeUndefined();
  });

  it('R32: after the clock was set back, an outage of unknown length is not taken for a short one', () => {
    expect(staleAfter([[-3_600_000, { kind: 'opened' }]])).toBe(0);
    const back: Timed[] = [[-3_600_000, { kind: 'opened' }]];
    back.push(...ticks(-3_599_900, -3_599_800, -3_599_700));
    expect(staleAfter(back)).toBeUndefined();
  });

  it('R32: a proxy that holds events back delivers all of them together, so nothing is waited for', () => {
    expect(staleAfter([answered], { isHeldBack: () => true })).toBeUndefined();
  });

  it('R32: a busy watch that yields again and again is live after 10 s in all', () => {
    const turns: Timed[] = [];
    const busy = events('~a@6') as ReflectorInput;
    for (let nowMs = 60_000; nowMs < 69_000; ) {
      turns.push([nowMs, { kind: 'opened' }]);
      for (let nth = 0; nth < 20; nth++) {
        nowMs += 100;
        turns.push([nowMs, busy], [nowMs, tick]);
      }
      turns.push([nowMs, { kind: 'yielded' }], [nowMs, { kind: 'sending' }]);
    }
    expect(staleAfter(turns.slice(0, -2))).toBeUndefined();
    expect(staleAfter(turns.slice(0, -4))).toBe(0);
  });
});
