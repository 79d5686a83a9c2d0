/** `liveIndex`: the objects of an informer under one value of an index. */
import { createSharedInformer, liveIndex, toView } from 'rx-informer';
import { BehaviorSubject, config, firstValueFrom, Subject } from 'rxjs';
import { finalize, tap } from 'rxjs/operators';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allReported } from '../support/errors.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';
import { Mirror } from './mirror.ts';

/** `on('web', 5, 'n1')` is a Pod whose label `node` has the values n1. */
function on(name: string, version: number, ...nodes: string[]): Pod {
  const { metadata } = pod(name, version);
  return { metadata: { ...metadata, labels: { node: nodes.join('_') } } };
}

function informed() {
  const source = scriptedListWatch();
  let calls = 0;
  const informer = createSharedInformer(source, {
    indexers: {
      byNode: ({ metadata }) => {
        calls++;
        return (metadata.labels?.node ?? '').split('_');
      },
    },
  });
  onTestFinished(() => informer.stop());
  return { source, informer, calls: () => calls };
}
const versions = (mirror: Mirror<Pod>) =>
  mirror.objects().map(({ metadata: { name, resourceVersion } }) => name + resourceVersion);

describe('liveIndex', () => {
  it('Q53: an object that a list no longer has leaves with its last known state, and the deletion says so', async () => {
    const { source, informer } = informed();
    const mirror = new Mirror(liveIndex(informer, 'byNode', 'n1'));
    const [a, b] = [on('a', 1, 'n1'), on('b', 1, 'n1')];
    source.listed(1, a, b);
    source.send(deleted(b));
    expect(mirror.sets.at(-1)?.deleted).toMatchObject([{ object: b, finalStateUnknown: false }]);
    const refreshed = informer.refresh();
    source.listed(9);
    await refreshed;
    expect(mirror.sets.at(-1)?.deleted).toMatchObject([{ object: a, finalStateUnknown: true }]);
  });

  it('Q53: emits the objects of its value, then what enters, changes and leaves', async () => {
    const { source, informer } = informed();
    const mirror = new Mirror(liveIndex(informer, 'byNode', 'n1'));
    source.listed(1, on('a', 1, 'n1'), on('b', 1, 'n2'), on('c', 1, 'n1', 'n2'));
    expect(versions(mirror)).toEqual(['a1', 'c1']);
    // The end of the list touches no value.
    expect(mirror.sets.map(({ synced }) => synced)).toEqual([false, false, true]);
    source.send(
      modified(on('a', 2, 'n2')),
      modified(on('b', 3, 'n1', 'n1')),
      modified(on('c', 4, 'n1')),
    );
    expect(versions(mirror)).toEqual(['b3', 'c4']);
    expect(mirror.sets.at(-1)?.deleted[0]?.object.metadata.resourceVersion).toBe('2');
    const before = mirror.sets.length;
    source.send(modified(on('a', 5, 'n2')), added(on('d', 6, 'n3')));
    expect(mirror.sets).toHaveLength(before);
    source.send(deleted(on('b', 7, 'n1')), deleted(on('a', 8, 'n2')));
    expect(versions(mirror)).toEqual(['c4']);
    const late = new Mirror(liveIndex(informer, 'byNode', 'n1'));
    expect([versions(late), late.sets[0]?.cause]).toEqual([['c4'], 'snapshot']);
    await informer.stop();
    expect([mirror.completed, late.completed]).toEqual([true, true]);
    // A later subscription belongs to the next run.
    const again = new Mirror(liveIndex(informer, 'byNode', 'n1'));
    source.listed(9, on('e', 9, 'n1'));
    expect(versions(again)).toEqual(['e9']);
    again.subscription.unsubscribe();
  });

  it('Q53: a commit costs one call of the function per change, and a set only for the values it touches', () => {
    const { source, informer, calls } = informed();
    const mirrors = Array.from(
      { length: 100 },
      (_, at) => new Mirror(liveIndex(informer, 'byNode', `n${at % 50}`)),
    );
    source.listed(1, ...Array.from({ length: 100 }, (_, at) => on(`p${at}`, 1, `n${at % 50}`)));
    const sets = () => mirrors.reduce((all, mirror) => all + mirror.sets.length, 0);
    const [callsBefore, setsBefore] = [calls(), sets()];
    source.send(modified(on('p7', 2, 'n7')));
    // The store calls the function once, and the fan-out once.
    expect([calls() - callsBefore, sets() - setsBefore]).toEqual([2, 2]);
    source.send(modified(on('p7', 3, 'n8')));
    expect([calls() - callsBefore, sets() - setsBefore]).toEqual([4, 6]);
    for (const mirror of mirrors) mirror.subscription.unsubscribe();
  });

  it('Q53: a subscriber that joins inside of a set misses no change and gets none twice', () => {
    const { source, informer } = informed();
    const joined: Mirror<Pod>[] = [];
    const join = () => joined.push(new Mirror(liveIndex(informer, 'byNode', 'n1')));
    // The first one is served before the fan-out of the index, so the store is ahead of the fan-out then.
    const other = informer.changes$.subscribe(join);
    const outer = liveIndex(informer, 'byNode', 'n1').subscribe(join);
    const fresh: Mirror<Pod>[] = [];
    const value = informer.changes$.subscribe(({ rev }) => {
      fresh.push(new Mirror(liveIndex(informer, 'byNode', `n${rev}`)));
    });
    source.listed(1, on('a', 1, 'n1'));
    source.send(modified(on('a', 2, 'n1')), added(on('b', 3, 'n1')));
    source.send(modified(on('a', 4, 'n1')));
    for (const mirror of joined) expect(versions(mirror)).toEqual(['a4', 'b3']);
    expect(joined.length).toBeGreaterThan(6);
    for (const mirror of fresh) mirror.ids();
    value.unsubscribe();
    outer.unsubscribe();
    other.unsubscribe();
  });

  it('Q53, I70: a teardown that throws is reported, and the other subscribers of all values complete', async () => {
    const reported: string[] = [];
    config.onUnhandledError = (error) => reported.push(String(error));
    const { source, informer } = informed();
    const cleanup = () => {
      throw new Error('cleanup');
    };
    const of = (node: string) => liveIndex(informer, 'byNode', node);
    of('n1').pipe(finalize(cleanup)).subscribe();
    const others = [new Mirror(of('n1')), new Mirror(of('n2'))];
    source.listed(1, on('a', 1, 'n1'));
    await informer.stop();
    await allReported();
    config.onUnhandledError = null;
    expect(others.map(({ completed }) => completed)).toEqual([true, true]);
    expect(reported).toEqual([expect.stringContaining('cleanup')]);
  });

  it('Q53: a value first subscribed inside of a commit is read from the store, and that commit not again', () => {
    const { source, informer } = informed();
    const mirrors: Mirror<Pod>[] = [];
    const early = informer.changes$.subscribe(({ updated }) => {
      if (updated.length === 0) return;
      for (const node of ['n1', 'n2'])
        mirrors.push(new Mirror(liveIndex(informer, 'byNode', node)));
    });
    // Connects the fan-out after the first subscriber.
    const kept = new Mirror(liveIndex(informer, 'byNode', 'n3'));
    source.listed(1, on('a', 1, 'n1'), on('b', 1, 'n2'));
    source.send(modified(on('a', 2, 'n2')), modified(on('b', 3, 'n1')));
    expect(mirrors.map(versions)).toEqual([['b3'], ['a2']]);
    expect(mirrors.map(({ sets }) => sets.length)).toEqual([1, 1]);
    for (const { subscription } of [...mirrors, kept]) subscription.unsubscribe();
    early.unsubscribe();
  });

  it('Q53: a new value gives one set with the difference; commits of the former value stop', async () => {
    const { source, informer } = informed();
    const node$ = new Subject<string>();
    const mirror = new Mirror(liveIndex(informer, 'byNode', node$));
    informer.start();
    source.listed(1, on('a', 1, 'n1'), on('b', 1, 'n2'), on('c', 1, 'n1', 'n2'));
    expect(mirror.sets).toEqual([]);
    node$.next('n1');
    expect(versions(mirror)).toEqual(['a1', 'c1']);
    node$.next('n2');
    expect(versions(mirror)).toEqual(['b1', 'c1']);
    const { cause, changes } = mirror.sets[1] as (typeof mirror.sets)[number];
    expect([mirror.sets.length, cause, changes.length]).toEqual([2, 'query', 2]);
    source.send(modified(on('a', 2, 'n1')));
    source.send(modified(on('b', 3, 'n2')));
    node$.next('n2');
    node$.complete();
    expect([mirror.sets.length, versions(mirror)]).toEqual([3, ['b3', 'c1']]);
    const failing$ = new BehaviorSubject<unknown>('n1');
    const failed = new Mirror(liveIndex(informer, 'byNode', failing$ as BehaviorSubject<string>));
    expect(versions(failed)).toEqual(['a2', 'c1']);
    failing$.next(3);
    expect(String(failed.error)).toBe('TypeError: liveIndex: value is 3; it must be a string');
    await informer.stop();
    expect(mirror.completed).toBe(true);
  });

  it('Q53: a commit inside of the first set of a new value does not deliver the former value', () => {
    const { source, informer } = informed();
    const node$ = new BehaviorSubject('n1');
    const mirror = new Mirror(
      liveIndex(informer, 'byNode', node$).pipe(
        tap(({ cause }) => {
          if (cause === 'query')
            source.send(modified(on('a', 2, 'n1')), modified(on('b', 3, 'n2')));
        }),
      ),
    );
    source.listed(1, on('a', 1, 'n1'), on('b', 1, 'n2'));
    node$.next('n2');
    expect(versions(mirror)).toEqual(['b3']);
    expect(mirror.sets.at(-1)?.changes).toHaveLength(1);
    mirror.subscription.unsubscribe();
  });

  it('Q53: holds the run of its informer, and its view shows the status', async () => {
    const { source, informer } = informed();
    const view = toView(liveIndex(informer, 'byNode', new BehaviorSubject('n1')));
    const leave = view.subscribe(() => undefined);
    source.listed(1, on('a', 1, 'n1'));
    expect([view.getSnapshot().status.phase, source.open]).toEqual([informer.status.phase, 1]);
    leave();
    const first = await firstValueFrom(liveIndex(informer, 'byNode', 'n1'));
    expect(first.added).toHaveLength(1);
    await informer.stop();
    expect(source.open).toBe(0);
  });

  it('Q53: an unknown index does not compile, and throws a TypeError, as does a value that is no string', () => {
    const { informer } = informed();
    // @ts-expect-error: there is no such index
    expect(() => liveIndex(informer, 'byNod', 'n1')).toThrow(
      new TypeError(
        'liveIndex: Index with name "byNod" does not exist. Existing indices: "byNode"',
      ),
    );
    expect(() => liveIndex(informer, 'byNode', 3 as never)).toThrow(
      new TypeError('liveIndex: value is 3; it must be a string'),
    );
  });
});
