/** The versions from which watches continue, and servers whose lists have none: nothing says where a watch stood. */
import { ApiError, type ReflectOptions, reflect } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { EMPTY, NEVER, type Observable, of, throwError } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import {
  key,
  modified,
  pod,
  type Pod as ScriptedPod,
  scriptedInformer,
} from '../support/scripted-list-watch.ts';
import {
  answer,
  brief,
  events,
  expired,
  listPart,
  opened,
  type Pod,
  type Script,
  script,
  tooLarge,
} from './script.ts';

type Answers = Parameters<typeof script>[0];

/** Runs a script for a time and returns the requests and the page sizes. */
function requested(
  answers: Answers,
  untilMs: number,
  options: ReflectOptions<Pod> & { readonly watchList?: boolean } = {},
): {
  readonly requested: string;
  readonly limits: (number | undefined)[];
  readonly script: Script;
} {
  return marbles(({ scheduler, flush }) => {
    const { watchList = false, ...rest } = options;
    const scripted = script(answers, { watchList });
    const run = reflect(scripted.listerWatcher, { scheduler, random: () => 0.5, ...rest });
    const subscription = run.subscribe();
    scheduler.schedule(() => subscription.unsubscribe(), untilMs);
    flush();
    const limits = scripted.lists.map(({ limit }) => limit);
    return { requested: scripted.requested.join(' '), limits, script: scripted };
  });
}

/** A watch that ends with a 410 after a second and a half. */
function expiring(cold: (marbles: string, values: Record<string, unknown>) => unknown) {
  return cold('o 1500ms e', { o: opened, e: events(expired) }) as Observable<never>;
}

const gone = of(opened, events(expired));
const failing = (error: ApiError) => throwError(() => error);

