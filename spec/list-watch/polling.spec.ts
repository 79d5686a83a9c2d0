import {
  createPollingListWatch,
  type ListPart,
  type PollingOptions,
  reflect,
  type WatchRequest,
  type WatchSignal,
} from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { defer, type Observable, of, Subject, throwError, timer } from 'rxjs';
import { map, tap } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { answer, brief, listPart, type Pod, refusal, script } from '../reflector/script.ts';

const REQUEST = { resourceVersion: '5', timeoutSeconds: 300 };

/** Returns the signals of a poll of these lists, each with its time. */
function polled(
  lists: Observable<ListPart<Pod>>[],
  untilMs: number,
  more: Pick<WatchRequest<Pod>, 'demand'> = {},
  options: PollingOptions = {},
): string[] {
  return marbles(({ scheduler, flush }) => {
    const polling = createPollingListWatch(script({ lists }).listerWatcher, {
      scheduler,
      random: () => 0,
      intervalMs: 1_000,
      ...options,
    });
    const lines: string[] = [];
    const record = (text: string) => lines.push(`${scheduler.now()} ${text}`);
    const run = polling.watch({ ...REQUEST, ...more }).subscribe({
      next: (signal: WatchSignal<Pod>) => {
        if (signal.kind !== 'listed') return record(signal.kind);
        const { items, refused = [], resourceVersion } = signal;
        const names = items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
        return record(
          [...names, ...refused.map(({ key }) => `?${key}`), `)${resourceVersion}`].join(' '),
        );
      },
      error: (error) => record(`# ${error.code}`),
    });
    scheduler.schedule(() => run.unsubscribe(), untilMs);
    flush();
    return lines.filter((line) => !line.endsWith('alive'));
  });
}

