/**
 * LIST: which version it shows, and in what pages. A resourceVersion without a match means "not older
 * than", but "exactly" together with a limit.
 * client-go: apiserver/pkg/storage/etcd3/store.go, GetList; storage/continue.go.
 */

import type { Target } from './http/request.ts';
import {
  badRequest,
  continueTooOld,
  expired,
  forbiddenOption,
  listTooOld,
  tooLargeVersion,
  unsupportedOption,
} from './http/status.ts';
import type { Collection, ObjectLog } from './object-log.ts';
import { selectionOf } from './selection.ts';
import { keyOf, type StoredObject } from './stored-object.ts';

const OPTIONS = 'ListOptions';

/** Reads a whole number as the server does. */
export function integer(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0';
  if (!/^[+-]?[0-9]+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

/** A token: the version of the first page and the key to go on from. Version -1: whatever is now. */
function writeToken(version: bigint, start: string): string {
  const text = `{"v":"meta.k8s.io/v1","rv":${version},"start":${JSON.stringify(`${start}\0`)}}`;
  return btoa(text).replace(/=+$/, '').replace(/\+/g, '-').replace(/\//g, '_');
}

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
    // Falls through to the one answer for all that is no token.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}

function checkOptions(query: URLSearchParams): void {
  const version = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  const field = 'resourceVersionMatch';
  if (query.has('sendInitialEvents')) {
    const name = 'sendInitialEvents';
    throw forbiddenOption(OPTIONS, name, 'sendInitialEvents is forbidden for list');
  }
  if (match !== '') {
    if (query.get('continue')) {
      throw forbiddenOption(OPTIONS, field, `${field} is forbidden when continue is provided`);
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      throw unsupportedOption(OPTIONS, field, match, ['Exact', 'NotOlderThan', '']);
    }
    if (version === '') {
      throw forbiddenOption(
        OPTIONS,
        field,
        `${field} is forbidden unless resourceVersion is provided`,
      );
    }
    if (match === 'Exact' && version === '0') {
      const message = `${field} "exact" is forbidden for resourceVersion "0"`;
      throw forbiddenOption(OPTIONS, field, message);
    }
  }
  if (!/^[0-9]*$/.test(version)) {
    const text = JSON.stringify(version);
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${text}: strconv.ParseUint: parsing ${text}: invalid syntax`,
    );
  }
}

/** Which objects to start from, and under which version. */
function viewOf(
  collection: Collection,
  log: ObjectLog,
  query: URLSearchParams,
  limit: number,
): { version: bigint; objects: StoredObject[]; start: string } {
  const asked = query.get('resourceVersion') ?? '';
  const token = query.get('continue');
  if (token) {
    const { version, start } = readToken(token);
    if (asked !== '' && asked !== '0') {
      throw badRequest('specifying resource version is not allowed when using continue');
    }
    if (version < 0n) return { version: log.version, objects: collection.sorted(), start };
    if (version < collection.floor) {
      const next = writeToken(-1n, start.replace(/\0$/, ''));
      throw expired(continueTooOld, { continue: next });
    }
    return { version, objects: collection.at(version), start };
  }
  const version = asked === '' ? 0n : BigInt(asked);
  if (version > log.version) throw tooLargeVersion(asked, log.version);
  const match = query.get('resourceVersionMatch') ?? '';
  const exact = match === 'Exact' || (match === '' && limit > 0 && version > 0n);
  if (!exact) return { version: log.version, objects: collection.sorted(), start: '' };
  if (version < collection.floor) throw expired(listTooOld);
  return { version, objects: collection.at(version), start: '' };
}

/** A page of a list. */
export interface Page {
  readonly items: readonly StoredObject[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Reads a page. Throws the failure that a real server would answer. */
export function list(
  target: Target,
  log: ObjectLog,
  query: URLSearchParams,
  pageSizeMax: number,
): Page {
  checkOptions(query);
  const asked = integer(query, 'limit');
  const { collection, namespace } = target;
  const selection = selectionOf(target, query);
  const { version, objects, start } = viewOf(collection, log, query, asked);
  const cached = query.get('resourceVersion') === '0' && !query.get('continue');
  // A list from "any" version is answered from the watch cache, which knows no limit.
  const limit = asked > 0 && !cached ? Math.min(asked, pageSizeMax) : Number.POSITIVE_INFINITY;

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
  const metadata = {
    resourceVersion: String(version),
    ...(more ? { continue: writeToken(version, keyOf(last)) } : {}),
    ...(more && !selection.selects ? { remainingItemCount: remaining } : {}),
  };
  return { items, metadata };
}
