/** The processes of the benchmark: the server, and one process per contestant and measurement. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Command, nodeCommand } from './contestants/contestants.ts';

function start({ command, args, env }: Command, more: readonly string[]): ChildProcess {
  return spawn(command, [...args, ...more], {
    // As in production, where objects are not frozen.
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

/** Returns the first line of stdout as JSON, or `undefined` if the process ends without a line. */
async function answer<T>(child: ChildProcess): Promise<T | undefined> {
  if (child.stdout === null) return undefined;
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as T;
  return undefined;
}

/** A server that runs. */
export interface BenchServer {
  readonly pid: number;
  readonly url: string;
  readonly objects: number;
  readonly bytesEach: number;
  close(): void;
}

/** Starts the synthetic server, always in the Node of this process. */
export async function startServer(args: readonly string[]): Promise<BenchServer> {
  const child = start(nodeCommand(process.execPath, '../server/server.ts'), args);
  const ready = await answer<Omit<BenchServer, 'pid' | 'close'>>(child);
  if (ready === undefined) throw new Error('the synthetic server did not start');
  return { ...ready, pid: child.pid ?? 0, close: () => child.stdin?.end() };
}

/** Runs a process until it ends. Returns its first line as JSON, or `undefined` if it failed. */
export async function runProcess<T>(
  command: Command,
  args: readonly string[],
  limitMs: number,
): Promise<T | undefined> {
  const child = start(command, args);
  const ended = once(child, 'exit');
  const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const result = await answer<T>(child);
  const [code] = await ended;
  clearTimeout(limit);
  return code === 0 ? result : undefined;
}
