/// <reference types="node" />
/**
 * Runs a credential plugin as kubectl does, checks its answer, and ends it when nobody waits for the answer. No output
 * of the plugin appears in an error. client-go: plugin/pkg/client/auth/exec/exec.go.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { ApiError } from '../meta/api-error.ts';
import { isFields } from '../meta/json-fields.ts';
import { shownText } from '../meta/shown-text.ts';
import type { EpochMs } from '../rx/timing.ts';
import type { Plugin } from './exec-plugin.ts';

/** The credentials in the answer of a plugin. */
export interface PluginCredentials {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  /** When to run the plugin again. Absent if the credentials do not expire. */
  readonly expiresMs?: EpochMs;
}

/** How long a plugin may take to end after it was asked to, in milliseconds. */
const END_MS = 2_000;
const MiB = 1_048_576;

/** The error of a plugin. The `installHint` is always shown, whatever the failure was. */
export function pluginError({ command, user, installHint }: Plugin, what: string): ApiError {
  const hint = installHint === undefined ? '' : `. Its installHint: ${installHint}`;
  const text = `the credential plugin '${command}' of user '${user}' ${what}; try the same with kubectl${hint}`;
  return ApiError.local('Credentials', shownText(text));
}

/**
 * Ends the plugin and, unless it shares a terminal with this process, the processes that it has started. Kills them if
 * they do not end.
 */
function end(child: ChildProcess, isGroup: boolean): void {
  /** Returns whether there was a process that could receive the signal. */
  const send = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return isGroup && child.pid !== undefined
        ? process.kill(-child.pid, signal)
        : child.kill(signal);
    } catch {
      return false;
    }
  };
  child.stdout?.destroy();
  if (!send('SIGTERM')) return;
  const late = setTimeout(() => send('SIGKILL'), END_MS);
  child.on('exit', () => {
    // The plugin may end before the processes that it has started.
    if (!send(0)) clearTimeout(late);
  });
}

/** The error of a plugin that could not be started. */
function notStarted(plugin: Plugin, error: unknown): ApiError {
  const { code = 'not started' } = error as NodeJS.ErrnoException;
  return pluginError(plugin, `failed (${code})`);
}

/**
 * The file of a command that is looked up in PATH. Entries that are no absolute path, such as an empty one and `.`, are left
 * out: they stand for the working directory, whose owner would decide which program runs. client-go: exec.ErrDot.
 */
export function fileOf(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const isWindows = platform === 'win32';
  if (command.includes('/') || (isWindows && command.includes('\\'))) return command;
  const variable = (name: string) =>
    Object.entries(env).find(([each]) => (isWindows ? each.toUpperCase() : each) === name)?.[1];
  const { delimiter, isAbsolute, join } = isWindows ? win32 : posix;
  const endings = isWindows ? ['', ...(variable('PATHEXT') ?? '.COM;.EXE').split(';')] : [''];
  for (const folder of (variable('PATH') ?? '').split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    for (const ending of endings) {
      const file = join(folder, command + ending);
      try {
        accessSync(file, constants.X_OK);
        if (statSync(file).isFile()) return file;
      } catch {
        // The next folder may have it.
      }
    }
  }
  return undefined;
}

/** Starts a plugin. Some failures are thrown, and others are errors of the process. */
function start(plugin: Plugin, isGroup: boolean): ChildProcess {
  const env = { ...process.env, ...plugin.env };
  const file = fileOf(plugin.command, env);
  if (file === undefined) throw notStarted(plugin, { code: 'ENOENT' });
  try {
    return spawn(file, plugin.args, {
      env,
      // A user at the terminal answers the plugin, and sees what it asks.
      stdio: plugin.interactive ? ['inherit', 'pipe', 'inherit'] : ['ignore', 'pipe', 'ignore'],
      detached: isGroup,
      windowsHide: true,
    });
  } catch (error) {
    throw notStarted(plugin, error);
  }
}

/** Resolves with the output of a plugin that has succeeded. Aborting the signal ends the plugin. */
function outputOf(plugin: Plugin, signal: AbortSignal): Promise<string> {
  // A group of its own, so that the processes that a script has started are ended with it.
  const isGroup = !plugin.interactive && process.platform !== 'win32';
  return new Promise((resolve, reject) => {
    const child = start(plugin, isGroup);
    const parts: Buffer[] = [];
    let length = 0;
    const onAbort = () => end(child, isGroup);
    signal.addEventListener('abort', onAbort, { once: true });
    child.stdout?.on('data', (part: Buffer) => {
      parts.push(part);
      length += part.length;
      if (length <= MiB) return;
      parts.length = 0;
      // The caller aborts the signal if it no longer waits.
      reject(pluginError(plugin, 'failed: it printed more than 1 MiB'));
    });
    child.on('error', (error) => reject(notStarted(plugin, error)));
    child.on('close', (code, killed) => {
      signal.removeEventListener('abort', onAbort);
      if (code === 0) resolve(Buffer.concat(parts).toString('utf8'));
      else reject(pluginError(plugin, `failed (${killed ?? `exit code ${code}`})`));
    });
  });
}

function parsed(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    // The parser's message quotes the output.
    return undefined;
  }
}

/** Runs a plugin. Rejects with an {@link ApiError} of reason `Credentials`. Aborting the signal ends the plugin. */
export async function runPlugin(plugin: Plugin, signal: AbortSignal): Promise<PluginCredentials> {
  const output = parsed(await outputOf(plugin, signal));
  const { kind, apiVersion, status } = isFields(output) ? output : {};
  const stranger = () =>
    pluginError(plugin, `failed: it printed no ExecCredential of ${plugin.apiVersion}`);
  if (!isFields(status)) throw stranger();
  const textOf = (name: string) => {
    const value = status[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [token, cert, key] = ['token', 'clientCertificateData', 'clientKeyData'].map(textOf);
  if (token === undefined && cert === undefined && key === undefined) {
    throw pluginError(plugin, 'returned neither a token nor a certificate with its key');
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw pluginError(
      plugin,
      'returned a certificate without its key, or a key without its certificate',
    );
  }
  if (kind !== 'ExecCredential' || apiVersion !== plugin.apiVersion) throw stranger();
  const { expirationTimestamp: expires } = status;
  const expiresMs = expires ? Date.parse(String(expires)) : undefined;
  if (Number.isNaN(expiresMs)) throw stranger();
  return {
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(expiresMs === undefined ? {} : { expiresMs }),
  };
}
