/** What follows the failures of requests, and the failures that client-node's informer does not survive. */
import { ApiError, type ReflectOptions, reflect } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { concat, config, EMPTY, merge, NEVER, type Observable, of, throwError, timer } from 'rxjs';
import { ignoreElements, map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type RigOptions, rig } from './rig.ts';
import { answer, events, expired, listPart, opened, type Pod, refused, script } from './script.ts';

type Answers = Parameters<typeof script>[0];

/** Runs a script and returns each request with its time: `W5@1200`. */
function run(answers: Answers, untilMs: number, options: ReflectOptions<Pod> = {}) {
  return marbles(({ scheduler, flush }) => {
    const scripted = script(answers);
    const times: number[] = [];
    const { requested, listerWatcher } = scripted;
    const emitted = reflect(
      {
        ...listerWatcher,
        watch: (request) => {
          times[requested.length] = scheduler.now();
          return listerWatcher.watch(request);
        },
        list: (request) => {
          times[requested.length] = scheduler.now();
          return listerWatcher.list(request);
        },
        watchList: false,
      },
      { scheduler, random: () => 0.5, ...options },
    );
    const subscription = emitted.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
    flush();
    return requested.map((word, at) => `${word}@${times[at]}`).join(' ');
  });
}

const failing = (error: ApiError) => throwError(() => error);
const open = concat(of(opened), NEVER);
const lists = [of(listPart('5'))];
const living = (ms: number, then: Observable<never>) =>
  concat(of(opened), timer(ms).pipe(ignoreElements()), then) as Observable<never>;

describe('a watch that is refused', () => {
  it.each([
    ['a refused connection (TestReflectorListAndWatchInitConnBackoff)', failing(refused)],
    ['429 (TestBackoffOnTooManyRequests, TestNoRelistOnTooManyRequests)', failing(answer(429))],
    ['an ERROR 429 (TestBackoffOnTooManyRequests)', of(opened, events(answer(429)))],
  ])('R7: the watch resumes at its version after %s', (_name, watch) => {
    const watches = [watch, watch, watch, watch, watch, open];
    expect(run({ lists, watches }, 60_000)).toBe(
      'L0@0 W5@0 W5@1200 W5@3600 W5@8400 W5@18000 W5@37200',
    );
  });

  it.each([
    ['shorter', 500, 1_200],
    ['longer', 45_000, 45_000],
  ])('R7: Retry-After is a lower bound of the wait: %s', (_name, retryAfterMs, atMs) => {
    const watches = [failing(answer(429, '', retryAfterMs)), open];
    expect(run({ lists, watches }, 50_000)).toBe(`L0@0 W5@0 W5@${atMs}`);
  });

  it('R7: the watch resumes at the version of the last event', () => {
    const watches = [of(opened, events('~a@8', answer(429))), open];
    expect(run({ lists, watches }, 2_000)).toBe('L0@0 W5@0 W8@1200');
  });
});

describe('a watch that closes', () => {
  it('R8: a watch that lasted a second or more resumes immediately', () => {
    const watches = [living(1_000, EMPTY), living(1_500, EMPTY), open];
    expect(run({ lists, watches }, 5_000)).toBe('L0@0 W5@0 W5@1000 W5@2500');
  });

  it('R8: after a shorter watch the reflector waits, and after the second in a row it relists (TestReflectorHandleWatchResultChanClosedAfter)', () => {
    const watches = [living(999, EMPTY), of(opened), open];
    expect(run({ lists, watches }, 10_000)).toBe('L0@0 W5@0 W5@2199 L5@4599 W5@4599');
  });

  it('R8: a longer watch between two short ones restarts the count', () => {
    const watches = [of(opened), living(2_000, EMPTY), of(opened), open];
    expect(run({ lists, watches }, 10_000)).toBe('L0@0 W5@0 W5@1200 W5@3200 W5@5600');
  });

  it('R8: a watch resumes immediately if the clock was set back by an hour meanwhile', async () => {
    const fake = rig();
    await fake.advance(5_000);
    fake.time.jump(-3_600_000);
    fake.server.faults.closeWatches();
    await fake.advance(0);
    expect(fake.errors).toEqual([]);
    expect(fake.requested()).toBe('S W2');
    expect(fake.status).toMatchObject({ phase: 'watching', attempt: 0, reconnects: 1 });
    fake.subscription.unsubscribe();
  });

  it('R8: short watches with one event each are not repeated without a wait', () => {
    const watches = [of(opened, events('~a@6'))];
    expect(run({ lists, watches }, 60_000).split(' ').length).toBeLessThan(8);
  });
});

