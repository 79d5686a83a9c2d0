import {
  type ListerWatcher,
  type ReflectOptions,
  type ReflectorStatus,
  reflect,
  type WatchSignal,
} from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { concat, defer, NEVER, type Observable, of, Subject, throwError, timer } from 'rxjs';
import { map, mergeMap, takeUntil, tap } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { rig } from './rig.ts';
import { events, opened, type Pod, refused, script, whole } from './script.ts';

const lists = [of(whole('5'))];

describe('silence', () => {
  const endsAt = (
    answers: Parameters<typeof script>[0],
    options: ReflectOptions<Pod> = {},
    streams = false,
  ) =>
    marbles(({ scheduler, flush }) => {
      const { listerWatcher } = script(answers, { watchList: streams });
      let failure: unknown;
      const run = reflect(listerWatcher, {
        scheduler,
        random: () => 0,
        ...options,
        onError: (error) => {
          failure ??= [scheduler.now(), error.reason, error.message];
          return 'stop';
        },
      }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 400_000);
      flush();
      return failure;
    });
  const silent = (seconds: number) => [
    seconds * 1000,
    'Silent',
    `the server sent nothing for ${seconds} s. Is it overloaded, or was the connection lost?`,
  ];
  const open: Observable<WatchSignal<Pod>> = concat(of(opened), NEVER);

  it('R15: of 85 s ends a watch', () => {
    expect(endsAt({ lists, watches: [open] })).toEqual(silent(85));
    expect(endsAt({ lists, watches: [open] }, { idleTimeoutMs: 10_000 })).toEqual(silent(10));
  });

  it('R15: of 30 s before its answer ends a watch', () => {
    expect(endsAt({ lists, watches: [NEVER] })).toEqual(silent(30));
    expect(endsAt({ lists, watches: [NEVER] }, { requestTimeoutMs: 7_000 })).toEqual(silent(7));
  });

  it('R15: of 30 s ends a list, and a streaming list before its end', () => {
    expect(endsAt({ lists: [NEVER] })).toEqual(silent(30));
    expect(endsAt({ watches: [open] }, {}, true)).toEqual(silent(30));
  });

  it('R15: ends a list between its parts, and not one that goes on', () => {
    const slow = concat(
      timer(20_000).pipe(map(() => ({ items: [] }))),
      timer(20_000).pipe(
        map(() => ({ items: [], metadata: { resourceVersion: '5', remainingItemCount: 1 } })),
      ),
      NEVER,
    );
    // Two empty parts of which the second says something.
    expect(endsAt({ lists: [slow] })).toEqual(silent(30));
  });

  it('R15: does not begin before the request is sent: a queue is no silence of the server', () => {
    const queued: WatchSignal<Pod> = { kind: 'queued' };
    const late = (kind: 'sending' | 'opened') => timer(200_000).pipe(map(() => ({ kind })));
    const waited = (kind: 'sending' | 'opened') => [concat(of(queued), late(kind), NEVER)];
    const at = (ms: number) => [ms, 'Silent', expect.stringContaining('the server sent nothing')];
    // 30 s for the answer, 85 s after it.
    expect(endsAt({ lists, watches: waited('sending') })).toEqual(at(230_000));
    expect(endsAt({ lists, watches: waited('opened') })).toEqual(at(285_000));
    expect(endsAt({ lists, watches: [concat(of(queued), NEVER)] })).toBeUndefined();
  });

  it('R15: does not begin before a page of a list is sent', () => {
    marbles(({ scheduler, flush }) => {
      const statuses: string[] = [];
      const errors: number[] = [];
      const run = reflect<Pod>(
        {
          watchList: false,
          list: ({ continue: token, onTurn }) =>
            defer(() => {
              onTurn?.('queued');
              if (token === undefined) {
                return timer(100_000).pipe(map(() => whole('5', ['a@1'], 'C')));
              }
              return timer(100_000).pipe(
                tap(() => onTurn?.('sending')),
                mergeMap(() => NEVER),
              );
            }),
          watch: () => NEVER,
        },
        {
          scheduler,
          onStatus: ({ phase }) => statuses.push(`${scheduler.now()} ${phase}`),
          onError: () => {
            errors.push(scheduler.now());
            return 'stop';
          },
        },
      ).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 400_000);
      flush();
      expect(errors).toEqual([230_000]);
      expect(statuses).toEqual([
        '0 listing',
        '0 queued',
        '100000 listing',
        '100000 queued',
        '200000 listing',
        '230000 stopped',
      ]);
    });
  });

  it('R8: a watch that waited for its turn and then closed at once was a short one', () => {
    const closed: Observable<WatchSignal<Pod>> = concat(
      of<WatchSignal<Pod>>({ kind: 'queued' }),
      timer(5_000).pipe(map((): WatchSignal<Pod> => ({ kind: 'sending' }))),
      of(opened),
    );
    expect(endsAt({ lists, watches: [closed] })).toEqual([
      5_000,
      expect.any(String),
      expect.stringContaining('closed'),
    ]);
  });

  it('R15: does not end a watch with bookmarks, or with bytes that were no whole event', () => {
    const bookmarks = timer(60_000, 60_000).pipe(map((at) => events(`b@${at + 10}`)));
    expect(endsAt({ lists, watches: [concat(of(opened), bookmarks)] })).toBeUndefined();
    const alive = timer(80_000, 80_000).pipe(map(() => ({ kind: 'alive' as const })));
    expect(endsAt({ lists, watches: [concat(of(opened), alive)] })).toBeUndefined();
  });
});

