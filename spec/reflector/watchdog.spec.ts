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
import { events, listPart, opened, type Pod, refused, script } from './script.ts';

const lists = [of(listPart('5'))];

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
  const silent = (seconds: number, limit = 'requestTimeoutMs') => [
    seconds * 1000,
    'Silent',
    `the server sent nothing for ${seconds} s (${limit}). Is it overloaded, or was the connection lost?`,
  ];
  const open: Observable<WatchSignal<Pod>> = concat(of(opened), NEVER);

  it('R15: silence of 85 s ends a watch', () => {
    expect(endsAt({ lists, watches: [open] })).toEqual(silent(85, 'idleTimeoutMs'));
    expect(endsAt({ lists, watches: [open] }, { idleTimeoutMs: 10_000 })).toEqual(
      silent(10, 'idleTimeoutMs'),
    );
  });

  it('R15: silence of 30 s before the response ends a watch', () => {
    expect(endsAt({ lists, watches: [NEVER] })).toEqual(silent(30));
    expect(endsAt({ lists, watches: [NEVER] }, { requestTimeoutMs: 7_000 })).toEqual(silent(7));
  });

  it('R15: silence of 30 s ends a list, and a streaming list before its end mark', () => {
    expect(endsAt({ lists: [NEVER] })).toEqual(silent(30));
    expect(endsAt({ watches: [open] }, {}, true)).toEqual(silent(30));
  });

  it('R15: silence is measured between the parts of a list', () => {
    const slow = concat(
      timer(20_000).pipe(map(() => ({ items: [] }))),
      timer(20_000).pipe(
        map(() => ({ items: [], metadata: { resourceVersion: '5', remainingItemCount: 1 } })),
      ),
      NEVER,
    );
    // Two empty parts; the second one contains a version and a count.
    expect(endsAt({ lists: [slow] })).toEqual(silent(30));
  });

  it('R15: time before the request is sent does not count as silence', () => {
    const queued: WatchSignal<Pod> = { kind: 'queued' };
    const late = (kind: 'sending' | 'opened') => timer(200_000).pipe(map(() => ({ kind })));
    const waited = (kind: 'sending' | 'opened') => [concat(of(queued), late(kind), NEVER)];
    const at = (ms: number) => [ms, 'Silent', expect.stringContaining('the server sent nothing')];
    // 30 s before the response, 85 s after it.
    expect(endsAt({ lists, watches: waited('sending') })).toEqual(at(230_000));
    expect(endsAt({ lists, watches: waited('opened') })).toEqual(at(285_000));
    expect(endsAt({ lists, watches: [concat(of(queued), NEVER)] })).toBeUndefined();
  });

  it('R15: time before the request for a page is sent does not count as silence', () => {
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
                return timer(100_000).pipe(map(() => listPart('5', ['a@1'], 'C')));
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

  it('R8: a watch that is closed as soon as it was sent is short, however long it waited before', () => {
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

  it('R15: bookmarks and incomplete events count as activity of a watch', () => {
    const bookmarks = timer(60_000, 60_000).pipe(map((at) => events(`b@${at + 10}`)));
    expect(endsAt({ lists, watches: [concat(of(opened), bookmarks)] })).toBeUndefined();
    const alive = timer(80_000, 80_000).pipe(map(() => ({ kind: 'alive' as const })));
    expect(endsAt({ lists, watches: [concat(of(opened), alive)] })).toBeUndefined();
  });
});

describe('a half-open connection', () => {
  it.each([
    ['no probe', Number.POSITIVE_INFINITY],
    ['a probe on another connection is answered', 15_000],
  ])(
    'R15, I80: a half-open connection is noticed after 85 s (%s), and the watch resumes at its last version',
    async (_, livenessMs) => {
      const run = rig({ livenessMs });
      await run.advance(70_000);
      run.server.faults.halfOpen().heal();
      run.create('b');
      // The last activity was a bookmark at 60 s.
      await run.advance(74_000);
      expect(run.errors).toEqual([]);
      await run.advance(5_000);
      expect(run.errors.map(({ reason }) => reason)).toEqual(['Silent']);
      const found = run.statuses.find(({ error }) => error?.reason === 'Silent');
      expect(found?.staleSinceMs).toBe(60_000);
      expect(run.emitted.slice(-1)).toEqual(['+b@3']);
      expect(run.requested().replaceAll(' L0', '')).toBe('S W2');
      expect(run.status).toMatchObject({ phase: 'watching', reconnects: 1, relists: 0 });
      expect(run.server.openWatches.length).toBe(1);
      run.subscription.unsubscribe();
      expect(run.server.openWatches.length).toBe(0);
    },
  );

  it('R15: a watch that receives only bookmarks stays open until its timeout', async () => {
    const run = rig({ reflect: { makeBeforeBreak: false } });
    await run.advance(440_000);
    expect([run.requested(), run.errors]).toEqual(['S', []]);
    // The server ends the watch at 450 s; its last bookmark moved the version.
    run.server.objects.advance(5);
    await run.advance(20_000);
    expect([run.requested(), run.errors]).toEqual(['S W7', []]);
    run.subscription.unsubscribe();
  });

  it('R15: after a forward jump of the clock the watch reconnects immediately and loses no event', async () => {
    const run = rig();
    await run.advance(10_000);
    run.server.faults.halfOpen().heal();
    run.create('b');
    run.time.jump(8 * 3_600_000);
    await run.advance(6_000);
    expect(run.errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/the server sent nothing .* while the clock jumped/),
    ]);
    expect(run.emitted.slice(-1)).toEqual(['+b@3']);
    expect(run.requested()).toBe('S W2');
    run.subscription.unsubscribe();
  });
});

