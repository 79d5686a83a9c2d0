import {
  ApiError,
  type ListerWatcher,
  type ReflectOptions,
  reflect,
  type WatchSignal,
} from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { concat, interval, NEVER, type Observable, of, type SchedulerLike, throwError } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { type Rig, rig } from './rig.ts';
import {
  answer,
  brief,
  events,
  expired,
  listPart,
  opened,
  type Pod,
  refused,
  script,
} from './script.ts';

type Answers = Parameters<typeof script>[0];

function run(
  given: Answers | ((scheduler: SchedulerLike) => Answers),
  untilMs: number,
  options: ReflectOptions<Pod> & Pick<ListerWatcher<Pod>, 'watchList'> = {},
) {
  return marbles(({ scheduler, flush }) => {
    const answers = typeof given === 'function' ? given(scheduler) : given;
    const { watchList = true, ...rest } = options;
    const scripted = script(answers, { watchList });
    const emitted: string[] = [];
    const deltas = reflect(scripted.listerWatcher, { scheduler, random: () => 0.5, ...rest });
    const subscription = deltas.subscribe((batch) => emitted.push(brief(batch)));
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
    flush();
    return { requested: scripted.requested.join(' '), emitted, remembered: scripted.remembered };
  });
}

const failing = (error: ApiError) => throwError(() => error);
/** A watch that sends these events and stays open. */
const open = (...all: Parameters<typeof events>[]): Observable<never> =>
  concat(of(opened, ...all.map((each) => events(...each))), NEVER) as Observable<never>;
const closed = (...sent: Parameters<typeof events>) => of(opened, events(...sent));
const lists = [of(listPart('7', ['z@7']))];

