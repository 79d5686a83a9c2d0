/** Prints a summary line: updated in place on a terminal, every ten seconds elsewhere. */
import { counted, number } from './shared/words.ts';

export interface Summary {
  /** Known for the embedded cluster only. */
  readonly pods?: number;
  /** The number of changes so far; the line shows the changes per second. */
  readonly changes: number;
  readonly watches: number;
  readonly pages: number;
}

const TTY_EVERY_MS = 1000;
const PLAIN_EVERY_MS = 10_000;

export function summaryText(summary: Summary, changesPerSecond: number): string {
  const { pods, watches, pages } = summary;
  return [
    ...(pods === undefined ? [] : [counted(pods, 'pod')]),
    `${number.format(changesPerSecond)} changes/s`,
    counted(watches, 'watch', 'watches'),
    counted(pages, 'page'),
  ].join(' · ');
}

/** Starts to print. The returned function stops it. */
export function printSummary(out: NodeJS.WriteStream, read: () => Summary): () => void {
  const everyMs = out.isTTY ? TTY_EVERY_MS : PLAIN_EVERY_MS;
  let before = read().changes;
  let atMs = performance.now();
  const timer = setInterval(() => {
    const summary = read();
    const now = performance.now();
    const rate = Math.round(((summary.changes - before) * 1000) / (now - atMs));
    before = summary.changes;
    atMs = now;
    const text = summaryText(summary, rate);
    out.write(out.isTTY ? `\r\u001b[K${text.slice(0, out.columns - 1)}` : `${text}\n`);
  }, everyMs);
  return () => {
    clearInterval(timer);
    if (out.isTTY) out.write('\r\u001b[K');
  };
}
