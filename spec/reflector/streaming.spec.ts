import { ApiError, type ListerWatcher, type ReflectOptions, reflect } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { concat, NEVER, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  answer,
  brief,
  events,
  expired,
  opened,
  type Pod,
  refused,
  script,
  whole,
} from './script.ts';

type Answers = Parameters<typeof script>[0];

function run(
  answers: Answers,
  untilMs: number,
  options: ReflectOptions<Pod> & Pick<ListerWatcher<Pod>, 'watchList'> = {},
) {
  return marbles(({ scheduler, flush }) => {
    const { watchList = true, ...rest } = options;
    const scripted = script(answers, { watchList });
    const told: string[] = [];
    const deltas = reflect(scripted.listerWatcher, { scheduler, random: () => 0.5, ...rest });
    const subscription = deltas.subscribe((batch) => told.push(brief(batch)));
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
    flush();
    return { asked: scripted.asked.join(' '), told, remembered: scripted.remembered };
  });
}

const failing = (error: ApiError) => throwError(() => error);
/** Sends this and stays open. */
const open = (...all: Parameters<typeof events>[]): Observable<never> =>
  concat(of(opened, ...all.map((each) => events(...each))), NEVER) as Observable<never>;
const closed = (...sent: Parameters<typeof events>) => of(opened, events(...sent));
const lists = [of(whole('7', ['z@7']))];

describe('a streaming list (TestWatchList)', () => {
  it('R5: commits nothing without its end mark', () => {
    const { asked, told } = run({ watches: [open(['+a@1', '+b@2'])], lists }, 20_000);
    expect([asked, told]).toEqual(['S', ['(a@1 b@2']]);
  });

  it('R5: commits at its end mark and goes on as the watch, on one request', () => {
    const sent: Parameters<typeof events>[] = [['+a@1'], ['+b@2', 'end@3'], ['~a@4']];
    const { asked, told } = run({ watches: [open(...sent)], lists }, 20_000);
    expect([asked, told]).toEqual(['S', ['(a@1', 'b@2)@3', '~a@4']]);
  });

  it('R5, R6: a bookmark that is not its end commits nothing, and shows a server that watches plainly', () => {
    const watches = [open(['+a@1', 'b@2'], ['+b@3']), open()];
    const { asked, told, remembered } = run({ watches, lists }, 100);
    expect(asked).toBe('S L0 W7');
    expect(told).toEqual(['x', '(z@7', ')@7']);
    expect(remembered).toBe(1);
  });

  it('R5: what comes in one batch with the end mark is a change after it', () => {
    const { told } = run({ watches: [open(['+a@1', 'end@3', '~a@4', '-a@5'])], lists }, 100);
    expect(told).toEqual(['a@1)@3', '~a@4 -a@5']);
  });

  it('R5: MODIFIED and DELETED within it count', () => {
    const sent: Parameters<typeof events>[] = [
      ['+a@1', '+b@2', '+c@3'],
      ['~a@4', '-b@5'],
      ['-c@6', '+c@7', '?a@8'],
      ['end@9'],
    ];
    // The last word on a key within a batch stands.
    const batch = ['+a@1', '?a@2', '+b@3', '?c@4', '-c@5', '-b@6', '?b@7'];
    const { told: folded } = run({ watches: [open(batch, ['end@9'])], lists }, 100);
    expect(folded).toEqual(['(-c ?a ?b', ')@9']);
    const { told } = run({ watches: [open(...sent)], lists }, 100);
    expect(told).toEqual(['(a@1 b@2 c@3', '(a@4 -b', '(c@7 ?a', ')@9']);
  });

  it('R5: deletions in the batch of the end mark come before it', () => {
    const sent: Parameters<typeof events>[] = [
      ['+a@1', '+b@2'],
      ['-a@3', '?b@4', 'end@5'],
    ];
    expect(run({ watches: [open(...sent)], lists }, 100).told).toEqual([
      '(a@1 b@2',
      '(-a ?b',
      ')@5',
    ]);
  });

  it('R5, R12: one that breaks before is forgotten and asked for anew after a wait', () => {
    const watches = [concat(closed('+a@1'), failing(refused)), open(['+b@2', 'end@3'])];
    const { asked, told } = run({ watches, lists }, 5_000);
    expect([asked, told]).toEqual(['S S', ['(a@1', 'x', 'b@2)@3']]);
  });

  it('R5: one that breaks after is the watch, which goes on where it stood', () => {
    const watches = [concat(closed('+a@1', 'end@3'), failing(refused)), open()];
    expect(run({ watches, lists }, 2_000).asked).toBe('S W3');
  });

  it('R5, R9: an ERROR 410 on the watch after it is a failure of the watch', () => {
    const watches = [closed('+a@1', 'end@3', expired), open()];
    expect(run({ watches, lists }, 2_000).asked).toBe('S S3');
  });

  it('R2: with streams turned off it is a LIST and a WATCH', () => {
    const answers = { watches: [open()], lists };
    expect(run(answers, 100, { watchList: false }).asked).toBe('L0 W7');
    expect(run(answers, 100, { initialList: 'pages' }).asked).toBe('L0 W7');
  });

  it('W18: one that is for those who are told to is asked for by them alone', () => {
    const answers = { watches: [open(['end@3'])], lists };
    const watchList = 'when-told';
    expect(run(answers, 100, { watchList }).asked).toBe('L0 W7');
    expect(run(answers, 100, { watchList, initialList: 'auto' }).asked).toBe('L0 W7');
    expect(run(answers, 100, { watchList, initialList: 'pages' }).asked).toBe('L0 W7');
    expect(run(answers, 100, { watchList, initialList: 'stream' }).asked).toBe('S');
  });
});

