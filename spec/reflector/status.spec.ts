/** The status of a reflector, and its life: what it requests, ends and leaves. */
import { type ListPart, type ReflectorStatus, reflect, type WatchSignal } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { config, EMPTY, Observable, of, Subject, throwError } from 'rxjs';
import { map, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { allReported } from '../support/errors.ts';
import { rig } from './rig.ts';
import { answer, brief, events, expired, listPart, opened, type Pod, script } from './script.ts';

const half = { random: () => 0.5 };

describe('a watch that is not answered yet', () => {
  const shown = ({ phase, live, staleSinceMs }: ReflectorStatus) => [phase, live, staleSinceMs];

  it('I80, I71: the phase is `connecting`, and the emitted state counts as stale, until the watch is answered', () => {
    marbles(({ cold, scheduler, flush }) => {
      const answered = cold('-----o 4994ms |', { o: opened });
      const scripted = script({ lists: [of(listPart('1'))], watches: [answered] });
      const statuses: ReflectorStatus[] = [];
      const onStatus = (status: ReflectorStatus) => void statuses.push(status);
      const run = reflect(scripted.listerWatcher, { scheduler, ...half, onStatus }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 5_002);
      flush();
      expect(statuses.map(shown)).toEqual([
        ['listing', false, 0],
        ['connecting', false, 0],
        ['watching', true, undefined],
        ['connecting', false, 5_000],
      ]);
    });
  });

  it('I80: the phase is never `watching` while connections are refused', async () => {
    const { time, server, statuses, subscription } = rig();
    await time.advance(2_000);
    const before = statuses.length;
    expect(statuses.at(-1)).toMatchObject({ phase: 'watching', live: true });
    server.faults.refuse();
    server.faults.dropWatches();
    await time.advance(60_000);
    const phases = new Set(statuses.slice(before).map(({ phase }) => phase));
    expect(phases).toEqual(new Set(['backoff', 'connecting']));
    expect(statuses.slice(before).some(({ live }) => live)).toBe(false);
    subscription.unsubscribe();
  });
});

describe('reports of failures', () => {
  const phases = (statuses: readonly ReflectorStatus[]) =>
    statuses.map(({ phase, error, blocked }) => [phase, error?.reason, blocked]);

  it('R13: a failure is shown immediately and until a request succeeds', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const scripted = script({
        lists: [cold('#', undefined, answer(403, 'Forbidden')), cold('(l|)', { l: listPart('1') })],
        watches: [cold('o', { o: opened })],
      });
      const statuses: ReflectorStatus[] = [];
      const onStatus = (status: ReflectorStatus) => void statuses.push(status);
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half, onStatus });
      expectObservable(deltas, '^ 3s !');
      flush();
      expect(phases(statuses)).toEqual([
        ['listing', undefined, undefined],
        ['backoff', 'Forbidden', 'forbidden'],
        ['listing', 'Forbidden', 'forbidden'],
        ['connecting', undefined, undefined],
        ['watching', undefined, undefined],
      ]);
      expect(statuses.map(({ sinceMs }) => sinceMs)).toEqual([0, 0, 1200, 1200, 1200]);
      expect(statuses[1]).toMatchObject({ nextRetryAtMs: 1200, attempt: 1, staleSinceMs: 0 });
      expect(statuses[3]).toMatchObject({ staleSinceMs: 1200, live: false, synced: true });
      expect(statuses[4]?.staleSinceMs).toBeUndefined();
      expect(statuses.map(({ live }) => live)).toEqual([false, false, false, false, true]);
    });
  });

  it('R13: the cause of a block is shown only until a failure with another cause', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const failing = (code: number) => cold<never>('#', {}, answer(code));
      const lists = [403, 404, 500, 401, 503].map(failing);
      const { listerWatcher } = script({ lists });
      const shown: string[] = [];
      const onStatus = ({ phase, blocked, error }: ReflectorStatus) => {
        if (phase === 'backoff') shown.push(`${error?.code} ${blocked}`);
      };
      expectObservable(reflect(listerWatcher, { scheduler, ...half, onStatus }), '^ 20s !');
      flush();
      expect(shown.slice(0, 5)).toEqual([
        '403 forbidden',
        '404 no-such-resource',
        '500 undefined',
        '401 unauthorized',
        '503 undefined',
      ]);
    });
  });

  it('R13: after a watch or a streaming list that is closed immediately, no block is shown', () => {
    marbles(({ flush, scheduler }) => {
      const denied = throwError(() => answer(403));
      for (const watchList of [false, true]) {
        const scripted = script(
          { lists: watchList ? [denied] : [of(listPart('1'))], watches: [denied, EMPTY] },
          { watchList },
        );
        const shown: string[] = [];
        const onStatus = ({ phase, blocked }: ReflectorStatus) => {
          if (phase === 'backoff') shown.push(`${blocked}`);
        };
        const options = { scheduler, ...half, onStatus };
        const run = reflect(scripted.listerWatcher, options).subscribe();
        scheduler.schedule(() => run.unsubscribe(), 3_000);
        flush();
        expect(shown.slice(0, 2), scripted.requested.join(' ')).toEqual(['forbidden', 'undefined']);
      }
    });
  });

  it('I71: staleness begins with the first failure, not with the latest', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const broken = cold<never>('o 99ms #', { o: opened } as never, answer(500));
      const { listerWatcher } = script({
        lists: [of(listPart('1'))],
        watches: [broken, cold<never>('#', {}, answer(500))],
      });
      const since: (number | undefined)[] = [];
      const onStatus = ({ phase, staleSinceMs }: ReflectorStatus) => {
        if (phase === 'backoff') since.push(staleSinceMs);
      };
      expectObservable(reflect(listerWatcher, { scheduler, ...half, onStatus }), '^ 20s !');
      flush();
      expect(since.slice(0, 3)).toEqual([100, 100, 100]);
    });
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [404, 'no-such-resource'],
    [500, undefined],
  ] as const)('R13: HTTP %i is shown as the block %s', (code, blocked) => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const { listerWatcher } = script({ lists: [cold('#', undefined, answer(code))] });
      const seen: unknown[] = [];
      const onStatus = ({ blocked }: ReflectorStatus) => void seen.push(blocked);
      expectObservable(reflect(listerWatcher, { scheduler, ...half, onStatus }), '^!');
      flush();
      expect(seen.at(-1)).toBe(blocked);
    });
  });

  const failures = {
    'an HTTP error': throwError(() => answer(500)),
    'an ERROR event': of(opened, events(expired)),
    'an ERROR after events': of(opened, events('+a@2', answer(500, 'InternalError'))),
    'a lost connection': throwError(() => new Error('reset')),
    'a server that went back in time': of(opened, events('b@10'), events('b@9')),
    'a watch that is closed immediately': of(opened),
  };
  it.each(Object.entries(failures))(
    "R13: onError is called for %s, and 'stop' ends the stream",
    (_name, watch) => {
      marbles(({ flush, scheduler }) => {
        const scripted = script({ lists: [of(listPart('1'))], watches: [watch] });
        const statuses: ReflectorStatus[] = [];
        const heard: string[] = [];
        let completed = false;
        const deltas = reflect(scripted.listerWatcher, {
          scheduler,
          ...half,
          onStatus: (status) => statuses.push(status),
          onError: (error) => {
            heard.push(error.reason);
            return 'stop';
          },
        });
        const run = deltas.subscribe({
          complete: () => {
            completed = true;
          },
        });
        scheduler.schedule(() => run.unsubscribe(), 1_000);
        flush();
        expect([heard.length, completed]).toEqual([1, true]);
        expect(scripted.requested).toEqual(['L0', 'W1']);
        expect(statuses.at(-1)).toMatchObject({ phase: 'stopped' });
        expect(statuses.at(-1)?.error?.reason).toBe(heard[0]);
      });
    },
  );

  it('R13: onError is called for a streaming list that was closed before its end mark', () => {
    marbles(({ scheduler, flush }) => {
      const scripted = script({ watches: [of(opened, events('+a@2'))] }, { watchList: true });
      const emitted: string[] = [];
      const options = { scheduler, ...half, onError: () => 'stop' as const };
      const run = reflect(scripted.listerWatcher, options).subscribe({
        next: (deltas) => emitted.push(brief(deltas)),
        complete: () => emitted.push('|'),
      });
      scheduler.schedule(() => run.unsubscribe(), 1_000);
      flush();
      expect(emitted).toEqual(['(a@2', 'x', '|']);
    });
  });

  it('R13: onError is called once per failure, also for the same error again', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const { listerWatcher, requested } = script({ lists: [cold('#', undefined, answer(500))] });
      let heard = 0;
      const onError = () => void heard++;
      expectObservable(reflect(listerWatcher, { scheduler, ...half, onError }), '^ 10s !');
      flush();
      expect(heard).toBe(requested.length);
      expect(heard).toBe(4);
    });
  });

  it('R13: if onError throws, its error is reported and the reflector retries', async () => {
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    let tries = 0;
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const { listerWatcher, requested } = script({ lists: [cold('#', undefined, answer(500))] });
      const onError = () => {
        throw new Error('mine');
      };
      expectObservable(reflect(listerWatcher, { scheduler, ...half, onError }), '^ 2s !');
      flush();
      tries = requested.length;
    });
    await allReported();
    config.onUnhandledError = null;
    expect(tries).toBe(2);
    expect(reported.map(String)).toEqual(['Error: mine', 'Error: mine']);
  });
});