describe('a streaming list (TestWatchList)', () => {
  it('R5: a streaming list is not committed without its end mark', () => {
    const { requested, emitted } = run({ watches: [open(['+a@1', '+b@2'])], lists }, 20_000);
    expect([requested, emitted]).toEqual(['S', ['(a@1 b@2']]);
  });

  it('R5: a streaming list is committed at its end mark and continues as the watch, on the same request', () => {
    const sent: Parameters<typeof events>[] = [['+a@1'], ['+b@2', 'end@3'], ['~a@4']];
    const { requested, emitted } = run({ watches: [open(...sent)], lists }, 20_000);
    expect([requested, emitted]).toEqual(['S', ['(a@1', 'b@2)@3', '~a@4']]);
  });

  it('R5, R6, R31: a bookmark before the end mark commits nothing, and shows that the server ignores the request for a streaming list', () => {
    const watches = [open(['+a@1', 'b@2'], ['+b@3']), open()];
    const { requested, emitted, remembered } = run({ watches, lists }, 100);
    expect(requested).toBe('S L0 W7');
    expect(emitted).toEqual(['x', '(z@7', ')@7']);
    expect(remembered).toBe(1);
  });

  it('R31: a bookmark without a version before the end mark shows the same', () => {
    const watches = [open(['+a@1', 'b@'], ['+b@3']), open()];
    const { requested, emitted, remembered } = run({ watches, lists }, 100);
    expect([requested, remembered]).toEqual(['S L0 W7', 1]);
    expect(emitted).toEqual(['x', '(z@7', ')@7']);
  });

  it('R5: events after the end mark in one batch are changes after the list', () => {
    const { emitted } = run({ watches: [open(['+a@1', 'end@3', '~a@4', '-a@5'])], lists }, 100);
    expect(emitted).toEqual(['a@1)@3', '~a@4 -a@5']);
  });

  it('R5: MODIFIED and DELETED events before the end mark belong to the list', () => {
    const sent: Parameters<typeof events>[] = [
      ['+a@1', '+b@2', '+c@3'],
      ['~a@4', '-b@5'],
      ['-c@6', '+c@7', '?a@8'],
      ['end@9'],
    ];
    // Of several events of one key in a batch, the last counts.
    const batch = ['+a@1', '?a@2', '+b@3', '?c@4', '-c@5', '-b@6', '?b@7', '+d@8', '-d@9'];
    const { emitted: folded } = run({ watches: [open(batch, ['end@9'])], lists }, 100);
    expect(folded).toEqual(['(-c -d ?a ?b', ')@9']);
    const { emitted } = run({ watches: [open(...sent)], lists }, 100);
    expect(emitted).toEqual(['(a@1 b@2 c@3', '(a@4 -b', '(c@7 ?a', ')@9']);
  });

  it('R5: deletions before the end mark in one batch belong to the list', () => {
    const sent: Parameters<typeof events>[] = [
      ['+a@1', '+b@2'],
      ['-a@3', '?b@4', 'end@5'],
    ];
    expect(run({ watches: [open(...sent)], lists }, 100).emitted).toEqual([
      '(a@1 b@2',
      '(-a ?b',
      ')@5',
    ]);
  });

  it('R5, R12: a streaming list that breaks before its end mark is discarded and requested again after a wait', () => {
    const watches = [concat(closed('+a@1'), failing(refused)), open(['+b@2', 'end@3'])];
    const { requested, emitted } = run({ watches, lists }, 5_000);
    expect([requested, emitted]).toEqual(['S S', ['(a@1', 'x', 'b@2)@3']]);
  });

  it('R5: after its end mark a broken stream resumes as a watch from its last version', () => {
    const watches = [concat(closed('+a@1', 'end@3'), failing(refused)), open()];
    expect(run({ watches, lists }, 2_000).requested).toBe('S W3');
  });

  it('R5, R9: an ERROR 410 after the end mark is a failure of the watch', () => {
    const watches = [closed('+a@1', 'end@3', expired), open()];
    expect(run({ watches, lists }, 2_000).requested).toBe('S S3');
  });

  it('R2: without streaming lists the reflector sends a LIST and a WATCH', () => {
    const answers = { watches: [open()], lists };
    expect(run(answers, 100, { watchList: false }).requested).toBe('L0 W7');
    expect(run(answers, 100, { initialList: 'pages' }).requested).toBe('L0 W7');
  });

  it("W18: with 'when-told' a streaming list is requested only if the reflector's option is 'stream'", () => {
    const answers = { watches: [open(['end@3'])], lists };
    const watchList = 'when-told';
    expect(run(answers, 100, { watchList }).requested).toBe('L0 W7');
    expect(run(answers, 100, { watchList, initialList: 'auto' }).requested).toBe('L0 W7');
    expect(run(answers, 100, { watchList, initialList: 'pages' }).requested).toBe('L0 W7');
    expect(run(answers, 100, { watchList, initialList: 'stream' }).requested).toBe('S');
  });
});

