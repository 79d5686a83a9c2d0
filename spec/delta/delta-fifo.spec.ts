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
  missed,
  pod,
  replaced,
  updated,
} from './pods.ts';

describe('deltaFifo: order', () => {
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
});

describe('deltaFifo: demand', () => {
  const values = {
    a: [added(pod('a', 1))],
    b: [updated(pod('a', 2))],
    c: [added(pod('c', 3))],
    d: [updated(pod('c', 4)), deleted(pod('a', 5))],
  };

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
