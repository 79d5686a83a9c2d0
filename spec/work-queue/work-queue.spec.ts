import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  createPriorityQueue,
  createRateLimitingQueue,
  itemExponentialFailureRateLimiter,
  type Outcome,
  type Reconcile,
  type ReconcileContext,
  TerminalError,
  workQueue,
} from 'rx-informer';
import { type MarbleHelpers, marbles } from 'rx-informer/testing';
import { config, from, NEVER, Observable, of, range, Subject, throwError, timer } from 'rxjs';
import { map, startWith, take, tap, toArray } from 'rxjs/operators';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { allReported } from '../support/errors.ts';

const brief = ({ key, type, attempt }: Outcome) => `${key} ${type} ${attempt}`;
/** A clock that stands still, so that the runs of a test are one slice, however slow the machine is. */
const still = (): { readonly scheduler: VirtualTime } => ({ scheduler: new VirtualTime() });
const limiter = () => itemExponentialFailureRateLimiter({ baseMs: 5, maxMs: 20 });

/** A reconciler that takes `ms`, and logs its start. */
function taking(ms: number, { scheduler }: MarbleHelpers, log: string[] = []): Reconcile {
  return (key) => {
    log.push(`${scheduler.now()} ${key}`);
    return timer(ms, scheduler).pipe(map(() => undefined));
  };
}

/** Fails the first `times` runs of each key. */
function failing(times: number): Reconcile {
  return (_key, { attempt }) => {
    if (attempt <= times) throw new Error(`attempt ${attempt}`);
  };
}