describe('a streaming list that fails', () => {
  it.each([400, 405, 406, 415, 422, 501])(
    'R6: HTTP %i is followed by a LIST immediately, and is remembered',
    (code) => {
      const { requested, emitted, remembered } = run(
        { watches: [failing(answer(code)), closed(expired), open()], lists },
        2_000,
      );
      expect(emitted.slice(0, 3)).toEqual(['x', '(z@7', ')@7']);
      expect([requested, remembered]).toEqual(['S L0 W7 L7 W7', 1]);
    },
  );

  it.each([401, 403, 404])(
    'R6: HTTP %i is followed by a LIST immediately, and is not remembered',
    (code) => {
      const answers = { watches: [failing(answer(code)), closed(expired), open()], lists };
      const { requested, remembered } = run(answers, 2_000);
      expect([requested, remembered]).toEqual(['S L0 W7 S7', 0]);
    },
  );

  it.each([
    ['a lost connection', failing(refused)],
    ['HTTP 429', failing(answer(429))],
    ['garbage', failing(ApiError.local('Malformed', 'no JSON'))],
    ['the wrong kind', closed('+a@1', ApiError.local('Unexpected', 'what'))],
    ['a clean close before the end mark', closed('+a@1')],
    ['a clean close before any event', of(opened)],
  ])(
    'R6: after %s a streaming list is tried three times with waits, then a LIST is sent',
    (_name, watch) => {
      // 1200, 2400, 4800 ms.
      const answers = { watches: [watch, watch, watch, open()], lists };
      expect(run(answers, 8_300).requested).toBe('S S S');
      expect(run(answers, 8_500).requested).toBe('S S S L0 W7');
    },
  );

  it.each([
    ['HTTP 500', failing(answer(500))],
    ['HTTP 503', failing(answer(503))],
    ['an ERROR 500', closed('+a@1', answer(500))],
  ])(
    'R6, W4: after three times %s a LIST is sent immediately, and if it succeeds the server is remembered',
    (_name, watch) => {
      // 1200 and 2400 ms.
      const answers = { watches: [watch, watch, watch, closed(expired), open()], lists };
      expect(run(answers, 3_500)).toMatchObject({ requested: 'S S', remembered: 0 });
      const { requested, remembered } = run(answers, 6_000);
      expect([requested, remembered]).toEqual(['S S S L0 W7 L7 W7', 1]);
    },
  );

  it('R6, R19: a server that fails the LIST, too, is only unavailable, and is not remembered', () => {
    const down = failing(answer(503));
    const watches = [down, down, down, failing(answer(403)), open()];
    const { requested, remembered } = run({ watches, lists: [down, ...lists] }, 20_000);
    expect([requested, remembered]).toEqual(['S S S L0 S L0 W7', 0]);
  });

  it('R6: an outage of which the last try still has a 5xx with Retry-After waits before the LIST', () => {
    const down = failing(answer(503));
    const busy = failing(answer(503, '', 10_000));
    const answers = { watches: [down, down, busy, open()], lists };
    expect(run(answers, 13_500).requested).toBe('S S S');
    expect(run(answers, 13_700).requested).toBe('S S S L0 W7');
  });

  it('R6: after that LIST the next relist is a streaming list again', () => {
    const dead = failing(refused);
    const answers = { watches: [dead, dead, dead, closed(expired), open()], lists };
    expect(run(answers, 20_000).requested).toBe('S S S L0 W7 S7');
  });

  it('R6: only three failed tries in a row are followed by a LIST', () => {
    const dead = failing(refused);
    const answers = { watches: [dead, dead, closed('end@3', expired), dead, dead, open()], lists };
    expect(run(answers, 60_000, { requestTimeoutMs: 60_000 }).requested).toBe('S S S S3 S3 S3');
  });

  it('R6: a server that closes three streaming lists before their end marks is remembered', () => {
    const answers = { watches: [closed('+a@1'), closed('+a@1'), closed('+a@1'), open()], lists };
    expect(run(answers, 9_000).remembered).toBe(1);
  });

  it('R6: Retry-After is a lower bound of the wait', () => {
    const answers = { watches: [failing(answer(429, '', 45_000)), open()], lists };
    expect(run(answers, 44_999).requested).toBe('S');
    expect(run(answers, 45_001).requested).toBe('S S');
  });

  it('R6: an earlier Retry-After does not apply to later waits', () => {
    const answers = { watches: [failing(answer(429, '', 45_000)), of(opened), open()], lists };
    expect(run(answers, 45_000 + 2_401).requested).toBe('S S S');
  });

  it("R6: with 'stream' the reflector never sends a LIST instead", () => {
    const watches = [failing(answer(422)), failing(answer(403)), of(opened), failing(refused)];
    const { requested, remembered } = run({ watches, lists }, 20_000, { initialList: 'stream' });
    expect([requested, remembered]).toEqual(['S S S S S', 0]);
  });

  it('R2, R9: after an expired version the newest is requested immediately', () => {
    const watches = [closed('end@5', expired), failing(expired), open(['end@9'])];
    expect(run({ watches, lists }, 1_300).requested).toBe('S S5 S');
  });

  it('R19: after a failed list the reflector waits, and begins with the streaming list again', () => {
    const answers = {
      watches: [failing(answer(403)), open(['end@9'])],
      lists: [failing(answer(500))],
    };
    expect(run(answers, 2_000).requested).toBe('S L0 S');
  });
});

