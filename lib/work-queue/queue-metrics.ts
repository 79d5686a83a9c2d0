/** Counts what happens to the keys of a queue. client-go: util/workqueue/metrics.go. */
import { checkedMetered } from '../checks/checked-option.ts';
import type { Metered, QueueInstruments } from '../meta/metrics.ts';

/** A summary of a distribution of durations, in seconds. */
export interface DurationSummary {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
}

/** The metrics of a queue. Durations are in seconds, as is usual in monitoring. */
export interface QueueMetrics {
  readonly name: string;
  /** Keys that need processing, including those that were added while a worker has them. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly waiting: number;
  /** Keys that a worker has. */
  readonly processing: number;
  readonly addsTotal: number;
  readonly retriesTotal: number;
  readonly queueDurationSeconds: DurationSummary;
  readonly workDurationSeconds: DurationSummary;
  /** For how long the keys that are being processed have been processed, in total. */
  readonly unfinishedWorkSeconds: number;
  readonly longestRunningProcessorSeconds: number;
}

/** The part of the metrics that the queue computes from its current state. */
export type QueueState = Pick<
  QueueMetrics,
  'depth' | 'waiting' | 'processing' | 'unfinishedWorkSeconds' | 'longestRunningProcessorSeconds'
>;

/** The durations so far. */
class Durations {
  #count = 0;
  #sum = 0;
  #max = 0;

  add(seconds: number): void {
    this.#count += 1;
    this.#sum += seconds;
    if (seconds > this.#max) this.#max = seconds;
  }

  read(): DurationSummary {
    return { count: this.#count, sum: this.#sum, max: this.#max };
  }
}

/** The options of the figures of a queue. */
export interface QueueFiguresOptions {
  readonly name?: string | undefined;
  readonly metrics?: Metered | undefined;
  /** Receives the errors that the provider throws. */
  readonly onUnhandledError?: ((error: unknown) => void) | undefined;
}

/** Counts for one queue, and tells its instruments. */
export class QueueFigures {
  readonly #name: string;
  readonly #state: () => QueueState;
  readonly #instruments: QueueInstruments | undefined;
  #addsTotal = 0;
  #retriesTotal = 0;
  readonly #queued = new Durations();
  readonly #worked = new Durations();

  constructor(
    { name = '', metrics, onUnhandledError }: QueueFiguresOptions,
    state: () => QueueState,
  ) {
    this.#name = name;
    this.#state = state;
    this.#instruments = checkedMetered(metrics, 'the queue: metrics')?.queue(
      name,
      state,
      onUnhandledError,
    );
  }

  added(): void {
    this.#addsTotal += 1;
    this.#instruments?.added();
  }

  retried(): void {
    this.#retriesTotal += 1;
    this.#instruments?.retried();
  }

  got(queuedMs: number): void {
    this.#queued.add(queuedMs / 1000);
    this.#instruments?.got(queuedMs);
  }

  /** Subtracts keys that were dropped. */
  dropped(count: number): void {
    if (count > 0) this.#instruments?.dropped(count);
  }

  done(workedMs: number): void {
    this.#worked.add(workedMs / 1000);
    this.#instruments?.done(workedMs);
  }

  /** Releases the gauges, because nothing changes from now on and they must not be read again. */
  close(): void {
    this.#instruments?.close();
  }

  read(): QueueMetrics {
    return {
      name: this.#name,
      ...this.#state(),
      addsTotal: this.#addsTotal,
      retriesTotal: this.#retriesTotal,
      queueDurationSeconds: this.#queued.read(),
      workDurationSeconds: this.#worked.read(),
    };
  }
}
