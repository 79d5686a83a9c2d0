/** The lifecycle of an elector: one candidacy after the other, and the work that runs while it leads. */

import { defer, type Observable } from 'rxjs';
import { distinctUntilChanged } from 'rxjs/operators';
import type { ApiError } from '../meta/api-error.ts';
import { liveSignal } from '../rx/live-signal.ts';
import { longTimer } from '../rx/long-timer.ts';
import { Candidacy, type ElectionMemory, type LeaseElectorOptions } from './candidacy.ts';
import { StartStop } from './start-stop.ts';

interface Work {
  abort(): void;
  readonly done: Promise<void>;
}

/** The implementation of `createLeaderElector`. */
export class LeaseElector {
  readonly identity: string;
  readonly leading$: Observable<boolean> = defer(() =>
    this.#candidacy.leading.pipe(distinctUntilChanged()),
  );
  readonly leader$: Observable<string> = defer(() =>
    this.#candidacy.leader.pipe(distinctUntilChanged()),
  );
  readonly #options: LeaseElectorOptions;
  readonly #memory: ElectionMemory = {
    ...{ lastError: undefined, warned: new Set(), work: new Set() },
    late: undefined,
  };
  readonly #life: StartStop;
  /** The work of `run`. */
  readonly #work = new Set<Work>();
  #candidacy: Candidacy;
  #stops = 0;
  /** Releases the gauge. */
  #unmeasure: (() => void) | undefined;

  constructor(options: LeaseElectorOptions) {
    this.#options = options;
    this.identity = options.identity;
    this.onLost(() => {
      const running = [...this.#work].map(({ done }) => done);
      return running.length === 0 ? undefined : Promise.all(running);
    });
    this.#candidacy = new Candidacy(options, this.#memory);
    this.#life = new StartStop(
      () => {
        const { metrics, name } = options;
        this.#unmeasure ??= metrics?.lead(name, () => this.isLeading);
        this.#candidacy.start();
      },
      () => this.#end(),
    );
  }

  get lastError(): ApiError | undefined {
    return this.#memory.lastError;
  }

  get isLeading(): boolean {
    return this.#candidacy.isLeading;
  }

  onLost(end: () => Promise<unknown> | undefined): () => void {
    const { work } = this.#memory;
    const each = () => end();
    work.add(each);
    return () => work.delete(each);
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

  /** Calls `work` each time this candidacy leads, until the candidacy ends. */
  #follow(work: (signal: AbortSignal) => unknown): Promise<void> {
    const candidacy = this.#candidacy;
    const { leading } = candidacy;
    const lost = () => (candidacy.isLeading ? undefined : candidacy.lostError());
    return new Promise((resolve, reject) => {
      let running: Work | undefined;
      const begin = () => {
        const controller = new AbortController();
        liveSignal(controller, lost);
        const call = async () => {
          await work(controller.signal);
        };
        let settle = () => {};
        const done = new Promise<void>((ended) => {
          settle = ended;
        });
        const held: Work = { abort: () => controller.abort(), done };
        // Before the call, because the work may stop the elector at once, and that stop waits for it.
        running = held;
        this.#work.add(held);
        const called = call().catch((error) => {
          reject(error);
          // If a stop is in progress, another one would cancel a start that waits for it.
          if (this.#life.stopping === undefined) void this.stop();
        });
        void called.then(() => {
          this.#work.delete(held);
          running = undefined;
          settle();
          if (controller.signal.aborted) onLeading(leading.value);
        });
      };
      const onLeading = (leads: boolean) => {
        if (!leads) running?.abort();
        else if (running === undefined && this.#life.stopping === undefined) begin();
      };
      leading.subscribe({ next: onLeading, complete: resolve });
    });
  }

  async #end(): Promise<void> {
    // The process leads and renews until its work has returned, so that no other process works at the same time.
    for (const work of [...this.#work]) work.abort();
    const ending = this.#candidacy;
    if (this.#work.size > 0) {
      const { leaseDurationMs, scheduler } = this.#options;
      const late = longTimer(leaseDurationMs, scheduler).subscribe(() => ending.reportLateWork());
      await Promise.all([...this.#work].map(({ done }) => done));
      late.unsubscribe();
    }
    await ending.stop();
    this.#unmeasure?.();
    this.#unmeasure = undefined;
    // The next candidacy is set before this one completes, because a listener may read the state synchronously.
    this.#candidacy = new Candidacy(this.#options, this.#memory);
    ending.complete();
  }
}
