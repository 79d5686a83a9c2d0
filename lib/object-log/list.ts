/**
 * Answers a LIST: chooses the version and cuts the result into pages. A resourceVersion without `resourceVersionMatch`
 * means "not older than", but "exactly" if there is also a limit.
 * client-go: apiserver/pkg/storage/etcd3/store.go, GetList.
 */
import type { Collection } from './collection.ts';
import { badRequest, expired, tooLargeVersion } from './failures.ts';
import { checkListOptions, integer } from './list-options.ts';
import { type Scope, selectionOf } from './selection.ts';
import { keyOf, type StoredObject } from './stored-object.ts';

const LIST_TOO_OLD = 'The resourceVersion for the provided list is too old.';

const CONTINUE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** The objects that the list selects from, their version, and the key at which the page starts. */
function viewOf(
  collection: Collection,
  query: URLSearchParams,
  limit: number,
): { version: bigint; objects: StoredObject[]; start: string } {
  const requested = query.get('resourceVersion') ?? '';
  const token = query.get('continue');
  if (token) {
    const { version, start } = readToken(token);
    if (requested !== '' && requested !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    if (version < 0n) return { version: collection.version, objects: collection.sorted(), start };
    if (version > collection.version) {
      throw tooLargeVersion(String(version), collection.version);
    }
    if (version < collection.floor) {
      const next = writeToken(-1n, start.replace(/\0$/, ''));
      throw expired(CONTINUE_TOO_OLD, { continue: next });
    }
    return { version, objects: collection.at(version), start };
  }
  const version = requested === '' ? 0n : BigInt(requested);
  if (version > collection.version) throw tooLargeVersion(requested, collection.version);
  const match = query.get('resourceVersionMatch') ?? '';
  const exact = match === 'Exact' || (match === '' && limit > 0 && version > 0n);
  if (!exact) return { version: collection.version, objects: collection.sorted(), start: '' };
  if (version < collection.floor) throw expired(LIST_TOO_OLD);
  return { version, objects: collection.at(version), start: '' };
}

/** A page of a list. */
export interface Page {
  readonly items: readonly StoredObject[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Returns one page. Throws the `ApiError` that kube-apiserver would send. */
export function list(scope: Scope, query: URLSearchParams, pageSizeMax: number): Page {
  checkListOptions(query);
  const requested = integer(query, 'limit');
  const { collection, namespace } = scope;
  const selection = selectionOf(scope, query);
  const { version, objects, start } = viewOf(collection, query, requested);
  const cached = query.get('resourceVersion') === '0' && !query.get('continue');
  // A list at any version ("0") is answered from the watch cache, which ignores the limit.
  const limit =
    requested > 0 && !cached ? Math.min(requested, pageSizeMax) : Number.POSITIVE_INFINITY;

  const prefix = namespace === '' ? '' : `${namespace}/`;
  const candidates = objects.filter((object) => {
    const key = keyOf(object);
    return key.startsWith(prefix) && key >= start;
  });
  const items: StoredObject[] = [];
  let seen = 0;
  for (const object of candidates) {
    if (items.length >= limit) break;
    seen++;
    if (selection.includes(object)) items.push(object);
  }
  const remaining = candidates.length - seen;
  const last = candidates[seen - 1];
  const more = remaining > 0 && last !== undefined;
  const isSelective = selection.selects || selection.shards !== undefined;
  const metadata = {
    resourceVersion: String(version),
    ...(more ? { continue: writeToken(version, keyOf(last)) } : {}),
    ...(more && !isSelective ? { remainingItemCount: remaining } : {}),
    ...(selection.shards === undefined ? {} : { shardInfo: { selector: selection.shards } }),
  };
  return { items, metadata };
}

/**
 * The `continue` token of a paged list. `version` is that of the first page, or -1 for the newest; `start` is the key at
 * which the next page begins. client-go: apiserver/pkg/storage/continue.go.
 */
function writeToken(version: bigint, start: string): string {
  const text = `{"v":"meta.k8s.io/v1","rv":${version},"start":${JSON.stringify(`${start}\0`)}}`;
  // btoa takes no letters above U+00FF, which a name may contain.
  const latin = text.replace(
    /[\u0100-\uffff]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return btoa(latin)
    .replace(/(?<!=)=+$/, '')
    .replace(/\+/g, '-')
    .replace(/\//g, '_');
}

/** Reads a token. Throws a 400 if it cannot be read. */
function readToken(token: string): { version: bigint; start: string } {
  try {
    const text = atob(token.replace(/-/g, '+').replace(/_/g, '/'));
    // JSON.parse would round versions above 2^53.
    const version = /"rv":(-?[0-9]+)/.exec(text)?.[1];
    const { v, start } = JSON.parse(text) as { v: unknown; start: unknown };
    if (v === 'meta.k8s.io/v1' && typeof start === 'string' && version !== undefined) {
      return { version: BigInt(version), start };
    }
  } catch {
    // Every unreadable token gets the same failure, below.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}
