/** Which object a row was made of, by its id and its key: names stand before those of the object, and parts behind them. */
import type { RowForm } from '../engine/lineage.ts';

/** Where the id and the key of the object end in those of the row. The parts of an id are escaped as `liveFlatMap` does. */
function endsOf(id: string, key: string, parts: number): readonly [idEnd: number, keyEnd: number] {
  let idEnd = id.length;
  let keyEnd = key.length;
  for (let left = parts; left > 0; left--) {
    const isEscaped = id[idEnd - 1] === '/';
    const to = isEscaped ? idEnd - 1 : idEnd;
    const slash = id.lastIndexOf('/', to - 1);
    if (slash < 0) break;
    const part = id.slice(slash, to);
    keyEnd -= isEscaped ? part.replaceAll(/%2F|%25/g, '/').length : part.length;
    idEnd = slash;
  }
  return [idEnd, keyEnd];
}

/** The UID of the object that a row was made of. */
export function uidOfRow(id: string, { parts }: RowForm): string {
  const [end] = endsOf(id, '', parts);
  return id.slice(id.lastIndexOf('/', end - 1) + 1, end);
}

/** The names before the key of the object that a row was made of, and its namespace, '' if it has none. */
export function placeOfRow(
  id: string,
  key: string,
  { names, parts }: RowForm,
): readonly [names: readonly string[], namespace: string] {
  const [, end] = endsOf(id, key, parts);
  const all = key.slice(0, end).split('/');
  const hasNamespace = all.length - names > 1;
  return [all.slice(0, names), hasNamespace ? (all.at(-2) as string) : ''];
}
