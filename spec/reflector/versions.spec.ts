import { ApiError, type ReflectOptions, reflect } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { EMPTY, NEVER, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  answer,
  brief,
  events,
  expired,
  opened,
  type Pod,
  type Script,
  script,
  tooLarge,
  whole,
} from './script.ts';

type Answers = Parameters<typeof script>[0];

/** Runs a script for a time; what was asked, pages with their sizes. */
function asked(
  answers: Answers,
  untilMs: number,
  options: ReflectOptions<Pod> & { readonly watchList?: boolean } = {},
): { readonly asked: string; readonly limits: (number | undefined)[]; readonly script: Script } {
  return marbles(({ scheduler, flush }) => {
    const { watchList = false, ...rest } = options;
    const scripted = script(answers, { watchList });
    const run = reflect(scripted.listerWatcher, { scheduler, random: () => 0.5, ...rest });
    const subscription = run.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
    flush();
    const limits = scripted.lists.map(({ limit }) => limit);
    return { asked: scripted.asked.join(' '), limits, script: scripted };
  });
}

/** A watch that ends with a 410 after a second and a half. */
function expiring(cold: (marbles: string, values: Record<string, unknown>) => unknown) {
  return cold('o 1500ms e', { o: opened, e: events(expired) }) as Observable<never>;
}

const gone = of(opened, events(expired));
const failing = (error: ApiError) => throwError(() => error);

describe('the version of a list', () => {
  it("R2: is '0' first and the last version then (TestReflectorResyncWithResourceVersion)", () => {
    const answers = { lists: [of(whole('10')), of(whole('11'))], watches: [gone] };
    expect(asked(answers, 2_000).asked).toBe('L0 W10 L10 W11');
  });

  it("R2, R9: is '' at once when the last is gone (TestReflectorExpiredExactResourceVersion)", () => {
    const lists = [of(whole('10')), failing(expired), of(whole('11'))];
    expect(asked({ lists, watches: [gone] }, 2_000).asked).toBe('L0 W10 L10 L W11');
  });

  const legacy = { code: 504, reason: 'Timeout' };
  const encodings = {
    'a cause with a reason': tooLarge,
    'a cause with a message': ApiError.fromStatus(
      { ...legacy, details: { causes: [{ message: 'Too large resource version' }] } },
      504,
    ),
    'a message': ApiError.fromStatus(
      { ...legacy, message: 'Timeout: Too large resource version: 20, current: 10' },
      504,
    ),
  };
  it.each(Object.entries(encodings))(
    "R2: is '' at once when the last is still to come, as %s (TestReflectorFullListIfTooLarge)",
    (_name, error) => {
      const lists = [
        of(whole('20')),
        failing(error),
        of(whole('30')),
        failing(error),
        of(whole('40')),
        failing(error),
        of(whole('50')),
      ];
      const { script } = asked({ lists, watches: [gone] }, 10_000);
      const versions = script.lists.map(({ resourceVersion }) => resourceVersion);
      expect(versions.slice(0, 7)).toEqual(['0', '20', '', '30', '', '40', '']);
    },
  );

  it('R2: waits when the newest is refused too, and asks for the newest again', () => {
    const lists = [of(whole('10')), failing(expired), failing(expired), of(whole('12'))];
    // 500 before the relist, 2400 before the third try.
    expect(asked({ lists, watches: [gone] }, 2_800).asked).toBe('L0 W10 L10 L');
    expect(asked({ lists, watches: [gone] }, 3_000).asked).toBe('L0 W10 L10 L L W12');
  });

  it('R2: once a list has come, the last version is good again', () => {
    const lists = [of(whole('10')), failing(expired), of(whole('12')), of(whole('13'))];
    expect(asked({ lists, watches: [gone] }, 4_000).asked).toBe('L0 W10 L10 L W12 L12 W13');
  });

  it("R2: a streaming list asks for '' first, the last version then, '' when that is gone", () => {
    const watches = [
      of(opened, events('end@5', expired)),
      failing(expired),
      of(opened, events('end@8', expired)),
      of(opened),
    ];
    const { asked: words } = asked({ watches }, 1_500, { watchList: true });
    expect(words).toBe('S S5 S');
  });

  it('R9: an expired watch asks at the last version first', () => {
    marbles(({ cold, scheduler, flush }) => {
      const scripted = script({
        lists: [of(whole('5')), of(whole('9'))],
        watches: [expiring(cold as never), EMPTY],
      });
      const run = reflect(scripted.listerWatcher, { scheduler, random: () => 0.5 }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 3_000);
      flush();
      expect(scripted.asked).toEqual(['L0', 'W5', 'L5', 'W9']);
    });
  });
});

