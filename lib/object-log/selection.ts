/** The namespace and the selectors of a list or a watch, as a predicate on objects. */
import { parseFieldSelector } from '../meta/field-selector.ts';
import { parseLabelSelector } from '../meta/label-selector.ts';
import { joinRanges, type ShardRange } from '../meta/shard-ranges/ranges.ts';
import {
  createShardFilter,
  type ShardBy,
  type ShardFilter,
  shardSelector,
} from '../meta/shard-ranges/shard-filter.ts';
import type { Collection } from './collection.ts';
import { badRequest, failure } from './failures.ts';
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
   * which does not move it to another shard.
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

const CALL =
  /^shardRange\(\s*object\.metadata\.(\w+)\s*,\s*(?:'([^']*)'|"([^"]*)")\s*,\s*(?:'([^']*)'|"([^"]*)")\s*\)$/;

/** kube-apiserver answers with a 500 that has no reason. */
function invalid(why: string): unknown {
  return failure(500, undefined, `invalid shard selector: ${why}`);
}

/** The objects that a selector selects, and the selector as the server writes it. */
export interface ShardSelection extends ShardFilter {
  readonly text: string;
}

/**
 * Parses `shardSelector` like kube-apiserver, which reads it as a CEL expression. Throws a 500 if it is invalid. An absent or
 * empty one selects everything: `undefined`. apiserver: pkg/sharding/parser.go.
 */
function shardSelectionOf(query: URLSearchParams): ShardSelection | undefined {
  const sent = query.get('shardSelector') ?? '';
  if (sent === '') return undefined;
  const fields = new Set<string>();
  const ranges = sent.split('||').map((part): ShardRange => {
    const [, field = '', a, b, c, d] = CALL.exec(part.trim()) ?? [];
    if (field === '') throw invalid(`unexpected expression ${JSON.stringify(part.trim())}`);
    if (field !== 'uid' && field !== 'namespace') {
      throw invalid(
        `unsupported field path "object.metadata.${field}"; supported: object.metadata.uid, object.metadata.namespace`,
      );
    }
    fields.add(field);
    return { start: a ?? b ?? '', end: c ?? d ?? '' };
  });
  const [by, other] = [...fields] as ShardBy[];
  if (by === undefined || other !== undefined) {
    throw invalid(
      `all shard ranges must use the same field, got "object.metadata.${by}" and "object.metadata.${other}"`,
    );
  }
  try {
    const text = ranges.map((range) => shardSelector(by, [range])).join(' || ');
    return { ...createShardFilter(by, joinRanges(ranges)), text };
  } catch (error) {
    throw invalid((error as Error).message);
  }
}