describe('a watch that fails', () => {
  it.each([401, 403, 408, 500, 502, 503, 504])(
    'R7: after a %i the reflector waits and resumes',
    (code) => {
      expect(run({ lists, watches: [failing(answer(code)), open] }, 3_000)).toBe(
        'L0@0 W5@0 W5@1200',
      );
    },
  );

  it.each([400, 404, 405, 409, 422, 501])(
    'R7: after a %i the reflector waits and lists again',
    (code) => {
      expect(run({ lists, watches: [failing(answer(code)), open] }, 3_000)).toBe(
        'L0@0 W5@0 L5@1200 W5@1200',
      );
    },
  );

  it('R7: after a failure in the middle of the stream the watch waits and resumes at its last version (TestRetryInternalError)', () => {
    const broken = concat(of(opened, events('~a@9')), failing(refused));
    const inStream = of(opened, events('~a@12', answer(500, 'InternalError')));
    expect(run({ lists, watches: [broken, inStream, open] }, 10_000)).toBe(
      'L0@0 W5@0 W9@1200 W12@3600',
    );
  });

  it.each([
    ['as an HTTP status', failing(expired)],
    ['as an event', of(opened, events(expired))],
    ['without a Status', failing(answer(410))],
  ])('R9: after a 410 %s the reflector lists again within a second', (_name, watch) => {
    expect(run({ lists, watches: [watch, open] }, 3_000)).toBe('L0@0 W5@0 L5@500 W5@500');
  });

  it.each([
    [0, 0],
    [0.25, 250],
    [0.999, 999],
  ])(
    'R9: after a 410 the reflector lists at a random moment of that second: %d',
    (chance, afterMs) => {
      const answers = { lists, watches: [of(opened, events(expired)), open] };
      const requested = `L0@0 W5@0 L5@${afterMs} W5@${afterMs}`;
      expect(run(answers, 3_000, { random: () => chance })).toBe(requested);
    },
  );

  it('R9: after a 410 at the end of an outage the list does not wait for the backoff that has grown', () => {
    const watches = [...Array.from({ length: 5 }, () => failing(refused)), failing(expired), open];
    const outage = 'L0@0 W5@0 W5@1200 W5@3600 W5@8400 W5@18000 W5@37200';
    expect(run({ lists, watches }, 120_000)).toBe(`${outage} L5@37700 W5@37700`);
  });

  it.each([
    ['R9: after a 410 as an HTTP status', failing(answer(410, 'Expired', 7_000))],
    ['R9: after a 410 as an event', of(opened, events(answer(410, 'Expired', 7_000)))],
    ['R9: after a 410 without a Status', failing(answer(410, '', 7_000))],
    ['R7: after a 404', failing(answer(404, 'NotFound', 7_000))],
  ])('%s the reflector does not list before Retry-After', (_name, watch) => {
    expect(run({ lists, watches: [watch, open] }, 9_000)).toBe('L0@0 W5@0 L5@7000 W5@7000');
  });

  it('R9: of several 410 in a row, only the first is followed by a list within a second; the waits after the others grow', () => {
    const answers = { lists, watches: [of(opened, events(expired))] };
    expect(run(answers, 20_000)).toBe(
      'L0@0 W5@0 L5@500 W5@500 L5@2900 W5@2900 L5@7700 W5@7700 L5@17300 W5@17300',
    );
  });

  it.each([
    [119_999, 2_400],
    [120_000, 500],
  ])(
    'R9: after another 410, following %d healthy ms, the reflector lists after %d ms',
    (healthyMs, afterMs) => {
      const alive = timer(60_000, 30_000).pipe(map(() => events('b@5')));
      const gone = timer(healthyMs).pipe(map(() => events(expired)));
      const healthy = concat(of(opened), merge(alive, gone)) as Observable<never>;
      const watches = [failing(expired), healthy, open];
      const at = 500 + healthyMs + afterMs;
      expect(run({ lists, watches }, 200_000)).toBe(`L0@0 W5@0 L5@500 W5@500 L5@${at} W5@${at}`);
    },
  );

  it.each([
    ['garbage', failing(ApiError.local('Malformed', '')), 80_000],
    ['a line over the size limit', failing(ApiError.local('TooLarge', '')), 80_000],
    ['an ERROR without Status', of(opened, events(ApiError.local('Unexpected', ''))), 80_000],
    ['silence', NEVER, 130_000],
  ])(
    'R11: after %s the watch resumes, and after the second time in a row the reflector relists',
    (_name, watch, untilMs) => {
      const words = run({ lists, watches: [watch, watch, open] }, untilMs);
      expect(words.replace(/@\d+/g, '')).toBe('L0 W5 W5 L5 W5');
    },
  );

  it('R11: a watch that received events before the garbage restarts the count', () => {
    const garbage = failing(ApiError.local('Malformed', ''));
    const watches = [garbage, concat(of(opened, events('~a@6')), garbage), garbage, open];
    const words = run({ lists, watches }, 60_000);
    expect(words.replace(/@\d+/g, '')).toBe('L0 W5 W5 W6 L6 W5');
  });
});

