/** Tests how the dashboard reads several logs as one, and the lines of a log. */
import { of, Subject, throwError } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, test } from 'vitest';
import { type Log, logOf } from '../../examples/dashboard/page/details/log-lines.ts';
import {
  type LogRequest,
  type LogSource,
  manyLogs,
} from '../../examples/dashboard/page/details/many-logs.ts';

const source = (pod: string): LogSource => {
  return { namespace: 'shop', pod, container: 'main', label: pod };
};
const options = { tailLines: 50, wordsOf: (error: unknown) => String(error) };

test('the lines of each round are in the order of their times, each once', () => {
  const asked: string[] = [];
  const logs: Record<string, string[]> = {
    a: ['2026-01-01T00:00:01.5Z one', '2026-01-01T00:00:03Z three'],
    // Later than .5, although its text comes before.
    b: ['2026-01-01T00:00:01.51Z two'],
  };
  const read = ({ pod }: LogSource, { tailLines, sinceTime }: LogRequest) => {
    asked.push(`${pod} ${tailLines ?? sinceTime}`);
    return of(...(logs[pod] ?? []));
  };
  const ticks$ = new Subject<number>();
  const seen: string[] = [];
  const reading = manyLogs([source('a'), source('b')], read, ticks$, options);
  const leave = reading.subscribe((line) => seen.push(line));
  ticks$.next(0);
  expect(seen.splice(0)).toEqual(['a  one', 'b  two', 'a  three']);
  // A server gives all lines of the second of `sinceTime` again.
  logs['a']?.push('2026-01-01T00:00:03.2Z four');
  ticks$.next(1);
  expect(seen).toEqual(['a  four']);
  expect(asked).toEqual([
    ...['a 50', 'b 50', 'a 2026-01-01T00:00:03Z', 'b 2026-01-01T00:00:01.51Z'],
  ]);
  leave.unsubscribe();
});

test('a log that cannot be read says so once, and the others go on', () => {
  const ticks$ = new Subject<number>();
  const read = ({ pod }: LogSource) =>
    pod === 'a' ? throwError(() => 'not started') : of('2026-01-01T00:00:01Z up');
  const seen: string[] = [];
  manyLogs([source('a'), source('b')], read, ticks$, options).subscribe((line) => seen.push(line));
  ticks$.next(0);
  ticks$.next(1);
  expect(seen).toEqual(['a  (not started)', 'b  up']);
});

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
