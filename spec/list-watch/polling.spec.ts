import {
  createPollingListWatch,
  type ListPart,
  type PollingOptions,
  type WatchSignal,
} from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { defer, type Observable, of, throwError, timer } from 'rxjs';
import { map, tap } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { reflect } from '../../lib/reflector/reflector.ts';
import { answer, brief, type Pod, pod, script, whole } from '../reflector/script.ts';

const known = (...pods: string[]) =>
  new Map(pods.map((text) => [`d/${text.split('@')[0]}`, pod(text)]));
const REQUEST = { resourceVersion: '5', timeoutSeconds: 300 };

/** The signals of polling these lists, each with its time. */
function polled(
  lists: Observable<ListPart<Pod>>[],
  untilMs: number,
  more: { readonly known?: Map<string, Pod>; readonly scope?: string } = {},
  options: PollingOptions = {},
): string[] {
  return marbles(({ scheduler, flush }) => {
    const { scope, ...request } = more;
    const scripted = script({ lists }, scope === undefined ? {} : { scope });
    const polling = createPollingListWatch(scripted.listerWatcher, {
      scheduler,
      random: () => 0,
      intervalMs: 1_000,
      ...options,
    });
    const told: string[] = [];
    const tell = (text: string) => told.push(`${scheduler.now()} ${text}`);
    const run = polling.watch({ ...REQUEST, ...request }).subscribe({
      next: (signal: WatchSignal<Pod>) => {
        if (signal.kind !== 'events') return tell(signal.kind);
        const words = signal.events.map((event) =>
          event.type === 'BOOKMARK'
            ? `b@${event.resourceVersion}`
            : `${event.type} ${'key' in event ? event.key : ''}`,
        );
        return tell(words.join(' '));
      },
      error: (error) => tell(`# ${error.code}`),
    });
    scheduler.schedule(() => run.unsubscribe(), untilMs);
    flush();
    return told.filter((line) => !line.endsWith('alive'));
  });
}

describe('a kind that cannot be watched', () => {
  it('W5: is listed again and again, and the difference comes as events', () => {
    const lists = [
      of(whole('6', ['a@1', 'b@2'])),
      of(whole('7', ['a@7', 'c@7'])),
      of(whole('7', ['a@7', 'c@7'])),
    ];
    expect(polled(lists, 3_500)).toEqual([
      '0 opened',
      '1000 ADDED d/a ADDED d/b b@6',
      '2000 DELETED d/b MODIFIED d/a ADDED d/c b@7',
      '3000 b@7',
    ]);
  });

  it('W5: is compared with what the consumer knows, within its scope', () => {
    const own = known('a@1', 'b@2');
    own.set('other/z', pod('z@1'));
    const lists = [of(whole('6', ['a@6']))];
    expect(polled(lists, 1_500, { known: own, scope: 'd' })[1]).toBe(
      '1000 DELETED d/b MODIFIED d/a b@6',
    );
    expect(polled(lists, 1_500, { known: own })[1]).toBe(
      '1000 DELETED d/b DELETED other/z MODIFIED d/a b@6',
    );
  });

  it('W5: an object of another UID is deleted and added', () => {
    const recreated = { ...pod('a@9'), metadata: { ...pod('a@9').metadata, uid: 'other' } };
    const lists = [of({ items: [recreated], metadata: { resourceVersion: '9' } })];
    expect(polled(lists, 1_500, { known: known('a@1') })[1]).toBe('1000 DELETED d/a ADDED d/a b@9');
  });

  it('W5: an object that was refused is not missing', () => {
    const lists = [of({ items: [], rejected: ['d/a'], metadata: { resourceVersion: '9' } })];
    expect(polled(lists, 1_500, { known: known('a@1') })[1]).toBe('1000 b@9');
  });

  it('W5: is listed in pages, and a token that expires begins anew', () => {
    const lists = [
      of({ ...whole('6', ['a@1'], 'C1'), rejected: ['d/b'] }),
      throwError(() => answer(410, 'Expired')),
      of(whole('8', ['c@8'])),
    ];
    expect(polled(lists, 1_500, { known: known('b@2') })[1]).toBe('1000 DELETED d/b ADDED d/c b@8');
  });

  it('W5: waits between the end of a list and the next, with up to a fifth at random', () => {
    const options = { intervalMs: 10_000, random: () => 0.5 };
    const times = polled([of(whole('6'))], 40_000, {}, options).map((line) => line.split(' ')[0]);
    expect(times).toEqual(['0', '11000', '22000', '33000']);
  });

  it('W5: a list that fails ends the watch with its error', () => {
    expect(polled([throwError(() => answer(403))], 5_000)).toEqual(['0 opened', '1000 # 403']);
  });

  it('W5: is not ended as silent, however seldom it is listed', () => {
    marbles(({ scheduler, flush }) => {
      const scripted = script({ lists: [of(whole('5', ['a@1'])), of(whole('9', ['a@9']))] });
      const options = { scheduler, random: () => 0 };
      const polling = createPollingListWatch(scripted.listerWatcher, {
        ...options,
        intervalMs: 3_600_000,
      });
      const told: string[] = [];
      const errors: unknown[] = [];
      const run = reflect(polling, { ...options, onError: (error) => void errors.push(error) });
      const subscription = run.subscribe((deltas) => told.push(brief(deltas)));
      scheduler.schedule(() => subscription.unsubscribe(), 4_000_000);
      flush();
      expect(errors).toEqual([]);
      expect(scripted.asked).toEqual(['L0', 'L']);
      expect(told).toEqual(['(a@1', ')@5', '+a@9 b@9']);
    });
  });

  it('W5, R15: is not ended as silent while a list waits for its turn', () => {
    marbles(({ scheduler, flush }) => {
      let lists = 0;
      const polling = createPollingListWatch<Pod>(
        {
          list: ({ onTurn }) =>
            lists++ === 0
              ? of(whole('5', ['a@1']))
              : defer(() => {
                  onTurn?.('queued');
                  return timer(300_000).pipe(
                    tap(() => onTurn?.('sending')),
                    map(() => whole('9', ['a@9'])),
                  );
                }),
        },
        { scheduler, random: () => 0, intervalMs: 10_000 },
      );
      const told: string[] = [];
      const run = reflect(polling, {
        scheduler,
        onError: (error) => void told.push(error.message),
        onStatus: ({ phase }) => told.push(`${scheduler.now()} ${phase}`),
      });
      const subscription = run.subscribe();
      scheduler.schedule(() => subscription.unsubscribe(), 311_000);
      flush();
      expect([...new Set(told)]).toEqual([
        '0 listing',
        '0 watching',
        '10000 queued',
        '310000 watching',
      ]);
    });
  });

  it('W5, W6: unsubscribing ends the wait and the list under way', () => {
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

  it('W5: passes lists on, is never asked to stream, and keeps its scope', () => {
    const lists = [of(whole('6', ['a@1']))];
    const { listerWatcher, asked } = script({ lists }, { scope: 'd' });
    const polling = createPollingListWatch(listerWatcher);
    expect([polling.watchList, polling.scope]).toEqual([false, 'd']);
    polling.list({ resourceVersion: '0' }).subscribe();
    expect(asked).toEqual(['L0']);
  });

  it('W5: an interval that is none throws', () => {
    const { listerWatcher } = script({});
    for (const intervalMs of [0, -1, Number.NaN]) {
      expect(() => createPollingListWatch(listerWatcher, { intervalMs })).toThrow(
        /intervalMs is .*; it must be more than 0/,
      );
    }
  });
});
