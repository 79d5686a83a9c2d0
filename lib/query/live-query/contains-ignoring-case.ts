/** A condition on text that ignores case. */
import { checkedPath, checkedText } from './condition.ts';
import { someAt } from './path.ts';
import { stepsOf } from './predicate.ts';
import { readingOf } from './reading.ts';
import type { KeyedTest } from './where.ts';

/**
 * A condition that holds if the text of some value at a path contains a text, whatever the case of both. Both are compared in lower
 * case, without regard to the language. Equal paths and texts make equal queries. An empty text holds for every object that has text
 * at the path, so leave the condition out while a search box is empty.
 *
 * The condition is a function with a key, so a query with it cannot be sent as JSON. The path is not checked by the
 * compiler, and with `as: 'metadata'` a path outside of `metadata` finds nothing. Throws a `TypeError` if the path is not valid, or
 * the text is not text.
 *
 * @example
 * ```ts
 * import { containsIgnoringCase, liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 *
 * const { test } = containsIgnoringCase('metadata.labels.team', 'shop');
 * test({ metadata: { name: 'web', labels: { team: 'WebShop' } } } as never, 0); // => true
 * liveQuery({ from: pods, where: containsIgnoringCase('metadata.name', 'Web') });
 * ```
 */
export function containsIgnoringCase(path: string, text: string): KeyedTest<unknown> {
  const checked = checkedPath('the path of containsIgnoringCase', path);
  const steps = stepsOf(checked);
  const wanted = checkedText('the text of containsIgnoringCase', text).toLowerCase();
  const read = readingOf('text');
  const isIn = (value: unknown) => {
    const found = read(value);
    return typeof found === 'string' && found.toLowerCase().includes(wanted);
  };
  return {
    key: `containsIgnoringCase(${JSON.stringify(checked)}, ${JSON.stringify(wanted)})`,
    test: (object) => someAt(object, steps, isIn),
  };
}
