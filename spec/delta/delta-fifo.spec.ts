import { deltaFifo, rememberedObjects } from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { of, Subject, throwError } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { compressions } from './compressions.ts';
import {
  added,
  bookmark,
  brief,
  deleted,
  gated,
  knowing,
  lost,
  missed,
  pod,
  replaced,
  updated,
} from './pods.ts';

describe('deltaFifo: order', () => {
  it('F1: deltas of all keys leave in the order of arrival and are not folded (TestRealFIFO_basic, TestRealFIFO_addUpdate)', () => {
    const { send, pop } = gated();
    send(added(pod('a', 1)), added(pod('b', 2)));
    send(updated(pod('a', 3)));
    send(deleted(pod('b', 4)), added(pod('b', 5, 'u2')), updated(pod('a', 6)));
    expect(pop()).toEqual(['+a@1 +b@2 ~a@3 -b@4 +b@5 ~a@6']);
  });

  it('F1: a folded key keeps the place of its first delta (TestDeltaFIFO_detectLineJumpers)', () => {
    const { send, pop } = gated({ compression: compressions.latest });
    send(added(pod('a', 1)), added(pod('b', 2)), added(pod('c', 3)));
    send(updated(pod('b', 4)), updated(pod('a', 5)));
    expect(pop()).toEqual(['+a@5 +b@4 +c@3']);
  });

  it('F1: a bookmark is a separate delta and stays behind earlier deltas (TestRealFIFO_ReplaceAtomic)', () => {
    for (const compression of ['none', 'latest'] as const) {
      const { send, pop } = gated({
        compression: compressions[compression],
        known: knowing(pod('c', 1)),
      });
      send(added(pod('a', 1)), bookmark(2), bookmark(3), added(pod('b', 4)));
      expect(pop()).toEqual(['+a@1 ^2 ^3 +b@4']);
      send(added(pod('d', 5)), replaced([pod('c', 1)], 6), replaced([pod('c', 1)], 7), bookmark(8));
      expect(pop()).toEqual(['+d@5 -d@5? [c@1]@6 [c@1]@7 ^8']);
    }
  });
});

describe('deltaFifo: folding', () => {
  it('F2: an add and its updates are folded into one `added` with the newest state (TestDeltaFIFO_addUpdate)', () => {
    const { send, pop } = gated({ compression: compressions.latest });
    send(added(pod('a', 1)), updated(pod('a', 2)), updated(pod('a', 3)));
    expect(pop()).toEqual(['+a@3']);
    send(updated(pod('a', 4)), updated(pod('a', 5)));
    expect(pop()).toEqual(['~a@5']);
  });

  it('F2: a delete and a recreate stay two deltas, also if the delete was missed', () => {
    const known = knowing(pod('a', 1, 'first'));
    const { send, pop } = gated({ compression: compressions.latest, known });
    send(
      deleted(pod('a', 2, 'first')),
      added(pod('a', 3, 'second')),
      updated(pod('a', 4, 'second')),
    );
    expect(pop()).toEqual(['-a@2 +a@4']);
    send(updated(pod('a', 5, 'first')), updated(pod('a', 6, 'second')));
    expect(pop()).toEqual(['-a@5? +a@6']);
  });

  it('F2: an object that was created and deleted while it waited is neither delivered nor counted', () => {
    const { send, pop, unknown } = gated({ compression: compressions.latest });
    send(added(pod('a', 1)), updated(pod('a', 2)), deleted(pod('a', 3)));
    send(updated(pod('b', 4)), deleted(pod('b', 5)));
    expect(pop()).toEqual([]);
    expect(unknown).toEqual([]);
  });

  it('F2: of two deletions of one key, the deletion of the object that the consumer has is delivered', () => {
    const known = knowing(pod('a', 10, 'second'));
    const { send, pop } = gated({ compression: compressions.latest, known });
    // The events are repeated after a reconnect: the deletion of the first object, then those of the second.
    send(
      deleted(pod('a', 8, 'first')),
      added(pod('a', 10, 'second')),
      deleted(pod('a', 12, 'second')),
    );
    expect(pop()).toEqual(['-a@12']);
  });

  // Faults, seed 1270: the deletion of the first object arrived after the second object.
  it.each(['none', 'latest'] as const)(
    'F2: a deletion that arrives after a newer object of that name, or after a later version, has no effect; compression %s',
    (compression) => {
      const known = knowing(pod('a', 10, 'first'), pod('b', 10));
      const { send, pop } = gated({ compression: compressions[compression], known });
      send(added(pod('a', 14, 'second')), deleted(pod('a', 13, 'first')));
      send(updated(pod('b', 16)), deleted(pod('b', 15)));
      expect(pop()).toEqual(['+a@14 ~b@16']);
      // A missed deletion carries an old state of the object that is deleted now.
      send(updated(pod('b', 18)), missed(pod('b', 15)));
      expect(pop().join()).toContain('-b@15?');
    },
  );

  it('F2: a `sync` among the deltas never replaces a pending change', () => {
    const { send, pop } = gated({
      compression: compressions.latest,
      known: knowing(pod('a', 1), pod('b', 1)),
    });
    send(updated(pod('a', 2)), { type: 'sync', key: 'a', object: pod('a', 1) });
    send(deleted(pod('b', 3)), { type: 'sync', key: 'b', object: pod('b', 1) });
    expect(pop()).toEqual(['~a@2 -b@3']);
  });

  it('F2, S7: a deletion without a state carries the newest waiting state', () => {
    for (const compression of ['none', 'latest'] as const) {
      const { send, pop } = gated({
        compression: compressions[compression],
        known: knowing(pod('a', 1)),
      });
      send(updated(pod('a', 5)), lost('a'));
      expect(pop().join().split(' ').at(-1)).toBe('-a@5?');
    }
  });

  it('F3: two adjacent deletions are folded, and the one with more information is kept (TestDeltaFIFO_replaceWithDeleteDeltaIn)', () => {
    for (const compression of ['none', 'latest'] as const) {
      const known = knowing(pod('a', 1));
      const { send, pop } = gated({ compression: compressions[compression], known });
      const ends: [Parameters<typeof send>, string][] = [
        [[deleted(pod('a', 3)), missed(pod('a', 2))], '-a@3'],
        [[missed(pod('a', 2)), deleted(pod('a', 3))], '-a@3'],
        [[lost('a'), deleted(pod('a', 3))], '-a@3'],
        [[lost('a'), missed(pod('a', 2))], '-a@2?'],
        [[missed(pod('a', 2)), lost('a')], '-a@2?'],
        [[deleted(pod('a', 3)), deleted(pod('a', 4))], '-a@4'],
        [[lost('a'), lost('a')], '-a@1?'],
      ];
      for (const [deltas, expected] of ends) {
        send(...deltas);
        expect(pop()).toEqual([expected]);
      }
    }
  });

  it('F3: deletions of two objects, with another delta between them, are not folded', () => {
    const { send, pop } = gated({ known: knowing(pod('a', 1, 'first')) });
    send(
      deleted(pod('a', 2, 'first')),
      added(pod('a', 3, 'second')),
      deleted(pod('a', 4, 'second')),
    );
    expect(pop()).toEqual(['-a@2 +a@3 -a@4']);
  });
});

