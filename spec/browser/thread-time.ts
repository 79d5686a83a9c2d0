/**
 * Measures the work of a page's main thread by Chromium's trace: the CPU time of its tasks, which other programs lengthen only as
 * far as they make the core slower.
 */
import type { Browser, Page } from 'playwright-core';

/** A task of the main thread, in milliseconds of CPU time, and the longest function calls within it. */
export interface LongTask {
  readonly cpuMs: number;
  /** When the task began, in seconds since the first task. */
  readonly atSeconds: number;
  /** The part of its CPU time in which V8 collected garbage. */
  readonly collectingMs: number;
  readonly calls: readonly string[];
}

export interface ThreadReport {
  readonly seconds: number;
  /** The CPU time of the main thread. */
  readonly cpuMs: number;
  /** The CPU time of each task. */
  readonly tasksMs: readonly number[];
  readonly longestCpuMs: number;
  /** How many times slower the core was than usual; at least 1. */
  readonly slowness: number;
  /** Those with more CPU time than `LONG_TASK_MS`, times the slowness. */
  readonly longTasks: readonly LongTask[];
}

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly cat: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly tdur?: number;
  readonly dur?: number;
  readonly args: { readonly name?: string; readonly data?: Record<string, unknown> };
}

/** Tasks with more CPU time than this, in milliseconds, are long. */
export const LONG_TASK_MS = 50;

/** The message of a test that fails because of long tasks. */
export const longTasksOf = ({ slowness }: ThreadReport) =>
  `tasks of over ${(LONG_TASK_MS * slowness).toFixed(0)} ms of CPU time`;

/** How long the work of `slownessOf` took, in milliseconds, where the limits were chosen: 3.7 to 4.2 in six readings. */
const USUAL_MS = 4;

/** How many times slower the core of a page is than usual; at least 1. */
export async function slownessOf(page: Page): Promise<number> {
  const ms = await page.evaluate(async () => {
    const objects = Array.from({ length: 10_000 }, (_, at) => ({ name: `pod-${at}`, at: [at] }));
    let leastMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 20; run++) {
      const from = performance.now();
      JSON.parse(JSON.stringify(objects));
      // The least one was not interrupted by other programs.
      leastMs = Math.min(leastMs, performance.now() - from);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return leastMs;
  });
  return Math.max(1, ms / USUAL_MS);
}

const categories = ['toplevel', 'devtools.timeline', '__metadata'];

function mainThread(events: readonly TraceEvent[]): (event: TraceEvent) => boolean {
  const named = events.filter(
    ({ ph, name, args }) => ph === 'M' && name === 'thread_name' && args.name === 'CrRendererMain',
  );
  // The page that was measured did the most; other renderers are idle.
  const work = named.map(({ pid, tid }) => ({
    pid,
    tid,
    spent: events.reduce(
      (sum, event) => sum + (event.pid === pid && event.tid === tid ? (event.tdur ?? 0) : 0),
      0,
    ),
  }));
  const busiest = work.toSorted((one, other) => other.spent - one.spent)[0];
  if (busiest === undefined) throw new Error('the trace has no main thread of a page');
  return ({ pid, tid }) => pid === busiest.pid && tid === busiest.tid;
}

function within(task: TraceEvent, events: readonly TraceEvent[]): TraceEvent[] {
  const end = task.ts + (task.dur ?? 0);
  return events
    .filter(({ ts, name }) => name !== task.name && ts >= task.ts && ts < end)
    .toSorted((one, other) => one.ts - other.ts || (other.dur ?? 0) - (one.dur ?? 0));
}

function collectingMsOf(task: TraceEvent, events: readonly TraceEvent[]): number {
  let [endTs, sum] = [0, 0];
  for (const { name, ts, dur = 0, tdur = 0 } of within(task, events)) {
    // The steps of a collection are within it.
    if (!/^(M\w+GC$|V8\.GC_)/.test(name) || ts < endTs) continue;
    [endTs, sum] = [ts + dur, sum + tdur / 1000];
  }
  return sum;
}

function callsWithin(task: TraceEvent, events: readonly TraceEvent[]): string[] {
  return within(task, events)
    .filter(({ tdur = 0 }) => tdur > 5_000)
    .toSorted((one, other) => (other.tdur ?? 0) - (one.tdur ?? 0))
    .slice(0, 6)
    .map(({ name, tdur = 0, args }) => {
      const { functionName = '', url = '' } = args.data ?? {};
      return `${name} ${functionName} ${String(url).split('/').at(-1)} ${Math.round(tdur / 1000)} ms`;
    });
}

/** Traces the page while `run` runs. */
export async function measureThread(
  browser: Browser,
  page: Page,
  run: () => Promise<unknown>,
): Promise<ThreadReport> {
  await browser.startTracing(page, { categories });
  const started = performance.now();
  await run();
  const seconds = (performance.now() - started) / 1000;
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const slowness = await slownessOf(page);
  const isMain = mainThread(trace.traceEvents);
  const own = trace.traceEvents.filter(isMain);
  const tasks = own.filter(
    ({ ph, name }) => ph === 'X' && name === 'ThreadControllerImpl::RunTask',
  );
  const times = tasks.map(({ tdur = 0 }) => tdur / 1000);
  return {
    seconds,
    cpuMs: times.reduce((sum, each) => sum + each, 0),
    tasksMs: times,
    longestCpuMs: times.reduce((most, each) => Math.max(most, each), 0),
    slowness,
    longTasks: tasks
      .filter(({ tdur = 0 }) => tdur > LONG_TASK_MS * slowness * 1000)
      .map((task) => ({
        cpuMs: (task.tdur ?? 0) / 1000,
        atSeconds: (task.ts - (tasks[0]?.ts ?? 0)) / 1e6,
        collectingMs: collectingMsOf(task, own),
        calls: callsWithin(task, own),
      })),
  };
}

/** Measures again if the page was not calm, because of other programs. A page that is too slow by itself never is. */
export async function measureCalm(
  browser: Browser,
  page: Page,
  run: () => Promise<unknown>,
  isCalm = ({ longTasks }: ThreadReport) => longTasks.length === 0,
): Promise<ThreadReport> {
  let report = await measureThread(browser, page, run);
  for (let again = 0; again < 2 && !isCalm(report); again++) {
    process.stdout.write(`again, after ${JSON.stringify(report.longTasks)}\n`);
    report = await measureThread(browser, page, run);
  }
  return report;
}
