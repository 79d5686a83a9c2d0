/** Which pods are looked at: some text, a phase, a namespace. */
import type { PodRow } from './pod-row.ts';

/** Empty fields let everything through. */
export interface Filter {
  readonly text: string;
  readonly phase: string;
  readonly namespace: string;
  /** Only pods in trouble. */
  readonly trouble: boolean;
}

/** Lets everything through. */
export const noFilter: Filter = { text: '', phase: '', namespace: '', trouble: false };

/** Whether a filter lets everything through. */
export function isOpen(filter: Filter): boolean {
  return filter.text.trim() === '' && !filter.phase && !filter.namespace && !filter.trouble;
}

/** The test of a filter. Words of the text must all occur, in any order. */
export function testOf(filter: Filter): (row: PodRow) => boolean {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const { phase, namespace, trouble } = filter;
  return (row) =>
    (phase === '' || row.phase === phase) &&
    (namespace === '' || row.namespace === namespace) &&
    (!trouble || row.tone === 'bad') &&
    words.every((word) => row.text.includes(word));
}
