import { type ListPart, type ReflectorStatus, reflect, type WatchSignal } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { Observable, of, Subject } from 'rxjs';
import { map, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { answer, brief, events, listPart, opened, type Pod, script } from './script.ts';

const half = { random: () => 0.5 };

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
