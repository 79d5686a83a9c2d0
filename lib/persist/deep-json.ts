/** Writes JSON without recursion, for values that are nested too deeply for `JSON.stringify`, of which an API server accepts 10,000 levels. */

type Task = string | { readonly value: unknown; readonly member: string };

function isNested(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * The JSON of a value of JSON; `undefined` if it has none. `without` is called with each object and array, and with the name of the
 * member that it is in, and returns what is written in its place.
 */
export function deepJson(
  root: unknown,
  member: string,
  without: (value: object, member: string) => object,
): string | undefined {
  const plain = (value: unknown): string | undefined =>
    isNested(value) && typeof value['toJSON'] !== 'function' ? undefined : JSON.stringify(value);
  if (!isNested(root)) return plain(root);
  const written: string[] = [];
  const tasks: Task[] = [{ value: root, member }];
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    if (typeof task === 'string') {
      written.push(task);
      continue;
    }
    const text = plain(task.value);
    if (text !== undefined) {
      written.push(text);
      continue;
    }
    const value = without(task.value as object, task.member);
    const parts: Task[] = [];
    if (Array.isArray(value)) {
      for (const item of value) {
        const isValue = isNested(item) || plain(item) !== undefined;
        parts.push(parts.length === 0 ? '[' : ',', isValue ? { value: item, member: '' } : 'null');
      }
      parts.push(parts.length === 0 ? '[]' : ']');
    } else {
      for (const [name, each] of Object.entries(value)) {
        if (!isNested(each) && plain(each) === undefined) continue;
        parts.push(`${parts.length === 0 ? '{' : ','}${JSON.stringify(name)}:`);
        parts.push({ value: each, member: name });
      }
      parts.push(parts.length === 0 ? '{}' : '}');
    }
    // In reverse order, because the last task is the next.
    for (const part of parts.reverse()) tasks.push(part);
  }
  return written.join('');
}
