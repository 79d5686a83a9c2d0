/**
 * Property tests with generated calls. The queues are compared with plain lists that follow the laws, also if the clock is
 * set back. The operator is run with any timing, alone on a queue and with other pipelines that subscribe and unsubscribe.
 */

import {
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  type Outcome,
  type PriorityQueue,
  type Reconcile,
  type ReconcileResult,
  type WorkQueue,
  workQueue,
} from 'rx-informer';
import {
  asyncScheduler,
  NEVER,
  type SchedulerLike,
  Subject,
  type Subscriber,
  type Subscription,
  timer,
} from 'rxjs';
import { finalize, map } from 'rxjs/operators';
import { describe, expect, it, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import * as fc from '../support/fast-check.ts';
import { QueueOracle } from './queue-oracle.ts';

type Call =
  | { readonly do: 'add' | 'cancel' | 'done'; readonly key: string }
  | { readonly do: 'later'; readonly key: string; readonly ms: number }
  | { readonly do: 'ranked'; readonly key: string; readonly ms: number; readonly priority: number }
  | { readonly do: 'get' | 'doneFirst' | 'shutDown' }
  | { readonly do: 'pass' | 'setBack'; readonly ms: number };

const aKey = fc.constantFrom('a', 'b', 'c', 'd');
const someMs = fc.integer({ min: -1, max: 6 });
const aCall: fc.Arbitrary<Call> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('add' as const), key: aKey }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('get' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('doneFirst' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('done' as const, 'cancel' as const), key: aKey }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('later' as const), key: aKey, ms: someMs }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('ranked' as const),
      key: aKey,
      ms: someMs,
      priority: fc.integer({ min: -2, max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('setBack' as const),
      ms: fc.integer({ min: 1, max: 3_600_000 }),
    }),
  },
);
// At most one shutdown, near the end, so that only a few calls follow it.
const aStory = fc
  .tuple(fc.array(aCall, { maxLength: 60 }), fc.boolean(), fc.array(aCall, { maxLength: 10 }))
  .map(([calls, shut, rest]): Call[] => [
    ...calls,
    ...(shut ? [{ do: 'shutDown' as const }] : []),
    ...rest,
  ]);

type AnyQueue = WorkQueue & Partial<ReturnType<typeof createPriorityQueue>>;

const KINDS: Record<string, (scheduler: SchedulerLike) => AnyQueue> = {
  createWorkQueue: (scheduler) => createWorkQueue<string>({ scheduler }),
  createDelayingQueue: (scheduler) => createDelayingQueue<string>({ scheduler }),
  createRateLimitingQueue: (scheduler) => createRateLimitingQueue<string>({ scheduler }),
  createPriorityQueue: (scheduler) =>
    createPriorityQueue<string>({ scheduler, ageingMs: Number.POSITIVE_INFINITY }),
};

/** The time in which a story is played. */
interface Time {
  readonly scheduler: SchedulerLike;
  /** The number of timers that are set. */
  readonly pending: number;
  /** Lets time pass without a turn of the event loop. */
  pass(ms: number): void;
  setBack(ms: number): void;
  end(): void;
}

const TIMES: Record<string, () => Time> = {
  'virtual time': () => {
    const time = new VirtualTime();
    return {
      scheduler: time,
      get pending() {
        return time.pending;
      },
      pass: (ms) => pass(time, ms),
      // The virtual clock cannot be set back.
      setBack: () => undefined,
      end: () => undefined,
    };
  },
  'a clock that is set back': () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] });
    return {
      scheduler: asyncScheduler,
      get pending() {
        return vi.getTimerCount();
      },
      pass: (ms) => void vi.advanceTimersByTime(ms),
      setBack: (ms) => void vi.setSystemTime(asyncScheduler.now() - ms),
      end: () => void vi.useRealTimers(),
    };
  },
};

/** Moves the clock and fires the timers that are due. */
function pass(time: VirtualTime, ms: number): void {
  const until = time.frame + ms;
  for (;;) {
    time.actions.sort((one, other) => one.delay - other.delay);
    const next = time.actions[0];
    if (next === undefined || next.delay > until) break;
    time.actions.shift();
    time.frame = Math.max(time.frame, next.delay);
    if (!next.closed) next.execute(next.state, next.delay);
  }
  time.frame = until;
}

function both(call: Call, queue: AnyQueue, oracle: QueueOracle, time: Time): [unknown, unknown] {
  switch (call.do) {
    case 'add':
      return [queue.add(call.key), oracle.add(call.key)];
    case 'get':
      return [queue.tryGet(), oracle.get()];
    case 'done':
      return [queue.done(call.key), oracle.done(call.key)];
    case 'doneFirst': {
      const [first] = oracle.processing;
      return first === undefined ? [0, 0] : [queue.done(first), oracle.done(first)];
    }
    case 'shutDown':
      return [queue.shutDown(), oracle.shutDown()];
    case 'pass':
      return [time.pass(call.ms), oracle.advance(call.ms)];
    case 'setBack':
      return [time.setBack(call.ms), undefined];
    case 'cancel':
      if (queue.cancelAfter === undefined) return [0, 0];
      return [queue.cancelAfter(call.key), oracle.cancelAfter(call.key)];
    case 'later':
      if (queue.addAfter === undefined) return [0, 0];
      return [queue.addAfter(call.key, call.ms), oracle.addAfter(call.key, call.ms)];
    case 'ranked': {
      if (queue.addWithOptions === undefined) return [0, 0];
      const { key, ms, priority } = call;
      queue.addWithOptions(key, { afterMs: ms, priority });
      oracle.addAfter(key, ms, priority);
      return [0, 0];
    }
  }
}