describe('a healthy watch that is lost', () => {
  const lost = failing(refused);
  const cutAfter = (ms: number, ...sent: Parameters<typeof events>) =>
    concat(
      of(opened),
      ...(sent.length > 0 ? [of(events(...sent))] : []),
      timer(ms).pipe(ignoreElements()),
      lost,
    ) as Observable<never>;

  it('R34: resumes within a second after each cut, if it has lasted 10 s', () => {
    const watches = [cutAfter(20_000), cutAfter(20_000), cutAfter(20_000), cutAfter(20_000), open];
    expect(run({ lists, watches }, 120_000)).toBe('L0@0 W5@0 W5@20500 W5@41000 W5@61500 W5@82000');
  });

  it('R34: resumes within a second, if it has delivered something and lasted 5 s', () => {
    const watches = [cutAfter(6_000, '~a@6'), cutAfter(6_000), open];
    // The second one has delivered nothing, so it was not healthy.
    expect(run({ lists, watches }, 30_000)).toBe('L0@0 W5@0 W6@6500 W6@13700');
  });

  it('R34: sends at most one request in 5 s if watches deliver and are cut at once', () => {
    const cut = cutAfter(0, '~a@6');
    const watches = Array.from({ length: 40 }, () => cut);
    const times = run({ lists, watches }, 60_000)
      .split(' ')
      .slice(1)
      .map((word) => Number(word.split('@')[1]));
    // First the backoff, as long as it is shorter.
    expect(times).toEqual([
      0,
      1_200,
      3_600,
      8_400,
      ...[13_400, 18_400, 23_400, 28_400, 33_400, 38_400],
      ...[43_400, 48_400, 53_400, 58_400],
    ]);
  });

  it('R34: waits with the backoff after a loss before the answer', () => {
    const watches = [cutAfter(20_000), lost, lost, lost, open];
    expect(run({ lists, watches }, 60_000)).toBe('L0@0 W5@0 W5@20500 W5@21700 W5@24100 W5@28900');
  });

  it('R11, R34: a quiet watch without bookmarks is resumed after its silence, and listed ever more rarely', () => {
    const quiet = concat(of(opened), NEVER) as Observable<never>;
    const words = run({ lists, watches: [quiet] }, 3_600_000).replace(/@\d+/g, '');
    const gaps = words
      .split('L')
      .slice(1)
      .map((each) => each.split('W').length - 1);
    // The watches between two lists.
    expect(gaps.slice(0, 4)).toEqual([2, 4, 8, 16]);
    expect(words.split(' ').length).toBeLessThan(50);
  });

  it('R11: after an event the count of silent watches starts again', () => {
    const quiet = concat(of(opened), NEVER) as Observable<never>;
    const event = concat(of(opened, events('~a@6')), NEVER) as Observable<never>;
    const watches = [quiet, quiet, event, quiet, quiet];
    const words = run({ lists, watches }, 600_000).replace(/@\d+/g, '');
    expect(words).toMatch(/^L0 W5 W5 L5 W5 W6 L6/);
  });
});

