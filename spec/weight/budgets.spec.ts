/** What an application pays for the parts of the library that it imports: minified, brotli, without rxjs. */
import { describe, expect, it } from 'vitest';
import { bundleSize } from './bundle.ts';

interface Budget {
  readonly what: string;
  readonly names: string;
  readonly entry?: string;
  /** The most bytes that are allowed. */
  readonly budget: number;
  /** The goal, and why it is not reached, where the budget is above it. */
  readonly goal?: readonly [bytes: number, reason: string];
}

const BUDGETS: readonly Budget[] = [
  {
    what: 'the informer path: client, list-watch and informer',
    names: 'createClient, createListWatch, createSharedInformer',
    budget: 40_000,
    goal: [24_000, ''],
  },
  {
    what: 'the bare pipe',
    names: 'createClient, createListWatch, reflect, deltaFifo, applyDeltas, createIndexer',
    budget: 28_200,
    goal: [18_000, ''],
  },
  {
    what: 'list-watch and reflector',
    names: 'createListWatch, reflect',
    budget: 19_000,
    goal: [12_000, ''],
  },
  { what: 'a work queue', names: 'createWorkQueue', budget: 2_000 },
  { what: 'a store', names: 'createIndexer', budget: 2_000 },
  { what: 'a view', names: 'toView', budget: 1_200 },
  { what: 'a controller', names: 'createController', budget: 12_000 },
  { what: 'one resource', names: 'pods', entry: 'lib/resources/index.ts', budget: 300 },
];

describe('budgets', () => {
  it.each(BUDGETS)('X21: $what is at most $budget bytes', async ({ names, entry, budget }) => {
    expect(await bundleSize(names, entry)).toBeLessThanOrEqual(budget);
  });

  it('X21: a budget is not above its goal without need', () => {
    for (const { budget, goal } of BUDGETS) expect(goal?.[0] ?? 0).toBeLessThan(budget);
  });
});
