/** And, or, not: over predicates of changes as over conditions of objects. */
import { isThenable } from '../rx/is-thenable.ts';

/** A question about a value. */
export type Test<V> = (value: V) => boolean;

/** The answer of a test. Throws a `TypeError` where that is a Promise, which would count as true whatever it becomes. */
export function ask<V>(test: Test<V>, value: V): boolean {
  const answer = test(value);
  if (!isThenable(answer)) return answer;
  // Nobody will look at how it ends.
  Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(
    'a predicate or condition returned a Promise; it must return synchronously, so load what it needs before, or in the reconcile',
  );
}

/**
 * True when all tests are; asks them in order, up to the first that is false. Of no test: true.
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
 * True when one test is; asks them in order, up to the first that is true. Of no test: false.
 *
 * @example
 * ```ts
 * import { annotationsChanged, generationChanged, or } from 'rx-informer';
 *
 * // A controller that is to hear of its spec and of its annotations, not of the status it writes itself.
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

/** True when the test is not. */
export function not<V>(test: Test<V>): Test<V> {
  return (value) => !ask(test, value);
}
