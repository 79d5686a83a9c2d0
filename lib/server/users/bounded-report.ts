/** Tells the program of errors that users cause, so that nobody fills its log. */
import type { SchedulerLike } from 'rxjs';
import { stopwatch } from '../../rx/stopwatch.ts';

type Report = (error: unknown) => void;

const MINUTE_MS = 60_000;

function textOf(error: unknown): string {
  try {
    return String((error as Partial<Error> | undefined)?.message ?? error);
  } catch {
    return '';
  }
}

/** Tells each text once a minute, and at most this many texts. */
export function boundedReport(report: Report, mostTexts: number, scheduler: SchedulerLike): Report {
  const passedMs = stopwatch(scheduler);
  let told = new Set<string>();
  let sinceMs = 0;
  return (error) => {
    if (passedMs() - sinceMs >= MINUTE_MS) {
      told = new Set();
      sinceMs = passedMs();
    }
    const text = textOf(error);
    if (told.has(text) || told.size >= mostTexts) return;
    told.add(text);
    report(error);
  };
}
