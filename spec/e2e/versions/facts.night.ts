/**
 * Compares the column of this version in docs/reference/kubernetes-versions.md with what the running server does.
 * `KUBERNETES_FACTS=write` writes the column instead.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { minor } from '../apiserver-binary.ts';
import { noControl } from '../cluster.ts';
import { type Facts, measureFacts } from './measure.ts';

// Reads and writes the table of versions in the documentation.

const page = fileURLToPath(
  new URL('../../../docs/reference/kubernetes-versions.md', import.meta.url),
);
const BEGIN = '<!-- measured -->\n\n';
const END = '\n<!-- end -->';

/** The table by version, in the order of its columns. */
function readTable(): Map<string, Facts> {
  const text = readFileSync(page, 'utf8');
  const [head = [], , ...rows] = text
    .slice(text.indexOf(BEGIN) + BEGIN.length, text.indexOf(END))
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  return new Map(
    head
      .slice(1)
      .map((version, at) => [
        version,
        Object.fromEntries(rows.map(([name = '', ...cells]) => [name, cells[at] ?? ''])),
      ]),
  );
}

/** Writes the column of one version, and creates it if it is new. Columns are sorted. */
function writeColumn(version: string, facts: Facts): void {
  const table = readTable().set(version, facts);
  const versions = [...table.keys()].sort();
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const rows = Object.keys(facts).map((name) =>
    line([name, ...versions.map((each) => table.get(each)?.[name] ?? '')]),
  );
  const head = line(['', ...versions]) + line(['', ...versions].map(() => '---'));
  const text = readFileSync(page, 'utf8');
  writeFileSync(
    page,
    text.slice(0, text.indexOf(BEGIN) + BEGIN.length) +
      head +
      rows.join('') +
      text.slice(text.indexOf(END)),
  );
}

describe.skipIf(noControl)('the documented facts of this version of Kubernetes', () => {
  it('are those of the running server', async () => {
    const facts = await measureFacts();
    if (process.env['KUBERNETES_FACTS'] === 'write') writeColumn(`1.${minor}`, facts);
    expect(readTable().get(`1.${minor}`)).toEqual(facts);
  }, 300_000);
});
