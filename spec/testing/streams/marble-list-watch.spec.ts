/** Complete informers in virtual time, from marble diagrams, and the change sets of tests. */
import { ApiError, createSharedInformer, reflect } from 'rx-informer';
import { changeSet, marbleListWatch, marbles } from 'rx-informer/testing';
import { distinctUntilChanged, map, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { brief } from '../../support/brief.ts';
import { pod } from '../../support/scripted-list-watch.ts';

const plain = { random: () => 0, lingerMs: 0 };

describe('marbleListWatch', () => {
  it('A86: a watch that is doubted is not live until it is trusted again', () =>
    marbles((helpers) => {
      const { scheduler, expectObservable } = helpers;
      const source = marbleListWatch(helpers, {
        lists: ['-l'],
        watches: ['o-d--o'],
        values: { l: { items: [], resourceVersion: '1' }, d: 'doubted', o: 'opened' },
      });
      const informer = createSharedInformer(source, { scheduler, ...plain });
      const live = informer.status$.pipe(
        map((status) => status.live),
        distinctUntilChanged(),
      );
      expectObservable(informer.added$, '^--------!').toBe('-');
      expectObservable(live, '^-------!').toBe('ft-f--t', { f: false, t: true });
    }));

  it('A86: a complete informer runs from diagrams: lists, events, a lost connection and its retry', () =>
    marbles((helpers) => {
      const { scheduler, expectObservable, expectSubscriptions } = helpers;
      const source = marbleListWatch(helpers, {
        lists: ['  --l'],
        watches: ['  --m-#', '--(ad)'],
        values: {
          l: { items: [pod('web', 1), pod('db', 1)], resourceVersion: '1' },
          m: { type: 'MODIFIED', object: pod('web', 2) },
          a: { type: 'ADDED', object: pod('new', 3) },
          d: { type: 'DELETED', object: pod('db', 4) },
        },
      });
      const informer = createSharedInformer(source, { scheduler, ...plain });
      const names = informer.added$.pipe(map(({ metadata }) => metadata.name));
      expectObservable(names, '                    ^ 900ms !').toBe('--(wd) 802ms n', {
        w: 'web',
        d: 'db',
        n: 'new',
      });
      const live = informer.status$.pipe(
        map((status) => status.live),
        distinctUntilChanged(),
      );
      expectObservable(live, '^ 810ms !').toBe('f-t---f 799ms t', { f: false, t: true });
      expectSubscriptions(source.listSubscriptions).toBe('^-!');
      expectSubscriptions(source.watchSubscriptions).toBe(['--^---!', '806ms ^ 94ms !']);
      scheduler.schedule(() => {
        const asked = source.requests.map(
          ({ verb, frame, resourceVersion }) => `${frame} ${verb} ${resourceVersion}`,
        );
        expect(asked).toEqual(['0 list 0', '2 watch 1', '806 watch 2']);
      }, 900);
    }));

  it('A86: an ApiError ends a request, events in an array are one commit, and pages take a diagram each', () =>
    marbles((helpers) => {
      const { scheduler, expectObservable } = helpers;
      const source = marbleListWatch(helpers, {
        lists: ['-f', '-1', '-2'],
        watches: ['o-b'],
        values: {
          f: new ApiError({ code: 503, reason: 'ServiceUnavailable', message: 'starting' }),
          '1': { items: [pod('a', 1)], resourceVersion: '5', continue: 'next' },
          '2': { items: [pod('b', 1)], resourceVersion: '5' },
          o: 'opened',
          b: [
            { type: 'MODIFIED', object: pod('a', 6) },
            { type: 'DELETED', object: pod('b', 7) },
          ],
        },
      });
      const informer = createSharedInformer(source, { scheduler, ...plain });
      const last = informer.changes$.pipe(map(brief));
      const seen: string[] = [];
      last.subscribe((set) => seen.push(`${scheduler.now()} ${set}`));
      expectObservable(informer.synced$.pipe(distinctUntilChanged()), '^ 840ms !').toBe(
        'f 802ms t',
        { f: false, t: true },
      );
      scheduler.schedule(() => {
        expect(seen.at(-1)).toContain('805 watch');
        expect(source.requests.map((request) => request.continue)).toEqual([
          undefined,
          undefined,
          'next',
          undefined,
        ]);
        void informer.stop();
      }, 850);
    }));

  it('A86: a streaming LIST is a watch diagram that ends its initial events with a bookmark', () =>
    marbles((helpers) => {
      const { scheduler, expectObservable } = helpers;
      const source = marbleListWatch(helpers, {
        watchList: true,
        watches: ['-ab'],
        values: {
          a: { type: 'ADDED', object: pod('web', 3) },
          b: { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: true },
        },
      });
      const informer = createSharedInformer(source, { scheduler, ...plain });
      const synced = informer.synced$.pipe(distinctUntilChanged());
      const held = informer.changes$.subscribe();
      expectObservable(synced, '^---!').toBe('f-t', { f: false, t: true });
      scheduler.schedule(() => {
        expect(informer.lastSyncResourceVersion).toBe('9');
        expect(source.requests).toMatchObject([{ verb: 'watch', sendInitialEvents: true }]);
        held.unsubscribe();
      }, 5);
    }));

  it('A86: a request without a diagram fails the test, and the error names the request', () => {
    const run = () =>
      marbles((helpers) => {
        const value = { items: [pod('web', 1)], resourceVersion: '1' };
        const source = marbleListWatch(helpers, {
          lists: ['-l'],
          watches: ['---|'],
          values: { l: value },
        });
        helpers.expectObservable(reflect(source, helpers), '^ 90s !').toBe('-');
      });
    expect(run).toThrow(
      /^marbleListWatch: WATCH number 2 was sent at frame \d+ with resourceVersion "1", but watches has 1\. /,
    );
  });

  it('A86: a watch whose first letter is an ApiError is refused, so the informer is never live', () =>
    marbles((helpers) => {
      const { scheduler } = helpers;
      const source = marbleListWatch(helpers, {
        lists: ['l'],
        watches: ['--f'],
        values: {
          l: { items: [], resourceVersion: '1' },
          f: new ApiError({ code: 403, reason: 'Forbidden', message: 'no' }),
        },
      });
      const informer = createSharedInformer(source, { scheduler, ...plain });
      const phases = informer.status$.pipe(
        map(({ phase, live }) => `${phase}${live ? ' live' : ''}`),
        distinctUntilChanged(),
      );
      const seen: string[] = [];
      phases.subscribe((phase) => seen.push(phase));
      const held = informer.changes$.subscribe();
      scheduler.schedule(() => {
        expect(seen).toEqual(['idle', 'listing', 'connecting', 'backoff']);
        held.unsubscribe();
      }, 3);
    }));

  it('A86: a request counts although its consumer leaves with its answer', () =>
    marbles((helpers) => {
      const source = marbleListWatch(helpers, { watches: ['-', '-'] });
      const request = { resourceVersion: '1', timeoutSeconds: 1 };
      source.watch(request).pipe(take(1)).subscribe();
      source.watch(request).subscribe();
      expect(source.requests).toHaveLength(2);
      helpers.expectSubscriptions(source.watchSubscriptions).toBe(['(^!)', '^']);
    }));

  it.each<[string, Parameters<typeof marbleListWatch>[1], RegExp]>([
    ['a diagram that rxjs refuses', { lists: ['^-'] }, /"\^"/],
    ['null', { lists: ['l'], values: { l: null as never } }, /has the value null/],
    [
      'an unknown type',
      { watches: ['-e'], values: { e: { type: 'NOPE', object: pod('a', 1) } as never } },
      /"NOPE".*letter of watches/,
    ],
    [
      'an unknown type in an array',
      { watches: ['-e'], values: { e: [{ type: 'NOPE' }] as never } },
      /"NOPE".*letter of watches/,
    ],
    [
      'items that are not an array',
      { lists: ['l'], values: { l: { items: 5 } as never } },
      /letter of lists/,
    ],
  ])('A86: %s is refused when the source is created', (_name, options, message) => {
    expect(() => marbles((helpers) => marbleListWatch(helpers, options))).toThrow(message);
  });

  it('A86: a letter without a value, or with a value of the other verb, is refused', () => {
    const making = (options: Parameters<typeof marbleListWatch>[1]) => () =>
      marbles((helpers) => marbleListWatch(helpers, options));
    const list = { items: [], resourceVersion: '1' };
    expect(making({ lists: ['--l'] })).toThrow(
      /^marbleListWatch: the letter at frame 2 of "--l" has the value undefined; the value of a letter of lists must be/,
    );
    expect(making({ watches: ['l'], values: { l: list } })).toThrow(/a letter of watches must be/);
    expect(making({ lists: ['o'], values: { o: 'opened' } })).toThrow(/a letter of lists must be/);
  });

  it('A86: without `watches` every watch is answered and sends nothing', () =>
    marbles((helpers) => {
      const source = marbleListWatch(helpers, {
        lists: ['l'],
        values: { l: { items: [], resourceVersion: '1' } },
      });
      const { scheduler, expectObservable, expectSubscriptions } = helpers;
      const informer = createSharedInformer(source, { scheduler, ...plain });
      const live = informer.status$.pipe(
        map((status) => status.live),
        distinctUntilChanged(),
      );
      const held = informer.changes$.subscribe();
      expectObservable(live, '^ 60s !').toBe('t', { t: true });
      expectSubscriptions(source.watchSubscriptions).toBe(['^ 69999ms !']);
      scheduler.schedule(() => held.unsubscribe(), 70_000);
    }));
});

const object = (name: string, resourceVersion: string) => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion },
});