describe('a slow server', () => {
  it('R15: has twice the time for its answer after each request that it did not answer, up to four times', () => {
    const words = run({ lists: [NEVER], watches: [open] }, 600_000, { backoff: () => 0 });
    expect(words).toBe('L0@0 L0@30000 L0@90000 L0@210000 L0@330000 L0@450000 L0@570000');
  });

  it('R15: has the first limit again after an answer', () => {
    const slow = concat(timer(35_000).pipe(ignoreElements()), of(listPart('5')));
    const watches = [concat(timer(1_000).pipe(ignoreElements()), failing(answer(404))), NEVER];
    const words = run({ lists: [NEVER, slow, NEVER], watches }, 200_000, { backoff: () => 0 });
    expect(words).toMatch(/^L0@0 L0@30000 W5@65000 L5@66000 L5@96000/);
  });
});

describe('a list between two watches of garbage', () => {
  it('R11: a list between two watches of garbage restarts the count', () => {
    const garbage = failing(ApiError.local('Malformed', ''));
    const watches = [garbage, failing(expired), garbage, open];
    const words = run({ lists, watches }, 60_000);
    expect(words.replace(/@\d+/g, '')).toBe('L0 W5 W5 L5 W5 W5');
  });
});

describe('a list that fails', () => {
  it.each([
    ['401', failing(answer(401))],
    ['403', failing(answer(403))],
    ['404', failing(answer(404))],
    ['500', failing(answer(500))],
    ['a refused connection', failing(refused)],
    ['garbage', failing(ApiError.local('Malformed', ''))],
  ])('R19: after %s the reflector waits and lists again', (_name, list) => {
    expect(run({ lists: [list, list, ...lists], watches: [open] }, 5_000)).toBe(
      'L0@0 L0@1200 L0@3600 W5@3600',
    );
  });

  it('R7, R19: Retry-After is a lower bound of the wait after a failed list', () => {
    const first = failing(answer(503, '', 20_000));
    expect(run({ lists: [first, ...lists], watches: [open] }, 30_000)).toBe(
      'L0@0 L0@20000 W5@20000',
    );
  });
});

