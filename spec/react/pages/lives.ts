/** Runs random lives of a page with the React that is imported. */

import { expect, vi } from 'vitest';
import * as fc from '../../support/fast-check.ts';
import type { Step, WorldOptions } from './life.ts';
import { container, installPage } from './mini-dom.ts';

const clock = installPage();
const { createRoot } = await import('react-dom/client');
const { life, worldOptions } = await import('./life.ts');
const { World } = await import('./world.ts');

const errors: string[] = [];

function note(...texts: readonly unknown[]): void {
  const text = texts.map(String).join(' ');
  // React 18 also prints the errors that a boundary has caught.
  if (!text.startsWith('The above error occurred')) errors.push(text.slice(0, 300));
}

/** Checks one life. */
export async function checkLife(options: WorldOptions, steps: readonly Step[]): Promise<void> {
  errors.length = 0;
  vi.spyOn(console, 'error').mockImplementation(note);
  const onCaughtError = () => undefined;
  const root = createRoot(container(), { onCaughtError, onUncaughtError: note });
  const world = new World(clock, root, options);
  const wrong = () => [...world.wrong, ...errors];
  try {
    for (const { act, passMs } of steps) {
      world.act(act);
      if (passMs === undefined) await world.quiet();
      else await world.pass(passMs);
      if (wrong().length > 0) break;
    }
    if (wrong().length === 0) await world.end();
  } catch (error) {
    errors.push(String(error));
  }
  if (wrong().length > 0) await world.drop();
  expect(wrong()).toEqual([]);
}

/** Without it the lives are the same in each run. The nightly run gives the day. */
const SEED = Number(process.env['PAGE_SEED'] ?? 2);

/** Checks this many random lives. A failure prints the seed, and the shortest life that fails. */
export async function checkLives(numRuns: number): Promise<void> {
  await fc.assert(fc.asyncProperty(worldOptions, life, checkLife), { numRuns, seed: SEED | 0 });
}
