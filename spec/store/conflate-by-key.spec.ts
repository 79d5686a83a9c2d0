import { type ChangeSet, conflateByKey, createChangeSet } from 'rx-informer';
import { changeSet, marbles } from 'rx-informer/testing';
import { Subject, timer } from 'rxjs';
import { map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { type Pod, pod } from '../delta/pods.ts';
import { brief } from './sets.ts';

const add = (object: Pod) => changeSet<Pod>({ added: [object] });
const update = (key: string, from: number, to: number) =>
  changeSet<Pod>({ updated: [{ previous: pod(key, from), object: pod(key, to) }] });
const remove = (key: string, at: number) => changeSet<Pod>({ deleted: [pod(key, at)] });

function gated() {
  const source = new Subject<ChangeSet<Pod>>();
  const frame = new Subject<void>();
  const sets: ChangeSet<Pod>[] = [];
  const end = { completed: false, error: undefined as unknown };
  const subscription = source.pipe(conflateByKey({ ready: () => frame })).subscribe({
    next: (set) => sets.push(set),
    error: (error) => {
      end.error = error;
    },
    complete: () => {
      end.completed = true;
    },
  });
  const take = () => {
    frame.next();
    return sets.splice(0).map(brief);
  };
  return { source, frame, sets, end, subscription, take };
}

describe('conflateByKey', () => {
  it('S15: the first set passes synchronously, then one set per opening, whose `previous` is the state this consumer had', () => {
    marbles(({ cold, scheduler, expectObservable }) => {
      const values = {
        a: update('a', 1, 2),
        b: update('a', 2, 3),
        c: update('a', 3, 4),
        d: update('a', 4, 5),
      };
      const ready = () => (scheduler.now() === 0 ? null : timer(5, scheduler));
      const result = cold('abc----d----|', values).pipe(conflateByKey({ ready }), map(brief));
      expectObservable(result).toBe('a-----b-----(c|)', {
        a: 'watch* ~a@1>2',
        b: 'watch* ~a@2>4',
        c: 'watch* ~a@4>5',
      });
    });
  });

  it('S15: while the demand is open sets pass synchronously and are not folded', () => {
    marbles(({ cold, expectObservable }) => {
      const values = { a: add(pod('a', 1)), b: update('a', 1, 2), c: remove('a', 3) };
      const result = cold('a(bc)-|', values).pipe(conflateByKey(), map(brief));
      expectObservable(result).toBe('a(bc)-|', {
        a: 'watch* +a@1',
        b: 'watch* ~a@1>2',
        c: 'watch* -a@3',
      });
    });
  });

  it('S15: a set that waits alone is passed on without reading its changes', () => {
    const { cause, rev, resourceVersion } = add(pod('a', 1));
    const reads: string[] = [];
    const made = (name: string, object: Pod, reset: boolean) =>
      createChangeSet<Pod>(
        { cause, rev, resourceVersion, reset, synced: true, initial: false },
        () => {
          reads.push(name);
          return [{ id: object.metadata.uid as string, key: name, object }];
        },
      );
    const { source, sets, frame } = gated();
    source.next(made('a', pod('a', 1), true));
    source.next(made('b', pod('b', 1), true));
    frame.next();
    expect(reads).toEqual([]);
    expect(sets.map(brief)).toHaveLength(1);
    expect(reads).toEqual(['b']);
    source.next(made('c', pod('c', 1), false));
    source.next(made('d', pod('d', 1), false));
    frame.next();
    expect(sets.at(-1)?.changes.map(({ key }) => key)).toEqual(['c', 'd']);
  });

  it('S13, S15: an empty set is delivered only if it reports that the store is synced, or is a reset', () => {
    const { source, take } = gated();
    const empty = (init: Parameters<typeof changeSet<Pod>>[0]) => source.next(changeSet<Pod>(init));
    empty({ synced: false });
    expect(take()).toEqual([]);
    empty({ synced: true });
    expect(take()).toEqual(['watch*']);
    empty({ synced: true });
    expect(take()).toEqual([]);
    empty({ reset: true, cause: 'snapshot' });
    expect(take()).toEqual(['snapshot*!']);
  });

  it('S15: each subscription folds separately, and a set that is sent in a callback is delivered after the current one', () => {
    const source = new Subject<ChangeSet<Pod>>();
    const folded$ = source.pipe(conflateByKey());
    const [first, second]: [string[], string[]] = [[], []];
    let version = 1;
    let depth = 0;
    folded$.subscribe((set) => {
      depth++;
      expect(depth).toBe(1);
      if (version < 20_000) source.next(update('a', version, ++version));
      first.push(brief(set));
      depth--;
    });
    source.next(add(pod('a', 1)));
    expect(first.slice(0, 3)).toEqual(['watch* +a@1', 'watch* ~a@1>2', 'watch* ~a@2>3']);
    expect(first).toHaveLength(20_000);
    folded$.subscribe((set) => second.push(brief(set)));
    source.next(remove('a', 20_000));
    expect(second).toEqual(['watch* -a@20000']);
  });
});
