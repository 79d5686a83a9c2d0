/** Calls functions in a process of its own, and receives what it reports. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

interface Call {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: string;
  readonly report?: unknown;
}

/** In the process: answers calls. */
export function answerCalls(functions: Functions): void {
  process.on('message', async ({ id, name, args }: Call) => {
    try {
      const result = await functions[name]?.(...(args as never[]));
      process.send?.({ id, result });
    } catch (error) {
      process.send?.({ id, error: (error as Error).stack });
    }
  });
  process.on('disconnect', () => process.exit());
}

/** In the process: reports something to the parent. */
export function report(what: unknown): void {
  process.send?.({ report: what });
}

/** In the parent: a process of a file in this folder. */
export class Child {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { ok(result: unknown): void; fail(error: Error): void }>();
  #calls = 0;

  constructor(file: string, onReport: (what: never) => void) {
    this.#child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
      execArgv: ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'],
    });
    this.#child.on('message', ({ id, result, error, report: what }: Answer) => {
      if (id === undefined) return onReport(what as never);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.ok(result);
      else waiting?.fail(new Error(`in ${file}: ${error}`));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    const id = this.#calls++;
    return new Promise((ok, fail) => {
      this.#waiting.set(id, { ok, fail });
      this.#child.send({ id, name, args });
    });
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}
