/** The objects of an informer as the additions of a first set, which are made once for all queries that begin together. */
import type { Observable } from 'rxjs';
import { map } from 'rxjs/operators';
import type { Change } from '../../delta/net-change.ts';
import { type ChangeSet, createChangeSet, headOf } from '../../store/change-set.ts';

interface Known {
  readonly rev: number;
  /** Held while somebody reads them. */
  readonly changes: WeakRef<readonly Change<unknown>[]>;
}

const known = /* @__PURE__ */ new WeakMap<object, Known>();

/** The same sets, of which those that begin a subscription share their changes. */
export function withCommonAdditions<T>(
  changes$: Observable<ChangeSet<T>>,
): Observable<ChangeSet<T>> {
  const additionsOf = (set: ChangeSet<T>) => {
    const { rev } = set;
    const former = known.get(changes$);
    const found = former?.rev === rev ? former.changes.deref() : undefined;
    const changes = (found as readonly Change<T>[] | undefined) ?? set.changes;
    known.set(changes$, { rev, changes: new WeakRef<readonly Change<unknown>[]>(changes) });
    return changes;
  };
  return changes$.pipe(
    map((set) =>
      set.reset ? createChangeSet<T>({ ...headOf(set), reset: true }, () => additionsOf(set)) : set,
    ),
  );
}
