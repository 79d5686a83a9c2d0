/** Every numeric option of a publisher and a reader of NATS, over its complete range: it is used, or refused by name. */
import type { NatsConnection } from '@nats-io/nats-core';
import { createSharedInformer } from 'rx-informer';
import { createNatsListWatch, publishToNats } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { scriptedListWatch } from '../support/scripted-list-watch.ts';
import { shown } from './numeric-range.ts';

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

const LONG = [2 ** 31, 8e8, 1e12];
const TOO_LONG = [1e12 + 1, 1e13, Number.MAX_VALUE, Number.POSITIVE_INFINITY];
const NO_NUMBER = [Number.NaN, -1, Number.NEGATIVE_INFINITY, '5'];

const OPTIONS: readonly {
  readonly name: string;
  readonly make: (options: object) => unknown;
  readonly takes: readonly number[];
  readonly refuses: readonly unknown[];
}[] = [
  {
    name: 'heartbeatMs',
    make: publisher,
    takes: [100, 333.3, ...LONG],
    refuses: [99, ...TOO_LONG],
  },
  { name: 'tombstoneMs', make: publisher, takes: [1_000, ...LONG], refuses: [999, ...TOO_LONG] },
  { name: 'idleMs', make: reader, takes: [500, 500.1, ...LONG], refuses: [499, ...TOO_LONG] },
  { name: 'compareEveryMs', make: publisher, takes: [1_000, ...LONG, ...TOO_LONG], refuses: [999] },
  { name: 'batch', make: reader, takes: [1, 2 ** 53 - 1], refuses: [0, 1.5, 1e21] },
  { name: 'replicas', make: publisher, takes: [1, 5], refuses: [0, 1.5, 1e21] },
  { name: 'batchSize', make: publisher, takes: [2, 1_000], refuses: [1, 2.5, 1_001] },
];

describe('an option of a publisher or a reader of NATS', () => {
  it.each(
    OPTIONS.flatMap(({ name, make, takes }) => takes.map((value) => ({ name, make, value }))),
  )('M13, J18: $name is used if it is $value', async ({ name, make, value }) => {
    await make({ [name]: value });
  });

  it.each(
    OPTIONS.flatMap(({ name, make, refuses }) =>
      [...refuses, ...NO_NUMBER].map((value) => ({ name, make, value })),
    ),
  )('M13, J18: $name is refused with its name if it is $value', async ({ name, make, value }) => {
    const made = async () => make({ [name]: value });
    await expect(made()).rejects.toThrow(TypeError);
    await expect(made()).rejects.toThrow(`${name} is ${shown(value)}; it must be `);
  });
});
