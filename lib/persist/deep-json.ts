/** Writes JSON without recursion, for values that are nested too deeply for `JSON.stringify`, of which an API server accepts 10,000 levels. */

type Task = string | { readonly value: unknown };

function isNested(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * The JSON of a value of JSON; `undefined` if it has none. `kept` is called with each value and with the name of the member that it is
 * in, and returns what is written in its place; `undefined` leaves the member out.
 */
export function deepJson(
  root: unknown,
  member: string,
  kept: (value: unknown, member: string) => unknown,
): string | undefined {
  const plain = (value: unknown): string | undefined =>
    isNested(value) && typeof value['toJSON'] !== 'function' ? undefined : JSON.stringify(value);
  const whole = kept(root, member);
  if (!isNested(whole)) return plain(whole);
  const written: string[] = [];
  const tasks: Task[] = [{ value: whole }];
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    if (typeof task === 'string') {
      written.push(task);
      continue;
    }
    const { value } = task;
    const text = plain(value);
    if (text !== undefined) {
      written.push(text);
      continue;
    }
    const parts: Task[] = [];
    if (Array.isArray(value)) {
      for (const item of value.map((each: unknown) => kept(each, ''))) {
        const isValue = isNested(item) || plain(item) !== undefined;
        parts.push(parts.length === 0 ? '[' : ',', isValue ? { value: item } : 'null');
      }
      parts.push(parts.length === 0 ? '[]' : ']');
    } else {
      for (const [name, had] of Object.entries(value as object)) {
        const each = kept(had, name);
        if (!isNested(each) && plain(each) === undefined) continue;
        parts.push(`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`, { value: each });
      }
      parts.push(parts.length === 0 ? '{}' : '}');
    }
    // In reverse order, because the last task is the next.
    for (const part of parts.reverse()) tasks.push(part);
  }
  return written.join('');
}
