/** The scope of an informer: which part of a resource it covers, and when two requests mean the same informer. */
import { check, checkedWord } from '../checks/checked-option.ts';
import { normalFieldText } from '../meta/field-selector.ts';
import { checkGivenSelectors, givenText } from '../meta/given-selectors.ts';
import { normalLabelText } from '../meta/label-selector.ts';
import { checkNamespaces, type Resource } from '../meta/resource.ts';

/** The form in which objects are requested: complete objects, their metadata, or the rows that `kubectl get` prints. */
export type InformerProjection = 'object' | 'metadata' | 'table';

/** A part of a resource. An absent field does not restrict it. */
export interface InformerScope {
  /** Only this namespace; '' means all, also if the factory has a namespace. */
  readonly namespace?: string | undefined;
  /** These namespaces in one view, each with a watch of its own; at least one. */
  readonly namespaces?: readonly string[] | undefined;
  /** As for `kubectl -l`. {@link formatLabelSelector} makes it of the `spec.selector` of an object. */
  readonly labelSelector?: string;
  /** As for `kubectl --field-selector`; the server decides which fields are supported. */
  readonly fieldSelector?: string;
  /** The projection. @defaultValue 'object' */
  readonly as?: InformerProjection | undefined;
}

/** A validated scope: selectors in their one form, namespaces sorted and without duplicates. */
export interface ReadScope {
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly as: InformerProjection;
}

/** The part of a factory's options that restricts all of its informers. */
export type DefaultScope = Omit<InformerScope, 'as'>;

function namespacesOf(scope: DefaultScope): readonly string[] | undefined {
  const { namespace, namespaces } = scope;
  if (namespace !== undefined && namespaces !== undefined) {
    throw new TypeError('informer scope: pass either namespace or namespaces, not both');
  }
  if (namespaces === undefined) {
    if (namespace === undefined) return undefined;
    return namespace === '' ? [] : [namespace];
  }
  const hasNames = Array.isArray(namespaces) && namespaces.length > 0 && !namespaces.includes('');
  const must = 'a list of at least one namespace; leave it out for all';
  check(hasNames, 'informer scope: namespaces', namespaces, must);
  return [...new Set(namespaces)].sort();
}

/**
 * Combines a scope with that of the factory. Throws a `TypeError` if a selector is invalid or missing, and if a namespace is given
 * for a cluster-scoped resource; the namespace of the factory does not apply to those.
 */
export function readScope(
  resource: Resource,
  scope: InformerScope,
  defaults: DefaultScope,
): ReadScope {
  const asked = namespacesOf(scope);
  checkNamespaces(resource, asked ?? []);
  const { as = 'object' } = scope;
  checkedWord(as, 'informer scope: as', ['object', 'metadata', 'table']);
  const where = 'informer scope';
  checkGivenSelectors(where, scope);
  checkGivenSelectors(where, defaults);
  // Read by name, because a scope may be an instance of a class with getters.
  const { labelSelector = '', fieldSelector = '' } = defaults;
  const selectors = {
    labelSelector: scope.labelSelector ?? labelSelector,
    fieldSelector: scope.fieldSelector ?? fieldSelector,
  };
  return {
    namespaces: resource.namespaced ? (asked ?? namespacesOf(defaults) ?? []) : [],
    labelSelector: normalLabelText(givenText(where, selectors, 'labelSelector')),
    fieldSelector: normalFieldText(givenText(where, selectors, 'fieldSelector')),
    as,
  };
}

/** Equal for requests that mean the same informer. */
export function identityOf(resource: Resource, scope: ReadScope): string {
  const { group, version, plural } = resource;
  const { namespaces, labelSelector, fieldSelector, as } = scope;
  return JSON.stringify([group, version, plural, namespaces, labelSelector, fieldSelector, as]);
}

/** Distinguishes the informers of one resource in logs: `shop+till/app=web/as metadata`; '' for the complete resource. */
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