describe('the version of a list', () => {
  it("R2: the first list requests version '0', a relist the last version (TestReflectorResyncWithResourceVersion)", () => {
    const answers = { lists: [of(listPart('10')), of(listPart('11'))], watches: [gone] };
    expect(requested(answers, 2_000).requested).toBe('L0 W10 L10 W11');
  });

  it("R2, R9: version '' is requested immediately if the last version has expired (TestReflectorExpiredExactResourceVersion)", () => {
    const lists = [of(listPart('10')), failing(expired), of(listPart('11'))];
    expect(requested({ lists, watches: [gone] }, 2_000).requested).toBe('L0 W10 L10 L W11');
  });

  it('D18: objects are reused for a list again after a list for which they were not', () => {
    const back = of({ ...listPart('3', ['a@2']), unparsed: true as const });
    const answers = { lists: [of(listPart('5')), back, back, of(listPart('7'))], watches: [gone] };
    const { lists } = requested(answers, 4_500).script;
    expect(lists.map(({ reuse }) => reuse)).toEqual([undefined, true, undefined, true]);
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
    "R2: version '' is requested immediately if the last version is too large, as %s (TestReflectorFullListIfTooLarge)",
    (_name, error) => {
      const lists = [
        of(listPart('20')),
        failing(error),
        of(listPart('30')),
        failing(error),
        of(listPart('40')),
        failing(error),
        of(listPart('50')),
      ];
      const { script } = requested({ lists, watches: [gone] }, 10_000);
      const versions = script.lists.map(({ resourceVersion }) => resourceVersion);
      expect(versions.slice(0, 7)).toEqual(['0', '20', '', '30', '', '40', '']);
    },
  );

  it('R2: if the newest version fails, too, the reflector waits and requests the newest again', () => {
    const lists = [of(listPart('10')), failing(expired), failing(expired), of(listPart('12'))];
    // 500 ms before the relist, 2400 ms before the third try.
    expect(requested({ lists, watches: [gone] }, 2_800).requested).toBe('L0 W10 L10 L');
    expect(requested({ lists, watches: [gone] }, 3_000).requested).toBe('L0 W10 L10 L L W12');
  });

  it('R2: after a successful list the last version is requested again', () => {
    const lists = [of(listPart('10')), failing(expired), of(listPart('12')), of(listPart('13'))];
    expect(requested({ lists, watches: [gone] }, 4_000).requested).toBe('L0 W10 L10 L W12 L12 W13');
  });

  it("R2: streaming lists request '' first, then the last version, then '' if that has expired", () => {
    const watches = [
      of(opened, events('end@5', expired)),
      failing(expired),
      of(opened, events('end@8', expired)),
      of(opened),
    ];
    const { requested: words } = requested({ watches }, 1_500, { watchList: true });
    expect(words).toBe('S S5 S');
  });

  it('R9: after a 410 on a watch the relist requests the last version first', () => {
    marbles(({ cold, scheduler, flush }) => {
      const scripted = script({
        lists: [of(listPart('5')), of(listPart('9'))],
        watches: [expiring(cold as never), EMPTY],
      });
      const run = reflect(scripted.listerWatcher, { scheduler, random: () => 0.5 }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 3_000);
      flush();
      expect(scripted.requested).toEqual(['L0', 'W5', 'L5', 'W9']);
    });
  });
});

describe('the pages of a list', () => {
  const relisting = (lists: Answers['lists'], options: ReflectOptions<Pod> = {}) =>
    requested({ ...(lists === undefined ? {} : { lists }), watches: [gone] }, 2_000, options)
      .limits;

  it('R3: a list at a version is requested without a limit (TestReflectorNotPaginatingNotConsistentReads)', () => {
    expect(relisting([of(listPart('10'))])).toEqual([500, undefined]);
  });

  it('R3: an explicit page size applies to every list (TestReflectorWatchListPageSize)', () => {
    expect(relisting([of(listPart('10'))], { pageSize: 4 })).toEqual([4, 4]);
  });

  it('R3: if the first list came in pages, later lists are requested in pages (TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled)', () => {
    const lists = [
      of(listPart('10', ['a@1'], 'C1')),
      of(listPart('10', ['b@2'])),
      of(listPart('11')),
    ];
    expect(relisting(lists)).toEqual([500, 500, 500]);
  });

  it('R3: the newest version is requested in pages, and later lists are not', () => {
    const lists = [
      of(listPart('10')),
      failing(expired),
      of(listPart('20', ['a@1'], 'C1')),
      of(listPart('20', ['b@2'])),
      of(listPart('30')),
    ];
    expect(requested({ lists, watches: [gone] }, 4_000).limits).toEqual([
      500,
      undefined,
      500,
      500,
      undefined,
    ]);
  });

  it('R3: after an expired token one complete list at the requested version follows (TestReflectorFullListIfExpired)', () => {
    const lists = [
      of(listPart('10')),
      of(listPart('10', ['a@1'], 'C1')),
      failing(expired),
      of(listPart('11', ['a@1', 'b@2'])),
    ];
    const { script } = requested({ lists, watches: [gone] }, 2_000, { pageSize: 4 });
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

describe('the first ADDED events', () => {
  it.each<[string, string[], string]>([
    ['without another event', ['+a@30', '+b@10', '+c@20'], 'L0 W'],
    ['until a bookmark', ['+a@30', '+b@10', 'b@35'], 'W35'],
    ['until a change', ['+a@30', '~a@36', '+d@37'], 'W37'],
    ['also if one of them is refused', ['?a@30', '+b@10', '+c@20'], 'L0 W'],
    ['until a deletion', ['+a@30', '-a@36'], 'W36'],
  ])(
    'R4: the first ADDED events do not move the version: %s (TestWatchListResourceVersion)',
    (_name, sent, next) => {
      marbles(({ cold, scheduler, flush }) => {
        const watches = [cold('-e 1s |', { e: events(...sent) }), NEVER];
        const scripted = script({ lists: [of(listPart(''))], watches });
        const run = reflect(scripted.listerWatcher, { scheduler }).subscribe();
        scheduler.schedule(() => run.unsubscribe(), 1_500);
        flush();
        expect(scripted.requested.join(' ')).toBe(`L0 W ${next}`);
      });
    },
  );

  it('R4: after a list with a version every ADDED moves the version', () => {
    const watches = [of(opened, events('+a@6'))];
    expect(requested({ lists: [of(listPart('5'))], watches }, 2_000).requested).toBe('L0 W5 W6');
  });
});

describe('a server with another history', () => {
  it('R14: after a bookmark older than a version already seen, the newest version is listed', () => {
    const lists = [of(listPart('50')), of(listPart('7'))];
    const watches = [of(opened, events('~a@60', 'b@9'))];
    expect(requested({ lists, watches }, 2_000).requested).toBe('L0 W50 L W7');
  });

  // Faults, seed 23: an ADDED event was repeated after the deletion of its object.
  it.each([['+a@58'], ['~a@58']])(
    'R21: %s after a later version is not applied, and the newest version is listed',
    (late) => {
      marbles(({ scheduler, flush }) => {
        const lists = [of(listPart('50')), of(listPart('70', ['b@60']))];
        const watches = [of(opened, events('~b@60', '-a@61', late, '~b@65')), NEVER];
        const scripted = script({ lists, watches });
        const emitted: string[] = [];
        const run = reflect(scripted.listerWatcher, { scheduler, random: () => 0.5 });
        const running = run.subscribe((deltas) => emitted.push(brief(deltas)));
        scheduler.schedule(() => running.unsubscribe(), 2_000);
        flush();
        expect(scripted.requested).toEqual(['L0', 'W50', 'L', 'W70']);
        expect(emitted).toEqual([')@50', '~b@60 -a@61', '(b@60', ')@70']);
      });
    },
  );

  it('R21: an event of the same version and an older deletion are passed on', () => {
    const lists = [of(listPart('50'))];
    const watches = [of(opened, events('~b@60', '~b@60', '-a@55')), NEVER];
    expect(requested({ lists, watches }, 5_000).requested).toBe('L0 W50 W60');
  });

  it('R14: a list older than a version already seen says that versions cannot be trusted', () => {
    marbles(({ scheduler, flush }) => {
      const lists = [of(listPart('50')), of(listPart('7'))];
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

  it('R14: versions over 2^53 and of different lengths are compared correctly', () => {
    const lists = [of(listPart('9007199254740993')), of(listPart('9'))];
    const newer = [of(opened, events('b@9007199254740994'), events('b@10000000000000000'))];
    expect(requested({ lists, watches: newer }, 1_500).requested).toBe(
      'L0 W9007199254740993 W10000000000000000',
    );
    const older = [of(opened, events('b@9007199254740992'))];
    expect(requested({ lists, watches: older }, 1_500).requested).toBe('L0 W9007199254740993 L W9');
  });

  it('R9: after an ERROR StoreReadError the reflector lists again (ReplacesStoreOnUnsafeDelete)', () => {
    const unsafe = answer(500, 'StoreReadError');
    const watches = [of(opened, events(unsafe))];
    expect(requested({ lists: [of(listPart('5'))], watches }, 1_500).requested).toBe('L0 W5 L5 W5');
  });
});

const MINUTE_MS = 60_000;

/** An informer whose list had this version and two objects, and what happened to the watch afterwards. */
async function informed(version: string) {
  const time = new VirtualTime();
  const { source, informer } = scriptedInformer({ scheduler: time, random: () => 0.5 });
  informer.start();
  source.listed(version as never, pod('a', 1), pod('b', 1));
  await time.advance(MINUTE_MS);
  return { time, source, informer };
}

const rows = (informer: { indexer: { list(): readonly unknown[] } }) =>
  (informer.indexer.list() as ScriptedPod[])
    .map((object) => `${key(object)}@${object.metadata.resourceVersion}`)
    .join(' ');

let stop: () => Promise<unknown> = async () => undefined;
afterEach(() => stop());

const ends = {
  'ends normally': ({ source }) => source.close(),
  'is reset': ({ source }) => source.fail(new Error('reset')),
} satisfies Record<string, (parts: Awaited<ReturnType<typeof informed>>) => void>;

describe.each(['', '0'])('a list of version "%s"', (version) => {
  it.each(Object.entries(ends))(
    'R33: is followed by another list when its watch %s, which has what was changed and deleted meanwhile',
    async (_how, end) => {
      const parts = await informed(version);
      const { time, source, informer } = parts;
      stop = () => informer.stop();
      expect(source.asked).toEqual(['L0', `W${version}`]);
      end(parts);
      source.listed(version as never, pod('a', 2));
      await time.advance(MINUTE_MS);
      expect(rows(informer)).toBe('shop/a@2');
      expect(informer.status).toMatchObject({ phase: 'watching', live: true });
      expect(source.asked.slice(2)).toEqual(['L0', `W${version}`]);
    },
  );

  it('R33: is not repeated once an event has shown a version', async () => {
    const { time, source, informer } = await informed(version);
    stop = () => informer.stop();
    source.send(modified(pod('a', 7)));
    source.close();
    await time.advance(MINUTE_MS);
    expect(source.asked.slice(2)).toEqual(['W7']);
  });
});