describe('a closed demand', () => {
  it('R16: after a minute with a closed demand the watch is closed, and resumes at its last version when the demand opens', async () => {
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
    expect(run.requested()).toBe('S');
    full = false;
    room.next();
    await run.advance(100);
    expect(run.requested()).toBe('S W3');
    expect(run.emitted.slice(-1)).toEqual(['+c@4']);
    expect(run.errors).toEqual([]);
    expect(run.status).toMatchObject({ phase: 'watching', attempt: 0 });
    run.subscription.unsubscribe();
    await run.advance(0);
    expect(room.observed).toBe(false);
  });

  it('R16: a shorter pause keeps the watch, and does not count as silence of the server', async () => {
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
    expect([run.requested(), run.errors]).toEqual(['S', []]);
    run.subscription.unsubscribe();
  });

  it('R16: a pause of a minute during a list aborts the list, which is requested again when the demand opens', async () => {
    const room = new Subject<void>();
    let full = true;
    const run = rig({
      reflect: { demand: () => (full ? room : null), initialList: 'pages' },
    });
    await run.advance(70_000);
    expect([run.status?.phase, run.emitted]).toEqual(['paused', ['x']]);
    full = false;
    room.next();
    await run.advance(10);
    expect([run.requested(), run.emitted]).toEqual(['L0 L0 W2', ['x', '(a@2', ')@2']]);
    run.subscription.unsubscribe();
  });

  it('R15, R16: a pause in one watch does not extend the time limit of the next', () => {
    marbles(({ scheduler, flush }) => {
      let watches = 0;
      const errors: unknown[] = [];
      const failing = throwError(() => refused);
      const listerWatcher: ListerWatcher<Pod> = {
        watchList: false,
        list: () => of(listPart('5')),
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

  it('R15, R16: a pause in one page does not extend the time limit of the next page', () => {
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
                  return of(listPart('5', ['a@1'], 'C')).pipe(takeUntil(wait));
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

  it('R16: unsubscribing while the demand is closed also unsubscribes from the demand', async () => {
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
  it('R13: the status shows how many objects of a list were received and how many remain', () => {
    marbles(({ cold, scheduler, flush }) => {
      const pages = [
        cold('-(l|)', {
          l: {
            items: listPart('5', ['a@1', 'b@2']).items,
            metadata: { resourceVersion: '5', continue: 'C', remainingItemCount: 1 },
          },
        }),
        cold('-(l|)', { l: listPart('5', ['c@3']) }),
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
