/** The consumers of the example `nats-auth`, which end with the right of their reader. */
import type { JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { type NatsReaderRights, natsReaderSubjects } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReaderConsumers } from '../../examples/nats-auth/reader-consumers.ts';
import { ensureStream } from '../../lib/nats/publish/stream-settings.ts';
import { eventually } from '../support/patience.ts';
import { managerOf, NatsServer } from './nats-server.ts';

const NAME = 'abc_0';

let nats: NatsServer;
let admin: JetStreamManager;
let consumers: ReaderConsumers;
let rights: NatsReaderRights;
let errors: string[];
/** How many requests to delete a consumer were sent; `permit` sends one, too. */
let deletions: number;
/** Which of these requests is lost, as when the server restarts. It fails when the test says so. */
let lost: number;
let fail: (error: Error) => void;
let connection: NatsConnection;

beforeEach(async () => {
  nats = await NatsServer.start();
  admin = await managerOf(await nats.connect());
  await ensureStream(admin, 'k8s', 1);
  connection = await nats.connect();
  const request = connection.request.bind(connection);
  [errors, deletions, lost] = [[], 0, 0];
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  connection.request = async (subject, ...rest) =>
    subject.includes('CONSUMER.DELETE') && ++deletions === lost
      ? failed
      : request(subject, ...rest);
  vi.useFakeTimers({ toNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'], now: 0 });
  consumers = new ReaderConsumers(connection, 'k8s', (reason) => errors.push(reason));
  rights = natsReaderSubjects({
    ...{ bucket: 'k8s', resource: pods, namespace: 'shop', consumer: NAME },
    ...{ inboxPrefix: '_INBOX_abc', accounts: { bucket: 'B', reader: 'R' } },
  });
});
afterEach(async () => {
  consumers.stop();
  vi.useRealTimers();
  await nats.stop();
});

const exists = () =>
  admin.consumers.info('KV_k8s', NAME).then(
    () => true,
    () => false,
  );

describe('the consumer of a reader', () => {
  it('J22: ends with the right, also if a request to delete it is lost', async () => {
    lost = 2;
    await consumers.permit(rights, 300);
    await vi.advanceTimersByTimeAsync(299);
    expect(await exists()).toBe(true);
    expect(deletions).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await eventually(() => deletions === 2, 'the right ends');
    expect(await exists()).toBe(true);
    fail(new Error('no answer'));
    await eventually(() => errors.length === 1, 'the request is lost');
    expect(errors[0]).toBe(`the consumer ${NAME} cannot be deleted: no answer`);
    await vi.advanceTimersByTimeAsync(1_000);
    await eventually(async () => expect(await exists()).toBe(false));
  });

  it('J22: of a right that was renewed is not deleted for the right before, whose deletion was lost', async () => {
    lost = 2;
    await consumers.permit(rights, 100);
    await vi.advanceTimersByTimeAsync(100);
    await eventually(() => deletions === 2, 'the right ends');
    await consumers.permit(rights, 600_000);
    fail(new Error('no answer'));
    await eventually(() => errors.length === 1, 'the request is lost');
    const { length } = errors;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await exists()).toBe(true);
    expect([deletions, errors.length]).toEqual([3, length]);
  });

  it('J22: ends at once if its renewal fails, because nothing else would end it', async () => {
    await consumers.permit(rights, 600_000);
    lost = 2;
    fail(new Error('no answer'));
    await expect(consumers.permit(rights, 600_000)).rejects.toThrow('no answer');
    await vi.advanceTimersByTimeAsync(0);
    await eventually(async () => expect(await exists()).toBe(false));
  });

  it('J22: of an earlier process ends with its right, also if the first requests of the next one are lost', async () => {
    await consumers.permit(rights, 300);
    consumers.stop();
    const { request } = connection;
    const refused: string[] = [];
    connection.request = (subject, ...rest) => {
      const isFirst = /JS.API.(INFO|CONSUMER.LIST)/.test(subject) && !refused.includes(subject);
      if (!isFirst) return request(subject, ...rest);
      refused.push(subject);
      return Promise.reject(new Error('no answer'));
    };
    consumers = new ReaderConsumers(connection, 'k8s', (reason) => errors.push(reason));
    await eventually(() => errors.length > 0, 'the list is lost');
    expect(errors).toEqual(['the consumers of KV_k8s cannot be listed: no answer']);
    await vi.advanceTimersByTimeAsync(1_000);
    await eventually(async () => {
      // The right has ended, so the consumer is deleted as soon as the list has come.
      await vi.advanceTimersByTimeAsync(1);
      expect(await exists()).toBe(false);
    });
    await consumers.permit(rights, 600_000);
    expect(await exists()).toBe(true);
  });

  it('J22: lasts for a right of more than 24.8 days, the longest delay of a timer', async () => {
    await consumers.permit(rights, 30 * 86_400_000);
    // Less than the NATS client waits for an answer.
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await exists()).toBe(true);
    expect(deletions).toBe(1);
  });
});