describe('changeSet', () => {
  it('orders deletions first, and has lists of each kind of change', () => {
    const [a, b, b2] = [object('a', '1'), object('b', '2'), object('b', '5')];
    const [c, d] = [object('c', '3'), object('d', '4')];
    const set = changeSet({
      added: [a],
      updated: [{ previous: b, object: b2 }],
      deleted: [c],
      missed: [d],
    });
    expect(set.changes).toEqual([
      { id: 'uid-c', key: 'shop/c', previous: c, last: c },
      { id: 'uid-d', key: 'shop/d', previous: d, last: d, finalStateUnknown: true },
      { id: 'uid-b', key: 'shop/b', previous: b, object: b2 },
      { id: 'uid-a', key: 'shop/a', object: a },
    ]);
    expect(set.deleted.map(({ uid, finalStateUnknown }) => [uid, finalStateUnknown])).toEqual([
      ['uid-c', false],
      ['uid-d', true],
    ]);
    expect(set).toMatchObject({
      added: [a],
      updated: [{ previous: b, object: b2 }],
      rev: 1,
      cause: 'watch',
      synced: true,
      reset: false,
      initial: false,
      resourceVersion: '1',
    });
  });

  it('uses the given fields', () => {
    expect(changeSet({ initial: true, synced: false, rev: 7, resourceVersion: '9' })).toMatchObject(
      {
        cause: 'initial',
        synced: false,
        rev: 7,
        resourceVersion: '9',
        changes: [],
      },
    );
    expect(changeSet({ cause: 'relist', reset: true })).toMatchObject({
      cause: 'relist',
      reset: true,
    });
  });

  it('refuses two changes of one object', () => {
    expect(() => changeSet({ added: [object('a', '1')], deleted: [object('a', '2')] })).toThrow(
      'two changes of "uid-a"',
    );
  });
});
