/** The namespace and the selectors of a list or a watch, as a predicate on objects. */
import { parseFieldSelector } from '../meta/field-selector.ts';
import { parseLabelSelector } from '../meta/label-selector.ts';
import type { Collection } from './collection.ts';
import { badRequest } from './failures.ts';
import { shardSelectionOf } from './shard-selection.ts';
import type { StoredObject } from './stored-object.ts';

/** The collection and the namespace that a request reads. */
export interface Scope {
  readonly collection: Collection;
  /** '' for all namespaces, and for cluster-scoped resources. */
  readonly namespace: string;
}

/** The objects that a request selects. */
export interface Selection {
  readonly namespace: string;
  /**
   * Whether there are selectors of labels or fields. With them, an object may start or stop matching when it changes,
   * and a list does not count what remains. A selector of shards changes neither.
   */
  readonly selects: boolean;
  /** The selector of shards, as lists repeat it; absent without one. */
  readonly shards?: string;
  includes(object: StoredObject): boolean;
}

function parsed<S>(parse: (text: string) => S, text: string): S {
  try {
    return parse(text);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${(error as Error).message}`);
  }
}

/**
 * Parses `labelSelector`, `fieldSelector` and `shardSelector`. Throws a 400 if a selector is invalid or its field is not
 * supported, and a 500 for a selector of shards.
 */
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
  const shards = shardSelectionOf(query);
  return {
    namespace,
    ...(shards === undefined ? {} : { shards: shards.text }),
    selects: !labels.isEverything || !fields.isEverything,
    includes: (object) =>
      (namespace === '' || object.metadata.namespace === namespace) &&
      labels.matches(object.metadata.labels) &&
      fields.matches(object) &&
      shards?.contains(object) !== false,
  };
}
