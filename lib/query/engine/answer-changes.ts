/** Answers, and what changed in them, as the changes of a set. */
import { type Change, foldChangeById, type Net, unfold } from '../../delta/net-change.ts';
import { ChunkedOrder } from '../order/chunked-order.ts';
import type { Arrangement, Machine } from './machine.ts';

/** The whole answer, as changes that add each row. */
export function additionsOf<Out>({ answer }: Machine<Out>): Change<Out>[] {
  const added: Change<Out>[] = [];
  for (const [id, { key, object }] of answer.entries()) added.push({ id, key, object });
  return added;
}

/** The first set of a machine: its whole answer. */
export function firstOf<Out>(
  machine: Machine<Out>,
  arrangement: Arrangement<Out> | undefined,
): readonly Change<Out>[] | (() => readonly Change<Out>[]) {
  const { order } = arrangement ?? {};
  // When they are read: a view reads the order only.
  return order instanceof ChunkedOrder ? () => order.additions() : additionsOf(machine);
}

/** Several lists of changes, one after another, as one list. */
export function inOne<Out>(lists: readonly (readonly Change<Out>[])[]): readonly Change<Out>[] {
  const [first = [], ...more] = lists.filter((list) => list.length > 0);
  if (more.length === 0) return first;
  const nets = new Map<string, Net<Out>>();
  for (const list of [first, ...more]) for (const change of list) foldChangeById(nets, change);
  return unfold(nets.values());
}
