/** The origin of a stream of change sets: which informers it reads, for a view at the end of any pipe. */
import { isObservable, type Observable } from 'rxjs';

/** What is known of a stream, in the types that each stage knows. */
export interface Origin {
  /** One more than the highest rank of the sources; 0 for a stream that is no live operator's. */
  readonly rank: number;
  /** The status of each informer that the stream reads. */
  readonly informers: ReadonlySet<Observable<unknown>>;
  /** The rows that the operators before it have refused. */
  readonly refusedRows: ReadonlySet<object>;
  /** Whether the name of a cluster stands before each id and key. */
  readonly isOverClusters?: boolean | undefined;
}

const NONE: ReadonlySet<never> = /* @__PURE__ */ new Set();

/** That of a stream of which nothing is known. */
const UNKNOWN: Origin = { rank: 0, informers: NONE, refusedRows: NONE };

/** The origin of a stream, or the stream that it passes on. */
const notes = /* @__PURE__ */ new WeakMap<object, Partial<Origin> | Observable<unknown>>();

/** Notes a part of the origin of a stream, or the stream whose values it passes on. Returns the stream. */
export function noteOrigin<S extends object>(
  stream: S,
  note: Partial<Origin> | Observable<unknown>,
): S {
  notes.set(stream, note);
  return stream;
}

/** The origin of a stream. Operators of RxJS need no note, because RxJS keeps their source in a field. */
export function originOf(stream: Observable<unknown>): Origin {
  const note = notes.get(stream);
  if (note !== undefined && !isObservable(note)) return { ...UNKNOWN, ...note };
  const source = note ?? (stream as { readonly source?: unknown }).source;
  return isObservable(source) ? originOf(source) : UNKNOWN;
}
