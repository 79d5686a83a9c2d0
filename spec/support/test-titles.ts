/** Reads the titles of tests from the syntax tree, so that the same names elsewhere in a file do not count. */
import { parseSync } from 'vite';

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

const TESTS = new Set(['it', 'test', 'describe']);

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode);
}

/** Returns `it` for `it.each(rows)`, `it.skipIf(…)` and plain `it`. */
function rootOf(callee: Node): string | undefined {
  if (callee.type === 'Identifier') return String(callee['name']);
  const inner = callee.type === 'CallExpression' ? callee['callee'] : callee['object'];
  return isNode(inner) ? rootOf(inner) : undefined;
}

/** The value of a text; for a template the texts between its values. */
function textOf(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal' && typeof node['value'] === 'string') return node['value'];
  if (node?.type !== 'TemplateLiteral') return undefined;
  const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[];
  return quasis.map(({ value }) => value.cooked).join('…');
}

/** Removes `as const` and similar wrappers. */
function bare(node: Node | undefined): Node | undefined {
  const inner = node?.type.startsWith('TS') ? node['expression'] : undefined;
  return isNode(inner) ? bare(inner) : node;
}

/** The texts of a table's rows that can appear in a title, without texts that are nested deeper. */
function rowTexts(given: Node | undefined): string[] {
  const table = bare(given);
  if (table?.type !== 'ArrayExpression') return [];
  const rows = (table['elements'] as readonly unknown[]).filter(isNode);
  const cells = rows.flatMap((row) =>
    row.type === 'ArrayExpression' ? (row['elements'] as readonly unknown[]).filter(isNode) : [row],
  );
  return cells.map(textOf).filter((text) => text !== undefined);
}

/** All titles of a test file: those of tests and groups, and the texts of rows that a title shows with `%s`. */
export function titlesOf(file: string, text: string): string[] {
  const titles: string[] = [];
  const visit = (node: Node): void => {
    for (const child of childrenOf(node)) visit(child);
    if (node.type !== 'CallExpression') return;
    const callee = node['callee'] as Node;
    const title = textOf((node['arguments'] as readonly Node[])[0]);
    if (title === undefined || !TESTS.has(rootOf(callee) ?? '')) return;
    titles.push(title);
    if (callee.type === 'CallExpression' && title.includes('%s')) {
      titles.push(...rowTexts((callee['arguments'] as readonly Node[])[0]));
    }
  };
  visit(parseSync(file, text).program as unknown as Node);
  return titles;
}
