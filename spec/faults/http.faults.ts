/** Judges seeds over real HTTP and a real clock, including sockets, pools and half-open connections. */
import { expect, it } from 'vitest';
import { playSeeds } from '../support/campaign.ts';
import { runHttp } from './http-run.ts';
import { failures, seedsOfShare, summary } from './outcome.ts';

/** The number of seeds that run concurrently. */
const TOGETHER = 5;

const seeds = seedsOfShare(20);

it(`${seeds.length} seeds over HTTP and a proxy end in the state of the server`, async () => {
  const startedMs = performance.now();
  const outcomes = await playSeeds(seeds, runHttp, TOGETHER);
  process.stdout.write(`over HTTP: ${summary(outcomes, startedMs)}\n`);
  expect(failures(outcomes)).toBe('');
});
