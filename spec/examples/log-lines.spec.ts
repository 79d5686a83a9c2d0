/** Tests the lines of a log in the dashboard, in virtual time. */
import { of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, test } from 'vitest';
import { type Log, logOf } from '../../examples/dashboard/page/details/log-lines.ts';

/** The logs that a page shows, as texts. */
function shown(marbles: string): string[] {
  const logs: string[] = [];
  new TestScheduler(() => {}).run(({ hot, flush }) => {
    const words = (error: unknown) => `failed: ${error}`;
    logOf(hot(marbles), words).subscribe(({ lines, end }: Log) =>
      logs.push(`${lines.map(({ text }) => text).join('')}|${end}`),
    );
    flush();
  });
  return logs;
}

describe('the log of a container', () => {
  test('is painted with the lines of each period, and keeps its last lines if it breaks', () => {
    expect(shown('ab 300ms c#')).toEqual(['ab|', 'abc|failed: error']);
    expect(shown('ab 300ms c|')).toEqual(['ab|', 'abc|The log ends here.']);
    expect(shown('#')).toEqual(['|failed: error']);
  });

  test('keeps the last thousand lines', () => {
    const logs: Log[] = [];
    const texts = Array.from({ length: 1500 }, (_, line) => String(line));
    logOf(of(...texts), String).subscribe((log) => logs.push(log));
    expect(logs).toHaveLength(1);
    expect(logs[0]?.lines).toHaveLength(1000);
    expect(logs[0]?.lines.at(-1)).toEqual({ id: 1500, text: '1499' });
  });
});
