/** The head of a stored collection, which says what the collection is. A collection with another head is not shown. */
import type { ReadCollection } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import { isResourceVersion } from '../meta/resource-version.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { CheckedSnapshotOptions } from './snapshot-options.ts';
import type { StoredSnapshot } from './snapshot-store.ts';

/** Changes with every change of the stored form that an earlier program would misread. */
const FORMAT = 1;

const clusters = /* @__PURE__ */ new WeakMap<KubeClient, Promise<string>>();

/**
 * The UID of the namespace `kube-system`, which a cluster that was created again does not share with the one before; '' if
 * the user may not read it. Rejects if the server cannot be reached, or does not know the user; the next call then asks again.
 */
export function clusterUid(client: KubeClient): Promise<string> {
  const known = clusters.get(client);
  if (known !== undefined) return known;
  const asked = client
    .request<{ readonly metadata?: { readonly uid?: string } }>({
      path: '/api/v1/namespaces/kube-system',
    })
    .then((namespace) => {
      const uid = namespace?.metadata?.uid;
      if (uid) return uid;
      // A page of a proxy says nothing about the cluster, so the warm start is tried again.
      throw ApiError.local('Network', 'GET namespace kube-system: the response has no UID');
    })
    .catch((error: unknown) => {
      const failure = ApiError.from(error, 'GET namespace kube-system');
      if (failure.code >= 400 && failure.code !== 401 && !failure.retryable) return '';
      clusters.delete(client);
      throw failure;
    });
  clusters.set(client, asked);
  return asked;
}

/** How the responses of a collection are decoded. */
export function decodingOf(collection: ReadCollection): ReturnType<ReadCollection['context']> {
  return collection.context({ resourceVersion: '' }, false);
}

/** The id of a collection in a store. */
export function snapshotId(
  collection: ReadCollection,
  { identity }: Pick<CheckedSnapshotOptions, 'identity'>,
): string {
  const { path, query } = collection.get({});
  const { projection } = decodingOf(collection);
  return JSON.stringify([collection.client.baseUrl, identity, path, query, projection?.eventKind]);
}

/** The head of a collection: everything on which its objects depend. */
export function snapshotHead(
  collection: ReadCollection,
  { identity, appVersion, transformVersion, env }: CheckedSnapshotOptions,
  cluster: string,
): string {
  const { path, query } = collection.get({});
  const { resource, projection, transform } = decodingOf(collection);
  const { group, version, plural } = resource;
  return JSON.stringify({
    ...{ format: FORMAT, server: collection.client.baseUrl, cluster, identity },
    ...{ group, version, plural, path, query, as: projection?.eventKind, env, app: appVersion },
    transform: transform === undefined ? undefined : transformVersion,
    keeps: collection.decoding?.keeps?.toSorted(),
  });
}

/** Whether this program can read collections with this head, which is anything that a store has read. */
export function hasKnownFormat(head: unknown): boolean {
  return typeof head === 'string' && head.startsWith(`{"format":${FORMAT},`);
}

function textIn(head: string, name: 'app' | 'cluster' | 'identity'): string | undefined {
  try {
    return (JSON.parse(head) as { readonly [each: string]: string } | null)?.[name];
  } catch {
    return undefined;
  }
}

/** The identity in a head; `undefined` if the text is not a head. */
export function identityIn(head: string): string | undefined {
  return textIn(head, 'identity');
}

/** The version of the program in a head; `undefined` if the text is not a head. */
export function appIn(head: string): string | undefined {
  return textIn(head, 'app');
}

/** The UID of the cluster in a head; '' if it has none. */
export function clusterIn(head: string): string {
  return textIn(head, 'cluster') ?? '';
}

/** Whether a stored collection may be shown. A collection from the future was stored with another clock, so its age is not known. */
export function isUsable(
  stored: StoredSnapshot,
  head: string,
  { maxAgeMs, nowMs }: { readonly maxAgeMs: number; readonly nowMs: number },
): boolean {
  const ageMs = nowMs - stored.savedAtMs;
  return (
    stored.head === head && isResourceVersion(stored.resourceVersion) && Math.abs(ageMs) <= maxAgeMs
  );
}
