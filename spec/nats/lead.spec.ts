/** The Lease of a publisher whose connection to NATS is lost, over a connection without a server. */
import {
  createClient,
  createLeaderElector,
  createListWatch,
  createSharedInformer,
  metered,
} from 'rx-informer';
import { publishToNats } from 'rx-informer/nats';
import { leases, pods } from 'rx-informer/resources';
import { createFakeApiServer, createVirtualTime } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { recordedMetrics } from '../metrics/recorded-metrics.ts';
import { FakeConnection } from './fake-connection.ts';

const place = { namespace: 'shop', name: 'publisher' };

/** A publisher that has the Lease, and another process that competes for it. */
async function scene() {
  const time = createVirtualTime();
  const { scheduler } = time;
  const timing = { scheduler, random: () => 0 };
  const server = createFakeApiServer({ resources: [leases, pods], scheduler });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
  const elector = (identity: string) =>
    createLeaderElector({ ...place, client, identity, ...timing });
  const fake = new FakeConnection();
  const own = elector('a');
  const recorded = recordedMetrics();
  const informer = createSharedInformer(createListWatch(client, pods, timing), timing);
  const publisher = publishToNats(informer, {
    ...{ connection: fake.connection, resource: pods, bucket: 'test', elector: own, ...timing },
    metrics: metered(recorded.provider),
  });
  await time.advance(1_000);
  expect(own.isLeading).toBe(true);
  const other = elector('b');
  other.start();
  const holder = () => server.objects.get(leases, place)?.spec?.holderIdentity;
  const ages = () =>
    Object.entries(recorded.scrape()).flatMap(([series, value]) =>
      series.startsWith('informer_nats_write_age_seconds{') ? [value] : [],
    );
  const stop = async () => {
    const stopped = Promise.all([publisher.stop(), other.stop(), informer.stop()]);
    await time.advance(60_000);
    await stopped;
  };
  return {
    time,
    fake,
    own,
    other,
    informer,
    publisher,
    holder,
    ages,
    observed: () => recorded.observed,
    stop,
  };
}

describe('the lead of a publisher', () => {
  it('J72: is given up when the connection is lost for longer than a heartbeat, and another process gets it', async () => {
    const { time, fake, own, other, publisher, holder, stop } = await scene();
    fake.report('disconnect');
    await time.advance(9_000);
    expect([own.isLeading, holder()]).toEqual([true, 'a']);
    await time.advance(4_000);
    expect([own.isLeading, other.isLeading, holder()]).toEqual([false, true, 'b']);
    const givenUp = {
      phase: 'standby',
      message: expect.stringMatching(
        /^there is no connection to NATS, so this process has given up/,
      ),
    };
    expect(publisher.status).toMatchObject(givenUp);
    fake.report('reconnect');
    await time.advance(1_000);
    expect(publisher.status.message).toMatch(/^b has the Lease/);
    fake.report('disconnect');
    await time.advance(13_000);
    expect(publisher.status).toMatchObject(givenUp);
    // It does not compete, also if nobody has the Lease.
    void other.stop();
    await time.advance(60_000);
    expect(holder()).toBe('');
    fake.report('reconnect');
    await time.advance(1_000);
    expect([own.isLeading, holder()]).toEqual([true, 'a']);
    await stop();
  });

  it('J13: a publisher that has stopped does not keep its informer running', async () => {
    const { time, informer, publisher, stop } = await scene();
    expect(informer.status.phase).toBe('watching');
    const stopped = publisher.stop();
    await time.advance(60_000);
    await stopped;
    expect(informer.status.phase).toBe('idle');
    await stop();
  });

  it('J72: is kept if the connection is back within a heartbeat', async () => {
    const { time, fake, own, holder, stop } = await scene();
    for (let at = 0; at < 5; at++) {
      fake.report('disconnect');
      await time.advance(9_000);
      fake.report('reconnect');
      await time.advance(100);
    }
    await time.advance(30_000);
    expect([own.isLeading, holder()]).toEqual([true, 'a']);
    await stop();
  });

  it('J72: is given up for good if the connection is closed', async () => {
    const { time, fake, holder, stop } = await scene();
    fake.report();
    await time.advance(60_000);
    expect(holder()).toBe('b');
    await stop();
  });

  it('J73: is seen in the metrics: the age of the last write, only in the process that leads', async () => {
    const { time, fake, own, ages, observed, holder, stop } = await scene();
    expect(ages()).toHaveLength(1);
    const [before = 0] = ages();
    await time.advance(5_000);
    // Nothing could be written, because the bucket does not answer as one.
    expect(ages()).toEqual([before + 5]);
    fake.report('disconnect');
    await time.advance(60_000);
    expect([own.isLeading, holder()]).toEqual([false, 'b']);
    expect(ages()).toEqual([0]);
    expect(observed()).toBeGreaterThan(0);
    await stop();
    expect(ages()).toEqual([0]);
    await time.advance(0);
    expect([ages(), observed()]).toEqual([[], 0]);
  });
});
