/** The search for objects of a kind by name. */
import { type ChangeStream, liveFilter, liveMap, liveSort, liveWindow } from 'rx-informer';
import type { Row } from '../kinds/kind.ts';
import { byValue } from '../kinds/order.ts';

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

function isFound({ namespace, name }: Named, words: readonly string[]): boolean {
  return words.every((word) => `${namespace}/${name}`.includes(word));
}

function rankOf({ name }: Named, words: readonly string[]): number {
  if (words.includes(name)) return 0;
  return name.startsWith(words[0] ?? '') ? 1 : 2;
}

export function compareFound(one: Found, other: Found): number {
  return byValue(one.rank, other.rank) || byValue(one.name, other.name);
}

/** The best of the rows of a kind. */
export function found(rows$: ChangeStream<Row>, { words, kind }: Search) {
  return rows$.pipe(
    liveFilter((row: Row) => isFound(row, words)),
    liveMap((row: Row): Found => {
      const { uid, namespace, name, status, tone } = row;
      return { kind, uid, namespace, name, status, tone, rank: rankOf(row, words) };
    }),
    liveSort(compareFound),
    liveWindow(0, MOST),
  );
}