describe('deltaFifo: deletions of unknown keys', () => {
  it('F3: a deletion of a key that neither the store nor the queue knows is counted, not passed on (TestDeltaFIFO_enqueueingNoLister)', () => {
    const { send, pop, unknown } = gated({ known: knowing(pod('a', 1)) });
    send(deleted(pod('x', 2)), lost('y'), deleted(pod('a', 3)), deleted(pod('x', 4)));
    expect(pop()).toEqual(['-a@3']);
    expect(unknown).toEqual(['x', 'y']);
  });

  it('F3: a key that is only in the queue counts as known (TestRealFIFO_DeleteExistingNonPropagated)', () => {
    const { send, pop, unknown } = gated({ known: knowing() });
    send(added(pod('a', 1)), deleted(pod('a', 2)));
    expect(pop()).toEqual(['+a@1 -a@2']);
    expect(unknown).toEqual([]);
  });

  it('F3: an outdated deletion of an object does not delete a newer object of the same name', () => {
    const { send, pop, unknown } = gated({ known: knowing(pod('a', 10, 'second')) });
    send(deleted(pod('a', 8, 'first')), deleted(pod('a', 11, 'second')));
    expect(pop()).toEqual(['-a@11']);
    expect(unknown).toEqual([]);
  });
});

describe('deltaFifo: demand', () => {
  const values = {
    a: [added(pod('a', 1))],
    b: [updated(pod('a', 2))],
    c: [added(pod('c', 3))],
    d: [updated(pod('c', 4)), deleted(pod('a', 5))],
  };

  it('F11: while the demand is closed deltas accumulate; when it opens, they are delivered as one batch', () => {
    marbles(({ hot, expectObservable }) => {
      const open = hot('              -----o----o---', { o: 0 });
      const source = hot('            a-b-c----d--|', values);
      const result = source.pipe(
        deltaFifo({ known: rememberedObjects(), ready: () => open }),
        map(brief),
      );
      expectObservable(result).toBe('-----x----y-|', {
        x: '+a@1 ~a@2 +c@3',
        y: '~c@4 -a@5',
      });
    });
  });

  it('F2, F11: with the compression `latest` the batch is folded', () => {
    marbles(({ hot, expectObservable }) => {
      const open = hot('      -----o-------o-', { o: 0 });
      const source = hot('    a-b-c----d--|', values);
      const result = source.pipe(
        deltaFifo({
          known: rememberedObjects(),
          ready: () => open,
          compression: compressions.latest,
        }),
        map(brief),
      );
      expectObservable(result).toBe('-----x-------(y|)', { x: '+a@2 +c@3', y: '~c@4 -a@5' });
    });
  });

  it('F7, F11: resyncs while the demand is closed are one resync, which leaves out keys with pending deltas', () => {
    marbles(({ hot, expectObservable }) => {
      const known = knowing(pod('a', 1), pod('c', 1), pod('k', 1));
      const open = hot('      -------o--o-', { o: 0 });
      const resync$ = hot('   -r--r----r-', { r: 0 });
      const source = hot('    --b--c-----', values);
      const result = source.pipe(deltaFifo({ known, ready: () => open, resync$ }), map(brief));
      expectObservable(result, '^----------!').toBe('-------x--y', {
        x: '~a@2 +c@3 =k@1',
        y: '=a@1 =c@1 =k@1',
      });
    });
  });

  it('F11: completion of the source delivers the waiting deltas; an error of the source or of the demand is passed on immediately', () => {
    const { source, send, pop, out } = gated();
    send(added(pod('a', 1)));
    source.complete();
    expect(out).toEqual([]);
    expect(pop()).toEqual(['+a@1', '|']);

    const failing = gated();
    failing.send(added(pod('a', 1)));
    failing.source.error('boom');
    expect(failing.out).toEqual(['error boom']);
    expect(failing.open.observed).toBe(false);

    const broken = gated({ ready: () => throwError(() => 'demand failed') });
    broken.send(added(pod('a', 1)));
    expect(broken.out).toEqual(['error demand failed']);
  });

  it('F11: a demand that completes without a value counts as open (TestRealFIFO_PopShouldUnblockWhenClosed)', () => {
    const { send, open, out } = gated();
    send(added(pod('a', 1)));
    open.complete();
    expect(out).toEqual(['+a@1']);
  });

  it('F11: unsubscribing drops the waiting deltas and unsubscribes from the source, the demand and the resync', () => {
    const { source, open, resync$, send, subscription, out } = gated();
    send(added(pod('a', 1)));
    subscription.unsubscribe();
    expect([source.observed, open.observed, resync$.observed]).toEqual([false, false, false]);
    open.next();
    expect(out).toEqual([]);
  });

  it('F11: the demand is not checked while nothing waits, and no batch is empty', () => {
    let asked = 0;
    const out: unknown[] = [];
    const source = new Subject<never[]>();
    const ready = () => {
      asked++;
      return null;
    };
    source
      .pipe(deltaFifo({ known: rememberedObjects(), ready, resync$: of(1) }))
      .subscribe((deltas) => out.push(deltas));
    expect(asked).toBe(1);
    source.next([]);
    expect([asked, out]).toEqual([1, []]);
  });

  it('F1, F11: deltas that a subscriber pushes while it handles a pop are delivered after it and resolved against its result', () => {
    const source = new Subject<readonly ReturnType<typeof added>[]>();
    const known = knowing();
    const out: string[] = [];
    let depth = 0;
    source.pipe(deltaFifo({ known })).subscribe((deltas) => {
      depth++;
      expect(depth).toBe(1);
      const text = brief(deltas);
      if (text === '+a@1') {
        source.next([added(pod('b', 2))]);
        source.next([deleted(pod('b', 3)), deleted(pod('a', 4))]);
      }
      for (const delta of deltas) {
        if (delta.type === 'added') known.set(delta.key, delta.object);
      }
      out.push(text);
      depth--;
    });
    source.next([added(pod('a', 1))]);
    expect(out).toEqual(['+a@1', '+b@2 -b@3 -a@4']);
  });

  it('F11: 30,000 synchronous deltas pass, with an open and with a closed demand', () => {
    const flood = Array.from({ length: 30_000 }, (_, at) => [added(pod(`p${at}`, at + 1))]);
    let popped = 0;
    of(...flood)
      .pipe(deltaFifo({ known: rememberedObjects() }))
      .subscribe((deltas) => {
        popped += deltas.length;
      });
    expect(popped).toBe(30_000);
    const closed = gated();
    for (const deltas of flood) closed.send(...deltas);
    expect(closed.pop()[0]?.split(' ')).toHaveLength(30_000);
    // Each delta is pushed while the one before is delivered, which must not recurse.
    const loop = new Subject<readonly ReturnType<typeof added>[]>();
    let turns = 0;
    loop.pipe(deltaFifo({ known: rememberedObjects() })).subscribe(() => {
      if (++turns < 30_000) loop.next([added(pod('a', turns + 1))]);
    });
    loop.next([added(pod('a', 1))]);
    expect(turns).toBe(30_000);
  });

  it('F12: each subscription has its own queue', () => {
    const source = new Subject<readonly ReturnType<typeof added>[]>();
    const open = new Subject<void>();
    const queue = source.pipe(
      deltaFifo({ known: rememberedObjects(), ready: () => open }),
      map(brief),
    );
    const [first, second]: [string[], string[]] = [[], []];
    queue.subscribe((text) => first.push(text));
    source.next([added(pod('a', 1))]);
    queue.subscribe((text) => second.push(text));
    source.next([deleted(pod('a', 2))]);
    open.next();
    expect([first, second]).toEqual([['+a@1 -a@2'], []]);
  });
});
