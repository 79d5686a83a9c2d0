/** Joins the parts of a large difference, of which none is shown before the last has come. */
import type { RowDifference } from './row-difference.ts';

const both = <V>(one: readonly V[] = [], other: readonly V[] = []) => [...one, ...other];

/** The parts of one query. */
export class JoinedParts {
  #before: RowDifference | undefined;

  /** The difference of which this is the last part; `undefined` while others follow. */
  join<Part extends RowDifference>(part: Part): Part | undefined {
    // The last part of a former difference may be missing, because the page was hidden. Then the next one begins with a reset.
    const before = part.reset ? undefined : this.#before;
    const all: Part = before
      ? {
          ...before,
          ...part,
          gone: both(before.gone, part.gone),
          rows: both(before.rows, part.rows),
        }
      : part;
    this.#before = part.more && all;
    return part.more ? undefined : all;
  }
}
