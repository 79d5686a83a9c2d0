/** Which objects a list or a watch wants: its namespace and its selectors. */
import { parseFieldSelector } from '../meta/field-selector.ts';
import { parseLabelSelector } from '../meta/label-selector.ts';
import type { Collection } from './collection.ts';
import { badRequest } from './failures.ts';
import type { StoredObject } from './stored-object.ts';

/** Where a request reads. */
export interface Scope {
  readonly collection: Collection;
  /** '' for all namespaces, and for cluster-scoped resources. */
  readonly namespace: string;
}

/** The objects that a request is about. */
export interface Selection {
  readonly namespace: string;
  /** Has selectors: what matches may change while an object lives. */
  readonly selects: boolean;
  includes(object: StoredObject): boolean;
}

function parsed<S>(parse: (text: string) => S, text: string): S {
  try {
    return parse(text);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${(error as Error).message}`);
  }
}

/** Reads `labelSelector` and `fieldSelector`. Throws a 400 on one that cannot be read or is not supported. */
export function selectionOf({ collection, namespace }: Scope, query: URLSearchParams): Selection {
  const labels = parsed(parseLabelSelector, query.get('labelSelector') ?? '');
  const fields = parsed(parseFieldSelector, query.get('fieldSelector') ?? '');
  const { resource, selectableFields } = collection.served;
  for (const { field } of fields.requirements) {
    const known =
      field === 'metadata.name' ||
      (field === 'metadata.namespace' && resource.namespaced) ||
      selectableFields.includes(field);
    if (!known) throw badRequest(`field label not supported: ${field}`);
  }
  return {
    namespace,
    selects: !labels.isEverything || !fields.isEverything,
    includes: (object) =>
      (namespace === '' || object.metadata.namespace === namespace) &&
      labels.matches(object.metadata.labels) &&
      fields.matches(object),
  };
}
