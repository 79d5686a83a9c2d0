/** Tests what a view shows, in all states and after all inputs of its machine. */
import { describe, expect, it } from 'vitest';
import {
  LOOKS,
  NOTHING_SHOWN,
  nextShown,
  type Shown,
  type ShownInput,
} from '../../lib/query/view/shown.ts';

const INPUTS = [
  ...['begun', 'stopped', 'ended', 'failed'],
  ...['behind', 'incomplete', 'partial', 'complete'],
] as readonly ShownInput[];
const cause = new Error('the pipe broke');

/** Every state that a view can have, each with the inputs that have led there first. */
function reachable(): Map<string, { readonly shown: Shown; readonly path: ShownInput[] }> {
  const found = new Map([['none begun', { shown: NOTHING_SHOWN, path: [] as ShownInput[] }]]);
  for (const { shown, path } of found.values()) {
    for (const input of INPUTS) {
      const next = nextShown(shown, input, input === 'failed' ? cause : undefined);
      const name = `${next.rows} ${next.run}`;
      if (!found.has(name)) found.set(name, { shown: next, path: [...path, input] });
    }
  }
  return found;
}

const all = [...reachable()].map(([name, { shown }]) => [name, shown] as const);
const rowsAfter = (shown: Shown, input: ShownInput) => nextShown(shown, input).rows;

describe('what a view shows', () => {
  it('Q11: has each kind of rows while a run is open, and after each end of a run', () => {
    const rows = ['none', 'incomplete', 'complete', 'former', 'outdated'];
    const names = rows.flatMap((kind) => {
      // Nothing is expected of a run that was stopped.
      const runs = ['begun', ...(kind === 'former' ? [] : ['stopped']), 'ended', 'failed'];
      return runs.map((run) => `${kind} ${run}`);
    });
    expect(all.map(([name]) => name).sort()).toEqual(names.sort());
  });

  // One column for each kind of rows. A dot: as before.
  const table = `
                none        incomplete  complete    former      outdated
    begun       .           outdated    former      .           .
    stopped     .           .           incomplete  outdated    .
    ended       .           .           .           .           .
    failed      .           .           .           .           .
    behind      .           .           .           outdated    .
    incomplete  .           .           incomplete  outdated    .
    partial     incomplete  .           incomplete  outdated    .
    complete    complete    complete    complete    complete    complete`;
  const [head = [], ...lines] = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));

  it('V17: former rows stand until an answer is complete', () => {
    expect(lines.map(([input]) => input)).toEqual(INPUTS);
    for (const [input, ...cells] of lines) {
      for (const [name, shown] of all) {
        const cell = cells[head.indexOf(shown.rows)];
        const expected = cell === '.' ? shown.rows : cell;
        expect(rowsAfter(shown, input as ShownInput), `${name} ${input}`).toBe(expected);
      }
    }
  });

  it('Q19: a run that has ended stays so until the next one begins', () => {
    for (const [name, shown] of all) {
      for (const input of INPUTS) {
        const { run } = nextShown(shown, input);
        const isOfRun = ['begun', 'stopped', 'ended', 'failed'].includes(input);
        const expected = isOfRun ? input : shown.run;
        expect(run, `${name} ${input}`).toBe(expected);
      }
    }
  });

  it('Q85: has an error exactly while its run has failed', () => {
    for (const [name, shown] of all) {
      expect(shown.error, name).toBe(shown.run === 'failed' ? cause : undefined);
    }
  });

  it('V21: looks synced with a complete answer only, and stale with rows that nobody keeps right', () => {
    const looks = all.map(([, shown]) => [shown.rows, LOOKS[shown.rows]]);
    expect(Object.fromEntries(looks)).toEqual({
      none: undefined,
      incomplete: undefined,
      complete: 'synced',
      former: 'synced',
      outdated: 'stale',
    });
  });
});
