/** A scenario of the suite of ListerWatchers, and the comparison of a watch with the history that all scenarios share. */
import { expect } from 'vitest';
import { lineOf, type State } from './history.ts';
import type { Watching } from './reading.ts';
import { quiet, type Traits, until, type World } from './world.ts';

/** A scenario: throws if the ListerWatcher breaks its law. */
export type Scenario = (world: World) => Promise<void>;

/** Registers a scenario; `unless` returns why it cannot apply to a kind of ListerWatcher, or `false` if it applies. */
export type Register = (
  title: string,
  scenario: Scenario,
  unless?: (traits: Traits) => string | false,
) => void;

/** The reason of a scenario that needs versions which can be forgotten. */
export const neverExpires = ({ expires = false }: Traits) => !expires && 'it forgets no version';

/** Checks received lines against the states that were written. */
export function agrees(world: World, lines: readonly string[], written: readonly State[]): void {
  const { polls = false, folds = false } = world.traits;
  const expected = written.map(lineOf);
  if (!polls && !folds) expect(lines).toEqual(expected);
  // A fold or a poll omits states. It shows no other state than those of the history, and none of them twice.
  expect(lines.filter((line) => !expected.includes(line))).toEqual([]);
  expect(lines.length).toBe(new Set(lines).size);
}

/** Waits until a watch shows these states of the collection, and checks each event against the history. */
export async function shows(
  world: World,
  watching: Watching,
  expected: readonly State[],
  truth: readonly string[],
): Promise<void> {
  const isThere = () => watching.truth.join() === truth.join();
  const seen = () => `Expected ${truth.join(', ')}; the watch shows ${watching.truth.join(', ')}`;
  await until(world, 'the watch shows the state of the server', isThere, seen);
  await quiet(world);
  expect(watching.truth).toEqual(truth);
  agrees(world, watching.lines, expected);
}