describe('the pages of a list', () => {
  const relisting = (lists: Answers['lists'], options: ReflectOptions<Pod> = {}) =>
    asked({ ...(lists === undefined ? {} : { lists }), watches: [gone] }, 2_000, options).limits;

  it('R3: a list at a version has none (TestReflectorNotPaginatingNotConsistentReads)', () => {
    expect(relisting([of(whole('10'))])).toEqual([500, undefined]);
  });

  it('R3: an explicit page size stands always (TestReflectorWatchListPageSize)', () => {
    expect(relisting([of(whole('10'))], { pageSize: 4 })).toEqual([4, 4]);
  });

  it('R3: a first list that came in pages keeps to pages (TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled)', () => {
    const lists = [of(whole('10', ['a@1'], 'C1')), of(whole('10', ['b@2'])), of(whole('11'))];
    expect(relisting(lists)).toEqual([500, 500, 500]);
  });

  it('R3: the newest is asked for in pages, and pages of the newest do not latch', () => {
    const lists = [
      of(whole('10')),
      failing(expired),
      of(whole('20', ['a@1'], 'C1')),
      of(whole('20', ['b@2'])),
      of(whole('30')),
    ];
    expect(asked({ lists, watches: [gone] }, 4_000).limits).toEqual([
      500,
      undefined,
      500,
      500,
      undefined,
    ]);
  });

  it('R3: a token that expires gives one full list with the version asked for (TestReflectorFullListIfExpired)', () => {
    const lists = [
      of(whole('10')),
      of(whole('10', ['a@1'], 'C1')),
      failing(expired),
      of(whole('11', ['a@1', 'b@2'])),
    ];
    const { script } = asked({ lists, watches: [gone] }, 2_000, { pageSize: 4 });
    const requests = script.lists.map(({ resourceVersion, limit, continue: token }) => [
      resourceVersion,
      limit,
      token,
    ]);
    expect(requests).toEqual([
      ['0', 4, undefined],
      ['10', 4, undefined],
      ['', 4, 'C1'],
      ['10', undefined, undefined],
    ]);
  });
});

describe('the first ADDED', () => {
  it.each<[string, string[], string]>([
    ['in no order of versions', ['+a@30', '+b@10', '+c@20'], 'W'],
    ['until a bookmark', ['+a@30', '+b@10', 'b@35'], 'W35'],
    ['until a change', ['+a@30', '~a@36', '+d@37'], 'W37'],
    ['also where one is refused', ['?a@30', '+b@10', '+c@20'], 'W'],
    ['until a deletion', ['+a@30', '-a@36'], 'W36'],
  ])('R4: do not move the version: %s (TestWatchListResourceVersion)', (_name, sent, next) => {
    marbles(({ cold, scheduler, flush }) => {
      const watches = [cold('-e 1s |', { e: events(...sent) }), NEVER];
      const scripted = script({ lists: [of(whole(''))], watches });
      const run = reflect(scripted.listerWatcher, { scheduler }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 1_500);
      flush();
      expect(scripted.asked).toEqual(['L0', 'W', next]);
    });
  });

  it('R4: after a list with a version every ADDED moves it', () => {
    const watches = [of(opened, events('+a@6'))];
    expect(asked({ lists: [of(whole('5'))], watches }, 2_000).asked).toBe('L0 W5 W6');
  });
});

describe('a server whose history is another one', () => {
  it('R14: a bookmark older than what was seen lists the newest', () => {
    const lists = [of(whole('50')), of(whole('7'))];
    const watches = [of(opened, events('~a@60', 'b@9'))];
    expect(asked({ lists, watches }, 2_000).asked).toBe('L0 W50 L W7');
  });

  // Faults, seed 23: an ADDED sent a second time, behind the end of what it adds.
  it.each([['+a@58'], ['~a@58']])(
    'R21: %s behind a later version is not believed, and the newest is listed',
    (late) => {
      marbles(({ scheduler, flush }) => {
        const lists = [of(whole('50')), of(whole('70', ['b@60']))];
        const watches = [of(opened, events('~b@60', '-a@61', late, '~b@65')), NEVER];
        const scripted = script({ lists, watches });
        const told: string[] = [];
        const run = reflect(scripted.listerWatcher, { scheduler, random: () => 0.5 });
        const running = run.subscribe((deltas) => told.push(brief(deltas)));
        scheduler.schedule(() => running.unsubscribe(), 2_000);
        flush();
        expect(scripted.asked).toEqual(['L0', 'W50', 'L', 'W70']);
        expect(told).toEqual([')@50', '~b@60 -a@61', '(b@60', ')@70']);
      });
    },
  );

  it('R21: one of the same version is what was seen, and a deletion is the store’s to judge', () => {
    const lists = [of(whole('50'))];
    const watches = [of(opened, events('~b@60', '~b@60', '-a@55')), NEVER];
    expect(asked({ lists, watches }, 5_000).asked).toBe('L0 W50 W60');
  });

  it('R14: a list older than what was seen says that versions cannot be trusted', () => {
    marbles(({ scheduler, flush }) => {
      const lists = [of(whole('50')), of(whole('7'))];
      const { listerWatcher } = script({ lists, watches: [gone] });
      const trust: boolean[] = [];
      const run = reflect(listerWatcher, { scheduler, random: () => 0.5 }).subscribe((deltas) => {
        for (const delta of deltas) if (delta.type === 'replaced') trust.push(delta.trustVersions);
      });
      scheduler.schedule(() => run.unsubscribe(), 2_000);
      flush();
      expect(trust).toEqual([true, false]);
    });
  });

  it('R14: versions above 2^53 and of different lengths are compared rightly', () => {
    const lists = [of(whole('9007199254740993')), of(whole('9'))];
    const newer = [of(opened, events('b@9007199254740994'), events('b@10000000000000000'))];
    expect(asked({ lists, watches: newer }, 1_500).asked).toBe(
      'L0 W9007199254740993 W10000000000000000',
    );
    const older = [of(opened, events('b@9007199254740992'))];
    expect(asked({ lists, watches: older }, 1_500).asked).toBe('L0 W9007199254740993 L W9');
  });

  it('R9: an ERROR StoreReadError lists anew (ReplacesStoreOnUnsafeDelete)', () => {
    const unsafe = answer(500, 'StoreReadError');
    const watches = [of(opened, events(unsafe))];
    expect(asked({ lists: [of(whole('5'))], watches }, 1_500).asked).toBe('L0 W5 L5 W5');
  });
});
