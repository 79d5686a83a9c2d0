/**
 * `ChangeStream`, an Observable of change sets whose `pipe` may end with a function that returns no Observable, such as
 * `toView()`. The type of RxJS permits only operators, but at run time its `pipe` applies any functions.
 */
import type { Observable, OperatorFunction, UnaryFunction } from 'rxjs';
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
