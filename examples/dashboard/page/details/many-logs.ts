/**
 * The lines of several logs as one. They are read again and again instead of being followed, because each log that is followed takes
 * one of the few connections of a browser.
 */
import {
  catchError,
  concatMap,
  defer,
  from,
  map,
  mergeMap,
  type Observable,
  of,
  toArray,
} from 'rxjs';

/** A container whose log is read. */
export interface LogSource {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** What its lines begin with. */
  readonly label: string;
}

export interface LogRequest {
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly tailLines?: number;
  readonly sinceTime?: string;
}

interface Stamped {
  readonly stamp: string;
  readonly text: string;
}

/** The server removes zeros at the end of a fraction, so that stamps are no texts in order. */
function comparable(stamp: string): string {
  const [seconds = '', fraction = ''] = stamp.replace(/Z$/, '').split('.');
  return `${seconds}.${fraction.padEnd(9, '0')}`;
}

function lineIn(line: string, label: string): Stamped {
  const at = line.indexOf(' ');
  const [stamp, text] = at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
  return { stamp, text: `${label}  ${text}` };
}

/**
 * Reads the logs once for each tick, one after the other. The lines of a round are in the order of their times. A log that cannot be read
 * says so once.
 */
export function manyLogs(
  sources: readonly LogSource[],
  read: (source: LogSource, request: LogRequest) => Observable<string>,
  ticks$: Observable<unknown>,
  options: { readonly tailLines: number; readonly wordsOf: (error: unknown) => string },
): Observable<string> {
  const { tailLines, wordsOf } = options;
  return defer(() => {
    const last = new Map<LogSource, string>();
    const failed = new Set<LogSource>();
    const fresh = (source: LogSource) => {
      const sinceTime = last.get(source);
      const request = sinceTime === undefined ? { tailLines } : { sinceTime };
      return read(source, { timestamps: true, ...request }).pipe(
        map((line) => lineIn(line, source.label)),
        toArray(),
        map((lines) => {
          const after = comparable(sinceTime ?? '');
          const found = lines.filter(({ stamp }) => comparable(stamp) > after);
          const { stamp } = found.at(-1) ?? {};
          if (stamp !== undefined) last.set(source, stamp);
          return found;
        }),
        catchError((error: unknown) => {
          if (failed.has(source)) return of([]);
          failed.add(source);
          return of([{ stamp: '', text: `${source.label}  (${wordsOf(error)})` }]);
        }),
      );
    };
    return ticks$.pipe(
      concatMap(() => from(sources).pipe(concatMap(fresh), toArray())),
      mergeMap((found) => {
        const lines = found.flat();
        const key = ({ stamp }: Stamped) => comparable(stamp);
        lines.sort((one, other) => (key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : 0));
        return lines.map(({ text }) => text);
      }),
    );
  });
}
