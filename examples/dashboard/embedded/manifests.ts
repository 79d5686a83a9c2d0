/** Manifests with words in braces: `'{name}'` becomes the value of `name`, of any type, and a longer text contains it. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/** The values of words. */
export type Words = Readonly<Record<string, unknown>>;

type Document = Readonly<Record<string, unknown>>;

const read = new Map<string, readonly Document[]>();

function documentsOf(file: string): readonly Document[] {
  const known = read.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(file, import.meta.url), 'utf8');
  const documents = parseAllDocuments(text).map((document) => document.toJS() as Document);
  read.set(file, documents);
  return documents;
}

function filled(part: unknown, words: Words): unknown {
  if (typeof part === 'string') {
    const [, word = ''] = /^\{(\w+)\}$/.exec(part) ?? [];
    if (word in words) return words[word];
    return part.replace(/\{(\w+)\}/g, (all, each: string) => String(words[each] ?? all));
  }
  if (Array.isArray(part)) return part.map((each) => filled(each, words));
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).map(([name, each]) => [name, filled(each, words)]),
  );
}

/** The documents of a file. */
export function readManifests<T>(file: string, words: Words = {}): T[] {
  return documentsOf(file).map((document) => filled(document, words) as T);
}

/** An object of a kind whose objects differ only in some words. */
export function shapeOf<T>(kind: string, words: Words): T {
  const { kind: _, ...shape } =
    documentsOf('./shapes.yaml').find((each) => each['kind'] === kind) ?? {};
  return filled(shape, words) as T;
}
