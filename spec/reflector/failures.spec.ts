import { ApiError, type ReflectOptions, reflect } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { concat, EMPTY, merge, NEVER, type Observable, of, throwError, timer } from 'rxjs';
import { ignoreElements, map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { rig } from './rig.ts';
import { answer, events, expired, opened, type Pod, refused, script, whole } from './script.ts';

type Answers = Parameters<typeof script>[0];

/** Runs a script; each request with its time: `W5@1200`. */
function run(answers: Answers, untilMs: number, options: ReflectOptions<Pod> = {}) {
  return marbles(({ scheduler, flush }) => {
    const scripted = script(answers);
    const times: number[] = [];
    const { asked, listerWatcher } = scripted;
    const told = reflect(
      {
        ...listerWatcher,
        watch: (request) => {
          times[asked.length] = scheduler.now();
          return listerWatcher.watch(request);
        },
        list: (request) => {
          times[asked.length] = scheduler.now();
          return listerWatcher.list(request);
        },
        watchList: false,
      },
      { scheduler, random: () => 0.5, ...options },
    );
    const subscription = told.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
    flush();
    return asked.map((word, at) => `${word}@${times[at]}`).join(' ');
  });
}

const failing = (error: ApiError) => throwError(() => error);
const open = concat(of(opened), NEVER);
const lists = [of(whole('5'))];
const living = (ms: number, then: Observable<never>) =>
  concat(of(opened), timer(ms).pipe(ignoreElements()), then) as Observable<never>;

describe('a watch that is refused', () => {
  it.each([
    ['a refused connection (TestReflectorListAndWatchInitConnBackoff)', failing(refused)],
    ['429 (TestBackoffOnTooManyRequests, TestNoRelistOnTooManyRequests)', failing(answer(429))],
    ['an ERROR 429 (TestBackoffOnTooManyRequests)', of(opened, events(answer(429)))],
  ])('R7: keeps its version: %s', (_name, watch) => {
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

  it('R7: keeps the version that events moved', () => {
    const watches = [of(opened, events('~a@8', answer(429))), open];
    expect(run({ lists, watches }, 2_000)).toBe('L0@0 W5@0 W8@1200');
  });
});

describe('a watch that closes', () => {
  it('R8: after a second or more goes on at once', () => {
    const watches = [living(1_000, EMPTY), living(1_500, EMPTY), open];
    expect(run({ lists, watches }, 5_000)).toBe('L0@0 W5@0 W5@1000 W5@2500');
  });

  it('R8: sooner waits, and lists anew the second time in a row (TestReflectorHandleWatchResultChanClosedAfter)', () => {
    const watches = [living(999, EMPTY), of(opened), open];
    expect(run({ lists, watches }, 10_000)).toBe('L0@0 W5@0 W5@2199 L5@4599 W5@4599');
  });

  it('R8: sooner again, but after a longer one, is the first time again', () => {
    const watches = [of(opened), living(2_000, EMPTY), of(opened), open];
    expect(run({ lists, watches }, 10_000)).toBe('L0@0 W5@0 W5@1200 W5@3200 W5@5600');
  });

  it('R8: goes on at once where the clock was set back an hour in between', async () => {
    const fake = rig();
    await fake.advance(5_000);
    fake.time.jump(-3_600_000);
    fake.server.faults.closeWatches();
    await fake.advance(0);
    expect(fake.errors).toEqual([]);
    expect(fake.asked()).toBe('S W2');
    expect(fake.status).toMatchObject({ phase: 'watching', attempt: 0, reconnects: 1 });
    fake.subscription.unsubscribe();
  });

  it('R8: with one event each time does not spin', () => {
    const watches = [of(opened, events('~a@6'))];
    expect(run({ lists, watches }, 60_000).split(' ').length).toBeLessThan(8);
  });
});

describe('a watch that fails', () => {
  it.each([401, 403, 408, 500, 502, 503, 504])('R10: with %i waits and goes on', (code) => {
    expect(run({ lists, watches: [failing(answer(code)), open] }, 3_000)).toBe('L0@0 W5@0 W5@1200');
  });

  it.each([400, 404, 405, 409, 422, 501])('R10: with %i waits and lists anew', (code) => {
    expect(run({ lists, watches: [failing(answer(code)), open] }, 3_000)).toBe(
      'L0@0 W5@0 L5@1200 W5@1200',
    );
  });

  it('R10: in the middle of the stream waits and goes on where it stood (TestRetryInternalError)', () => {
    const broken = concat(of(opened, events('~a@9')), failing(refused));
    const inStream = of(opened, events('~a@12', answer(500, 'InternalError')));
    expect(run({ lists, watches: [broken, inStream, open] }, 10_000)).toBe(
      'L0@0 W5@0 W9@1200 W12@3600',
    );
  });

  it.each([
    ['as HTTP status', failing(expired)],
    ['as an event', of(opened, events(expired))],
    ['as Gone without a Status', failing(answer(410))],
  ])('R9: with 410 %s lists anew within a second', (_name, watch) => {
    expect(run({ lists, watches: [watch, open] }, 3_000)).toBe('L0@0 W5@0 L5@500 W5@500');
  });

  it.each([
    [0, 0],
    [0.25, 250],
    [0.999, 999],
  ])('R9: with 410 lists at a moment of that second drawn by chance: %d', (chance, afterMs) => {
    const answers = { lists, watches: [of(opened, events(expired)), open] };
    const asked = `L0@0 W5@0 L5@${afterMs} W5@${afterMs}`;
    expect(run(answers, 3_000, { random: () => chance })).toBe(asked);
  });

  it('R9: with 410 after an outage does not sit out the wait that has grown in it', () => {
    const watches = [...Array.from({ length: 5 }, () => failing(refused)), failing(expired), open];
    const outage = 'L0@0 W5@0 W5@1200 W5@3600 W5@8400 W5@18000 W5@37200';
    expect(run({ lists, watches }, 120_000)).toBe(`${outage} L5@37700 W5@37700`);
  });

  it.each([
    ['R9: with 410 as HTTP status', failing(answer(410, 'Expired', 7_000))],
    ['R9: with 410 as an event', of(opened, events(answer(410, 'Expired', 7_000)))],
    ['R9: with 410 as Gone without a Status', failing(answer(410, '', 7_000))],
    ['R10: with 404', failing(answer(404, 'NotFound', 7_000))],
  ])('%s lists, and not before Retry-After', (_name, watch) => {
    expect(run({ lists, watches: [watch, open] }, 9_000)).toBe('L0@0 W5@0 L5@7000 W5@7000');
  });

  it('R9: with 410 again and again waits longer and longer but for the first', () => {
    const answers = { lists, watches: [of(opened, events(expired))] };
    expect(run(answers, 20_000)).toBe(
      'L0@0 W5@0 L5@500 W5@500 L5@2900 W5@2900 L5@7700 W5@7700 L5@17300 W5@17300',
    );
  });

  it.each([
    [119_999, 2_400],
    [120_000, 500],
  ])('R9: with 410 again after %d healthy ms lists after %d ms', (healthyMs, afterMs) => {
    const alive = timer(60_000, 30_000).pipe(map(() => events('b@5')));
    const gone = timer(healthyMs).pipe(map(() => events(expired)));
    const healthy = concat(of(opened), merge(alive, gone)) as Observable<never>;
    const watches = [failing(expired), healthy, open];
    const at = 500 + healthyMs + afterMs;
    expect(run({ lists, watches }, 200_000)).toBe(`L0@0 W5@0 L5@500 W5@500 L5@${at} W5@${at}`);
  });

  it.each([
    ['garbage', failing(ApiError.local('Malformed', ''))],
    ['a line over its bound', failing(ApiError.local('TooLarge', ''))],
    ['an ERROR without Status', of(opened, events(ApiError.local('Unexpected', '')))],
    ['silence', NEVER],
  ])('R11: with %s goes on, and lists anew the second time in a row', (_name, watch) => {
    const words = run({ lists, watches: [watch, watch, open] }, 80_000);
    expect(words.replace(/@\d+/g, '')).toBe('L0 W5 W5 L5 W5');
  });

  it('R11: with garbage, but after events, goes on', () => {
    const garbage = failing(ApiError.local('Malformed', ''));
    const watches = [garbage, concat(of(opened, events('~a@6')), garbage), garbage, open];
    const words = run({ lists, watches }, 60_000);
    expect(words.replace(/@\d+/g, '')).toBe('L0 W5 W5 W6 L6 W5');
  });
});

describe('a list between two watches of garbage', () => {
  it('R11: makes the second the first one in a row again', () => {
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
  ])('R19: with %s waits and is tried again', (_name, list) => {
    expect(run({ lists: [list, list, ...lists], watches: [open] }, 5_000)).toBe(
      'L0@0 L0@1200 L0@3600 W5@3600',
    );
  });

  it('R7, R19: Retry-After is a lower bound of its wait', () => {
    const first = failing(answer(503, '', 20_000));
    expect(run({ lists: [first, ...lists], watches: [open] }, 30_000)).toBe(
      'L0@0 L0@20000 W5@20000',
    );
  });
});

describe('the wait', () => {
  it('R12: is one for lists and watches, and comes before the request', () => {
    const answers = {
      lists: [failing(answer(500)), ...lists, failing(answer(500)), ...lists],
      watches: [of(opened, events(expired)), open],
    };
    expect(run(answers, 20_000)).toBe('L0@0 L0@1200 W5@1200 L5@1700 L5@6500 W5@6500');
  });

  it('R12: may be any other (NewReflectorWithCustomBackoff)', () => {
    const waits: number[] = [];
    const backoff = (attempt: number, random: number) => {
      waits.push(attempt, random);
      return 100;
    };
    const watches = [failing(refused), failing(refused), open];
    expect(run({ lists, watches }, 1_000, { backoff })).toBe('L0@0 W5@0 W5@100 W5@200');
    expect(waits).toEqual([0, 0.5, 1, 0.5]);
  });

  it('R12: begins anew after two healthy minutes', () => {
    const broken = (ms: number) => living(ms, failing(refused));
    const watches = [broken(0), broken(0), broken(80_000), broken(0), open];
    // Alive by a bookmark a minute, for 2 minutes and 1 second.
    const healthy = concat(
      of(opened),
      timer(60_000).pipe(ignoreElements()),
      of(events('b@6')),
      timer(61_000).pipe(ignoreElements()),
      failing(refused),
    ) as Observable<never>;
    expect(run({ lists, watches }, 300_000)).toContain('W5@0 W5@1200 W5@3600 W5@88400 W5@98000');
    expect(run({ lists, watches: [broken(0), broken(0), healthy, open] }, 200_000)).toBe(
      'L0@0 W5@0 W5@1200 W5@3600 W6@125800',
    );
  });

  it('R12: begins anew after two healthy minutes of a clock that was set back', async () => {
    const fake = rig();
    const drop = async () => {
      fake.server.faults.dropWatches();
      await fake.advance(0);
      const { attempt } = fake.status ?? {};
      await fake.advance(20_000);
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

  it('R12: does not begin anew in an outage of half an hour', () => {
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

  it('R20: watches time out after five to ten minutes, or from the minimum on (TestWatchTimeout)', () => {
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