describe('starting and stopping', () => {
  it('R16: nothing is requested before the subscription (TestReflectorWatchStoppedBefore)', () => {
    const scripted = script({ lists: [of(listPart('1'))] });
    reflect(scripted.listerWatcher);
    expect(scripted.requested).toEqual([]);
  });

  it.each(['subscribed', 'opened'])(
    'R16: unsubscribing while the watch is being %s ends the watch, and its events are not emitted (TestReflectorHandleWatchStoppedBefore)',
    (when) => {
      const calls: string[] = [];
      const watch = new Observable<WatchSignal<Pod>>((subscriber) => {
        calls.push('subscribed');
        subscriber.add(() => calls.push('ended'));
        if (when === 'subscribed') run.unsubscribe();
        subscriber.next(opened);
        if (when === 'opened') run.unsubscribe();
        subscriber.next(events('+b@2'));
      });
      const list = new Subject<ListPart<Pod>>();
      const scripted = script({ lists: [list], watches: [watch] });
      const emitted: string[] = [];
      const run = reflect(scripted.listerWatcher).subscribe((deltas) =>
        emitted.push(brief(deltas)),
      );
      list.next(listPart('1', ['a@1']));
      list.complete();
      expect(calls).toEqual(['subscribed', 'ended']);
      expect(emitted).toEqual(['(a@1', ')@1']);
      expect(scripted.requested).toEqual(['L0', 'W1']);
    },
  );

  it('R16: after unsubscribing in the first emission no watch is requested and no status is reported', () => {
    const scripted = script({ lists: [of(listPart('1'))], watches: [new Observable()] });
    const phases: string[] = [];
    const onStatus = ({ phase }: ReflectorStatus) => void phases.push(phase);
    reflect(scripted.listerWatcher, { onStatus }).pipe(take(1)).subscribe();
    expect(scripted.requested).toEqual(['L0']);
    expect(phases).toEqual(['listing']);
  });

  it('R16: after unsubscribing at the end of a streaming list no status is reported', () => {
    const answer = of(opened, events('+a@1', 'end@1'));
    const scripted = script({ watches: [answer] }, { watchList: true });
    const phases: string[] = [];
    const onStatus = ({ phase }: ReflectorStatus) => void phases.push(phase);
    reflect(scripted.listerWatcher, { onStatus }).pipe(take(1)).subscribe();
    expect(phases).toEqual(['streaming']);
  });

  it('R16: a late list is ignored (TestReflectorWatchStoppedAfter)', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
      const list = cold('--(l|)', { l: listPart('1', ['a@1']) });
      const scripted = script({ lists: [list] });
      expectObservable(reflect(scripted.listerWatcher, { scheduler, ...half }), '^!').toBe('');
      expectSubscriptions(list.subscriptions).toBe('^!');
      flush();
      expect(scripted.requested).toEqual(['L0']);
    });
  });

  it('R16: a late event is ignored (TestReflectorHandleWatchStoppedAfter)', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const watch = cold('---e', { e: events('~a@2') });
      const scripted = script({ lists: [of(listPart('1'))], watches: [watch] });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      expectObservable(deltas, '^-!').toBe('l', { l: ')@1' });
      expectSubscriptions(watch.subscriptions).toBe('^-!');
    });
  });

  it('R16: unsubscribing during a wait leaves no request and no timer (TestRunUntil)', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const scripted = script({ lists: [cold('#', undefined, answer(500))] });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      expectObservable(deltas, '^ 500ms !').toBe('x');
      flush();
      // All due timers have run; a remaining one would have sent another request.
      expect(scripted.requested).toEqual(['L0']);
      expect(scheduler.now()).toBeLessThan(2_000);
    });
  });

  it('R16: two subscriptions have separate runs', () => {
    const scripted = script({ lists: [of(listPart('1'))], watches: [new Observable()] });
    const run = reflect(scripted.listerWatcher);
    const one = run.subscribe();
    const two = run.subscribe();
    expect(scripted.requested).toEqual(['L0', 'W1', 'L0', 'W1']);
    one.unsubscribe();
    two.unsubscribe();
  });

  it('R16: the events of a watch that responds synchronously keep their order (TestReflectorHandleWatchResultChanClosedBefore)', () => {
    marbles(({ expectObservable, flush, scheduler }) => {
      const scripted = script({
        lists: [of(listPart('1'))],
        watches: [of(opened, events('+a@2'), events('~a@3'))],
      });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      // The watch is closed immediately, so it is short, and the reflector waits.
      expectObservable(deltas, '^ 1s !').toBe('(abc)', { a: ')@1', b: '+a@2', c: '~a@3' });
      flush();
      expect(scripted.requested).toEqual(['L0', 'W1']);
    });
  });

  it('R7: an error that a ListerWatcher throws is retried like any other failure', () => {
    marbles(({ expectObservable, flush, scheduler }) => {
      const errors: string[] = [];
      let lists = 0;
      const deltas = reflect<Pod>(
        {
          watchList: false,
          list: () => {
            if (lists++ === 0) throw new TypeError('no list');
            return of(listPart('1'));
          },
          watch: () => {
            throw new TypeError('no watch');
          },
        },
        { scheduler, ...half, onError: (error) => void errors.push(error.message) },
      ).pipe(map(brief));
      expectObservable(deltas, '^ 2s !').toBe('a 1199ms b', { a: 'x', b: ')@1' });
      flush();
      expect(errors).toEqual(['LIST: no list', 'the ListerWatcher: no watch']);
    });
  });
});
