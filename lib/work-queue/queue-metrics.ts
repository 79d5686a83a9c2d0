/**
 * The figures of a queue, kept as it works. client-go: util/workqueue/metrics.go, under the same names.
 */

/** A distribution in brief. */
export interface DurationSummary {
  readonly count: number;
  readonly sum: number;
  readonly max: number;
}

/** What a queue has done and has to do. Times in seconds, as monitoring has them. */
export interface QueueMetrics {
  readonly name: string;
  /** Keys that are to be worked on, those included that were added while they are with a worker. */
  readonly depth: number;
  /** Keys that wait for their time. */
  readonly waiting: number;
  /** Keys that are with a worker. */
  readonly processing: number;
  readonly addsTotal: number;
  readonly retriesTotal: number;
  readonly queueDurationSeconds: DurationSummary;
  readonly workDurationSeconds: DurationSummary;
  /** The sum over all that is with a worker now. */
  readonly unfinishedWorkSeconds: number;
  readonly longestRunningProcessorSeconds: number;
}
