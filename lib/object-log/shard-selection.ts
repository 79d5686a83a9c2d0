/** Parses `shardSelector` like kube-apiserver, which reads it as a CEL expression. apiserver: pkg/sharding/parser.go. */
import { joinRanges, type ShardRange } from '../meta/shard-ranges/ranges.ts';
import {
  createShardFilter,
  type ShardBy,
  type ShardFilter,
  shardSelector,
} from '../meta/shard-ranges/shard-filter.ts';
import { failure } from './failures.ts';

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

/** Parses a selector. Throws a 500 if it is invalid. An absent or empty one selects everything: `undefined`. */
export function shardSelectionOf(query: URLSearchParams): ShardSelection | undefined {
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
