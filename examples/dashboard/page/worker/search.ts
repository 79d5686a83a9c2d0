/** The search for objects of a kind by name. */
import { type LiveQueries, liveFilter, liveMap, liveSort, liveWindow } from 'rx-informer';
import { kindOf } from '../kinds/index.ts';
import type { Row } from '../kinds/kind.ts';
import { byValue } from '../kinds/order.ts';
import { ownRowsOf } from './row-queries.ts';

/** What is searched for. */
export interface Search {
  /** In lower case. All of them are in the name or the namespace of an object. */
  readonly words: readonly string[];
  readonly kind: string;
}

export interface Found extends Pick<Row, 'uid' | 'namespace' | 'name' | 'status' | 'tone'> {
  readonly kind: string;
  /** How well the name matches; 0 is best. */
  readonly rank: number;
}

export const MOST = 12;

type Named = Pick<Found, 'namespace' | 'name'>;

export function isFound({ namespace, name }: Named, words: readonly string[]): boolean {
  return words.every((word) => `${namespace}/${name}`.includes(word));
}

export function rankOf({ name }: Named, words: readonly string[]): number {
  if (words.includes(name)) return 0;
  return name.startsWith(words[0] ?? '') ? 1 : 2;
}

export function compareFound(one: Found, other: Found): number {
  return byValue(one.rank, other.rank) || byValue(one.name, other.name);
}

export function search({ words, kind }: Search, live: LiveQueries) {
  return ownRowsOf(live, kindOf(kind)).pipe(
    liveFilter((row: Row) => isFound(row, words)),
    liveMap((row: Row): Found => {
      const { uid, namespace, name, status, tone } = row;
      return { kind, uid, namespace, name, status, tone, rank: rankOf(row, words) };
    }),
    liveSort(compareFound),
    liveWindow(0, MOST),
  );
}
