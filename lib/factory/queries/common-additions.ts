/** The objects of an informer as the additions of a first set, which are made once for all queries that begin together. */
import type { Observable } from 'rxjs';
import { map } from 'rxjs/operators';
import { additionOf } from '../../informer/listener.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import { resetRows } from '../../query/live-query/first-rows.ts';
import { type ChangeSet, createChangeSet, headOf } from '../../store/change-set.ts';
import type { AnyInformer } from '../make-informer.ts';

/** The first set of each stream whose changes are made for all that begin with the same contents. Held while somebody reads it. */
const known = /* @__PURE__ */ new WeakMap<object, WeakRef<ChangeSet<KubernetesObject>>>();

/** The sets of an informer, of which those that begin a subscription share their changes. */
export function withCommonAdditions({
  changes$,
  indexer,
}: Pick<AnyInformer, 'changes$' | 'indexer'>): Observable<ChangeSet<KubernetesObject>> {
  return changes$.pipe(
    map((set) => {
      const { rev, reset } = set;
      if (!reset) return set;
      const former = known.get(changes$)?.deref();
      const shared = former?.rev === rev ? former : set;
      known.set(changes$, new WeakRef(shared));
      const common = createChangeSet({ ...headOf(set), reset }, () => shared.changes);
      // Not of several clusters, which have no revision in common.
      if (indexer.rev === rev) {
        const objects = indexer.list();
        resetRows.set(common, {
          objects,
          changeAt: (at) => additionOf(indexer, objects[at] as Stored<KubernetesObject>),
        });
      }
      return common;
    }),
  );
}
