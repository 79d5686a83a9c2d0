/** What a user may read, as the program that serves decides it. */
import type { Observable } from 'rxjs';
import { isFields } from '../../meta/json-fields.ts';
import type { Resource } from '../../meta/resource.ts';
import type { ServedUser } from '../users/user.ts';

/** Everything of a kind, or the objects of some namespaces. An empty list is nothing. */
export type PermittedNamespaces = 'all' | readonly string[];

/** Which part of a kind a query asks for. */
export interface AskedRights {
  /** The namespaces that the query names. Absent: all that the user may read. */
  readonly namespaces?: readonly string[] | undefined;
  /** The only object that the query asks for, as by the field selector `metadata.name=…`. Absent: all objects. */
  readonly name?: string | undefined;
}

/**
 * Decides what a user may list and watch. A rejection, or no answer within 15 seconds, leaves what was permitted for half a
 * minute, in which it is asked again; anything else that is no list permits nothing. `changes$` emits
 * which users' rights may have changed, whose open queries are asked again within two seconds.
 */
export interface Rights {
  (
    user: ServedUser,
    kind: Resource,
    asked: AskedRights,
  ): PermittedNamespaces | Promise<PermittedNamespaces>;
  readonly changes$?: Observable<(user: ServedUser) => boolean> | undefined;
}

/** A change of what a user may read, for an audit log. It has nothing of any object. */
export interface RightsDecision {
  readonly user: string;
  /** Such as `pods` or `deployments.apps`. */
  readonly kind: string;
  /** What a query has asked for. */
  readonly asked: AskedRights;
  readonly permitted: PermittedNamespaces;
  /** Set if the rights could not be asked for, so that nothing is permitted. */
  readonly isUnknown?: true | undefined;
  /** Set if the user is bound in more than 100 namespaces, of which the first 100 by name were asked for. */
  readonly isCut?: true | undefined;
}

/** How many namespaces one question is about. */
export const MOST_NAMESPACES = 100;

/** Answers that lack namespaces, because a question is about some only. */
const cut = /* @__PURE__ */ new WeakSet<object>();

/** Notes that an answer is about the first of more namespaces. */
export function cutAnswer(answer: readonly string[]): readonly string[] {
  cut.add(answer);
  return answer;
}

/** Whether an answer is about the first of more namespaces. */
export const isCut = (answer: unknown): boolean => cut.has(Object(answer));

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Names of namespaces, sorted. Throws a `TypeError` that begins with `must` on anything else: '' would mean all of them. */
export function checkedNames(must: string, given: unknown): readonly string[] {
  if (Array.isArray(given) && given.every(isName)) return [...new Set<string>(given)].sort();
  const what = isFields(given) ? 'an object' : JSON.stringify(given);
  throw new TypeError(`${must} names of namespaces, but returned ${what}`);
}

/** What a function of rights has returned. Throws a `TypeError` on anything that permits nothing. */
export function checkedPermitted(given: unknown): PermittedNamespaces {
  return given === 'all' ? given : checkedNames("serveUsers: rights must return 'all' or", given);
}

/** Whether two decisions permit the same. */
export function isSamePermitted(one: PermittedNamespaces, other: PermittedNamespaces): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
