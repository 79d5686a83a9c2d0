/** Combines tests with and, or, not. Predicates of changes and conditions of objects are tests. */
import { synchronous } from '../rx/is-thenable.ts';

/** A boolean function of a value. */
export type Test<V> = (value: V) => boolean;

/** Calls a test. Throws a `TypeError` if the test returns a Promise, because a Promise always counts as true. */
export function ask<V>(test: Test<V>, value: V): boolean {
  return synchronous(test(value), 'a predicate or condition');
}

/**
 * True if all tests are true. Calls them in order, up to the first that is false. Without tests: true.
 *
 * @example
 * ```ts
 * import { and, conditionTrue, exists } from 'rx-informer';
 *
 * const ready = and(exists, conditionTrue('Ready'));
 * ready({ status: { conditions: [{ type: 'Ready', status: 'True' }] } } as object); // => true
 * ready(undefined); // => false
 * ```
 */
export function and<V>(...tests: readonly Test<V>[]): Test<V> {
  return (value) => tests.every((test) => ask(test, value));
}

/**
 * True if at least one test is true. Calls them in order, up to the first that is true. Without tests: false.
 *
 * @example
 * ```ts
 * import { annotationsChanged, generationChanged, or } from 'rx-informer';
 *
 * // Reconciles after a change of the spec or of the annotations, not of the status, which the controller writes itself.
 * const predicate = or(generationChanged, annotationsChanged());
 * const metadata = { name: 'web', uid: 'u1', resourceVersion: '5', generation: 1 };
 * const previous = { metadata };
 * const object = { metadata: { ...metadata, annotations: { paused: 'true' } } };
 * predicate({ type: 'updated', cause: 'watch', key: 'shop/web', previous, object }); // => true
 * ```
 */
export function or<V>(...tests: readonly Test<V>[]): Test<V> {
  return (value) => tests.some((test) => ask(test, value));
}

/** True if the test is false. */
export function not<V>(test: Test<V>): Test<V> {
  return (value) => !ask(test, value);
}
