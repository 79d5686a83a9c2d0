/** A query within the rights of its user. */

import type { LimitedAccess } from '../../informer/sources.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { ApiError } from '../../meta/api-error.ts';
import { parseFieldRequirements } from '../../meta/field-selector.ts';
import { type Resource, resourceName } from '../../meta/resource.ts';
import { checkedQuery, type LiveQuery } from '../../query/live-query/live-query.ts';
import type { EpochMs } from '../../rx/timing.ts';
import { readable } from '../../wire/public-error.ts';
import { type AskedRights, MOST_NAMESPACES, type PermittedNamespaces } from './rights.ts';
import type { Decision } from './user-rights.ts';

/** The namespaces that a query names; none for all. */
function namespacesOf({ namespace = '' }: LiveQuery): readonly string[] {
  return (typeof namespace === 'string' ? [namespace] : namespace).filter((each) => each !== '');
}

/** The name of the only object that a query asks for. The API server gives a request with such a selector the rights to this name. */
function nameOf({ fieldSelector = '' }: LiveQuery): string | undefined {
  const [only, ...more] = parseFieldRequirements(fieldSelector);
  const isOne = only !== undefined && more.length === 0;
  return isOne && only.field === 'metadata.name' && only.operator === '=' ? only.value : undefined;
}

/** The rights that a query needs. */
export function rightsAskedBy(query: LiveQuery): AskedRights {
  const namespaces = namespacesOf(query);
  const name = nameOf(query);
  return {
    ...(namespaces.length > 0 && { namespaces }),
    ...(name !== undefined && { name }),
  };
}

/** The query for the objects that may be read; `undefined` if none may be. */
export function narrowed(
  query: LiveQuery,
  kind: Resource,
  permitted: PermittedNamespaces,
): LiveQuery | undefined {
  const asked = namespacesOf(query);
  if (permitted === 'all') {
    // Also if the factory has a namespace.
    return kind.namespaced && asked.length === 0
      ? checkedQuery({ ...query, namespace: '' })
      : query;
  }
  // A list of namespaces permits no object that is in none.
  if (!kind.namespaced) return undefined;
  const namespace =
    asked.length === 0 ? permitted : asked.filter((each) => permitted.includes(each));
  return namespace.length === 0 ? undefined : checkedQuery({ ...query, namespace });
}

/** The part of a kind that is shown, in words for its user, who learns of no namespace that is neither permitted nor named. */
export function accessOf(
  kind: Resource,
  { permitted, isCut }: Decision,
  asked: AskedRights,
): LimitedAccess | undefined {
  const { namespaces: some } = asked;
  const isAll = permitted === 'all' || some?.every((each) => permitted.includes(each)) === true;
  if (isAll || !kind.namespaced) return undefined;
  const named = some ?? permitted;
  const namespaces = named.filter((each) => permitted.includes(each));
  const missing = named.filter((each) => !permitted.includes(each));
  const shows = namespaces.length === 0 ? 'no namespace' : `namespaces ${namespaces.join(', ')}`;
  const lacks = missing.length === 0 ? '' : `. Not permitted in ${missing.join(', ')}`;
  const where = asked.namespaces === undefined ? ' in all namespaces' : '';
  const more = isCut
    ? `. Of the namespaces with bindings of the user, only the first ${MOST_NAMESPACES} by name were asked for; name others in the query`
    : '';
  const message = `listing and watching ${resourceName(kind)}${where} is not permitted; shown: ${shows}${lacks}${more}`;
  return { namespaces, missing, message };
}

/** The parts of several kinds as one. */
export function joinedAccess(parts: readonly LimitedAccess[]): LimitedAccess | undefined {
  if (parts.length < 2) return parts[0];
  const all = (of: 'namespaces' | 'missing') => [...new Set(parts.flatMap((part) => part[of]))];
  const message = parts.map((part) => part.message).join('; ');
  return { namespaces: all('namespaces'), missing: all('missing'), message };
}

/** What no user of a shared informer learns of it: counts and names of objects that the user may not read. */
const UNTOLD = {
  attempt: 0,
  reconnects: 0,
  relists: 0,
  resourceVersion: '',
  refused: 0,
  refusedItems: 0,
  unknownDeletions: 0,
  generation: 0,
} as const;

/** The status of the informer of all users, as one of them may see it. */
export function statusFor(
  status: InformerStatus,
  access: LimitedAccess | undefined,
): InformerStatus {
  const { phase, synced, live, sinceMs, staleSinceMs, stale, blocked, error, nextRetryAtMs } =
    status;
  return {
    ...UNTOLD,
    ...{ phase, synced, live, sinceMs, staleSinceMs, stale, blocked, error, nextRetryAtMs, access },
  };
}

/** Why nothing of these kinds is shown. */
export function deniedError(kinds: readonly Resource[], isUnknown: boolean): ApiError {
  const names = kinds.map(resourceName).join(' and ');
  const said = isUnknown
    ? { code: 503, reason: 'Unverified', message: `whether ${names} may be read is not known` }
    : { code: 403, reason: 'Forbidden', message: `listing and watching ${names} is not permitted` };
  return readable(new ApiError(said));
}

/** What a user learns of a named query whose function has thrown. */
export function failedError(): ApiError {
  const said = { code: 500, reason: 'InternalError', message: 'the query has failed' };
  return readable(new ApiError(said));
}

/** The status of a query that has no answer. It is that of a complete answer, so that earlier rows go. */
export function statusOfNothing(
  error: ApiError,
  access: LimitedAccess | undefined,
  sinceMs: EpochMs,
): InformerStatus {
  const blocked = error.reason === 'Forbidden' ? 'forbidden' : undefined;
  return {
    ...UNTOLD,
    ...{ phase: 'backoff', synced: true, live: false, sinceMs, access, blocked, error },
  };
}

/** The status of a query whose answer waits for its turn. */
export function statusOfAwaited(): InformerStatus {
  return { ...UNTOLD, phase: 'connecting', synced: false, live: false, sinceMs: 0 };
}
