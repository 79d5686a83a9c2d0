/** Paths into objects as text: `status.phase`, `metadata.labels["app.kubernetes.io/name"]`. Arrays are passed through. */

/** The names along a path. */
export type Steps = readonly string[];

const NAME = /^[^.[\]"\s]+/;
const QUOTED = /^\["((?:[^"\\]|\\.)*)"\]/;

/** The names along a path; `undefined` if the text is not a path. */
export function parsePath(text: string): Steps | undefined {
  const steps: string[] = [];
  let rest = text;
  while (rest !== '') {
    const quoted = QUOTED.exec(rest);
    if (quoted === null && steps.length > 0) {
      if (!rest.startsWith('.')) return undefined;
      rest = rest.slice(1);
    }
    const found = quoted ?? NAME.exec(rest);
    if (found === null) return undefined;
    const step = quoted === null ? found[0] : unquoted(quoted[1] as string);
    if (step === undefined) return undefined;
    steps.push(step);
    rest = rest.slice(found[0].length);
  }
  return steps.length === 0 ? undefined : steps;
}

function unquoted(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}

/** The one text of a path. */
export function formatPath(steps: Steps): string {
  return steps
    .map((step, at) => {
      if (NAME.exec(step)?.[0] !== step) return `[${JSON.stringify(step)}]`;
      return at === 0 ? step : `.${step}`;
    })
    .join('');
}

/**
 * Calls `visit` for each value at a path until it returns true, and returns whether it did. An array is passed through,
 * also at the end. `null` counts as absent, and only own properties count.
 */
export function someAt(
  value: unknown,
  steps: Steps,
  visit: (value: unknown) => boolean,
  at = 0,
): boolean {
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.some((element) => someAt(element, steps, visit, at));
  if (at === steps.length) return visit(value);
  const name = steps[at] as string;
  if (typeof value !== 'object' || !Object.hasOwn(value, name)) return false;
  return someAt((value as Record<string, unknown>)[name], steps, visit, at + 1);
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
