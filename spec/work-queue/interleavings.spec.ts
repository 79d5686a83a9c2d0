/** Any order of calls, against the laws written as plain lists; and any timing of the operator. */
import fc from 'fast-check';
import {
  createDelayingQueue,
  createPriorityQueue,
  createRateLimitingQueue,
  createWorkQueue,
  type Outcome,
  type WorkQueue,
  workQueue,
} from 'rx-informer';
import { Subject, type Subscriber, timer } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { QueueOracle } from './queue-oracle.ts';

type Call =
  | { readonly do: 'add' | 'cancel' | 'done'; readonly key: string }
  | { readonly do: 'later'; readonly key: string; readonly ms: number }
  | { readonly do: 'ranked'; readonly key: string; readonly ms: number; readonly priority: number }
  | { readonly do: 'get' | 'doneFirst' | 'shutDown' }
  | { readonly do: 'pass'; readonly ms: number };

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
);
// At most one shutdown, near the end: what comes after it is a few calls.
const aStory = fc
  .tuple(fc.array(aCall, { maxLength: 60 }), fc.boolean(), fc.array(aCall, { maxLength: 10 }))
  .map(([calls, shut, rest]): Call[] => [
    ...calls,
    ...(shut ? [{ do: 'shutDown' as const }] : []),
    ...rest,
  ]);

type AnyQueue = WorkQueue & Partial<ReturnType<typeof createPriorityQueue>>;

const KINDS: Record<string, (scheduler: VirtualTime) => AnyQueue> = {
  createWorkQueue: (scheduler) => createWorkQueue<string>({ scheduler }),
  createDelayingQueue: (scheduler) => createDelayingQueue<string>({ scheduler }),
  createRateLimitingQueue: (scheduler) => createRateLimitingQueue<string>({ scheduler }),
  createPriorityQueue: (scheduler) =>
    createPriorityQueue<string>({ scheduler, ageingMs: Number.POSITIVE_INFINITY }),
};

/** Moves the clock and fires what is due, without a turn of the event loop. */
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

function both(
  call: Call,
  queue: AnyQueue,
  oracle: QueueOracle,
  time: VirtualTime,
): [unknown, unknown] {
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
      return [pass(time, call.ms), oracle.advance(call.ms)];
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

describe('any interleaving', () => {
  it.each(Object.keys(KINDS))(
    'K1, K2, K8, K14, K15, K16: of calls on %s is what the laws say',
    (kind) => {
      fc.assert(
        fc.property(aStory, (calls) => {
          const time = new VirtualTime();
          const queue = (KINDS[kind] as (scheduler: VirtualTime) => AnyQueue)(time);
          const oracle = new QueueOracle(kind === 'createPriorityQueue');
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
          // What is left comes in the same order, and nothing else does.
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
          expect([queue.len, queue.processing, queue.metrics.depth, time.pending]).toEqual([
            0, 0, 0, 0,
          ]);
        }),
        { numRuns: 400 },
      );
    },
  );

  it('K2, K18, K21: of keys, workers and failures loses nothing, doubles nothing and ends', async () => {
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
                // Noted, not thrown: what a reconciler throws is only a failure.
                if (inHand.has(key)) wrong.push(`${key} is with two workers`);
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
        // Nothing lost: each key was begun after it was last asked for, and its last run was a success.
        for (const [key, at] of asked) {
          expect(started.get(key)).toBeGreaterThan(at);
          const mine = outcomes.filter((outcome) => outcome.key === key);
          expect(mine.at(-1)?.type).toBe('ok');
        }
        // Nothing double: a run is due to a key, a failure or a requeue.
        const again = outcomes.filter(({ type }) => type !== 'ok').length;
        expect(runsStarted).toBe(outcomes.length);
        expect(runsStarted).toBeLessThanOrEqual(keys.length + again);
      }),
      { numRuns: 60 },
    );
  });
});