describe('a half-open connection', () => {
  it('R15: is noticed after 85 s, and the watch goes on where it stood', async () => {
    const run = rig();
    await run.advance(70_000);
    run.server.faults.halfOpen().heal();
    run.create('b');
    // The last sign of life was a bookmark at 60 s.
    await run.advance(74_000);
    expect(run.errors).toEqual([]);
    await run.advance(5_000);
    expect(run.errors.map(({ reason }) => reason)).toEqual(['Silent']);
    expect(run.told.slice(-1)).toEqual(['+b@3']);
    expect(run.asked()).toBe('S W2');
    expect(run.status).toMatchObject({ phase: 'watching', reconnects: 1, relists: 0 });
    expect(run.server.openWatches.length).toBe(1);
    run.subscription.unsubscribe();
    expect(run.server.openWatches.length).toBe(0);
  });

  it('R15: an idle resource with bookmarks keeps one connection for its whole time', async () => {
    const run = rig({ reflect: { makeBeforeBreak: false } });
    await run.advance(440_000);
    expect([run.asked(), run.errors]).toEqual(['S', []]);
    // The server's time is up at 450 s; its last bookmark moved the version.
    run.server.objects.advance(5);
    await run.advance(20_000);
    expect([run.asked(), run.errors]).toEqual(['S W7', []]);
    run.subscription.unsubscribe();
  });

  it('R15: a clock that jumps makes a new connection at once, with nothing lost', async () => {
    const run = rig();
    await run.advance(10_000);
    run.server.faults.halfOpen().heal();
    run.create('b');
    run.time.jump(8 * 3_600_000);
    await run.advance(6_000);
    expect(run.errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/the server sent nothing .* while the clock jumped/),
    ]);
    expect(run.told.slice(-1)).toEqual(['+b@3']);
    expect(run.asked()).toBe('S W2');
    run.subscription.unsubscribe();
  });
});