describe('the wait', () => {
  it('R12: lists and watches share one backoff, and the wait comes before the request', () => {
    const answers = {
      lists: [failing(answer(500)), ...lists, failing(answer(500)), ...lists],
      watches: [of(opened, events(expired)), open],
    };
    expect(run(answers, 20_000)).toBe('L0@0 L0@1200 W5@1200 L5@1700 L5@6500 W5@6500');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no random');
      },
    ],
    ['returns NaN', () => Number.NaN],
    ['returns a text', () => '0.5'],
  ])(
    'X4: a random that %s is reported and replaced, so that the waits stay',
    async (_how, random) => {
      const reported: unknown[] = [];
      config.onUnhandledError = (error) => reported.push(error);
      const watches = [failing(refused), open];
      const asked = run({ lists, watches }, 10_000, { random: random as () => number });
      // RxJS 8 reports in a task of its own.
      await eventually(() => expect(reported).not.toEqual([]));
      config.onUnhandledError = null;
      expect(asked).toMatch(/^L0@0 W5@0 W5@(?:[89]|1[0-6])\d\d$/);
    },
  );

  it('R12: the backoff can be replaced (NewReflectorWithCustomBackoff)', () => {
    const waits: number[] = [];
    const backoff = (attempt: number, random: number) => {
      waits.push(attempt, random);
      return 100;
    };
    const watches = [failing(refused), failing(refused), open];
    expect(run({ lists, watches }, 1_000, { backoff })).toBe('L0@0 W5@0 W5@100 W5@200');
    expect(waits).toEqual([0, 0.5, 1, 0.5]);
  });

  it('R12: the wait is reset after two healthy minutes', () => {
    const broken = (ms: number) => living(ms, failing(refused));
    const watches = [broken(0), broken(0), broken(80_000), broken(0), open];
    // Healthy for 2 minutes and 1 second, with a bookmark after a minute.
    const healthy = concat(
      of(opened),
      timer(60_000).pipe(ignoreElements()),
      of(events('b@6')),
      timer(61_000).pipe(ignoreElements()),
      failing(refused),
    ) as Observable<never>;
    expect(run({ lists, watches }, 300_000)).toContain('W5@0 W5@1200 W5@3600 W5@84100 W5@88900');
    const all = [broken(0), broken(0), healthy, broken(0), open];
    expect(run({ lists, watches: all }, 200_000)).toBe(
      'L0@0 W5@0 W5@1200 W5@3600 W6@125100 W6@126300',
    );
  });

  it('R12: the wait is reset after two healthy minutes, also if the clock was set back', async () => {
    const fake = rig();
    const drop = async () => {
      fake.server.faults.dropWatches();
      await fake.advance(0);
      const { attempt } = fake.status ?? {};
      await fake.advance(3_000);
      return attempt;
    };
    await fake.advance(0);
    expect([await drop(), await drop()]).toEqual([1, 2]);
    fake.time.jump(-3_600_000);
    for (const name of ['b', 'c', 'd']) {
      fake.create(name);
      await fake.advance(61_000);
    }
    expect(await drop()).toBe(1);
    fake.subscription.unsubscribe();
  });

  it('R12: the wait is not reset during an outage of half an hour', () => {
    const times = run({ lists, watches: [failing(refused)] }, 1_800_000)
      .split(' ')
      .slice(1)
      .map((word) => Number(word.split('@')[1]));
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(times.length).toBeLessThanOrEqual(60);
    expect(times.length).toBeGreaterThan(40);
    expect(waits.filter((wait, at) => wait < (waits[at - 1] ?? 0))).toEqual([]);
    expect(waits.at(-1)).toBe(45_000);
  });

  it('W3: watches time out after five to ten minutes, or after once to twice the configured minimum (TestWatchTimeout)', () => {
    const seconds = (random: number, minWatchTimeoutMs?: number) =>
      marbles(({ scheduler, flush }) => {
        const scripted = script({ lists, watches: [open] });
        const options = minWatchTimeoutMs === undefined ? {} : { minWatchTimeoutMs };
        const run = reflect(scripted.listerWatcher, {
          scheduler,
          random: () => random,
          ...options,
        }).subscribe();
        scheduler.schedule(() => run.unsubscribe(), 1);
        flush();
        return scripted.watches[0]?.timeoutSeconds;
      });
    expect([seconds(0), seconds(0.5), seconds(0.999)]).toEqual([300, 450, 600]);
    expect([seconds(0, 1_800_000), seconds(0.999, 1_800_000)]).toEqual([1_800, 3_598]);
  });
});

const pages: RigOptions = { reflect: { initialList: 'pages' } };
const list = { use: 'list' } as const;
const watch = { use: 'watch' } as const;

describe('stopping', () => {
  it('R16: a run that starts after another was stopped is independent of it', async () => {
    const first = rig(pages, ({ faults }) => void faults.delay(1_000, list));
    await first.advance(500);
    first.subscription.unsubscribe();
    const second = rig(pages);
    await second.advance(2_000);
    await first.advance(2_000);
    expect([first.emitted, second.emitted]).toEqual([[], ['(a@2', ')@2']]);
    second.subscription.unsubscribe();
  });
});

