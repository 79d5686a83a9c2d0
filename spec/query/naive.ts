/** The naive answer of a pipeline, and its comparison with what a consumer holds. */
import { expect } from 'vitest';
import type { Mirror } from './mirror.ts';
import type { NaiveAnswer, PipelineStep } from './steps.ts';
import type { Item, World } from './world.ts';

/** Computes each step over the complete state of the source. */
export function naiveOf(world: World, steps: readonly PipelineStep[]): NaiveAnswer {
  const rows = [...world.items.values()].map((object) => ({
    id: object.metadata.uid,
    key: object.metadata.name,
    object,
  }));
  const first: NaiveAnswer = { rows, ordered: false, total: rows.length };
  return steps.reduce((answer, each) => each.naive(answer), first);
}

export function expectEqual(mirror: Mirror<Item>, naive: NaiveAnswer): void {
  const ids = naive.rows.map(({ id }) => id);
  expect(mirror.ids()).toEqual(naive.ordered ? ids : ids.sort());
  for (const { id, key, object } of naive.rows) {
    expect(mirror.rows.get(id)?.key).toBe(key);
    expect(mirror.rows.get(id)?.object).toEqual(object);
  }
  if (naive.ordered) expect(mirror.sets.at(-1)?.total).toBe(naive.total);
}
