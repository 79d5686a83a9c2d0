/** What is measured of a publisher. */
import type { MeasuredPublisher } from '../meta/metrics.ts';
import type { GaugeRow } from './gauges.ts';

/** The gauges of a publisher. */
export function publisherRows(read: () => MeasuredPublisher): GaugeRow[] {
  return [
    [
      'informer_nats_sequence',
      'The last sequence of the stream that this process has written',
      () => read().sequence,
    ],
    [
      'informer_nats_write_age_seconds',
      'How long ago this process wrote to the bucket, or began to lead; 0 while another process leads',
      () => (read().silentMs ?? 0) / 1000,
    ],
    [
      'informer_nats_refused_objects',
      'Objects that are not in the bucket, by the reason',
      () => {
        const { tooLarge, unwritable } = read();
        return [
          [{ reason: 'too-large' }, tooLarge.length],
          [{ reason: 'unwritable' }, unwritable.length],
        ];
      },
    ],
  ];
}
