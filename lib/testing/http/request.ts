/** Parses requests of the fake server, and creates the records of them. */

import { isTrue } from '../../object-log/list-options.ts';
import type { Scope } from '../../object-log/selection.ts';
import type { EpochMs } from '../../rx/timing.ts';
import type { ServedCollection, ServerLog } from '../served-resource.ts';

/** One request, as it was received. */
export interface Exchange {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Returns a header by its name in lower case. */
  header(name: string): string | null;
  readonly body: string;
}

/** One request, as it is recorded and as faults match it. */
export interface RequestRecord {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** `list` and `watch` of a collection; everything else is a `call`. A streaming list is a `watch`. */
  readonly use: 'list' | 'watch' | 'call';
  /** For example `pods` or `deployments.apps`. Absent if the path is not that of a served resource. */
  readonly resource?: string;
  readonly namespace?: string;
  /** The time of the server's scheduler. */
  readonly atMs: EpochMs;
}

/** The target of a path: a collection, an object or a subresource. */
export interface Target extends Scope {
  readonly collection: ServedCollection;
  readonly resourceName: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** A percent sign that does not begin an escape. A real server refuses such a path before it looks at it. */
const MALFORMED = /%(?![0-9a-f]{2})/i;

/** Whether the percent-escapes of a path are malformed. */
export function isMalformed(path: string): boolean {
  return MALFORMED.test(path);
}

/** Resolves the percent-escapes. Bytes that are not UTF-8 become U+FFFD, which no name contains. */
function unescaped(text: string): string {
  return text.replace(/(%[0-9a-f]{2})+/gi, (escapes) => {
    const bytes = escapes.split('%').slice(1);
    return new TextDecoder().decode(Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)));
  });
}

/** Returns the target of a path, or `undefined` if the path is not that of a served resource. */
export function targetOf(path: string, log: ServerLog): Target | undefined {
  const parts = path.split('/').filter((part, index, all) => part !== '' || index < all.length - 1);
  if (parts.shift() !== '') return undefined;
  const root = parts.shift();
  let group = '';
  if (root === 'apis') group = parts.shift() ?? '';
  else if (root !== 'api') return undefined;
  const version = parts.shift();
  const find = (plural: string | undefined) => {
    const name = group === '' ? plural : `${plural}.${group}`;
    const collection = log.collections.get(name ?? '');
    if (collection === undefined) return undefined;
    if (collection.served.resource.version !== version) return undefined;
    return { collection, resourceName: name as string };
  };
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 2 && find(parts[2]) !== undefined) {
    namespace = unescaped(parts[1] as string);
    parts.splice(0, 2);
  }
  const found = find(parts[0]);
  if (found === undefined || parts.length > 3) return undefined;
  const { namespaced } = found.collection.served.resource;
  if (namespaced ? namespace === '' && parts.length > 1 : namespace !== '') return undefined;
  return {
    ...found,
    namespace,
    ...(parts[1] === undefined ? {} : { name: unescaped(parts[1]) }),
    ...(parts[2] === undefined ? {} : { subresource: parts[2] }),
  };
}

export function recordOf(
  { method, path, query }: Exchange,
  target: Target | undefined,
  atMs: number,
): RequestRecord {
  const collection = method === 'GET' && target !== undefined && target.name === undefined;
  const use = !collection ? 'call' : isTrue(query.get('watch')) ? 'watch' : 'list';
  return {
    method,
    path,
    query: Object.fromEntries(query),
    use,
    ...(target === undefined ? {} : { resource: target.resourceName }),
    ...(target?.namespace ? { namespace: target.namespace } : {}),
    atMs,
  };
}
