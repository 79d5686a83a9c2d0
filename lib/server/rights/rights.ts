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
 * Decides what a user may list and watch. A rejection permits nothing that was not permitted a moment ago, and it is asked again. `changes$` emits
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

const isName = (value: unknown) => typeof value === 'string' && value !== '';

/** What a function of rights has returned, sorted. Throws a `TypeError` on anything that is no list of namespaces: '' would mean all of them. */
export function checkedPermitted(given: unknown): PermittedNamespaces {
  if (given === 'all') return given;
  if (!Array.isArray(given) || !given.every(isName)) {
    const what = isFields(given) ? 'an object' : JSON.stringify(given);
    throw new TypeError(
      `serveUsers: rights must return 'all' or a list of namespaces, but returned ${what}`,
    );
  }
  return [...new Set(given as readonly string[])].sort();
}

/** Whether two decisions permit the same. */
export function isSamePermitted(one: PermittedNamespaces, other: PermittedNamespaces): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
