/**
 * The `_meta` record, which ends each published set: one record per namespace, and one for the complete collection. A
 * reader applies messages when it receives the record of its scope, never before.
 */
import { isFields } from '../meta/json-fields.ts';
import { isResourceVersion } from '../meta/resource-version.ts';
import type { Tally } from './tally.ts';

/** One publisher's time of writing: from its first message until another publisher writes. */
export interface Term {
  readonly writer: string;
  /** The last sequence of the stream when the term began. */
  readonly after: number;
}

/** The contents of a `_meta` record. */
export interface Meta {
  /** The history to which the versions belong. A reader with another epoch lists again. */
  readonly epoch: string;
  /** The last terms, the current one at the end. They show a store that was restored from a copy. */
  readonly terms: readonly Term[];
  /** The version of the API server up to which the scope is complete. */
  readonly resourceVersion: string;
  /**
   * Whether the set is not complete: the record of the collection is also written with each earlier batch of a set. The
   * version is then that of the last complete set; '' if there was none.
   */
  readonly isOpen?: true | undefined;
  /** The number of objects in the scope. */
  readonly count: number;
  /** The digest of their states, as {@link Tally} computes it. */
  readonly digest: string;
  /** Tombstones up to this sequence may have expired, so a reader that resumes from before it lists again. */
  readonly horizon: number;
  /** How often the record is written if nothing changes, in milliseconds. */
  readonly heartbeatMs: number;
  readonly apiVersion: string;
  readonly kind: string;
  /** The namespace that the publisher follows; '' for all. Absent in records of older versions. */
  readonly namespace?: string | undefined;
  /** The cluster that the publisher follows, if it names it. */
  readonly cluster?: string | undefined;
  /** The form of the objects, if the publisher names it; for example the name of a projection. */
  readonly content?: string | undefined;
}

/** How many terms a record names. A reader that was away for more terms lists again. */
export const MOST_TERMS = 16;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTerm(value: unknown): value is Term {
  return isFields(value) && typeof value['writer'] === 'string' && isCount(value['after']);
}

/** Reads a record. Returns `undefined` if a field is missing or invalid. */
export function readMeta(text: string): Meta | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isFields(value)) return undefined;
  const { epoch, terms, resourceVersion, isOpen, count, digest, horizon, heartbeatMs } = value;
  const isSound =
    typeof epoch === 'string' &&
    Array.isArray(terms) &&
    terms.length > 0 &&
    terms.every(isTerm) &&
    (isResourceVersion(resourceVersion) || (isOpen === true && resourceVersion === '')) &&
    isCount(count) &&
    typeof digest === 'string' &&
    isCount(horizon) &&
    typeof heartbeatMs === 'number' &&
    heartbeatMs > 0 &&
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string';
  return isSound ? (value as unknown as Meta) : undefined;
}

/** The current writer. */
export function writerOf(meta: Meta): string {
  return meta.terms.at(-1)?.writer ?? '';
}

/**
 * Whether the store has kept everything that a reader received up to a sequence, from a writer. It has not if a later
 * term began at a lower sequence: then the store was restored from an older copy in between.
 */
export function continues(meta: Meta, writer: string, sequence: number): boolean {
  const at = meta.terms.findIndex((term) => term.writer === writer);
  return at !== -1 && meta.terms.slice(at + 1).every(({ after }) => after >= sequence);
}