describe('a consumer without room', () => {
  it('R16: for a minute closes the watch, which goes on where it stood', async () => {
    const room = new Subject<void>();
    let full = false;
    const run = rig({ reflect: { demand: () => (full ? room : null) } });
    await run.advance(5_000);
    full = true;
    run.create('b');
    await run.advance(50_000);
    expect(run.status?.phase).toBe('watching');
    await run.advance(20_000);
    expect(run.status?.phase).toBe('paused');
    expect(run.server.openWatches).toEqual([]);
    run.create('c');
    await run.advance(600_000);
    expect(run.asked()).toBe('S');
    full = false;
    room.next();
    await run.advance(100);
    expect(run.asked()).toBe('S W3');
    expect(run.told.slice(-1)).toEqual(['+c@4']);
    expect(run.errors).toEqual([]);
    expect(run.status).toMatchObject({ phase: 'watching', attempt: 0 });
    run.subscription.unsubscribe();
    await run.advance(0);
    expect(room.observed).toBe(false);
  });

  it('R16: for less keeps the watch, and its own pause is no silence of the server', async () => {
    const room = new Subject<void>();
    let full = false;
    const run = rig({
      reflect: { demand: () => (full ? room : null), idleTimeoutMs: 20_000, pauseLimitMs: 60_000 },
      server: { bookmarkIntervalMs: 15_000 },
    });
    await run.advance(16_000);
    full = true;
    run.create('b');
    await run.advance(45_000);
    full = false;
    room.next();
    await run.advance(1_000);
    expect([run.asked(), run.errors]).toEqual(['S', []]);
    run.subscription.unsubscribe();
  });

  it('R16: during a list gives the list up, and lists when there is room', async () => {
    const room = new Subject<void>();
    let full = true;
    const run = rig({
      reflect: { demand: () => (full ? room : null), initialList: 'pages' },
    });
    await run.advance(70_000);
    expect([run.status?.phase, run.told]).toEqual(['paused', ['x']]);
    full = false;
    room.next();
    await run.advance(10);
    expect([run.asked(), run.told]).toEqual(['L0 L0 W2', ['x', '(a@2', ')@2']]);
    run.subscription.unsubscribe();
  });

  it('R15, R16: a pause of a request that is over does not excuse the silence of the next', () => {
    marbles(({ scheduler, flush }) => {
      let watches = 0;
      const errors: unknown[] = [];
      const failing = throwError(() => refused);
      const listerWatcher: ListerWatcher<Pod> = {
        watchList: false,
        list: () => of(whole('5')),
        watch: ({ demand }) =>
          watches++ > 0
            ? NEVER
            : defer(() => {
                demand?.();
                return concat(of(opened), failing);
              }),
      };
      const run = reflect(listerWatcher, {
        scheduler,
        random: () => 0.5,
        demand: () => NEVER,
        onError: ({ reason }) => void errors.push([scheduler.now(), reason]),
      }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 32_000);
      flush();
      expect(errors).toEqual([
        [0, 'Network'],
        [31_200, 'Silent'],
      ]);
    });
  });

  it('R15, R16: a page that ended while nobody read does not excuse the silence of the next', () => {
    marbles(({ scheduler, flush }) => {
      const errors: unknown[] = [];
      const run = reflect<Pod>(
        {
          watchList: false,
          list: ({ continue: token, demand }) =>
            token !== undefined
              ? NEVER
              : defer(() => {
                  const wait = demand?.() ?? NEVER;
                  return of(whole('5', ['a@1'], 'C')).pipe(takeUntil(wait));
                }),
          watch: () => NEVER,
        },
        {
          scheduler,
          demand: () => NEVER,
          onError: ({ reason }) => {
            errors.push([scheduler.now(), reason]);
            return 'stop';
          },
        },
      ).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 100_000);
      flush();
      expect(errors).toEqual([[30_000, 'Silent']]);
    });
  });

  it('R16, R17: unsubscribing while there is no room lets go of the demand', async () => {
    const room = new Subject<void>();
    const run = rig({ reflect: { demand: () => room } });
    await run.advance(1_000);
    expect(room.observed).toBe(true);
    run.subscription.unsubscribe();
    await run.advance(0);
    expect([room.observed, run.time.pending, run.server.openWatches.length]).toEqual([false, 0, 0]);
  });
});

describe('the status', () => {
  it('R13: says how much of a list has come and is to come', () => {
    marbles(({ cold, scheduler, flush }) => {
      const pages = [
        cold('-(l|)', {
          l: {
            items: whole('5', ['a@1', 'b@2']).items,
            metadata: { resourceVersion: '5', continue: 'C', remainingItemCount: 1 },
          },
        }),
        cold('-(l|)', { l: whole('5', ['c@3']) }),
      ];
      const statuses: ReflectorStatus[] = [];
      const { listerWatcher } = script({ lists: pages, watches: [NEVER] });
      const run = reflect(listerWatcher, { scheduler, onStatus: (each) => statuses.push(each) });
      const subscription = run.subscribe();
      scheduler.schedule(() => subscription.unsubscribe(), 10);
      flush();
      expect(statuses.map(({ phase, loaded, remaining }) => [phase, loaded, remaining])).toEqual([
        ['listing', undefined, undefined],
        ['listing', 2, 1],
        ['listing', 3, undefined],
        ['connecting', undefined, undefined],
      ]);
    });
  });
});
