/** Evaluates the subset of JSONPath that printer columns use: members, indices, and filters by value. */

type Step = (values: readonly unknown[]) => unknown[];

const STEPS =
  /\.((?:\\.|[^.[\\])+)|\[(\d+)\]|\['([^']+)'\]|\[\*\]|\[\?\(@\.([\w.]+)\s*==\s*["']([^"']*)["']\)\]/gy;

const member =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name)
        ? [(value as Record<string, unknown>)[name]]
        : [],
    );
const items: Step = (values) => values.flatMap((value) => (Array.isArray(value) ? value : []));

/** Compiles a path such as `.status.conditions[?(@.type=="Ready")].status`. Throws a `TypeError` on other syntax. */
export function jsonPath(path: string): (object: unknown) => unknown[] {
  const steps: Step[] = [];
  let read = 0;
  for (const match of path.matchAll(STEPS)) {
    const [text, name, index, quoted, filtered, wanted] = match;
    read += text.length;
    if (name !== undefined) steps.push(member(name.replace(/\\(.)/g, '$1')));
    else if (quoted !== undefined) steps.push(member(quoted));
    else if (index !== undefined) steps.push((values) => items(values).slice(+index, +index + 1));
    else if (filtered !== undefined) {
      const inner = jsonPath(`.${filtered}`);
      steps.push((values) => items(values).filter((item) => inner(item).includes(wanted)));
    } else steps.push(items);
  }
  if (read !== path.length) {
    throw new TypeError(
      `a printer column has the JSONPath ${JSON.stringify(path)}; supported are members, indices, [*] and [?(@.name=="value")]`,
    );
  }
  return (object) => steps.reduce<unknown[]>((values, step) => step(values), [object]);
}
