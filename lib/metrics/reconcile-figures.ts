/** Measures the reconciles of a controller. controller-runtime: pkg/internal/controller/metrics, with the same names. */
import type {
  MeasuredController,
  MeasuredEnd,
  MetricsProvider,
  ReconcileFigures,
} from '../meta/metrics.ts';
import { type GaugeRow, Gauges, madeSafely, type Safely, safelyBy } from './gauges.ts';

const RESULTS = ['success', 'error', 'requeue', 'requeue_after'] as const;

/** The label of a reconcile that has ended. A wait that is no time is an error, with which the key is given up. */
function resultOf(end: MeasuredEnd): (typeof RESULTS)[number] {
  const { requeue, requeueAfterMs = 0 } = end.result ?? {};
  if ('error' in end || !Number.isFinite(requeueAfterMs)) return 'error';
  if (requeueAfterMs > 0) return 'requeue_after';
  return requeue ? 'requeue' : 'success';
}

/** The gauge of a controller in shards. */
function waitingRows({ shards }: MeasuredController): GaugeRow[] {
  if (shards === undefined) return [];
  const description = 'Known keys in slots on which no process may begin work';
  return [['informer_shard_waiting_keys', description, () => shards.waiting]];
}

const NOTHING: ReconcileFigures = { begin() {}, end() {}, reconciled() {} };

/** Without its instruments nothing is measured, but the controller works. */
export function reconcileFigures(
  provider: MetricsProvider,
  of: MeasuredController,
): ReconcileFigures {
  const safely = safelyBy((error) => of.report(error));
  return madeSafely(safely, NOTHING, () => figuresOf(provider, of, safely));
}

function figuresOf(
  provider: MetricsProvider,
  of: MeasuredController,
  safely: Safely,
): ReconcileFigures {
  const labels = { controller: of.name };
  const total = provider.createCounter('controller_runtime_reconcile_total', {
    description: 'Reconciles by their result',
  });
  const time = provider.createHistogram('controller_runtime_reconcile_time_seconds', {
    description: 'How long a reconcile takes',
    unit: 's',
  });
  const runtime = new Gauges(
    provider,
    labels,
    [
      [
        'controller_runtime_active_workers',
        'Reconciles that run',
        () => of.controller.working.length,
      ],
      [
        'controller_runtime_max_concurrent_reconciles',
        'How many reconciles may run at the same time',
        () => of.concurrency,
      ],
    ],
    safely,
  );
  const own = new Gauges(
    provider,
    { name: of.name },
    [
      [
        'informer_controller_unfinished_reconciles',
        'Reconciles of an earlier term that block this process',
        () => of.controller.status.unfinished.length,
      ],
      [
        'informer_controller_ended_sources',
        'Sources whose changes no longer reach the controller',
        () => of.controller.status.ended.length,
      ],
      ...waitingRows(of),
    ],
    safely,
  );
  return {
    begin() {
      runtime.begin();
      own.begin();
      // A rate needs the value before the first reconcile.
      for (const result of RESULTS) safely(() => total.add(0, { ...labels, result }));
    },
    end() {
      runtime.end();
      own.end();
    },
    reconciled(end, tookMs) {
      if ('aborted' in end) return;
      const result = resultOf(end);
      safely(() => total.add(1, { ...labels, result }));
      safely(() => time.record(tookMs / 1000, labels));
    },
  };
}