describe('workQueue', () => {
  it('K18: reports how long a key waited and was processed, and the number of the attempt', () => {
    marbles((helpers) => {
      const { cold, scheduler, flush } = helpers;
      const outcomes: Outcome[] = [];
      const contexts: ReconcileContext[] = [];
      const reconcile: Reconcile = (key, context) => {
        contexts.push(context);
        return taking(4, helpers)(key, context);
      };
      cold('ab|')
        .pipe(workQueue(reconcile, { scheduler }))
        .subscribe((outcome) => outcomes.push(outcome));
      flush();
      expect(outcomes).toEqual([
        { key: 'a', attempt: 1, queuedMs: 0, workedMs: 4, type: 'ok' },
        { key: 'b', attempt: 1, queuedMs: 3, workedMs: 4, type: 'ok' },
      ]);
      expect(contexts.map(({ key, attempt, queuedMs }) => [key, attempt, queuedMs])).toEqual([
        ['a', 1, 0],
        ['b', 1, 3],
      ]);
    });
  });

  it('K18: accepts reconcilers that return synchronously, a Promise or an Observable', async () => {
    const time = new VirtualTime();
    const seen: string[] = [];
    const answers: Record<string, Reconcile> = {
      sync: () => ({ requeueAfterMs: 1 }),
      promise: async () => ({ requeueAfterMs: 2 }),
      last: () => of({ requeueAfterMs: 9 }, { requeueAfterMs: 3 }),
      empty: () => of(),
      throws: () => {
        throw new TerminalError('thrown');
      },
      rejects: () => Promise.reject(new TerminalError('rejected')),
      thenable: () => {
        const broken = {
          // biome-ignore lint/suspicious/noThenProperty: what is tested
          then: () => {
            throw new TerminalError('then');
          },
        };
        return broken as unknown as Promise<undefined>;
      },
      errors: () => throwError(() => new TerminalError('errored')),
    };
    const reconcile: Reconcile = (key, context) => (answers[key] as Reconcile)(key, context);
    const keys$ = new Subject<string>();
    const subscription = keys$
      .pipe(workQueue(reconcile, { scheduler: time, concurrency: 10 }))
      .subscribe((outcome) => {
        const detail =
          'afterMs' in outcome ? outcome.afterMs : 'error' in outcome ? `${outcome.error}` : '';
        seen.push(`${outcome.key} ${outcome.type} ${detail}`);
      });
    for (const key of Object.keys(answers)) keys$.next(key);
    await time.advance(0);
    subscription.unsubscribe();
    expect(seen.sort()).toEqual([
      'empty ok ',
      'errors gaveUp TerminalError: errored',
      'last requeued 3',
      'promise requeued 2',
      'rejects gaveUp TerminalError: rejected',
      'sync requeued 1',
      'thenable gaveUp TerminalError: then',
      'throws gaveUp TerminalError: thrown',
    ]);
  });

  it('K19: retries a failed key after the wait that the limiter returns, and counts attempts', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const worked$ = cold('a-----------|').pipe(
        workQueue(failing(2), { scheduler, rateLimiter: limiter() }),
        map((outcome) => [
          outcome.type,
          outcome.attempt,
          'retryAfterMs' in outcome && outcome.retryAfterMs,
        ]),
      );
      expectObservable(worked$).toBe('f----g---------(o|)', {
        f: ['failed', 1, 5],
        g: ['failed', 2, 10],
        o: ['ok', 3, false],
      });
    });
  });

  it('K19: counts from 1 again after a success', () => {
    const keys$ = new Subject<string>();
    const time = new VirtualTime();
    const seen: string[] = [];
    let fail = true;
    const queue = createRateLimitingQueue({ scheduler: time });
    const reconcile = () => {
      if (fail) throw new Error('no');
    };
    keys$
      .pipe(workQueue(reconcile, { queue, scheduler: time }))
      .subscribe((outcome) => seen.push(brief(outcome)));
    keys$.next('a');
    keys$.next('a');
    expect(queue.numRequeues('a')).toBe(2);
    fail = false;
    keys$.next('a');
    expect(queue.numRequeues('a')).toBe(0);
    fail = true;
    keys$.next('a');
    expect(seen).toEqual(['a failed 1', 'a failed 2', 'a ok 3', 'a failed 1']);
  });

  it('K19: gives up after maxRetries, and starts from the beginning with the next add', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const worked$ = cold('a 29ms a|').pipe(
        workQueue(failing(Number.POSITIVE_INFINITY), {
          scheduler,
          rateLimiter: limiter(),
          maxRetries: 1,
        }),
        map(brief),
      );
      expectObservable(worked$).toBe('f----g 24ms f----(g|)', { f: 'a failed 1', g: 'a gaveUp 2' });
    });
  });

  it('K19: does not retry after a TerminalError, nor with maxRetries 0', () => {
    const error = new TerminalError('spec.size is negative', { cause: 'the user' });
    const seen: Outcome[] = [];
    const fail = (why: Error) => () => {
      throw why;
    };
    of('a')
      .pipe(workQueue(fail(error), still()))
      .subscribe((outcome) => seen.push(outcome));
    of('b')
      .pipe(workQueue(fail(new Error('x')), { ...still(), maxRetries: 0 }))
      .subscribe((outcome) => seen.push(outcome));
    expect(seen).toMatchObject([
      { key: 'a', type: 'gaveUp', error, attempt: 1 },
      { key: 'b', type: 'gaveUp', attempt: 1 },
    ]);
    expect([error.name, error.cause]).toEqual(['TerminalError', 'the user']);
  });

  it('K19: gives up an invalid key, and names it', () => {
    const seen: Outcome[] = [];
    const ran: string[] = [];
    const keys = ['a', '', undefined, 42, Object.create(null), 'b'] as string[];
    from(keys)
      .pipe(workQueue((key) => void ran.push(key), still()))
      .subscribe((outcome) => seen.push(outcome));
    expect(ran).toEqual(['a', 'b']);
    expect(seen.map(({ type }) => type)).toEqual([
      'ok',
      'gaveUp',
      'gaveUp',
      'gaveUp',
      'gaveUp',
      'ok',
    ]);
    const errors = seen.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
    expect(errors.every((error) => error instanceof TerminalError)).toBe(true);
    expect(errors.map(String)).toEqual([
      "TerminalError: workQueue: '' is not a key; emit non-empty strings such as 'namespace/name'",
      expect.stringContaining(' undefined is not a key'),
      expect.stringContaining('42 is not a key'),
      expect.stringContaining('a value of type object is not a key'),
    ]);
  });

  it('K19: gives up a key if the limiter throws', () => {
    const error = new Error('limiter');
    const rateLimiter = {
      ...limiter(),
      when: () => {
        throw error;
      },
    };
    const seen: Outcome[] = [];
    from(['a', 'b'])
      .pipe(workQueue(failing(1), { ...still(), rateLimiter }))
      .subscribe((outcome) => seen.push(outcome));
    expect(seen).toMatchObject([
      { key: 'a', type: 'gaveUp', error },
      { key: 'b', type: 'gaveUp', error },
    ]);
  });

  it('K20: requeues after requeueAfterMs, or after the wait that the limiter returns', () => {
    marbles(({ hot, expectObservable, scheduler }) => {
      const answers = [
        { requeueAfterMs: 7 },
        { requeue: true },
        { requeue: true },
        { requeueAfterMs: 0 },
      ];
      const worked$ = hot('a').pipe(
        workQueue(() => answers.shift(), { scheduler, rateLimiter: limiter() }),
        map((outcome) => [outcome.type, outcome.attempt, 'afterMs' in outcome && outcome.afterMs]),
      );
      expectObservable(worked$, '30ms !').toBe('a------b----c---------d', {
        a: ['requeued', 1, 7],
        b: ['requeued', 1, 5],
        c: ['requeued', 1, 10],
        d: ['ok', 1, false],
      });
    });
  });

  it('K20: requeueAfterMs resets the failure count of the key', () => {
    const queue = createRateLimitingQueue({ scheduler: new VirtualTime() });
    const keys$ = new Subject<string>();
    const reconcile: Reconcile = (key, context) =>
      failing(1)(key, context) ?? { requeueAfterMs: 1000 };
    keys$.pipe(workQueue(reconcile, { ...still(), queue })).subscribe();
    keys$.next('a');
    expect(queue.numRequeues('a')).toBe(1);
    keys$.next('a');
    expect(queue.numRequeues('a')).toBe(0);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, '5000'])(
    'K20: gives a key up with a TypeError if requeueAfterMs is %s',
    (invalid) => {
      const queue = createRateLimitingQueue({ scheduler: new VirtualTime() });
      const answers = [{ requeue: true }, { requeue: true, requeueAfterMs: invalid }] as object[];
      const outcomes: Outcome[] = [];
      NEVER.pipe(
        startWith('a', 'a'),
        workQueue(() => answers.shift(), { ...still(), queue }),
      ).subscribe((outcome) => outcomes.push(outcome));
      expect(outcomes).toMatchObject([{ type: 'requeued' }, { type: 'gaveUp', attempt: 1 }]);
      expect(outcomes[1]).toHaveProperty('error', expect.any(TypeError));
      expect(String((outcomes[1] as { error?: unknown }).error)).toContain('requeueAfterMs');
      expect(queue.numRequeues('a')).toBe(0);
    },
  );

  it('K21: completes although a key asked for a requeue that never comes', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const worked$ = cold('(a|)').pipe(
        workQueue(() => ({ requeueAfterMs: Number.POSITIVE_INFINITY }), { scheduler }),
        map(({ key, type }) => `${key} ${type}`),
      );
      expectObservable(worked$).toBe('(a|)', { a: 'a gaveUp' });
    });
  });

  it('K21: completes immediately if there was no key', () => {
    marbles(({ cold, expectObservable }) => {
      expectObservable(cold<string>('---|').pipe(workQueue(() => {}))).toBe('---|');
    });
  });

  it('K21: allows each key one requeueAfterMs after the end, so that a periodic requeue cannot keep the stream open', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const worked$ = cold('a-b|').pipe(
        workQueue((key) => ({ requeueAfterMs: key === 'a' ? 5 : 20 }), { scheduler }),
        map(({ key, type }) => `${key} ${type}`),
      );
      expectObservable(worked$).toBe('a-b--c----d 11ms e 19ms (f|)', {
        a: 'a requeued',
        b: 'b requeued',
        c: 'a requeued',
        d: 'a ok',
        e: 'b requeued',
        f: 'b ok',
      });
    });
  });

  it('K21: waits for no timer with drainDelayed: false', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const worked$ = cold('ab|').pipe(
        workQueue((key) => (key === 'a' ? { requeueAfterMs: 5 } : { requeue: true }), {
          scheduler,
          drainDelayed: false,
        }),
        map(({ key }) => key),
      );
      expectObservable(worked$).toBe('ab|');
    });
  });

  it('K23: unsubscribing aborts the signals, drops waiting keys and leaves no timer', async () => {
    const time = new VirtualTime();
    const log: string[] = [];
    const keys$ = new Subject<string>();
    const reconcile: Reconcile = (key, { signal }) => {
      if (key === 'late') return { requeueAfterMs: 50 };
      log.push(`run ${key}`);
      signal.addEventListener('abort', () => log.push(`abort ${key}`));
      return key === 'o' ? NEVER : new Promise(() => undefined);
    };
    const subscription = keys$
      .pipe(workQueue(reconcile, { scheduler: time, concurrency: 2 }))
      .subscribe({ complete: () => log.push('complete') });
    for (const key of ['late', 'o', 'p', 'waits']) keys$.next(key);
    expect(time.pending).toBe(1);
    subscription.unsubscribe();
    await time.advance(1000);
    expect(log).toEqual(['run o', 'run p', 'abort o', 'abort p']);
    expect([time.pending, keys$.observed]).toEqual([0, false]);
  });

  it('K23: a signal that is read late is aborted, and the end of a run aborts none', async () => {
    const kept: ReconcileContext[] = [];
    const reconcile: Reconcile = (_key, context) => {
      kept.push(context);
      return kept.length === 2 ? new Promise(() => undefined) : undefined;
    };
    const subscription = from(['a', 'b']).pipe(workQueue(reconcile, still())).subscribe();
    subscription.unsubscribe();
    expect(kept.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  });

  it('K23: a copy and a Proxy of the context have the signal, too', () => {
    const signals: AbortSignal[] = [];
    const reconcile: Reconcile = (_key, context) => {
      signals.push(context.signal, { ...context }.signal, new Proxy(context, {}).signal);
      return NEVER;
    };
    from(['a']).pipe(workQueue(reconcile)).subscribe().unsubscribe();
    expect(signals.map((each) => each === signals[0] && each.aborted)).toEqual([true, true, true]);
  });

  it('K23: unsubscribes an Observable whose subscribe function unsubscribed from the outcomes', () => {
    const log: string[] = [];
    const keys$ = new Subject<string>();
    const reconcile: Reconcile = () =>
      new Observable(() => {
        subscription.unsubscribe();
        return () => log.push('left');
      });
    const subscription = keys$.pipe(workQueue(reconcile, still())).subscribe();
    keys$.next('a');
    expect(log).toEqual(['left']);
  });

  it('K23: unsubscribes an Observable; the key of a Promise stays in progress until it settles', async () => {
    const queue = createRateLimitingQueue({ scheduler: new VirtualTime() });
    const observed$ = new Subject<undefined>();
    let finish = () => {};
    const reconcile: Reconcile = (key) =>
      key === 'o'
        ? observed$
        : new Promise<void>((resolve) => {
            finish = resolve;
          });
    const subscription = from(['o', 'p'])
      .pipe(workQueue(reconcile, { ...still(), queue, concurrency: 2 }))
      .subscribe();
    expect(queue.processing).toBe(2);
    subscription.unsubscribe();
    expect([queue.processing, observed$.observed]).toEqual([1, false]);
    finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect([queue.processing, queue.shuttingDown]).toEqual([0, false]);
  });

  it('K9, K23: leaves no resource that keeps a process alive', () => {
    const script = fileURLToPath(new URL('./leaves-nothing.ts', import.meta.url));
    const printed = execFileSync(process.execPath, ['--conditions=rx-informer-source', script], {
      encoding: 'utf8',
    });
    const { held, left } = JSON.parse(printed) as { held: string[]; left: string[] };
    expect(held).toContain('Timeout');
    // The pipe of the child to this process is open while it prints.
    expect(left.filter((name) => name !== 'PipeWrap')).toEqual([]);
  });

  it('K23: stops a synchronous source, too', () => {
    let emitted = 0;
    const seen: string[] = [];
    range(0, 1_000_000)
      .pipe(
        tap(() => {
          emitted += 1;
        }),
        map(String),
        workQueue(() => {}, still()),
        take(3),
      )
      .subscribe(({ key }) => seen.push(key));
    expect([seen, emitted]).toEqual([['0', '1', '2'], 3]);
  });

  const quick: [name: string, reconcile: Reconcile][] = [
    ['a synchronous', () => undefined],
    ['an Observable as', () => of(undefined)],
    ['a Promise as', () => Promise.resolve()],
  ];
  it.each(quick)(
    'K24: survives 30,000 keys at the same time with %s reconciler',
    async (_name, reconcile) => {
      const keys = await new Promise<Set<string>>((resolve, reject) => {
        range(0, 30_000)
          .pipe(
            map((each) => `default/pod-${each}`),
            workQueue(reconcile, still()),
            map(({ key }) => key),
            toArray(),
          )
          .subscribe({ next: (all) => resolve(new Set(all)), error: reject });
      });
      expect(keys.size).toBe(30_000);
    },
  );

  it('K24: survives 30,000 keys that were added while one was processed', () => {
    const first$ = new Subject<undefined>();
    const keys$ = new Subject<string>();
    const depths: number[] = [];
    const limit = Error.stackTraceLimit;
    let worked = 0;
    const reconcile: Reconcile = (key) => {
      if (key === 'first') return first$;
      if (key === '10' || key === '1000') {
        Error.stackTraceLimit = Number.POSITIVE_INFINITY;
        depths.push((new Error('where').stack ?? '').split('\n').length);
        Error.stackTraceLimit = limit;
      }
      return undefined;
    };
    // In virtual time, which stands still, so that the keys are one slice.
    keys$.pipe(workQueue(reconcile, { ...still() })).subscribe(() => {
      worked += 1;
    });
    keys$.next('first');
    for (let each = 0; each < 30_000; each++) keys$.next(`${each}`);
    expect(worked).toBe(0);
    first$.complete();
    expect(worked).toBe(30_001);
    expect(depths[1]).toBe(depths[0]);
  });

  it('K24: emits one outcome after the other if a consumer emits keys', () => {
    const first$ = new Subject<undefined>();
    const keys$ = new Subject<string>();
    const log: string[] = [];
    keys$
      .pipe(
        workQueue((key) => (key === 'first' ? first$ : undefined), { ...still(), concurrency: 2 }),
      )
      .subscribe(({ key }) => {
        log.push(`( ${key}`);
        if (key === 'first') for (const each of ['a', 'b']) keys$.next(each);
        log.push(`${key} )`);
      });
    keys$.next('first');
    first$.complete();
    expect(log).toEqual(['( first', 'first )', '( a', 'a )', '( b', 'b )']);
  });

  it('K24: survives 30,000 keys that are emitted by the consumer of the outcomes', () => {
    const keys$ = new Subject<string>();
    const seen = new Set<string>();
    let depth = 0;
    let deepest = 0;
    keys$.pipe(workQueue(() => {}, { ...still() })).subscribe(({ key }) => {
      depth += 1;
      deepest = Math.max(deepest, depth);
      seen.add(key);
      const next = Number(key) + 1;
      if (next < 30_000) keys$.next(`${next}`);
      depth -= 1;
    });
    keys$.next('0');
    expect([seen.size, deepest]).toEqual([30_000, 1]);
  });

  it('K24: survives a reconciler that emits keys itself, including its own', () => {
    const keys$ = new Subject<string>();
    const runs: string[] = [];
    keys$
      .pipe(
        workQueue((key) => {
          runs.push(key);
          if (runs.length === 1) for (const each of ['a', 'b', 'a', 'b']) keys$.next(each);
        }, still()),
      )
      .subscribe();
    keys$.next('a');
    expect(runs).toEqual(['a', 'b', 'a']);
  });

  it.each<[string, () => ReturnType<Reconcile>]>([
    ['return', () => undefined],
    ['return settled Promises', () => Promise.resolve()],
    ['return Observables of values', () => of(undefined)],
  ])('K30: timers run between reconciles that %s', async (_how, result) => {
    const time = new VirtualTime();
    let runs = 0;
    const waits: number[] = [];
    const tick = () => {
      const dueMs = time.now() + 10;
      time.schedule(() => {
        waits.push(time.now() - dueMs);
        if (runs < 200) tick();
      }, 10);
    };
    tick();
    const done: string[] = [];
    range(0, 200)
      .pipe(
        map((each) => `${each}`),
        workQueue(
          () => {
            runs += 1;
            time.jump(1);
            return result();
          },
          { scheduler: time },
        ),
      )
      .subscribe(({ key }) => done.push(key));
    await time.advance(1_000);
    expect(done).toHaveLength(200);
    expect(waits.length).toBeGreaterThan(8);
    expect(Math.max(...waits)).toBeLessThan(9);
  });

  it('K30: a key that arrives after a pause begins at once, and a stop drops the wait for a turn', () => {
    const time = new VirtualTime();
    const keys$ = new Subject<string>();
    const begun: string[] = [];
    const working = keys$
      .pipe(
        workQueue(
          (key) => {
            begun.push(key);
            time.jump(5);
          },
          { scheduler: time },
        ),
      )
      .subscribe(({ key }) => {
        if (key === 'c') for (const next of ['d', 'e', 'f']) keys$.next(next);
      });
    for (const key of ['a', 'b', 'c']) {
      keys$.next(key);
      time.jump(1_000);
      expect([begun.includes(key), time.pending]).toEqual([true, key === 'c' ? 1 : 0]);
    }
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    working.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('K24: continues when a consumer throws', async () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const keys$ = new Subject<string>();
    const runs: string[] = [];
    keys$.pipe(workQueue((key) => void runs.push(key), still())).subscribe(() => {
      throw new Error('consumer');
    });
    for (const key of ['a', 'b', 'a']) keys$.next(key);
    await allReported();
    config.onUnhandledError = null;
    expect([runs, reported.length]).toEqual([['a', 'b', 'a'], 3]);
  });

  it('K24: an operator after it that throws ends that subscription, and a shared queue continues', () => {
    const queue = createRateLimitingQueue();
    const seen: unknown[] = [];
    const broken$ = from(['a', 'b']).pipe(
      workQueue(() => {}, { ...still(), queue }),
      map(() => {
        throw new Error('step');
      }),
    );
    broken$.subscribe({ error: (error) => seen.push(`${error}`) });
    expect([queue.processing, queue.shuttingDown]).toEqual([0, false]);
    of('c')
      .pipe(
        workQueue(() => {}, { ...still(), queue }),
        map(brief),
      )
      .subscribe((outcome) => seen.push(outcome));
    expect(seen[0]).toBe('Error: step');
    expect(seen).toContain('c ok 1');
  });

  it('K25: processes a queue that other code adds to, until it is shut down and empty', async () => {
    const time = new VirtualTime();
    const queue = createPriorityQueue({ scheduler: time });
    const seen: string[] = [];
    const order: string[] = [];
    const reconcile: Reconcile = (key, context) => {
      order.push(key);
      return key === 'low' ? failing(1)(key, context) : timer(10, time).pipe(map(() => undefined));
    };
    NEVER.pipe(workQueue(reconcile, { queue, scheduler: time })).subscribe({
      next: (outcome) => seen.push(brief(outcome)),
      complete: () => seen.push('complete'),
    });
    queue.add('first');
    queue.addWithOptions('low', { priority: -100 });
    queue.addWithOptions('high', { priority: 1 });
    await time.advance(20);
    expect(order).toEqual(['first', 'high', 'low']);
    expect(queue.priorityOf('low')).toBe(-100);
    await time.advance(5);
    queue.add('last');
    queue.shutDown();
    expect(seen).toEqual(['first ok 1', 'high ok 1', 'low failed 1', 'low ok 2']);
    await time.advance(10);
    expect(seen.slice(4)).toEqual(['last ok 1', 'complete']);
  });

  it('K25: gives up a key that fails after the shutdown, because it would not be retried', async () => {
    const queue = createRateLimitingQueue({ scheduler: new VirtualTime() });
    const seen: string[] = [];
    for (const key of ['a', 'b', 'c']) queue.add(key);
    queue.shutDown();
    const answers: Record<string, Reconcile> = {
      a: failing(9),
      b: () => ({ requeueAfterMs: 5 }),
      c: () => ({ requeue: true }),
    };
    const reconcile: Reconcile = (key, context) => (answers[key] as Reconcile)(key, context);
    (NEVER as Observable<string>).pipe(workQueue(reconcile, { ...still(), queue })).subscribe({
      next: (outcome) => seen.push(brief(outcome)),
      complete: () => seen.push('complete'),
    });
    expect(seen).toEqual(['a gaveUp 1', 'b ok 1', 'c ok 1', 'complete']);
  });

  it('K18: throws for invalid options, and is typed by its keys', () => {
    expect(() => workQueue(() => {}, { concurrency: 0 })).toThrow(TypeError);
    expect(() => workQueue(() => {}, { maxRetries: Number.NaN })).toThrow(TypeError);
    const outcomes$ = of('a').pipe(workQueue(() => {}));
    expectTypeOf(outcomes$).toEqualTypeOf<Observable<Outcome<string>>>();
    expectTypeOf<Extract<Outcome, { type: 'failed' }>['retryAfterMs']>().toEqualTypeOf<number>();
  });
});