/** The API behind it does not know streaming lists, and answers with an ordinary watch without bookmarks. */
function ordinary(objects: readonly string[], reflect: ReflectOptions<Pod> = {}): Rig {
  return rig(
    {
      ...{ objects, reflect },
      fetch: (server) => (url, init) =>
        server.fetch(
          String(url).replace(/&(sendInitialEvents|resourceVersionMatch)=\w+/g, ''),
          init,
        ),
    },
    ({ faults }) => void faults.withoutBookmarks(),
  );
}

describe('a streaming list that has no end', () => {
  /** Advances by `seconds`, with a change every 10 s. */
  async function busy(run: Rig, seconds: number, change: (at: number) => void): Promise<void> {
    for (let at = 10; at <= seconds; at += 10) {
      await run.advance(10_000);
      change(at);
      await run.advance(100);
    }
  }
  const phaseOf = ({ status }: Rig) => [status?.phase, status?.synced];
  const listed = ({ server }: Rig) => server.requests.filter(({ use }) => use === 'list').length;

  it('R31, W4: with a change every 10 s it gets a LIST 30 s after its first object, and is remembered', async () => {
    const run = ordinary(['a']);
    await busy(run, 20, () => run.touch('a'));
    expect(phaseOf(run)).toEqual(['streaming', false]);
    await busy(run, 10, () => run.touch('a'));
    expect(phaseOf(run)).toEqual(['watching', true]);
    expect(run.errors.map(({ code, message }) => [code, message])).toEqual([
      [501, expect.stringContaining('ignored sendInitialEvents')],
    ]);
    run.server.faults.emitError({ code: 410, reason: 'Expired' });
    await run.advance(10_000);
    expect(listed(run)).toBe(2);
    run.subscription.unsubscribe();
  });

  it('R31: each object that is added gives it 0.1 s more', async () => {
    const run = ordinary(Array.from({ length: 150 }, (_, at) => `p${at}`));
    await busy(run, 40, () => run.touch('p1'));
    expect(phaseOf(run)).toEqual(['streaming', false]);
    await busy(run, 10, () => run.touch('p1'));
    expect(phaseOf(run)).toEqual(['watching', true]);
    run.subscription.unsubscribe();
  });

  it('R31: after five minutes it gets a LIST, however many objects are added', async () => {
    const names = Array.from({ length: 3_000 }, (_, at) => `p${at}`);
    const run = ordinary(names, { minWatchTimeoutMs: 900_000 });
    await busy(run, 290, (at) => run.create(`q${at}`));
    expect(phaseOf(run)).toEqual(['streaming', false]);
    await busy(run, 10, (at) => run.create(`r${at}`));
    expect(phaseOf(run)).toEqual(['watching', true]);
    run.subscription.unsubscribe();
  });

  it('R31: without an object it gets a LIST a minute after the request, also if only empty lines arrive', () => {
    const alive: WatchSignal<Pod> = { kind: 'alive' };
    const answers = (scheduler: SchedulerLike) => {
      const blank = interval(10_000, scheduler).pipe(map(() => alive));
      return { watches: [concat(of(opened), blank), open()], lists };
    };
    const { requested, remembered } = run(answers, 60_000);
    expect([requested, remembered]).toEqual(['S', 0]);
    expect(run(answers, 70_100)).toMatchObject({ requested: 'S L0 W7', remembered: 1 });
  });

  it("R31: with 'stream' it is not given up before five minutes have passed", async () => {
    const run = ordinary(['a'], { initialList: 'stream', minWatchTimeoutMs: 900_000 });
    await busy(run, 290, () => run.touch('a'));
    expect([run.status?.phase, run.errors]).toEqual(['streaming', []]);
    await busy(run, 10, () => run.touch('a'));
    expect(run.status?.phase).toBe('backoff');
    expect(listed(run)).toBe(0);
    run.subscription.unsubscribe();
  });
});
