/**
 * Runs a real kube-apiserver as a child process. Its state lies in a folder, so that tests can crash it (`kill()`)
 * and restart it under the same address. It stops by itself when the parent process ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../support/patience.ts';
import { ensureBinary } from './apiserver-binary.ts';

/** The options of {@link startApiServer}. */
export interface ApiServerOptions {
  /** Flags of kube-apiserver, such as `--feature-gates=WatchList=false`. */
  readonly flags?: readonly string[];
  /** The folder of the state, which stays when the server stops. @defaultValue a temporary folder */
  readonly dataDir?: string;
  /** Variables that are added to the environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A running server. After `kill()` or `stop()` only `restart()` and `stop()` may be called. */
export interface ApiServerProcess {
  readonly pid: number;
  /** `https://127.0.0.1:port` */
  readonly url: string;
  /** The bearer token of a cluster administrator. */
  readonly token: string;
  /** The bearer token of a user whose only permission is discovery. */
  readonly limitedToken: string;
  /** The path of a kubeconfig with the contexts `admin`, `limited` and `cert-admin`. */
  readonly kubeconfig: string;
  /** The certificate authority, in PEM. */
  readonly ca: string;
  readonly controlURL: string;
  readonly dataDir: string;
  /** The time from the start until `/readyz` succeeds, in milliseconds. */
  readonly readyMs: number;
  /** Compacts etcd at `rev`, by default past the newest revision. Resolves to the revision of the compaction. */
  compact(rev?: number): Promise<number>;
  /** etcd's newest revision. */
  revision(): Promise<number>;
  /** Ends the process and keeps its state. Resolves when the process has ended. @defaultValue SIGKILL */
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Stops cleanly, and removes the state unless its folder was an option. */
  stop(): Promise<void>;
  /** Starts again with the same state, flags and address. Stops the process first if it still runs. */
  restart(): Promise<ApiServerProcess>;
}

interface ReadyLine {
  readonly url: string;
  readonly token: string;
  readonly limitedToken: string;
  readonly kubeconfig: string;
  readonly controlURL: string;
  readonly dataDir: string;
  readonly readyMs: number;
}

/** Builds the server if needed and starts it. Resolves when it is ready; rejects with the end of its log. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServerProcess> {
  const binary = await ensureBinary();
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'rx-informer-apiserver-'));
  return launchOnFreePorts(binary, dataDir, options, []);
}

/** Starts again while another process has one of the ports. */
async function launchOnFreePorts(
  binary: string,
  dataDir: string,
  options: ApiServerOptions,
  ports: readonly string[],
): Promise<ApiServerProcess> {
  const started = await eventually(async () => {
    try {
      return { process: await launch(binary, dataDir, options, ports) };
    } catch (error) {
      return String(error).includes('address already in use') ? false : { error };
    }
  }, 'the ports of the server are free');
  if (started === false || 'error' in started) throw (started as { error: unknown }).error;
  return started.process;
}

async function launch(
  binary: string,
  dataDir: string,
  options: ApiServerOptions,
  ports: readonly string[],
): Promise<ApiServerProcess> {
  mkdirSync(dataDir, { recursive: true });
  const logFile = join(dataDir, 'server.log');
  const log = openSync(logFile, 'a');
  const own = ['--stop-on-stdin-eof', '--data-dir', dataDir, ...ports];
  if (options.dataDir === undefined) own.push('--remove-data-dir');
  const child = spawn(binary, [...own, '--', ...(options.flags ?? [])], {
    stdio: ['pipe', 'pipe', log],
    // Fewer collections of garbage: a start takes a quarter less of the processor, and 100 MB more.
    env: { ...process.env, GOGC: '400', ...options.env },
  });
  closeSync(log);
  const gone = once(child, 'exit');
  const ready = await firstLine(child, gone, logFile);

  const stop = async () => {
    child.stdin?.end();
    await gone;
    if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  const kill = async (signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL') => {
    child.kill(signal);
    await gone;
  };
  return {
    ...ready,
    pid: child.pid ?? 0,
    ca: caOf(ready.kubeconfig),
    async compact(rev) {
      const query = rev === undefined ? '' : `?rev=${rev}`;
      return (await control(`${ready.controlURL}/compact${query}`, 'POST')).compactedAt ?? 0;
    },
    async revision() {
      return (await control(`${ready.controlURL}/revision`, 'GET')).revision ?? 0;
    },
    kill,
    stop,
    async restart() {
      // SIGTERM would remove a temporary folder.
      await kill('SIGKILL');
      const port = (url: string) => new URL(url).port;
      const same = ['--port', port(ready.url), '--control-port', port(ready.controlURL)];
      return launchOnFreePorts(binary, dataDir, options, same);
    },
  };
}

async function firstLine(
  child: ChildProcess,
  gone: Promise<unknown>,
  logFile: string,
): Promise<ReadyLine> {
  if (child.stdout === null) throw new Error('the API server has no stdout');
  const lines = createInterface({ input: child.stdout });
  let line: string | undefined;
  let isOver = false;
  lines.once('line', (text) => {
    line = text;
  });
  void gone.then(() => {
    isOver = true;
  });
  const failed = (what: string) => {
    const end = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
    return new Error(`kube-apiserver ${what}; the end of ${logFile}:\n${end}`);
  };
  try {
    await eventually(() => line !== undefined || isOver).catch(() => {
      throw failed('was never ready');
    });
    if (line === undefined) throw failed('ended before it was ready');
    return JSON.parse(line);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

function caOf(kubeconfig: string): string {
  const encoded = /certificate-authority-data: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))?.[1];
  return Buffer.from(encoded ?? '', 'base64').toString();
}

async function control(
  url: string,
  method: string,
): Promise<{ compactedAt?: number; revision?: number; error?: string }> {
  const response = await fetch(url, { method });
  const answer = (await response.json()) as Awaited<ReturnType<typeof control>>;
  if (!response.ok) throw new Error(`${method} ${url}: ${answer.error}`);
  return answer;
}
