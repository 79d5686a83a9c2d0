/** Random graphs of live operators over long collections, compared with the naive answer. */

import { config } from 'rxjs';
import { beforeAll, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { runGraph } from './model/graph-run.ts';
import { graphScenario } from './model/graph-scenario.ts';

// The functions that throw are reported, because no view shows what they refused.
beforeAll(() => {
  config.onUnhandledError = () => undefined;
});

it('Q20: graphs hold the naive answer once their computations are finished, and emit once for one change', () => {
  let during = 0;
  let within = 0;
  const property = fc.property(graphScenario, (each) => {
    const ran = runGraph(each);
    during += ran.during;
    within += ran.within;
  });
  fc.assert(property, { numRuns: 80 });
  // The scenarios reach what they are for: events during computations, and within sets.
  expect(during).toBeGreaterThan(20);
  expect(within).toBeGreaterThan(20);
}, 60_000);
