/** The filter of the table: text, phase, namespace. */
import type { PodRow } from './pod-row.ts';

/** A filter. An empty field matches every pod. */
export interface Filter {
  readonly text: string;
  readonly phase: string;
  readonly namespace: string;
  /** Only pods in trouble. */
  readonly trouble: boolean;
}

/** The filter that matches every pod. */
export const noFilter: Filter = { text: '', phase: '', namespace: '', trouble: false };

/** Whether a filter matches every pod. */
export function isOpen(filter: Filter): boolean {
  return filter.text.trim() === '' && !filter.phase && !filter.namespace && !filter.trouble;
}

/** The predicate of a filter. All words of the text must occur, in any order. */
export function testOf(filter: Filter): (row: PodRow) => boolean {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const { phase, namespace, trouble } = filter;
  return (row) =>
    (phase === '' || row.phase === phase) &&
    (namespace === '' || row.namespace === namespace) &&
    (!trouble || row.tone === 'bad') &&
    words.every((word) => row.text.includes(word));
}
