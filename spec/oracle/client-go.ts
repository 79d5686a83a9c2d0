/** client-go in a process of its own, with requests and responses as lines of JSON. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A process that responds to lines with lines. Several exchanges may be in progress, each with its own seed. */
export class ClientGo<Answer extends { readonly seed: number }> {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (answer: Answer | Error) => void>();
  #stderr = '';

  /** `onEvent` receives the lines that are not responses: events of handlers that are followed. */
  constructor(
    binary: string,
    mode: 'informers' | 'queues' | 'texts',
    onEvent?: (message: { readonly seed: number; readonly event: unknown }) => void,
  ) {
    this.#child = spawn(binary, [mode], { stdio: 'pipe' });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4_000);
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      if ('event' in answer) {
        onEvent?.(answer as Answer & { readonly event: unknown });
        return;
      }
      this.#waiting.get(answer.seed)?.(answer);
      this.#waiting.delete(answer.seed);
    });
    this.#child.once('exit', (code) => {
      const error = new Error(`client-go exited with ${code}: ${this.#stderr}`);
      for (const settle of this.#waiting.values()) settle(error);
      this.#waiting.clear();
    });
  }

  /** Sends a line. */
  send<C extends { readonly seed: number }>(command: C): void {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
  }

  /** Resolves to the next response for a seed. */
  answer(seed: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(seed, (answer) =>
        answer instanceof Error ? reject(answer) : resolve(answer),
      );
      if (this.#child.exitCode !== null) reject(new Error(`client-go has ended: ${this.#stderr}`));
    });
  }

  /** Ends the process by ending its input. */
  close(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      if (this.#child.exitCode !== null) resolve();
      else this.#child.once('exit', () => resolve());
    });
    this.#child.stdin.end();
    return ended;
  }
}
