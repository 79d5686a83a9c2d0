/** The instruments of a work queue. client-go: util/workqueue/metrics.go, with the same names. */
import type { MeasuredQueue, MetricsProvider, QueueInstruments } from '../meta/metrics.ts';
import { Gauges, madeSafely, type Safely } from './gauges.ts';

const NOTHING: QueueInstruments = {
  added() {},
  retried() {},
  got() {},
  dropped() {},
  done() {},
  close() {},
};

/** Without its instruments nothing is measured, but the queue works. */
export function queueInstruments(
  provider: MetricsProvider,
  name: string,
  state: () => MeasuredQueue,
  safely: Safely,
): QueueInstruments {
  return madeSafely(safely, NOTHING, () => instrumentsOf(provider, name, state, safely));
}

function instrumentsOf(
  provider: MetricsProvider,
  name: string,
  state: () => MeasuredQueue,
  safely: Safely,
): QueueInstruments {
  const labels = { name };
  const histogram = (metric: string, description: string) =>
    provider.createHistogram(metric, { description, unit: 's' });
  const depth = provider.createUpDownCounter('workqueue_depth', { description: 'Keys to process' });
  const adds = provider.createCounter('workqueue_adds_total', { description: 'Keys added' });
  const retries = provider.createCounter('workqueue_retries_total', {
    description: 'Keys retried or delayed',
  });
  const queued = histogram('workqueue_queue_duration_seconds', 'How long a key waits');
  const worked = histogram('workqueue_work_duration_seconds', 'How long a key is processed');
  const gauges = new Gauges(
    provider,
    labels,
    [
      [
        'workqueue_unfinished_work_seconds',
        'Total processing time of the keys in progress',
        () => state().unfinishedWorkSeconds,
      ],
      [
        'workqueue_longest_running_processor_seconds',
        'Processing time of the longest running worker',
        () => state().longestRunningProcessorSeconds,
      ],
    ],
    safely,
  );
  gauges.begin();
  // A rate needs the value before the first retry.
  safely(() => retries.add(0, labels));
  return {
    added: () =>
      safely(() => {
        adds.add(1, labels);
        depth.add(1, labels);
      }),
    retried: () => safely(() => retries.add(1, labels)),
    got: (queuedMs) =>
      safely(() => {
        depth.add(-1, labels);
        queued.record(queuedMs / 1000, labels);
      }),
    dropped: (count) => safely(() => depth.add(-count, labels)),
    done: (workedMs) => safely(() => worked.record(workedMs / 1000, labels)),
    close: () => gauges.end(),
  };
}
