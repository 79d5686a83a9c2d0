/** The naive answer of a pipeline, and its comparison with what a consumer holds. */
import { expectSame, type Mirror } from '../mirror.ts';
import type { Item, World } from '../world.ts';
import { type NaiveAnswer, type PipelineStep, rowsOfWorld, unordered } from './step.ts';

/** Computes each step over the complete state of the source; `undefined` if nothing may be emitted yet. */
export function naiveOf(
  world: Pick<World, 'items'>,
  steps: readonly PipelineStep[],
): NaiveAnswer | undefined {
  let answer: NaiveAnswer | undefined = unordered(rowsOfWorld(world));
  for (const each of steps) {
    if (each.isWaiting) answer = undefined;
    else if (answer !== undefined || each.hasOther) answer = each.naive(answer ?? unordered([]));
  }
  return answer;
}

function isSameItem(one: Item | undefined, other: Item): boolean {
  if (one === other) return true;
  return (
    one !== undefined &&
    Object.is(one.n, other.n) &&
    one.group === other.group &&
    one.metadata.name === other.metadata.name &&
    one.metadata.uid === other.metadata.uid
  );
}

export function expectEqual(mirror: Mirror<Item>, naive: NaiveAnswer | undefined): void {
  if (naive === undefined) {
    expectSame('the sets before a parameter has a value', mirror.sets.length, 0);
    return;
  }
  const ids = naive.rows.map(({ id }) => id);
  expectSame('the ids', mirror.ids(), naive.ordered ? ids : ids.sort());
  for (const { id, key, object } of naive.rows) {
    const row = mirror.rows.get(id);
    expectSame(`the key of ${id}`, row?.key, key);
    if (!isSameItem(row?.object, object)) expectSame(`the row ${id}`, row?.object, object);
  }
  if (naive.ordered) expectSame('the total', mirror.sets.at(-1)?.total, naive.total);
}
