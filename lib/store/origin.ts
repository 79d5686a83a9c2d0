/**
 * Where the rows of a stream come from. Each change set carries it, so that it passes every operator of RxJS. It is noted beside
 * streams, too, which is known before the first set.
 */
import { isObservable, type Observable } from 'rxjs';

/** Where the rows of a change set come from, in the types that each stage knows. */
export interface Origin {
  /** One more than the highest rank of the sources; 0 for a stream that is no live operator's. */
  readonly rank: number;
  /** The status of each informer that the stream reads. */
  readonly informers: ReadonlySet<Observable<unknown>>;
  /** The rows that the operators before it have refused. */
  readonly refusedRows: ReadonlySet<object>;
  /** Whether the name of a cluster stands before each id and key. */
  readonly isOverClusters?: boolean | undefined;
  /** How many names stand before the id and key of an object. @defaultValue 1 over clusters, otherwise 0 */
  readonly names?: number | undefined;
  /** How many parts stand behind them. @defaultValue 0 */
  readonly parts?: number | undefined;
}

const NONE: ReadonlySet<never> = /* @__PURE__ */ new Set();

/** That of a stream of which nothing is known. */
const UNKNOWN: Origin = { rank: 0, informers: NONE, refusedRows: NONE };

/** The origin of the streams of an informer. */
export function originFrom(informer: Partial<Origin>): Origin {
  return { ...UNKNOWN, ...informer };
}

/** The origin of a stream, or the stream that it passes on. */
const notes = /* @__PURE__ */ new WeakMap<object, Origin | Observable<unknown>>();

/** Notes the origin of a stream, or the stream whose values it passes on. Returns the stream. */
export function noteOrigin<S extends object>(stream: S, note: Origin | Observable<unknown>): S {
  notes.set(stream, note);
  return stream;
}

/** The origin of a stream. Operators of RxJS need no note, because RxJS keeps their source in a field. */
export function originOf(stream: Observable<unknown>): Origin {
  const note = notes.get(stream);
  if (note !== undefined && !isObservable(note)) return note;
  const source = note ?? (stream as { readonly source?: unknown }).source;
  return isObservable(source) ? originOf(source) : UNKNOWN;
}
