/** Runs `rx-informer publish` as a process of its own, as a user does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kubeconfig } from '../node/kubeconfigs.ts';
import { eventually } from '../support/patience.ts';

const command = fileURLToPath(new URL('../../lib/command/rx-informer.ts', import.meta.url));

/** The servers of a publisher. */
export interface PublishProcessOptions {
  /** The address of an API server that asks for no credentials. */
  readonly api?: string;
  /** A kubeconfig, in place of `api`. */
  readonly kubeconfig?: string;
  readonly nats: string;
  readonly args: readonly string[];
}

export class PublishProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rx-informer-publish-'));
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  /** Everything that the process has written to its standard error. */
  text = '';

  constructor({ api = '', kubeconfig: file, nats, args }: PublishProcessOptions) {
    const written = join(this.#folder, 'config');
    writeFileSync(written, kubeconfig({ server: api }, { token: 't' }));
    const flags = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
    const servers = ['--nats', nats, '--kubeconfig', file ?? written];
    this.#child = spawn(process.execPath, [...flags, command, 'publish', ...servers, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // Unlike `exit`, `close` follows the last text.
    this.#ended = once(this.#child, 'close');
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.text += text;
    });
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The process that this one is; for its CPU time. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when the process has written the words. Rejects if it ends before. */
  async says(words: string | RegExp): Promise<void> {
    const has = () =>
      typeof words === 'string' ? this.text.includes(words) : words.test(this.text);
    await eventually(() => has() || !this.isRunning, String(words)).catch((error: Error) => {
      throw new Error(`${error.message}; the publisher said: ${this.text}`);
    });
    if (!has()) throw new Error(`the publisher ended without ${words}: ${this.text}`);
  }

  /** Sends a signal, and resolves with the exit code and the signal that ended the process. */
  async end(signal: NodeJS.Signals): Promise<{ code: unknown; signal: unknown }> {
    if (this.isRunning) this.#child.kill(signal);
    await this.#ended;
    rmSync(this.#folder, { recursive: true, force: true });
    return { code: this.#child.exitCode, signal: this.#child.signalCode };
  }
}
