/** The state of a view as a pure machine: which rows it shows, and whether the run that brings them goes on. A tab takes the state of its worker. */

/** Which rows are shown. */
export type ShownRows =
  /** No row has come yet, and no complete answer. */
  | 'none'
  /** Those of the run, which has not all of them yet, or no longer keeps them complete. */
  | 'incomplete'
  /** The complete answer of the run. */
  | 'complete'
  /** The complete answer of a former run, because that of the present one is expected with the next frame. */
  | 'former'
  /** Rows of a former run that nobody keeps right, because the present one has no complete answer yet. */
  | 'outdated';

/** `begun`: it has not ended · `stopped`: with its informers · `ended`: otherwise, so that no restart continues it. */
export type ShownRun = 'begun' | 'stopped' | 'ended' | 'failed';

export interface Shown {
  readonly rows: ShownRows;
  readonly run: ShownRun;
  /** Why the run has failed. */
  readonly error?: Error | undefined;
}

/** What happens to a view. */
export type ShownInput =
  /** A run begins (or the source is asked again), or ends. */
  | ShownRun
  /** The next answer takes its time: an informer is not synced. */
  | 'behind'
  /** There is no complete answer, or no longer: its informers were stopped, or have not listed. */
  | 'incomplete'
  /** The run has brought rows, but not all. */
  | 'partial'
  /** The run has brought its complete answer, or a change of it. */
  | 'complete';

type Next = { readonly [Before in ShownRows]?: ShownRows };

/** Rows that nobody completes, or keeps complete. */
const LESS: Next = { complete: 'incomplete', former: 'outdated' };

/** The rows after an input, where they are others than before. */
const ROWS: { readonly [In in ShownInput]?: Next } = {
  begun: { incomplete: 'outdated', complete: 'former' },
  behind: { former: 'outdated' },
  incomplete: LESS,
  stopped: LESS,
  partial: { complete: 'incomplete', former: 'outdated', none: 'incomplete' },
};

const RUNS: readonly ShownInput[] = ['begun', 'stopped', 'ended', 'failed'];

export const NOTHING_SHOWN: Shown = { rows: 'none', run: 'begun' };

/** What is shown after an input. `error` is that of a failure. */
export function nextShown(shown: Shown, input: ShownInput, error?: Error): Shown {
  if (input === shown.rows) return shown;
  const rows = input === 'complete' ? input : (ROWS[input]?.[shown.rows] ?? shown.rows);
  if (RUNS.includes(input)) return { rows, run: input as ShownRun, error };
  return rows === shown.rows ? shown : { ...shown, rows };
}

/** How rows look, if they do not simply grow: `synced` or `stale` of a snapshot. */
export const LOOKS: { readonly [Rows in ShownRows]?: 'synced' | 'stale' } = {
  complete: 'synced',
  former: 'synced',
  outdated: 'stale',
};
