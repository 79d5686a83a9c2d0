/** Paths into objects as text: `status.phase`, `metadata.labels["app.kubernetes.io/name"]`. Arrays are passed through. */

import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { parsePath, type Steps } from '../../meta/object-path.ts';

/**
 * The value at a path: a list if an array is on the way, also at the end; otherwise a value, or `undefined` if it is absent.
 * `null` counts as absent, and only own properties count.
 */
function shownAt(object: unknown, steps: Steps, from = 0): unknown {
  let value = object;
  for (let at = from; value !== null && value !== undefined; at++) {
    if (Array.isArray(value)) return shownIn(value, steps, at);
    if (at === steps.length) return value;
    const name = steps[at] as string;
    if (typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return undefined;
}

/** The values in a list. A separate function, because a closure in `shownAt` would make each turn of its loop slower. */
function shownIn(values: readonly unknown[], steps: Steps, at: number): readonly unknown[] {
  return values.flatMap((each) => shownAt(each, steps, at) ?? []);
}

/**
 * Reads what is shown at a path. The name and the namespace, by which many objects are searched, are read as for a key, which is
 * several times as fast.
 */
export function shownBy(path: string): (object: unknown) => unknown {
  const steps = parsePath(path) ?? [];
  const isName = path === 'metadata.name';
  const isNamespace = path === 'metadata.namespace';
  const shownBySteps = (object: unknown) => shownAt(object, steps);
  if (!isName && !isNamespace) return shownBySteps;
  return (object) => {
    const metadata = (object as KubernetesObject | null)?.metadata;
    const text = isName ? metadata?.name : metadata?.namespace;
    return typeof text === 'string' ? text : shownBySteps(object);
  };
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