describe('a kind that cannot be watched', () => {
  it('W5: the kind is listed repeatedly, and each list is emitted when it is complete', () => {
    const lists = [
      of(listPart('6', ['a@1', 'b@2'])),
      of({ ...listPart('7', ['a@7', 'c@7']), refused: [refusal('d@7')] }),
      of(listPart('7')),
    ];
    expect(polled(lists, 3_500)).toEqual([
      '0 opened',
      '1000 a@1 b@2 )6',
      '2000 a@7 c@7 ?d/d )7',
      '3000 )7',
    ]);
  });

  it('W5: the kind is listed in pages, and after an expired token the list starts again', () => {
    const lists = [
      of({ ...listPart('6', ['a@1'], 'C1'), refused: [refusal('b@6')] }),
      throwError(() => answer(410, 'Expired')),
      of(listPart('8', ['c@8'])),
    ];
    expect(polled(lists, 1_500)[1]).toBe('1000 c@8 )8');
    const pages = [of(listPart('6', ['a@1'], 'C1')), of(listPart('8', ['c@8']))];
    expect(polled(pages, 1_500)[1]).toBe('1000 a@1 c@8 )6');
  });

  it('W5: the kind is not listed while the consumer has no capacity', () => {
    const capacity = new Subject<void>();
    let asked = 0;
    const demand = () => {
      asked++;
      return asked === 2 ? capacity : null;
    };
    const received = polled([of(listPart('6'))], 9_500, { demand });
    expect([received, asked]).toEqual([['0 opened', '1000 )6'], 2]);
  });

  it('W5: the wait begins at the end of a list and is up to a fifth longer, at random', () => {
    const options = { intervalMs: 10_000, random: () => 0.5 };
    const times = polled([of(listPart('6'))], 40_000, {}, options).map(
      (line) => line.split(' ')[0],
    );
    expect(times).toEqual(['0', '11000', '22000', '33000']);
  });

  it('W5: a list that fails ends the watch with its error', () => {
    expect(polled([throwError(() => answer(403))], 5_000)).toEqual(['0 opened', '1000 # 403']);
  });

  it('W5: a poll does not count as silent, however long its interval is', () => {
    marbles(({ scheduler, flush }) => {
      const scripted = script({ lists: [of(listPart('5', ['a@1'])), of(listPart('9', ['a@9']))] });
      const options = { scheduler, random: () => 0 };
      const polling = createPollingListWatch(scripted.listerWatcher, {
        ...options,
        intervalMs: 3_600_000,
      });
      const received: string[] = [];
      const errors: unknown[] = [];
      const run = reflect(polling, { ...options, onError: (error) => void errors.push(error) });
      const subscription = run.subscribe((deltas) => received.push(brief(deltas)));
      scheduler.schedule(() => subscription.unsubscribe(), 4_000_000);
      flush();
      expect(errors).toEqual([]);
      expect(scripted.requested).toEqual(['L0', 'L']);
      expect(received).toEqual(['(a@1', ')@5', 'a@9)@9']);
    });
  });

  it('W5, R15: a poll does not count as silent while its list is queued', () => {
    marbles(({ scheduler, flush }) => {
      let lists = 0;
      const polling = createPollingListWatch<Pod>(
        {
          list: ({ onTurn }) =>
            lists++ === 0
              ? of(listPart('5', ['a@1']))
              : defer(() => {
                  onTurn?.('queued');
                  return timer(300_000).pipe(
                    tap(() => onTurn?.('sending')),
                    map(() => listPart('9', ['a@9'])),
                  );
                }),
        },
        { scheduler, random: () => 0, intervalMs: 10_000 },
      );
      const received: string[] = [];
      const run = reflect(polling, {
        scheduler,
        onError: (error) => void received.push(error.message),
        onStatus: ({ phase }) => received.push(`${scheduler.now()} ${phase}`),
      });
      const subscription = run.subscribe();
      scheduler.schedule(() => subscription.unsubscribe(), 311_000);
      flush();
      expect([...new Set(received)]).toEqual([
        '0 listing',
        '0 connecting',
        '0 watching',
        '10000 queued',
        '310000 watching',
      ]);
    });
  });

  it('W5, W6: unsubscribing ends the wait and the list in progress', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const list = cold<ListPart<Pod>>('-----');
      const polling = createPollingListWatch(script({ lists: [list] }).listerWatcher, {
        scheduler,
        random: () => 0,
        intervalMs: 3,
      });
      expectObservable(polling.watch(REQUEST), '^----!').toBe('o', { o: { kind: 'opened' } });
      expectSubscriptions(list.subscriptions).toBe('---^-!');
    });
  });

  it('W5: a polling ListerWatcher forwards lists, supports no streaming lists and keeps its scope', () => {
    const lists = [of(listPart('6', ['a@1']))];
    const { listerWatcher, requested } = script({ lists }, { scope: 'd' });
    const polling = createPollingListWatch(listerWatcher);
    expect([polling.watchList, polling.scope]).toEqual([false, 'd']);
    polling.list({ resourceVersion: '0' }).subscribe();
    expect(requested).toEqual(['L0']);
  });

  it('D18, S9: each of two watches notices that the server went back in time, and lists again without reuse', () => {
    marbles(({ scheduler, flush }) => {
      const reuses: unknown[] = [];
      const polling = createPollingListWatch<Pod>(
        {
          list: ({ reuse }) => {
            reuses.push(reuse);
            return of({ ...listPart('7', ['a@5']), ...(reuse === true ? { unparsed: true } : {}) });
          },
        },
        { scheduler, random: () => 0, intervalMs: 1_000 },
      );
      const watch = (resourceVersion: string) =>
        polling.watch({ ...REQUEST, resourceVersion, reuse: true }).subscribe();
      const runs = [watch('9'), watch('9'), watch('6')];
      scheduler.schedule(() => runs.forEach((run) => void run.unsubscribe()), 1_500);
      flush();
      expect(reuses).toEqual([true, false, true, false, true]);
    });
  });

  it('W5: an invalid interval throws', () => {
    const { listerWatcher } = script({});
    for (const intervalMs of [0, -1, Number.NaN]) {
      expect(() => createPollingListWatch(listerWatcher, { intervalMs })).toThrow(
        /intervalMs is .*; it must be more than 0/,
      );
    }
  });
});
