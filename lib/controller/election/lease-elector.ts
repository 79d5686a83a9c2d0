/** The life of an elector: candidacies one after the other, and work that is done while one leads. */

import { defer, type Observable } from 'rxjs';
import { distinctUntilChanged } from 'rxjs/operators';
import type { ApiError } from '../../meta/api-error.ts';
import { bindMethods } from '../../rx/bind-methods.ts';
import { StartStop } from '../start-stop.ts';
import { Candidacy, type ElectionMemory, type LeaseElectorOptions } from './candidacy.ts';

interface Work {
  abort(): void;
  readonly done: Promise<void>;
}

/** See `createLeaderElector`. */
export class LeaseElector {
  readonly identity: string;
  readonly leading$: Observable<boolean> = defer(() =>
    this.#candidacy.leading.pipe(distinctUntilChanged()),
  );
  readonly leader$: Observable<string> = defer(() =>
    this.#candidacy.leader.pipe(distinctUntilChanged()),
  );
  readonly #options: LeaseElectorOptions;
  readonly #memory: ElectionMemory = { lastError: undefined };
  readonly #life: StartStop;
  readonly #work = new Set<Work>();
  #candidacy: Candidacy;
  #stops = 0;

  constructor(options: LeaseElectorOptions) {
    this.#options = options;
    this.identity = options.identity;
    bindMethods(this);
    this.#candidacy = new Candidacy(options, this.#memory);
    this.#life = new StartStop(
      () => this.#candidacy.start(),
      () => this.#end(),
    );
  }

  get lastError(): ApiError | undefined {
    return this.#memory.lastError;
  }

  get isLeading(): boolean {
    return this.#candidacy.isLeading;
  }

  start(): void {
    this.#life.start();
  }

  stop(): Promise<void> {
    this.#stops++;
    return this.#life.stop();
  }

  async run(work: (signal: AbortSignal) => unknown): Promise<void> {
    const { stopping } = this.#life;
    const stops = this.#stops;
    this.start();
    await stopping;
    if (stops === this.#stops) await this.#follow(work);
  }

  /** Does the work each time that this candidacy leads, until its end. */
  #follow(work: (signal: AbortSignal) => unknown): Promise<void> {
    const { leading } = this.#candidacy;
    return new Promise((resolve, reject) => {
      let running: Work | undefined;
      const begin = () => {
        const controller = new AbortController();
        const call = async () => {
          await work(controller.signal);
        };
        const done = call().then(
          () => {},
          (error) => {
            reject(error);
            // A stop that is under way may have been followed by a start.
            if (this.#life.stopping === undefined) void this.stop();
          },
        );
        const held: Work = { abort: () => controller.abort(), done };
        running = held;
        this.#work.add(held);
        void done.then(() => {
          this.#work.delete(held);
          running = undefined;
          if (controller.signal.aborted) tell(leading.value);
        });
      };
      const tell = (leads: boolean) => {
        if (!leads) running?.abort();
        else if (running === undefined && this.#life.stopping === undefined) begin();
      };
      leading.subscribe({ next: tell, complete: resolve });
    });
  }

  async #end(): Promise<void> {
    // Who works still leads, and goes on renewing until it has returned.
    for (const work of [...this.#work]) work.abort();
    await Promise.all([...this.#work].map(({ done }) => done));
    const ending = this.#candidacy;
    await ending.stop();
    // The next one first: who hears of the end may look at once.
    this.#candidacy = new Candidacy(this.#options, this.#memory);
    ending.complete();
  }
}
