/**
 * `ChangeStream`, an Observable of change sets whose `pipe` may end with a function that returns no Observable, such as
 * `toView()`. The type of RxJS permits only operators, but at run time its `pipe` applies any functions.
 */
import { isObservable, type Observable, type OperatorFunction, type UnaryFunction } from 'rxjs';
import type { ChangeSet, OrderedChangeSet } from './change-set.ts';

type Op<A, B> = OperatorFunction<A, B>;
type End<A, R> = UnaryFunction<Observable<A>, R>;

/** The signatures of `pipe` with operators and a last function of any result. */
export interface EndingPipe<S> {
  <R>(end: End<S, R>): R;
  <A, R>(op1: Op<S, A>, end: End<A, R>): R;
  <A, B, R>(op1: Op<S, A>, op2: Op<A, B>, end: End<B, R>): R;
  <A, B, C, R>(op1: Op<S, A>, op2: Op<A, B>, op3: Op<B, C>, end: End<C, R>): R;
  <A, B, C, D, R>(op1: Op<S, A>, op2: Op<A, B>, op3: Op<B, C>, op4: Op<C, D>, end: End<D, R>): R;
  <A, B, C, D, E, R>(
    op1: Op<S, A>,
    op2: Op<A, B>,
    op3: Op<B, C>,
    op4: Op<C, D>,
    op5: Op<D, E>,
    end: End<E, R>,
  ): R;
  <A, B, C, D, E, F, R>(
    op1: Op<S, A>,
    op2: Op<A, B>,
    op3: Op<B, C>,
    op4: Op<C, D>,
    op5: Op<D, E>,
    op6: Op<E, F>,
    end: End<F, R>,
  ): R;
  <A, B, C, D, E, F, G, R>(
    op1: Op<S, A>,
    op2: Op<A, B>,
    op3: Op<B, C>,
    op4: Op<C, D>,
    op5: Op<D, E>,
    op6: Op<E, F>,
    op7: Op<F, G>,
    end: End<G, R>,
  ): R;
  <A, B, C, D, E, F, G, H, R>(
    op1: Op<S, A>,
    op2: Op<A, B>,
    op3: Op<B, C>,
    op4: Op<C, D>,
    op5: Op<D, E>,
    op6: Op<E, F>,
    op7: Op<F, G>,
    op8: Op<G, H>,
    end: End<H, R>,
  ): R;
}

/** An Observable of sets whose pipe may end in a view. */
export interface SetStream<S> extends Observable<S> {
  // The signatures of RxJS come last, because the compiler infers the type of the values from the last ones.
  pipe: EndingPipe<S> & Observable<S>['pipe'];
}

/** An Observable of change sets that can be piped into a view. */
export interface ChangeStream<T> extends SetStream<ChangeSet<T>> {}

/** An Observable of ordered change sets that can be piped into a view. */
export interface OrderedChangeStream<T> extends SetStream<OrderedChangeSet<T>> {}

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
  /** How many names stand before the id and key of an object. @defaultValue 1 over clusters, otherwise 0 */
  readonly names?: number | undefined;
  /** How many parts stand behind them. @defaultValue 0 */
  readonly parts?: number | undefined;
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
