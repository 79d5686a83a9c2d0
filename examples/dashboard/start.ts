/** `npm start`: shows the objects of a cluster in a browser, live. `npm start -- --help` lists the options. */
import { setFlagsFromString } from 'node:v8';
import { type DashboardOptions, HelpShown, readArguments, UsageError } from './arguments.ts';
import { ClusterError } from './choose-cluster.ts';
import { type Dashboard, startDashboard } from './dashboard.ts';
import { printSummary } from './summary-line.ts';

// Otherwise the heap grows to four times of what it holds, because old changes are garbage when they leave the history.
setFlagsFromString('--heap-growing-percent=30');

const FAILED = 1;
const MISUSED = 2;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** One sentence for a problem that the user can solve. Any other error is a bug and is thrown with its stack. */
function sentenceFor(error: unknown): string | undefined {
  if (error instanceof ClusterError) return error.message;
  const { code, port } = error as { code?: unknown; port?: unknown };
  if (code === 'EADDRINUSE') return `Port ${port} is taken; choose another with --port.`;
  if (code === 'EACCES') return `Port ${port} may not be used; choose another with --port.`;
  return undefined;
}

async function openPage(url: string): Promise<void> {
  const { default: open } = await import('open');
  await open(url).catch(() => say('No browser could be opened; open the address in a browser.'));
}

async function run(options: DashboardOptions): Promise<void> {
  let dashboard: Dashboard;
  try {
    dashboard = await startDashboard(options, say);
  } catch (error) {
    const sentence = sentenceFor(error);
    if (sentence === undefined) throw error;
    process.stderr.write(`${sentence}\n`);
    process.exitCode = FAILED;
    return;
  }
  say(`Dashboard: ${dashboard.url}`);
  const stopSummary = printSummary(process.stdout, dashboard.summary);
  const stop = () => {
    // A second Ctrl-C ends the process immediately.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
    stopSummary();
    void dashboard.close().then(() => say('Stopped.'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  if (options.open) await openPage(dashboard.url);
}

try {
  await run(readArguments(process.argv.slice(2)));
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = MISUSED;
  } else if (!(error instanceof HelpShown)) {
    throw error;
  }
}
