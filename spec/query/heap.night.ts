/** The memory that queries that come and go leave behind. The soak test does the same over a million events. */
import { config } from 'rxjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { heapMb } from '../soak/heap.ts';
import { allReported } from '../support/reported-errors.ts';
import { ComingsAndGoings } from './model/comings-and-goings.ts';

// The functions that throw are reported, because no view shows what they refused.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});
afterAll(async () => {
  await allReported();
  config.onUnhandledError = null;
});

it('Q77: queries that come and go leave no memory behind', async () => {
  const queries = new ComingsAndGoings(7);
  queries.run(2_000);
  const early = await heapMb();
  queries.run(18_000);
  const late = await heapMb();
  expect(queries.queries).toBeGreaterThan(400);
  expect(queries.sets).toBeGreaterThan(20_000);
  expect(late).toBeLessThan(early * 1.05);
  queries.end();
});