/** Plays the calls on the queue and on the oracle, and compares every result and the keys that are left. */
function agree(calls: Call[], queue: AnyQueue, oracle: QueueOracle, time: Time): void {
  for (const call of calls) {
    const [got, expected] = both(call, queue, oracle, time);
    expect(got).toEqual(expected);
    expect([queue.len, queue.processing, queue.waiting, time.pending]).toEqual([
      oracle.ready.length,
      oracle.processing.size,
      oracle.later.length,
      Math.min(1, oracle.later.length),
    ]);
  }
  // The remaining keys are given out in the same order, and no other key.
  queue.shutDown();
  oracle.shutDown();
  for (let more = true; more; ) {
    for (const key of [...oracle.processing]) {
      queue.done(key);
      oracle.done(key);
    }
    const key = oracle.get();
    expect(queue.tryGet()).toBe(key);
    more = key !== undefined;
  }
  const { depth, queueDurationSeconds, workDurationSeconds } = queue.metrics;
  expect([queue.len, queue.processing, depth, time.pending]).toEqual([0, 0, 0, 0]);
  expect(Math.min(queueDurationSeconds.sum, workDurationSeconds.sum)).toBeGreaterThanOrEqual(0);
}

describe('any interleaving', () => {
  const kinds = Object.keys(KINDS).flatMap((kind) =>
    Object.keys(TIMES).map((time) => [kind, time]),
  );
  it.each(kinds)(
    'K1, K2, K8, K9, K14: any calls on %s give the results of the oracle, in %s (TestCollapse, TestLen, TestReinsert, TestAddWhileProcessing, TestNoQueueDrainageUsingShutDown, TestSimpleQueue, TestDeduping, TestAddTwoFireEarly, TestCopyShifting)',
    (kind = '', kindOfTime = '') => {
      fc.assert(
        fc.property(aStory, (calls) => {
          const time = (TIMES[kindOfTime] as () => Time)();
          try {
            const queue = (KINDS[kind] as (scheduler: SchedulerLike) => AnyQueue)(time.scheduler);
            agree(calls, queue, new QueueOracle(kind === 'createPriorityQueue'), time);
          } finally {
            time.end();
          }
        }),
        { numRuns: 400 },
      );
    },
  );

  it('K2, K18, K21: any keys, workers and failures lose no run, add no run, and end (TestBasic)', async () => {
    const aRun = fc.record({
      ms: fc.integer({ min: 0, max: 6 }),
      how: fc.constantFrom('sync', 'observable', 'promise'),
      answer: fc.constantFrom('ok', 'ok', 'fail', 'requeue'),
    });
    const aScript = fc.record({
      keys: fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), aKey), { maxLength: 25 }),
      runs: fc.array(aRun, { maxLength: 40 }),
      concurrency: fc.integer({ min: 1, max: 4 }),
      errs: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(aScript, async ({ keys, runs, concurrency, errs }) => {
        const time = new VirtualTime();
        const source$ = new Subject<string>();
        const inHand = new Set<string>();
        const asked = new Map<string, number>();
        const started = new Map<string, number>();
        const outcomes: Outcome[] = [];
        const ends: string[] = [];
        const wrong: string[] = [];
        const script = [...runs];
        let runsStarted = 0;
        let tick = 0;
        source$
          .pipe(
            workQueue(
              (key) => {
                // Recorded, not thrown, because an error of a reconciler is only a failed outcome.
                if (inHand.has(key)) wrong.push(`${key} is given to two workers`);
                inHand.add(key);
                if (inHand.size > concurrency) wrong.push(`${inHand.size} workers`);
                tick += 1;
                started.set(key, tick);
                runsStarted += 1;
                const { ms, how, answer } = script.shift() ?? { ms: 0, how: 'sync', answer: 'ok' };
                const finish = () => {
                  inHand.delete(key);
                  if (answer === 'fail') throw new Error('scripted');
                  return answer === 'requeue' ? { requeue: true } : undefined;
                };
                const later$ = timer(ms, time).pipe(map(finish));
                if (how === 'observable') return later$;
                if (how === 'sync') return finish();
                return new Promise((resolve, reject) => {
                  later$.subscribe({ next: resolve, error: reject } as Subscriber<unknown>);
                }) as Promise<undefined>;
              },
              { scheduler: time, concurrency },
            ),
          )
          .subscribe({
            next: (outcome) => outcomes.push(outcome),
            error: (error) => ends.push(`error ${error}`),
            complete: () => ends.push('complete'),
          });
        for (const [ms, key] of keys) {
          await time.advance(ms);
          tick += 1;
          asked.set(key, tick);
          source$.next(key);
        }
        if (errs) source$.error('broken');
        else source$.complete();
        await time.advance(1e9);
        expect(ends).toEqual([errs ? 'error broken' : 'complete']);
        expect([wrong, inHand.size, time.pending]).toEqual([[], 0, 0]);
        // No run is lost: each key began after its last request, and its last run succeeded.
        for (const [key, at] of asked) {
          expect(started.get(key)).toBeGreaterThan(at);
          const mine = outcomes.filter((outcome) => outcome.key === key);
          expect(mine.at(-1)?.type).toBe('ok');
        }
        // No run is added: each run belongs to a key, a failure or a requeue.
        const again = outcomes.filter(({ type }) => type !== 'ok').length;
        expect(runsStarted).toBe(outcomes.length);
        expect(runsStarted).toBeLessThanOrEqual(keys.length + again);
      }),
      { numRuns: 60 },
    );
  });

  it('K2, K25: pipelines that share a queue and unsubscribe lose no run and add no run', async () => {
    const aRun = fc.record({
      ms: fc.integer({ min: 0, max: 6 }),
      how: fc.constantFrom('sync', 'observable', 'promise', 'deaf promise'),
      answer: fc.constantFrom('ok', 'ok', 'fail', 'requeue', 'later'),
    });
    const aStep = fc.record({
      ms: fc.integer({ min: 0, max: 4 }),
      do: fc.constantFrom('add', 'add', 'add', 'add', 'join', 'leave'),
      key: aKey,
      priority: fc.integer({ min: -1, max: 1 }),
      // Unsubscribe from within a reconcile.
      within: fc.boolean(),
    });
    const aScript = fc.record({
      ranked: fc.boolean(),
      steps: fc.array(aStep, { maxLength: 40 }),
      runs: fc.array(aRun, { maxLength: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(aScript, async ({ ranked, steps, runs }) => {
        const time = new VirtualTime();
        const queue = ranked
          ? createPriorityQueue<string>({ scheduler: time })
          : createRateLimitingQueue<string>({ scheduler: time });
        const inHand = new Set<string>();
        const asked = new Map<string, number>();
        const done = new Map<string, number>();
        const wrong: string[] = [];
        const script = [...runs];
        const pipelines: Subscription[] = [];
        let waiting: (() => void)[] = [];
        let tick = 0;
        const reconcile: Reconcile = (key, { signal }) => {
          if (inHand.has(key)) wrong.push(`${key} is with two workers`);
          inHand.add(key);
          tick += 1;
          const begun = tick;
          const { ms, how, answer } = script.shift() ?? { ms: 0, how: 'sync', answer: 'ok' };
          const acts = waiting;
          waiting = [];
          for (const act of acts) act();
          const finish = (): ReconcileResult => {
            if (answer === 'fail') throw new Error('scripted');
            done.set(key, begun);
            if (answer === 'requeue') return { requeue: true };
            return answer === 'later' ? { requeueAfterMs: 3 } : undefined;
          };
          const later$ = timer(ms, time).pipe(
            map(finish),
            finalize(() => inHand.delete(key)),
          );
          if (how === 'observable') {
            // The run did not begin, because the pipeline was unsubscribed from within it.
            if (signal.aborted) inHand.delete(key);
            return later$;
          }
          if (how === 'sync') {
            inHand.delete(key);
            return finish();
          }
          return new Promise<ReconcileResult>((resolve, reject) => {
            const run = later$.subscribe({ next: resolve, error: reject });
            if (how === 'deaf promise') return;
            const abort = () => {
              run.unsubscribe();
              reject(signal.reason);
            };
            signal.addEventListener('abort', abort);
            if (signal.aborted) abort();
          });
        };
        const join = () => {
          const pipeline = NEVER.pipe(workQueue(reconcile, { queue, scheduler: time })).subscribe();
          pipelines.push(pipeline);
        };
        const act = ({ do: what, key, priority }: (typeof steps)[number]) => {
          if (what === 'join') return join();
          if (what === 'leave') return pipelines.shift()?.unsubscribe();
          tick += 1;
          asked.set(key, tick);
          if (ranked) (queue as PriorityQueue).addWithOptions(key, { priority });
          else queue.add(key);
          return undefined;
        };
        join();
        for (const step of steps) {
          await time.advance(step.ms);
          if (step.within) waiting.push(() => act(step));
          else act(step);
        }
        for (const each of waiting.splice(0)) each();
        // One pipeline remains and processes the remaining keys.
        join();
        await time.advance(1e7);
        expect(wrong).toEqual([]);
        expect([queue.len, queue.processing, queue.waiting, inHand.size]).toEqual([0, 0, 0, 0]);
        // No run is lost: each key succeeded in a run that began after its last request.
        for (const [key, at] of asked) expect(done.get(key)).toBeGreaterThan(at);
        for (const pipeline of pipelines) pipeline.unsubscribe();
        queue.shutDown();
        expect(time.pending).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});
