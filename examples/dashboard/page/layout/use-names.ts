/**
 * The names of all objects of some kinds, read once. A search over informers of all kinds would take the few connections of
 * the browser from the watches of the table.
 */
import { useEffect, useState } from 'react';
import type { KubernetesList, KubernetesObject, Stored } from 'rx-informer';
import { rootOf } from '../../shared/kinds.ts';
import { client } from '../cluster/cluster.ts';
import { onlyNamespace } from '../cluster/settings.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Found } from '../worker/search.ts';

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

async function namesOf({ id, resource }: Kind, signal: AbortSignal): Promise<readonly Found[]> {
  const within = onlyNamespace === '' ? '' : `/namespaces/${onlyNamespace}`;
  const path = `${rootOf(resource)}${within}/${resource.plural}`;
  const headers = { accept: METADATA_LIST };
  const { items } = await client.request<KubernetesList<Stored<KubernetesObject>>>({
    ...{ path, headers, signal },
  });
  return items.map(({ metadata: { uid, name, namespace = '' } }) => {
    return { kind: id, uid, name, namespace, status: '', tone: 'done', rank: 0 };
  });
}

/** The names that are known so far, and whether others may follow. A kind that may not be read has none. */
export function useNames(kinds: readonly Kind[]) {
  const [names, setNames] = useState<readonly Found[]>([]);
  const [left, setLeft] = useState(kinds.length);
  // The kinds of the first render, because the dialog is open for a moment.
  const [asked] = useState(kinds);
  useEffect(() => {
    const ending = new AbortController();
    for (const kind of asked) {
      namesOf(kind, ending.signal)
        .then((found) => setNames((known) => [...known, ...found]))
        .catch(() => undefined)
        .finally(() => setLeft((count) => count - 1));
    }
    return () => {
      ending.abort();
      setNames([]);
      setLeft(asked.length);
    };
  }, [asked]);
  return { names, isLoading: left > 0 };
}
