import { reflect, type WatchSignal } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import {
  answer,
  brief,
  events,
  expired,
  listPart,
  opened,
  type Pod,
  pod,
  refusal,
  refused,
  script,
} from './script.ts';

const half = { random: () => 0.5 };

describe('a reflector', () => {
  it('R2, R9, R7: the reflector lists, watches, reconnects after a lost connection, and lists again after a 410, each at its time', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, flush, scheduler }) => {
      const lists = [
        cold('--(l|)', { l: listPart('5', ['a@1']) }),
        cold('-(l|)', { l: listPart('9', ['b@8']) }),
      ] as const;
      const watches = [
        cold('----------m-#', { m: events('~a@6', '+c@7') }, refused),
        cold('-e', { e: events(expired) }),
        cold<WatchSignal<Pod>>('-'),
      ] as const;
      const scripted = script({ lists, watches });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      expectObservable(deltas, '^ 4999ms !').toBe('--(ab) 6ms c 1703ms (de)', {
        a: '(a@1',
        b: ')@5',
        c: '~a@6 +c@7',
        d: '(b@8',
        e: ')@9',
      });
      const [list1, list2] = lists;
      const [watch1, watch2, watch3] = watches;
      expectSubscriptions(list1.subscriptions).toBe('^-!');
      expectSubscriptions(watch1.subscriptions).toBe('--^-----------!');
      expectSubscriptions(watch2.subscriptions).toBe('1214ms ^!');
      expectSubscriptions(list2.subscriptions).toBe('1715ms ^!');
      expectSubscriptions(watch3.subscriptions).toBe('1716ms ^ 3283ms !');
      flush();
      expect(scripted.requested.join(' ')).toBe('L0 W5 W7 L7 W9');
    });
  });

  it('R2, R3, W3: the requests for pages and the watch have exactly these parameters (TestReflectorListAndWatch)', () => {
    marbles(({ cold, scheduler, flush }) => {
      const scripted = script({
        lists: [cold('(l|)', { l: listPart('3', ['a@1']) })],
        watches: [cold('-')],
      });
      const run = reflect(scripted.listerWatcher, { scheduler, ...half }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 10);
      flush();
      const { demand: _list, onTurn: _turn, ...list } = scripted.lists[0] ?? {};
      const { demand: _watch, ...watch } = scripted.watches[0] ?? {};
      expect(list).toEqual({ resourceVersion: '0', limit: 500 });
      expect(watch).toEqual({ resourceVersion: '3', timeoutSeconds: 450, reuse: true });
    });
  });

  it('R2, W3: the request for a streaming list has exactly these parameters (TestReflectorListAndWatch)', () => {
    marbles(({ cold, scheduler, flush }) => {
      const scripted = script({ watches: [cold('o', { o: opened })] }, { watchList: true });
      const run = reflect(scripted.listerWatcher, { scheduler, ...half }).subscribe();
      scheduler.schedule(() => run.unsubscribe(), 10);
      flush();
      const { demand: _demand, ...request } = scripted.watches[0] ?? {};
      expect(request).toEqual({
        resourceVersion: '',
        resourceVersionMatch: 'NotOlderThan',
        sendInitialEvents: true,
        timeoutSeconds: 450,
      });
    });
  });

  it('R14: adds, updates, deletes and bookmarks move the version (TestReflectorWatchHandler, TestReflectorResourceVersionUpdate)', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const scripted = script({
        lists: [cold('(l|)', { l: listPart('10', ['a@1', 'b@2']) })],
        watches: [
          cold('-----(xyz) 1s |', {
            x: events('~a@20', '+c@21'),
            y: events('b@30'),
            z: events('-b@40'),
          }),
          cold('-'),
        ],
      });
      const versions: string[] = [];
      const deltas = reflect(scripted.listerWatcher, {
        scheduler,
        ...half,
        onStatus: ({ resourceVersion }) => versions.push(resourceVersion),
      }).pipe(map(brief));
      expectObservable(deltas, '^ 1500ms !').toBe('(ab)-(xyz)', {
        a: '(a@1 b@2',
        b: ')@10',
        x: '~a@20 +c@21',
        y: 'b@30',
        z: '-b@40',
      });
      flush();
      expect(scripted.requested).toEqual(['L0', 'W10', 'W40']);
    });
  });

  it('R14: a bookmark is emitted without objects', () => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const { listerWatcher } = script({
        lists: [cold('(l|)', { l: listPart('1') })],
        watches: [cold('----b', { b: events('b@8') })],
      });
      const deltas = reflect(listerWatcher, { scheduler, ...half });
      expectObservable(deltas, '^-----!').toBe('l---b', {
        l: [{ type: 'replaced', objects: [], resourceVersion: '1', trustVersions: true }],
        b: [{ type: 'bookmark', resourceVersion: '8' }],
      });
    });
  });

  it('R5: every delta of a list and each bookmark carries its scope', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const answers = {
        lists: [
          cold('(l#)', { l: { items: [pod('a@1')] } }, answer(500)),
          cold('(l|)', { l: listPart('2', ['a@1']) }),
        ],
        watches: [cold('-b', { b: events('b@3') })],
      };
      const scripted = script(answers, { scope: 'd' });
      const scopes: unknown[] = [];
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(
        map((batch) => {
          for (const delta of batch) scopes.push([delta.type, 'scope' in delta && delta.scope]);
        }),
      );
      expectObservable(deltas, '^ 2s !');
      flush();
      const types = ['replacing', 'replace-abort', 'replacing', 'replaced', 'bookmark'];
      expect(scopes).toEqual(types.map((type) => [type, 'd']));
    });
  });

  it('R4, R23: a refused object moves the version like any other, and keeps its place among the deltas', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const part = {
        items: [pod('a@1')],
        refused: [refusal('b@3')],
        metadata: { resourceVersion: '5' },
      };
      const scripted = script({
        lists: [cold('(l|)', { l: part })],
        watches: [cold('-----r 1s |', { r: events('?b@9') }), cold('-')],
      });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      const expected = { a: '(a@1 ?b', b: ')@5', c: '?b@9' };
      expectObservable(deltas, '^ 1500ms !').toBe('(ab)-c', expected);
      flush();
      expect(scripted.requested).toEqual(['L0', 'W5', 'W9']);
    });
  });
});

describe('a batch', () => {
  it('D6: the events before an ERROR in a batch are emitted', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const scripted = script({
        lists: [cold('(l|)', { l: listPart('1') })],
        watches: [cold('--e', { e: events('+a@2', '~a@3', answer(500)) }), cold('-')],
      });
      const deltas = reflect(scripted.listerWatcher, { scheduler, ...half }).pipe(map(brief));
      expectObservable(deltas, '^ 2s !').toBe('l-e', { l: ')@1', e: '+a@2 ~a@3' });
      flush();
      expect(scripted.requested).toEqual(['L0', 'W1', 'W3']);
    });
  });

  it('R4: a deletion with an older version in a batch does not move the version back', () => {
    marbles(({ cold, expectObservable, flush, scheduler }) => {
      const scripted = script({
        lists: [cold('(l|)', { l: listPart('9') })],
        watches: [cold('-e 1s |', { e: events('+a@99', '~b@100', '-c@10') }), cold('-')],
      });
      expectObservable(reflect(scripted.listerWatcher, { scheduler, ...half }), '^ 1500ms !');
      flush();
      expect(scripted.requested).toEqual(['L0', 'W9', 'W100']);
    });
  });
});