describe('a streaming list that fails', () => {
  it.each([400, 405, 406, 415, 422, 501])('R6: HTTP %i is a LIST at once, for good', (code) => {
    const { asked, told, remembered } = run(
      { watches: [failing(answer(code)), closed(expired), open()], lists },
      2_000,
    );
    expect(told.slice(0, 3)).toEqual(['x', '(z@7', ')@7']);
    expect([asked, remembered]).toEqual(['S L0 W7 L7 W7', 1]);
  });

  it.each([401, 403, 404])('R6: HTTP %i is a LIST at once, for this time', (code) => {
    const answers = { watches: [failing(answer(code)), closed(expired), open()], lists };
    const { asked, remembered } = run(answers, 2_000);
    expect([asked, remembered]).toEqual(['S L0 W7 S7', 0]);
  });

  it.each([
    ['a lost connection', failing(refused)],
    ['HTTP 500', failing(answer(500))],
    ['HTTP 429', failing(answer(429))],
    ['an ERROR 500', closed('+a@1', answer(500))],
    ['garbage', failing(ApiError.local('Malformed', 'no JSON'))],
    ['the wrong kind', closed('+a@1', ApiError.local('Unexpected', 'what'))],
    ['a clean close before its end', closed('+a@1')],
    ['a clean close before anything', of(opened)],
  ])('R6: after %s three tries, a wait before each, then a LIST', (_name, watch) => {
    // 1200, 2400, 4800 ms.
    const answers = { watches: [watch, watch, watch, open()], lists };
    expect(run(answers, 8_300).asked).toBe('S S S');
    expect(run(answers, 8_500).asked).toBe('S S S L0 W7');
  });

  it('R6: after the LIST the next relist streams again', () => {
    const dead = failing(refused);
    const answers = { watches: [dead, dead, dead, closed(expired), open()], lists };
    expect(run(answers, 20_000).asked).toBe('S S S L0 W7 S7');
  });

  it('R6: the three tries are in a row', () => {
    const dead = failing(refused);
    const answers = { watches: [dead, dead, closed('end@3', expired), dead, dead, open()], lists };
    expect(run(answers, 60_000, { requestTimeoutMs: 60_000 }).asked).toBe('S S S S3 S3 S3');
  });

  it('R6: a server that never ends it is remembered', () => {
    const answers = { watches: [closed('+a@1'), closed('+a@1'), closed('+a@1'), open()], lists };
    expect(run(answers, 9_000).remembered).toBe(1);
  });

  it('R6: Retry-After is a lower bound of the wait', () => {
    const answers = { watches: [failing(answer(429, '', 45_000)), open()], lists };
    expect(run(answers, 44_999).asked).toBe('S');
    expect(run(answers, 45_001).asked).toBe('S S');
  });

  it('R6: a Retry-After of long ago does not bound later waits', () => {
    const answers = { watches: [failing(answer(429, '', 45_000)), of(opened), open()], lists };
    expect(run(answers, 45_000 + 2_401).asked).toBe('S S S');
  });

  it("R6: 'stream' insists", () => {
    const watches = [failing(answer(422)), failing(answer(403)), of(opened), failing(refused)];
    const { asked, remembered } = run({ watches, lists }, 20_000, { initialList: 'stream' });
    expect([asked, remembered]).toEqual(['S S S S S', 0]);
  });

  it('R2, R9: an expired version asks for the newest at once', () => {
    const watches = [closed('end@5', expired), failing(expired), open(['end@9'])];
    expect(run({ watches, lists }, 1_300).asked).toBe('S S5 S');
  });

  it('R19: a list that fails waits, and begins with the streaming list again', () => {
    const answers = {
      watches: [failing(answer(403)), open(['end@9'])],
      lists: [failing(answer(500))],
    };
    expect(run(answers, 2_000).asked).toBe('S L0 S');
  });
});
