/**
 * The checks and changes that a decoded object passes before it is stored: kind, `apiVersion`, removal of
 * `managedFields`, transform, key. An object that fails a check is refused and reported; the other objects
 * are not affected.
 */
import { ApiError } from '../meta/api-error.ts';
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import {
  controllerUidOf,
  hasSoundMetadata,
  type KubernetesObject,
  type ObjectMeta,
} from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import { shownCause, shownError } from '../meta/shown-text.ts';
import type { DecodeContext, Refusal } from './decoding.ts';
import type { Refused } from './watch-event.ts';

/**
 * The result for one object: admitted with its key; refused, although it exists; or dropped, because it is not an
 * object of this collection.
 */
export type Admitted<T> =
  | { readonly verdict: 'admitted'; readonly key: string; readonly object: T }
  | { readonly verdict: 'refused'; readonly refused: Refused }
  | { readonly verdict: 'dropped' };

const DROPPED = { verdict: 'dropped' } as const;

/** The fields that a transform must not change. */
const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion'] as const;

function transformed<T extends KubernetesObject>(
  object: T,
  key: string,
  before: ObjectMeta,
  transform: (object: T) => T,
): T {
  let after: T;
  try {
    after = transform(object);
  } catch (error) {
    const message = `${key}: the transform threw: ${shownError(error)}`;
    throw ApiError.local('Refused', message, { cause: shownCause(error) });
  }
  if (typeof after !== 'object' || after === null) {
    const message = `${key}: the transform returned ${typeof after === 'string' ? 'a string' : String(after)} instead of an object`;
    throw ApiError.local('Refused', message);
  }
  const changed = IDENTITY.find((field) => before[field] !== after.metadata?.[field]);
  if (changed === undefined) return after;
  const message = `${key}: the transform changed metadata.${changed}; a store without it would lose updates`;
  throw ApiError.local('Refused', message);
}

/** Creates the admission of one decoder. `tally` counts the objects by kind, and collects what is dropped. */
export function createAdmission<T extends KubernetesObject>(
  context: DecodeContext<T>,
  tally: KindTally,
): (received: unknown, deleted?: boolean) => Admitted<T> {
  const { resource, transform, keepManagedFields, onRefused } = context;
  const { kind, apiVersion } = context.projection ?? resource;
  const unexpected = (what: string) => {
    const message = `${resource.plural}: expected ${kind === '' ? 'an object' : `a ${kind}`}, got ${what}`;
    tally.refuse(message);
    return message;
  };
  const drop = (what: string) => {
    unexpected(what);
    return DROPPED;
  };
  return (received, deleted = false) => {
    if (typeof received !== 'object' || received === null)
      return drop('a value that is not an object');
    const object = received as T;
    if (kind === '') {
      if (typeof object.kind !== 'string' || object.kind === '')
        return drop('an object without a kind');
      if (object.kind === 'Table' || object.kind === 'Status') return drop(`a ${object.kind}`);
    } else if (object.kind === undefined) object.kind = kind;
    else if (object.kind !== kind) {
      const own: unknown = object.kind;
      if (typeof own !== 'string') return drop('an object without a kind');
      tally.other(unexpected(`a ${own.slice(0, 60)}`));
      return DROPPED;
    }
    tally.own();
    if (object.apiVersion === undefined) object.apiVersion = apiVersion;
    const { metadata } = object;
    if (typeof metadata !== 'object' || metadata === null)
      return drop('an object without metadata');
    if (!hasSoundMetadata(object))
      return drop('an object whose name, namespace, UID or version is not a string');
    // `managedFields` is the last field on the wire, so V8 deletes it without converting the object to dictionary
    // mode.
    if (!keepManagedFields && metadata.managedFields !== undefined) delete metadata.managedFields;
    let key: string;
    try {
      key = metaNamespaceKeyFunc(object);
    } catch {
      return drop('an object without a name');
    }
    if (transform === undefined) return { verdict: 'admitted', key, object };
    // Read before the transform runs, because the transform may change the object in place before it is refused.
    const before = { ...metadata };
    const retry = () => transformed(object, key, before, transform);
    try {
      return { verdict: 'admitted', key, object: retry() };
    } catch (error) {
      const { uid = '', resourceVersion = '' } = before;
      const reason = ApiError.from(error, key);
      // A deleted object needs no retry.
      if (!deleted) onRefused({ reason, key, resourceVersion, retry });
      const controllerUid = controllerUidOf({ metadata: before });
      const refused = { key, uid, resourceVersion, controllerUid, reason, retry };
      return { verdict: 'refused', refused };
    }
  };
}

/** Creates the error for a list, or for the bookmark that ends a streaming list, of an unexpected kind. */
export function wrongKind({ plural }: Resource, expected: string, got: string): ApiError {
  const shown = JSON.stringify(got.slice(0, 60));
  const message = `${plural}: expected a ${expected}, got ${shown}. Correct the kind or the plural of the resource`;
  return ApiError.local('WrongKind', message);
}

/**
 * Counts the objects of one response: those of the resource's kind, and those of another kind. A single object of another
 * kind is refused, but if every object were refused, an empty store would be reported as synced.
 * It also counts what is no object of the collection, because an error for each would cost far more than the item.
 */
export class KindTally {
  #own = 0;
  #others = 0;
  #last = '';
  #refused = 0;
  #refusal = '';

  /** Counts an object of the right kind, whether it is admitted, or refused for another reason. */
  own(): void {
    this.#own++;
  }

  /** Counts an object of another kind, which `message` describes. */
  other(message: string): void {
    this.#others++;
    this.#last = message;
  }

  /** Counts what is no object of the collection, for the reason that `message` gives. */
  refuse(message: string): void {
    this.#refused++;
    this.#refusal = message;
  }

  /** Reports what was refused since the last report, as one refusal with its count. */
  report(onRefused: (refusal: Refusal) => void): void {
    const count = this.#refused;
    if (count === 0) return;
    this.#refused = 0;
    const more = count === 1 ? '' : `; the last of ${count} refused items`;
    onRefused({ reason: ApiError.local('Unexpected', this.#refusal + more), count });
  }

  /**
   * The error if every object is of another kind; `undefined` if there is an object of the right kind, or no object.
   */
  get failure(): ApiError | undefined {
    if (this.#own > 0 || this.#others === 0) return undefined;
    const message = `every object (${this.#others}) is of another kind; the last: ${this.#last}. Correct the kind or the plural of the resource`;
    return ApiError.local('WrongKind', message);
  }
}
