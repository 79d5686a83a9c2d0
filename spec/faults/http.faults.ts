/** Judges seeds over real HTTP and a real clock, including sockets, pools and half-open connections. */
import { expect, it } from 'vitest';
import { runHttp } from './http-run.ts';
import { failures, type Outcome, seedsOf, summary } from './outcome.ts';

/** The number of seeds that run concurrently. */
const TOGETHER = 5;

const seeds = seedsOf(20);

it(`${seeds.length} seeds over HTTP and a proxy end in the state of the server`, async () => {
  const startedMs = performance.now();
  const outcomes: Outcome[] = [];
  const left = [...seeds];
  const lane = async () => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      outcomes.push(await runHttp(seed));
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, lane));
  process.stdout.write(`over HTTP: ${summary(outcomes, startedMs)}\n`);
  expect(failures(outcomes)).toBe('');
});
