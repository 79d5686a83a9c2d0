/** Every numeric option of a publisher and a reader of NATS, over its complete range: it is used, or refused by name. */
import type { NatsConnection } from '@nats-io/nats-core';
import { createSharedInformer } from 'rx-informer';
import { createNatsListWatch, publishToNats } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { describe, it } from 'vitest';
import { scriptedListWatch } from '../support/scripted-list-watch.ts';
import { atLeast, judgeRange, optionsOf, sentWhole, whole, within } from './numeric-range.ts';

const connection = {
  status: async function* () {},
} as unknown as NatsConnection;

const reader = (options: object) =>
  createNatsListWatch(connection, pods, { bucket: 'k8s', ...options });

async function publisher(options: object): Promise<void> {
  const informer = createSharedInformer(scriptedListWatch());
  const started = publishToNats(informer as never, {
    ...{ connection, resource: pods as never, bucket: 'k8s' },
    ...options,
  });
  await started.stop();
  await informer.stop();
}

/** The longest period that is sent to a server. */
const LONGEST_MS = 1e12;
const most = { bounds: [LONGEST_MS + 1] };

describe('an option of a publisher or a reader of NATS', () => {
  it.each(
    [
      ...optionsOf(['heartbeatMs'], within(100, LONGEST_MS), publisher, {
        bounds: [99, 100, 333.3, LONGEST_MS + 1],
      }),
      ...optionsOf(['tombstoneMs'], within(1_000, LONGEST_MS), publisher, most),
      ...optionsOf(['idleMs'], within(500, LONGEST_MS), reader, {
        bounds: [499, 500.1, LONGEST_MS + 1],
      }),
      ...optionsOf(['compareEveryMs'], atLeast(1_000), publisher, most),
      ...optionsOf(['batch'], sentWhole(1), reader),
      ...optionsOf(['replicas'], sentWhole(1), publisher),
      ...optionsOf(
        ['batchSize'],
        (value) => whole(2)(value) && (value as number) <= 1_000,
        publisher,
        { bounds: [2.5, 1_001] },
      ),
    ].map((row) => [row.option, row] as const),
  )(
    'M13, J18: %s is used as documented, or refused by name, over its complete range',
    (_option, row) => judgeRange(row),
  );
});