describe('an outage', () => {
  it('R12: in an outage of half an hour the waits grow, few requests are sent, and the reflector recovers', async () => {
    const run = rig();
    await run.advance(10_000);
    run.server.clearRequests();
    const fault = run.server.faults.refuse();
    run.server.faults.dropWatches();
    await run.advance(1_800_000);
    const times = run.server.requests.map(({ atMs }) => atMs);
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(times.length).toBeGreaterThan(30);
    expect(times.length).toBeLessThanOrEqual(60);
    expect(waits.filter((wait, at) => wait < (waits[at - 1] ?? 0))).toEqual([]);
    expect(run.errors.length).toBe(times.length + 1);
    expect(run.status).toMatchObject({ phase: 'backoff', synced: true, staleSinceMs: 10_000 });
    fault.heal();
    run.create('b');
    await run.advance(46_000);
    expect(run.emitted.slice(-1)).toEqual(['+b@3']);
    expect(run.status).toMatchObject({ phase: 'watching', relists: 0 });
    expect(run.status?.staleSinceMs).toBeUndefined();
    run.subscription.unsubscribe();
  });

  it('R12, R19: the same holds for an outage before the first list', async () => {
    const run = rig({}, ({ faults }) => void faults.refuse());
    await run.advance(1_800_000);
    expect(run.server.requests.length).toBeLessThanOrEqual(60);
    expect(run.emitted.every((line) => line === 'x')).toBe(true);
    run.server.faults.healAll();
    await run.advance(46_000);
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    run.subscription.unsubscribe();
  });

  it('R2, R9: if the last version was compacted during the outage, the reflector lists again, at the last version first', async () => {
    const run = rig({ reflect: { initialList: 'pages' } });
    await run.advance(10_000);
    const fault = run.server.faults.refuse();
    run.server.faults.dropWatches();
    run.create('b');
    run.delete('a');
    run.server.objects.compact();
    await run.advance(5_000);
    fault.heal();
    await run.advance(20_000);
    expect(run.requested()).toMatch(/^L0 W2( W2)+ L2 W4$/);
    expect(run.emitted.slice(-2)).toEqual(['(b@3', ')@4']);
    run.subscription.unsubscribe();
  });

  it('R2, R11, R14: a server that was restored from a backup is listed again', async () => {
    const run = rig({ reflect: { initialList: 'pages' }, server: { bookmarkIntervalMs: 5_000 } });
    await run.advance(1_000);
    const backup = run.server.objects.snapshot();
    for (const name of ['b', 'c', 'd']) run.create(name);
    await run.advance(1_000);
    run.server.objects.restoreSnapshot(backup);
    run.create('e');
    // Two watches are silent, because the server waits for a version that it has not reached yet.
    await run.advance(200_000);
    const emitted = run.emitted.filter((line) => !line.startsWith('b@'));
    expect(emitted.slice(-2)).toEqual(['(a@2 e@3', ')@3!']);
    expect(run.requested()).toBe('L0 W2 W5 P W5 P L5 L W3');
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    run.subscription.unsubscribe();
  });

  it('R8: behind a proxy that closes each watch immediately, few requests are sent', async () => {
    const empty = { status: 200, body: '', times: 1_000_000 };
    const run = rig(pages, ({ faults }) => void faults.failNext(watch, empty));
    await run.advance(60_000);
    expect(run.server.requests.length).toBeLessThan(16);
    expect(run.errors.length).toBeGreaterThan(3);
    run.subscription.unsubscribe();
  });

  it('W4: a server that never ends its streaming lists receives only one request for a streaming list', async () => {
    const run = rig(
      {},
      ({ faults }) => void faults.withoutBookmarks({ query: { sendInitialEvents: 'true' } }),
    );
    await run.advance(32_000);
    // The list is silent after its last object, as behind a proxy that holds bytes back. A probe finds out which it is.
    expect(run.requested()).toBe('S P L0 W2');
    run.server.faults.emitError({ code: 410, reason: 'Expired' });
    await run.advance(10_000);
    expect(run.requested()).toBe('S P L0 W2 L2 W2');
    expect(run.errors.map(({ reason }) => reason)).toEqual(['Silent', 'Expired']);
    run.subscription.unsubscribe();
  });

  it('R11: behind a proxy that returns its sign-in page for each request, few requests are sent', async () => {
    const page = { status: 200, body: '<html>sign in</html>', contentType: 'text/html' };
    const run = rig({}, ({ faults }) => void faults.failNext(undefined, { ...page, times: 1e6 }));
    await run.advance(60_000);
    expect(run.server.requests.length).toBeLessThan(10);
    expect(new Set(run.errors.map(({ reason }) => reason))).toEqual(new Set(['Malformed']));
    run.server.faults.healAll();
    await run.advance(46_000);
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    run.subscription.unsubscribe();
  });
});
