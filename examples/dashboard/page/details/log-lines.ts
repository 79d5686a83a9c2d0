/** The lines of a log for the screen: a few paints per second, however many lines arrive. */
import { bufferTime, filter, materialize, type Observable, scan } from 'rxjs';

/** The last lines are kept, so that a log of any length fits. */
export const KEPT = 1000;
const PAINT_EVERY_MS = 200;

interface Line {
  readonly id: number;
  readonly text: string;
}

export interface Log {
  readonly lines: readonly Line[];
  /** Why no line follows; empty while the log is followed. */
  readonly end: string;
}

export const noLog: Log = { lines: [], end: '' };

/**
 * Collects the lines of a log. The end is an element of its own, because an error would discard the lines that wait for the
 * next paint, which are the last ones.
 */
export function logOf(
  texts$: Observable<string>,
  wordsOf: (error: unknown) => string,
): Observable<Log> {
  return texts$.pipe(
    materialize(),
    bufferTime(PAINT_EVERY_MS),
    filter((parts) => parts.length > 0),
    scan(({ lines }: Log, parts) => {
      const first = (lines.at(-1)?.id ?? 0) + 1;
      const texts = parts.flatMap((part) => (part.kind === 'N' ? [part.value] : []));
      const next = texts.map((text, at) => ({ id: first + at, text }));
      const last = parts.at(-1);
      const end = last?.kind === 'E' ? wordsOf(last.error) : last?.kind === 'C' ? ENDED : '';
      return { lines: [...lines, ...next].slice(-KEPT), end };
    }, noLog),
  );
}

const ENDED = 'The log ends here.';
