import { type ListPart, type ReflectorStatus, reflect, type WatchSignal } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { Observable, of, Subject } from 'rxjs';
import { map, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { answer, brief, events, opened, type Pod, script, whole } from './script.ts';

const half = { random: () => 0.5 };

describe('starting and stopping', () => {
  it('R17: nothing is asked before it is subscribed (TestReflectorWatchStoppedBefore)', () => {
    const scripted = script({ lists: [of(whole('1'))] });
    reflect(scripted.listerWatcher);
    expect(scripted.asked).toEqual([]);
  });

  it.each(['subscribed', 'opened'])(
    'R17: unsubscribing as the watch is %s ends it, and none of its events is emitted (TestReflectorHandleWatchStoppedBefore)',
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
      const told: string[] = [];
      const run = reflect(scripted.listerWatcher).subscribe((deltas) => told.push(brief(deltas)));
      list.next(whole('1', ['a@1']));
      list.complete();
      expect(calls).toEqual(['subscribed', 'ended']);
      expect(told).toEqual(['(a@1', ')@1']);
      expect(scripted.asked).toEqual(['L0', 'W1']);
    },
  );

  it('R17: unsubscribing in the first emission asks for no watch and tells nothing more', () => {
    const scripted = script({ lists: [of(whole('1'))], watches: [new Observable()] });
    const phases: string[] = [];
    const onStatus = ({ phase }: ReflectorStatus) => void phases.push(phase);
    reflect(scripted.listerWatcher, { onStatus }).pipe(take(1)).subscribe();
    expect(scripted.asked).toEqual(['L0']);
    expect(phases).toEqual(['listing']);
  });

  it('R17: unsubscribing at the end of a streaming list tells nothing more', () => {
    const answer = of(opened, events('+a@1', 'end@1'));
    const scripted = script({ watches: [answer] }, { watchList: true });
    const phases: string[] = [];
    const onStatus = ({ phase }: ReflectorStatus) => void phases.push(phase);
    reflect(scripted.listerWatcher, { onStatus }).pipe(take(1)).subscribe();
    expect(phases).toEqual(['streaming']);
  });

  it('R17: a late list is ignored (TestReflectorWatchStoppedAfter)', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
      const list = cold('--(l|)', { l: whole('1', ['a@1']) });
      const scripted = script({ lists: [list] });
      expectObservable(reflect(scripted.listerWatcher, { scheduler, ...half }), '^!').toBe('');
      expectSubscriptions(list.subscriptions).toBe('^!');
      flush();
      expect(scripted.asked).toEqual(['L0']);
    });
  });

  it('R17: a late event is ignored (TestReflectorHandleWatchStoppedAfter)', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const watch = cold('---e', { e: events('~a@2') });
      const scripted = script({ lists: [of(whole('1'))], watches: [watch] });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      expectObservable(deltas, '^-!').toBe('l', { l: ')@1' });
      expectSubscriptions(watch.subscriptions).toBe('^-!');
    });
  });

  it('R17: unsubscribing in a wait leaves no request and no timer (TestRunUntil)', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const scripted = script({ lists: [cold('#', undefined, answer(500))] });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      expectObservable(deltas, '^ 500ms !').toBe('x');
      flush();
      // All that was due has run; a timer left behind would have asked again.
      expect(scripted.asked).toEqual(['L0']);
      expect(scheduler.now()).toBeLessThan(2_000);
    });
  });

  it('R17: two subscriptions are two runs', () => {
    const scripted = script({ lists: [of(whole('1'))], watches: [new Observable()] });
    const run = reflect(scripted.listerWatcher);
    const one = run.subscribe();
    const two = run.subscribe();
    expect(scripted.asked).toEqual(['L0', 'W1', 'L0', 'W1']);
    one.unsubscribe();
    two.unsubscribe();
  });

  it('R17: a watch that answers while it is subscribed keeps the order (TestReflectorHandleWatchResultChanClosedBefore)', () => {
    marbles(({ expectObservable, flush, scheduler }) => {
      const scripted = script({
        lists: [of(whole('1'))],
        watches: [of(opened, events('+a@2'), events('~a@3'))],
      });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      // Closed at once: a very short watch, which waits.
      expectObservable(deltas, '^ 1s !').toBe('(abc)', { a: ')@1', b: '+a@2', c: '~a@3' });
      flush();
      expect(scripted.asked).toEqual(['L0', 'W1']);
    });
  });

  it('R10: a ListerWatcher that throws is a failure like any other', () => {
    marbles(({ expectObservable, flush, scheduler }) => {
      const errors: string[] = [];
      let lists = 0;
      const deltas = reflect<Pod>(
        {
          watchList: false,
          list: () => {
            if (lists++ === 0) throw new TypeError('no list');
            return of(whole('1'));
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
