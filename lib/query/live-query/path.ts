/** Paths into objects as text: `status.phase`, `metadata.labels["app.kubernetes.io/name"]`. Arrays are passed through. */

import type { Steps } from '../../meta/object-path.ts';

/**
 * Calls `visit` for each value at a path until it returns true, and returns whether it did. An array is passed through,
 * also at the end. `null` counts as absent, and only own properties count.
 */
export function someAt(
  object: unknown,
  steps: Steps,
  visit: (value: unknown) => boolean,
  from = 0,
): boolean {
  let value = object;
  for (let at = from; at <= steps.length; at++) {
    if (value === null || value === undefined) return false;
    if (Array.isArray(value)) return someOf(value, steps, visit, at);
    if (at === steps.length) return visit(value);
    const name = steps[at] as string;
    if (typeof value !== 'object' || !Object.hasOwn(value, name)) return false;
    value = (value as Record<string, unknown>)[name];
  }
  return false;
}

function someOf(
  values: readonly unknown[],
  steps: Steps,
  visit: (value: unknown) => boolean,
  at: number,
): boolean {
  return values.some((each) => someAt(each, steps, visit, at));
}

/** The value at a path: a list if an array is on the way, otherwise a value, or `undefined` if it is absent. */
export function shownAt(object: unknown, steps: Steps): unknown {
  let value = object;
  for (let at = 0; at <= steps.length; at++) {
    if (value === null || value === undefined) return undefined;
    if (Array.isArray(value)) {
      const list: unknown[] = [];
      someAt(value, steps, (each) => list.push(each) === 0, at);
      return list;
    }
    if (at === steps.length) return value;
    const name = steps[at] as string;
    if (typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return undefined;
}

/**
 * The path of a label, whose name may have dots. Like every path with a name in `["…"]`, it is text.
 *
 * @example
 * ```ts
 * import { label } from 'rx-informer';
 *
 * label('app.kubernetes.io/name'); // => 'metadata.labels["app.kubernetes.io/name"]'
 * ```
 */
export function label<const Name extends string>(name: Name): `metadata.labels["${Name}"]` {
  return `metadata.labels[${JSON.stringify(name)}]` as `metadata.labels["${Name}"]`;
}

/**
 * The path of an annotation, whose name may have dots.
 *
 * @example
 * ```ts
 * import { annotation } from 'rx-informer';
 *
 * annotation('example.com/owner'); // => 'metadata.annotations["example.com/owner"]'
 * ```
 */
export function annotation<const Name extends string>(
  name: Name,
): `metadata.annotations["${Name}"]` {
  return `metadata.annotations[${JSON.stringify(name)}]` as `metadata.annotations["${Name}"]`;
}
