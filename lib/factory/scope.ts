/** What of a resource an informer covers, and when two askers mean the same informer. */
import { parseFieldSelector } from '../meta/field-selector.ts';
import { checkGivenSelectors } from '../meta/given-selectors.ts';
import { type LabelSelectorObject, parseLabelSelector } from '../meta/label-selector.ts';
import { type Resource, resourceName } from '../meta/resource.ts';

/** What objects are asked for: whole ones, their metadata, or the rows that `kubectl get` prints. */
export type InformerProjection = 'object' | 'metadata' | 'table';

/** Part of a resource. What is absent is not narrowed. */
export interface InformerScope {
  /** Only this namespace; '' is all, also where the factory has a namespace of its own. */
  readonly namespace?: string | undefined;
  /** These namespaces in one view, each with a watch of its own; at least one. */
  readonly namespaces?: readonly string[] | undefined;
  /** As `kubectl -l`, or as objects carry it in `spec.selector`. */
  readonly labelSelector?: string | LabelSelectorObject;
  /** As `kubectl --field-selector`; the server says which fields it knows. */
  readonly fieldSelector?: string;
  /** @defaultValue 'object' */
  readonly as?: InformerProjection | undefined;
}

/** A scope that was read: selectors in their one form, namespaces sorted and each once. */
export interface ReadScope {
  /** None: all. */
  readonly namespaces: readonly string[];
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly as: InformerProjection;
}

/** The part of a factory's options that narrows all its informers. */
export type DefaultScope = Omit<InformerScope, 'as'>;

function namespacesOf(scope: DefaultScope): readonly string[] | undefined {
  const { namespace, namespaces } = scope;
  if (namespace !== undefined && namespaces !== undefined) {
    throw new TypeError('informer scope: give either namespace or namespaces, not both');
  }
  if (namespaces === undefined) {
    if (namespace === undefined) return undefined;
    return namespace === '' ? [] : [namespace];
  }
  if (namespaces.length === 0 || namespaces.includes('')) {
    throw new TypeError(
      `informer scope: namespaces is ${JSON.stringify(namespaces)}; name at least one, or leave it out for all`,
    );
  }
  return [...new Set(namespaces)].sort();
}

/**
 * A scope over the factory's own. Throws a `TypeError` on selectors that are none or missing, and on a namespace for a
 * cluster-scoped resource; the factory's own namespace does not concern these.
 */
export function readScope(
  resource: Resource,
  scope: InformerScope,
  defaults: DefaultScope,
): ReadScope {
  const asked = namespacesOf(scope);
  if (!resource.namespaced && asked !== undefined && asked.length > 0) {
    throw new TypeError(
      `${resourceName(resource)} is cluster-scoped, but namespace ${asked.map((name) => JSON.stringify(name)).join(', ')} was given`,
    );
  }
  const { as = 'object' } = scope;
  if (!['object', 'metadata', 'table'].includes(as)) {
    throw new TypeError(
      `informer scope: as is ${JSON.stringify(as)}; it must be 'object', 'metadata' or 'table'`,
    );
  }
  for (const each of [scope, defaults]) checkGivenSelectors('informer scope', each);
  const labels = scope.labelSelector ?? defaults.labelSelector ?? '';
  const fields = scope.fieldSelector ?? defaults.fieldSelector ?? '';
  return {
    namespaces: resource.namespaced ? (asked ?? namespacesOf(defaults) ?? []) : [],
    labelSelector: parseLabelSelector(labels).toString(),
    fieldSelector: parseFieldSelector(fields).toString(),
    as,
  };
}

/** Equal for askers that mean one informer. */
export function identityOf(resource: Resource, scope: ReadScope): string {
  const { group, version, plural } = resource;
  const { namespaces, labelSelector, fieldSelector, as } = scope;
  return JSON.stringify([group, version, plural, namespaces, labelSelector, fieldSelector, as]);
}

/** `shop+till/app=web/as metadata`: how logs tell the informers of one resource apart; '' for all of it. */
export function scopeName(scope: ReadScope): string {
  const { namespaces, labelSelector, fieldSelector, as } = scope;
  return [
    namespaces.join('+'),
    labelSelector,
    fieldSelector === '' ? '' : `fields ${fieldSelector}`,
    as === 'object' ? '' : `as ${as}`,
  ]
    .filter((part) => part !== '')
    .join('/');
}
