/** What a view shows, as a pure machine: which rows there are, and what has become of the run that brings them. */

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

/** `open`: it has not ended · `stopped`: with its informers · `ended`: otherwise, so that no restart continues it. */
export type ShownRun = 'open' | 'stopped' | 'ended' | 'failed';

export interface Shown {
  readonly rows: ShownRows;
  readonly run: ShownRun;
  /** Why the run has failed. */
  readonly error?: Error | undefined;
}

/** What happens to a view. */
export type ShownInput =
  /** A run begins, or the source is asked again. */
  | 'begun'
  /** The next answer takes its time: an informer is not synced. */
  | 'behind'
  /** All informers were stopped, but the run has not ended. */
  | 'unfollowed'
  /** The run has brought its complete answer, or a change of it. */
  | 'complete'
  /** It has brought rows that are not all. */
  | 'partial'
  /** It has brought nothing, and is not complete. */
  | 'empty'
  /** Its answer is refused, so former rows, which would pass for it, may not be shown. */
  | 'refused'
  /** Nothing may be shown any longer. */
  | 'cleared'
  | Exclude<ShownRun, 'open'>;

/** Rows that nobody completes, or keeps complete. */
const LESS = { complete: 'incomplete', former: 'outdated' } as const;

/** The rows after an input, where they are others than before. */
const ROWS: { readonly [In in ShownInput]?: { readonly [Before in ShownRows]?: ShownRows } } = {
  begun: { incomplete: 'outdated', complete: 'former' },
  behind: { former: 'outdated' },
  unfollowed: LESS,
  stopped: LESS,
  empty: LESS,
  partial: { ...LESS, none: 'incomplete' },
  complete: { none: 'complete', incomplete: 'complete', former: 'complete', outdated: 'complete' },
  refused: { complete: 'incomplete', former: 'none', outdated: 'none' },
  cleared: { incomplete: 'none', complete: 'none', former: 'none', outdated: 'none' },
};

export const NOTHING_SHOWN: Shown = { rows: 'none', run: 'open' };

/** What is shown after an input. `cause` is that of a failure. */
export function nextShown({ rows, run, error }: Shown, input: ShownInput, cause?: Error): Shown {
  const now = ROWS[input]?.[rows] ?? rows;
  if (input === 'behind' || input === 'unfollowed') return { rows: now, run, error };
  const hasEnded = input === 'stopped' || input === 'ended' || input === 'failed';
  return hasEnded ? { rows: now, run: input, error: cause } : { rows: now, run: 'open' };
}

/** How rows look: `synced` and `stale` of a snapshot. */
export function lookOf({ rows }: Shown): 'unsynced' | 'synced' | 'stale' {
  if (rows === 'outdated') return 'stale';
  return rows === 'complete' || rows === 'former' ? 'synced' : 'unsynced';
}
