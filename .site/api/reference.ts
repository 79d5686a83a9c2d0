/** What the pages of the API reference have in common: its names and groups, their links, and the comparison with spec/api. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import type { Entry } from './stages.ts';

/** A name in the reference. Paths are below the folder of pages. */
export interface ApiName {
  readonly name: string;
  readonly kind: string;
  readonly summary: string;
  readonly path: string;
}

/** The names of one page of contents. */
export interface ApiGroup {
  readonly title: string;
  readonly entry: Entry;
  /** The folder of its pages, below the folder of pages. */
  readonly path: string;
  readonly names: readonly ApiName[];
}

export interface ApiReference {
  readonly groups: readonly ApiGroup[];
  /** What is wrong: names without a page, and links that lead nowhere. */
  readonly faults: readonly string[];
}

/** The folder of the reference, below the folder of pages. */
export const API = 'reference/api';

/** The exported names in a golden file of spec/api. */
export function goldenNames(text: string): string[] {
  const exported = text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:(?:interface|type|const|class|function) ([\w$]+)|\{ [\w$]+ as ([\w$]+) \})/gm,
  );
  return [...new Set([...exported].map(([, name, alias]) => name ?? alias ?? ''))];
}

/** Points the links of a page of typedoc at the new paths. */
export function relinked(text: string, file: string, paths: ReadonlyMap<string, string>): string {
  const here = posix.dirname(paths.get(file) ?? '');
  return text.replace(/\]\(([^)#\s:]+\.md)(#[^)]*)?\)/g, (link, target: string, hash = '') => {
    const path = paths.get(posix.join(posix.dirname(file), target));
    return path === undefined ? link : `](${posix.relative(here, path)}${hash})`;
  });
}

/** The text with `<` for a reader where a comment means no element. Code keeps its own. */
export function withoutElements(text: string): string {
  const code = /(^```[\s\S]*?^```$|`[^`\n]*`|<\/?(?:a|br|code|p|ul|li)\b[^>]*>)/m;
  return text
    .split(code)
    .map((part, at) => (at % 2 === 1 ? part : part.replace(/\\?<(?=[a-zA-Z/!?])/g, '&lt;')))
    .join('');
}

/** Writes a file and the folders above it. */
export function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const cell = (text: string) => text.replace(/\|/g, '\\|');

/** The text of a page of contents. */
export function contents(
  title: string,
  lead: string,
  names: readonly ApiName[],
  at: string,
): string {
  const rows = names.map(
    ({ name, kind, summary, path }) =>
      `| [\`${name}\`](${posix.relative(at, path)}) | ${kind.toLowerCase()} | ${cell(summary)} |`,
  );
  return `# ${title}\n\n${lead}\n\n| name | | |\n|---|---|---|\n${rows.join('\n')}\n`;
}

/** The names of the golden file of an entry that have no page. */
export function missingNames(root: string, entry: Entry, names: readonly string[]): string[] {
  const golden = goldenNames(readFileSync(`${root}spec/api/${entry.golden}.txt`, 'utf8'));
  if (golden.length === 0)
    throw new Error(`spec/api/${entry.golden}.txt exports nothing: it cannot be read`);
  const known = new Set(names);
  return golden
    .filter((name) => !known.has(name))
    .map((name) => `${name} of ${entry.name} has no page in the API reference`);
}
