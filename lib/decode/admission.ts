/**
 * What an object passes before anything holds it: right kind, type filled in, `managedFields` cut, transform,
 * key. Whoever fails here is reported and stays out; the others go on.
 */
import { ApiError } from '../meta/api-error.ts';
import { metaNamespaceKeyFunc } from '../meta/key.ts';
import { hasSoundMetadata, type KubernetesObject } from '../meta/kubernetes-object.ts';
import { shownCause, shownError } from '../meta/shown-text.ts';
import type { DecodeContext } from './decoding.ts';

/** Let in, with its key; refused, though it exists; or nothing that concerns this informer. */
export type Admitted<T> =
  | { readonly verdict: 'admitted'; readonly key: string; readonly object: T }
  | { readonly verdict: 'rejected'; readonly key: string; readonly resourceVersion: string }
  | { readonly verdict: 'skipped' };

const SKIPPED = { verdict: 'skipped' } as const;

function changedIdentity(before: KubernetesObject, after: KubernetesObject): string | undefined {
  for (const field of ['name', 'namespace', 'uid', 'resourceVersion'] as const) {
    if (before.metadata?.[field] !== after.metadata?.[field]) return `metadata.${field}`;
  }
  return undefined;
}

function transformed<T extends KubernetesObject>(
  object: T,
  key: string,
  transform: (object: T) => T,
): T {
  const before = { metadata: { ...object.metadata } };
  let after: T;
  try {
    after = transform(object);
  } catch (error) {
    const message = `${key}: the transform threw: ${shownError(error)}`;
    throw ApiError.local('Rejected', message, { cause: shownCause(error) });
  }
  if (typeof after !== 'object' || after === null) {
    const message = `${key}: the transform returned ${typeof after === 'string' ? 'a text' : String(after)}, no object`;
    throw ApiError.local('Rejected', message);
  }
  const changed = changedIdentity(before, after);
  if (changed === undefined) return after;
  const message = `${key}: the transform changed ${changed}; a store without it would lose updates`;
  throw ApiError.local('Rejected', message);
}

/** The gate of one decoder. */
export function createAdmission<T extends KubernetesObject>(
  context: DecodeContext<T>,
): (received: unknown, deleted?: boolean) => Admitted<T> {
  const { resource, transform, keepManagedFields, onSkipped } = context;
  const { kind, apiVersion } = context.projection ?? resource;
  const unexpected = (what: string) => {
    const message = `${resource.plural}: expected ${kind === '' ? 'an object' : `a ${kind}`}, got ${what}`;
    onSkipped({ reason: ApiError.local('Unexpected', message) });
    return SKIPPED;
  };
  return (received, deleted = false) => {
    if (typeof received !== 'object' || received === null) return unexpected('no object');
    const object = received as T;
    if (kind === '') {
      if (typeof object.kind !== 'string' || object.kind === '')
        return unexpected('one without a kind');
      if (object.kind === 'Table' || object.kind === 'Status')
        return unexpected(`a ${object.kind}`);
    } else if (object.kind === undefined) object.kind = kind;
    else if (object.kind !== kind) {
      const own: unknown = object.kind;
      return unexpected(typeof own === 'string' ? `a ${own.slice(0, 60)}` : 'one without a kind');
    }
    if (object.apiVersion === undefined) object.apiVersion = apiVersion;
    const { metadata } = object;
    if (typeof metadata !== 'object' || metadata === null)
      return unexpected('one without metadata');
    if (!hasSoundMetadata(object))
      return unexpected('one whose name, namespace, UID or version is no text');
    // Last on the wire, so that V8 takes it away without turning the object into a slow one.
    if (!keepManagedFields && metadata.managedFields !== undefined) delete metadata.managedFields;
    let key: string;
    try {
      key = metaNamespaceKeyFunc(object);
    } catch {
      return unexpected('one without a name');
    }
    if (transform === undefined) return { verdict: 'admitted', key, object };
    try {
      return { verdict: 'admitted', key, object: transformed(object, key, transform) };
    } catch (error) {
      const resourceVersion = metadata.resourceVersion ?? '';
      // What is deleted needs no second try.
      if (!deleted) {
        const retry = () => transformed(object, key, transform);
        onSkipped({ reason: ApiError.from(error, key), key, resourceVersion, retry });
      }
      return { verdict: 'rejected', key, resourceVersion };
    }
  };
}
