/** The table of sizes in docs/operations/performance.md: its rows, and its figures, which are the budgets. */
import { readFileSync, writeFileSync } from 'node:fs';
import { bundleSize, type Imports, root, type Size } from './bundle.ts';

const PAGE = `${root}docs/operations/performance.md`;
const TABLE = /(?<=\| imports \| initial, kB \| all, kB \|\n\|[-|]+\n)(?:\|.*\n)*/;

/** What the bundle of each row imports. */
export const ROWS: readonly Imports[] = [
  { '.': 'createClient, createListWatch, createSharedInformer' },
  { '.': 'createClient, createListWatch, reflect, deltaFifo, applyDeltas, createIndexer' },
  { '.': 'createListWatch, reflect' },
  { '.': 'createClient', './react': 'InformerProvider, useInformer' },
  { '.': 'createClient', './react': 'InformerProvider, useList', './resources': 'pods' },
  { './worker': 'connectWorker', './react/worker': 'WorkerProvider, useQuery' },
  { './worker': 'connectPaintedWorker', './react/worker': 'WorkerProvider, useQuery' },
  { './server': 'connectServer', './react/worker': 'WorkerProvider, useQuery' },
  { '.': 'createClient, createInformerFactory, indexedDbSnapshots' },
  { '.': 'createController' },
  { '.': 'toView' },
  { '.': 'createWorkQueue' },
  { '.': 'createIndexer' },
  { './resources': 'pods' },
  { './nats': 'createNatsListWatch' },
  { './nats': 'publishToNats' },
  { './diagnose': 'diagnose' },
  { './diagnose': 'debug' },
];

/** The row's first cell. */
export function labelOf(row: Imports): string {
  const parts = Object.entries(row).map(([entry, names]) =>
    entry === '.' ? `\`${names}\`` : `\`${names}\` of \`${entry.slice(2)}\``,
  );
  return parts.join(', ');
}

/** Bytes as they are in the table: never less than they are. */
const kB = (bytes: number) => (Math.ceil(bytes / 10) / 100).toFixed(2);

const bytes = (cell = '') => Math.round(Number(cell) * 1_000);

/** The sizes in the table, by the label of their row. */
export function budgets(): ReadonlyMap<string, Size> {
  const lines = TABLE.exec(readFileSync(PAGE, 'utf8'))?.[0].trimEnd().split('\n') ?? [];
  return new Map(
    lines.map((line) => {
      const [label = '', initial, all] = line.slice(2, -2).split(' | ');
      return [label, { initial: bytes(initial), all: bytes(all) }];
    }),
  );
}

/** Writes the measured sizes, where they are lower than before. Returns the labels of the rows that exceed their budget. */
export async function lowerBudgets(): Promise<string[]> {
  const before = budgets();
  const exceeding: string[] = [];
  let table = '';
  for (const row of ROWS) {
    const label = labelOf(row);
    const size = await bundleSize(row, { initial: 0, all: 0 });
    const { initial, all } = before.get(label) ?? size;
    if (size.initial > initial || size.all > all)
      exceeding.push(`${label}: ${size.initial} / ${size.all}`);
    table += `| ${label} | ${kB(Math.min(size.initial, initial))} | ${kB(Math.min(size.all, all))} |\n`;
  }
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(TABLE, () => table),
  );
  return exceeding;
}
