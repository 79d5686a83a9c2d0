/** Counts what is written of stored collections, and why something is not. */
import type { MetricAttributes, MetricsProvider, SnapshotFigures } from '../meta/metrics.ts';
import { madeSafely, type Safely } from './gauges.ts';

const NOTHING: SnapshotFigures = { written() {}, notStored() {} };

/** Without its instruments nothing is measured, but objects are stored. */
export function snapshotFigures(
  provider: MetricsProvider,
  labels: MetricAttributes,
  reasons: readonly string[],
  safely: Safely,
): SnapshotFigures {
  return madeSafely<SnapshotFigures>(safely, NOTHING, () => {
    const writes = provider.createCounter('informer_snapshot_writes_total', {
      description: 'Changes that were written to the store of the option persist',
    });
    const failures = provider.createCounter('informer_not_stored_total', {
      description:
        'Collections that are not stored, or were not read from the store, by the reason',
    });
    // A rate needs the value before the first event.
    writes.add(0, labels);
    for (const reason of reasons) failures.add(0, { ...labels, reason });
    return {
      written: () => safely(() => writes.add(1, labels)),
      notStored: (reason) => safely(() => failures.add(1, { ...labels, reason })),
    };
  });
}
