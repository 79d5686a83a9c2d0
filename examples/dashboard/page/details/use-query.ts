/** React hooks for queries and single objects. */
import { useMemo, useState, useSyncExternalStore } from 'react';
import {
  type KubernetesObject,
  type LiveQuery,
  liveQuery,
  type Resource,
  type Stored,
  type ViewSnapshot,
} from 'rx-informer';
import { queries } from '../cluster/cluster.ts';
import type { ObjectName } from '../cluster/page-state.ts';
import type { Kind } from '../kinds/kind.ts';

/** The answer of a query. Equal queries share one pipeline, so the query may be made during a render. */
export function useQuery<R>(query: LiveQuery<R>): ViewSnapshot<R> {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the query
  const view = useMemo(() => queries.view(query), [query.key]);
  return useSyncExternalStore(view.subscribe, view.getSnapshot);
}

/** An object, or what was last known of it. */
export interface LiveObject {
  /** The present object, or its last state if it was deleted. */
  readonly object: Stored<KubernetesObject> | undefined;
  readonly isDeleted: boolean;
  /** The object that has the name of the deleted one now. */
  readonly successor: Stored<KubernetesObject> | undefined;
  readonly synced: boolean;
}

/** Follows one object. With a UID, an object that was created again under the same name is another one. */
export function useObject(kind: Kind, of: ObjectName): LiveObject {
  const from = kind.resource as Resource<KubernetesObject>;
  const named = liveQuery({
    from,
    ...(of.namespace === '' ? {} : { namespace: of.namespace }),
    where: { path: 'metadata.name', eq: of.name },
  });
  const { rows, synced } = useQuery<KubernetesObject>(named as LiveQuery<KubernetesObject>);
  const [last, setLast] = useState<Stored<KubernetesObject>>();
  const found = rows[0];
  const uid = of.uid || last?.metadata.uid;
  const now = uid === undefined || found?.metadata.uid === uid ? found : undefined;
  if (now !== undefined && now !== last) setLast(now);
  return {
    object: now ?? last,
    isDeleted: synced && now === undefined,
    successor: now === undefined ? found : undefined,
    synced,
  };
}
