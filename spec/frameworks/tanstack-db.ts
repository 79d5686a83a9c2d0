/** An informer as the source of a collection of TanStack DB, as docs/guide/frameworks.md shows it. */
import { type Collection, createCollection } from '@tanstack/db';
import type { KubernetesObject, SharedInformer, Stored } from 'rx-informer';

export function collectionOf<T extends KubernetesObject>(
  informer: SharedInformer<T>,
): Collection<Stored<T>, string> {
  return createCollection<Stored<T>, string>({
    getKey: ({ metadata }) => metadata.uid,
    sync: {
      rowUpdateMode: 'full',
      sync: ({ begin, write, commit, markReady }) => {
        const known = new Set<string>();
        const subscription = informer.changes$.subscribe((set) => {
          // A reset set has the complete contents: what it does not have is gone.
          const gone = new Set(set.reset ? known : []);
          begin();
          for (const { id, object } of set.changes) {
            if (object === undefined) gone.add(id);
            else {
              write({ type: known.has(id) ? 'update' : 'insert', value: object });
              known.add(id);
              gone.delete(id);
            }
          }
          for (const key of gone) if (known.delete(key)) write({ type: 'delete', key });
          commit();
          if (set.synced) markReady();
        });
        return () => subscription.unsubscribe();
      },
    },
  }) as unknown as Collection<Stored<T>, string>;
}
