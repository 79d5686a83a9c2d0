/** Follows one object and keeps its last state. */
import { useMemo, useState } from 'react';
import type { KubernetesObject, Resource, Stored } from 'rx-informer';
import { useObject } from 'rx-informer/react/worker';
import type { ObjectName } from '../cluster/page-state.ts';
import type { Kind } from '../kinds/kind.ts';

/** `kubectl apply` copies what an object contains into this annotation. */
const COPY = 'kubectl.kubernetes.io/last-applied-configuration';

/** The metadata of what may contain passwords, without the copy of its contents. */
function withoutCopy(object: Stored<KubernetesObject>): Stored<KubernetesObject> {
  const { [COPY]: _copy, ...annotations } = object.metadata.annotations ?? {};
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** With a UID, an object that was created again under the same name is another one. */
export function useLastObject(kind: Kind, of: ObjectName) {
  const { name, namespace } = of;
  const target = { name, ...(namespace === '' ? {} : { namespace }) };
  const resource: Resource<KubernetesObject> = kind.resource;
  const found = useObject(resource, kind.as === undefined ? target : { ...target, as: kind.as });
  const [last, setLast] = useState<Stored<KubernetesObject>>();
  const uid = of.uid || last?.metadata.uid;
  const isSame = uid === undefined || found.object?.metadata.uid === uid;
  const now = isSame ? found.object : undefined;
  if (now !== undefined && now !== last) setLast(now);
  const shown = now ?? last;
  return {
    /** The present object, or its last state if it was deleted. */
    object: useMemo(
      () => shown && (kind.as === 'metadata' ? withoutCopy(shown) : shown),
      [kind, shown],
    ),
    isDeleted: found.synced && now === undefined,
    /** The object that has the name of the deleted one now. */
    successor: isSame ? undefined : found.object,
    synced: found.synced,
    error: found.error,
  };
}
