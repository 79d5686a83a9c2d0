/** The event recorder: coalescing, limits and failures. */
import {
  ApiError,
  createClient,
  createEventRecorder,
  type EventRecorderOptions,
} from 'rx-informer';
import { eventsV1Events, nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { allReported } from '../support/reported-errors.ts';

function rig(options: Partial<EventRecorderOptions> = {}) {
  const scheduler = new VirtualTime();
  const server = createFakeApiServer({ resources: [pods, nodes, eventsV1Events], scheduler });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
  const dropped: string[] = [];
  const recorder = createEventRecorder(client, {
    component: 'watcher',
    instance: 'watcher-1',
    scheduler,
    onDropped: (error) => dropped.push((error as Error).message),
    ...options,
  });
  const pod = server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  const written = () =>
    server.objects
      .list(eventsV1Events)
      .map(({ reason, series }) => `${reason} ${series?.count ?? 1}`);
  const writes = () => server.requests.filter(({ method }) => method !== 'GET').length;
  return { scheduler, server, recorder, pod, dropped, written, writes };
}
const synced = { reason: 'Synced', message: 'all is well' };

describe('an event recorder', () => {
  it('N12: writes an event in the form of the API (TestEventf)', async () => {
    const { scheduler, server, recorder, pod } = rig();
    const related = server.objects.create(nodes, { metadata: { name: 'n1' } });
    await scheduler.advance(1_234);
    recorder.event(pod, {
      ...{ type: 'Warning', reason: 'Stuck', action: 'Schedule', related },
      message: 'x'.repeat(1_022) + 'é'.repeat(9),
    });
    recorder.event(related, synced);
    await recorder.flush();
    const [onNode, onPod] = server.objects.list(eventsV1Events);
    expect(onPod).toMatchObject({
      metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-f]+$/) },
      type: 'Warning',
      reason: 'Stuck',
      action: 'Schedule',
      reportingController: 'watcher',
      reportingInstance: 'watcher-1',
      eventTime: '1970-01-01T00:00:01.234000Z',
      regarding: {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace: 'shop',
        name: 'web',
        uid: pod.metadata.uid,
      },
      related: { apiVersion: 'v1', kind: 'Node', name: 'n1' },
    });
    expect(new TextEncoder().encode(onPod?.note).length).toBeLessThanOrEqual(1_024);
    expect(onPod?.note?.endsWith('x…')).toBe(true);
    expect(onPod?.regarding?.resourceVersion).toBeUndefined();
    // An event about a cluster-scoped object is written to `default`.
    expect([onNode?.metadata.namespace, onNode?.action]).toEqual(['default', 'Synced']);
    await recorder.close();
  });

  it('N12: repeated events are one Event with a count (TestEventSeriesf)', async () => {
    const { scheduler, recorder, pod, written, writes } = rig();
    for (let count = 0; count < 2; count++) {
      recorder.event(pod, { ...synced, message: `for the ${count}. time` });
      await scheduler.advance(1_000);
    }
    expect([written(), writes()]).toEqual([['Synced 2'], 2]);
    for (let count = 0; count < 50; count++) recorder.event(pod, synced);
    await scheduler.advance(29_000);
    expect(writes()).toBe(2);
    await scheduler.advance(1_000);
    expect([written(), writes()]).toEqual([['Synced 52'], 3]);
    recorder.event(pod, { ...synced, reason: 'Broken' });
    recorder.event({ ...pod, metadata: { ...pod.metadata, resourceVersion: '99' } }, synced);
    await recorder.close();
    expect(written().sort()).toEqual(['Broken 1', 'Synced 53']);
    expect(scheduler.pending).toBe(0);
  });

  it('N12: an event after the window is another Event, and one that the server has deleted is created again (TestFinishSeries)', async () => {
    const { scheduler, server, recorder, pod, written } = rig();
    recorder.event(pod, synced);
    await scheduler.advance(360_001);
    recorder.event(pod, synced);
    await scheduler.advance(0);
    expect(written()).toEqual(['Synced 1', 'Synced 1']);
    for (const { metadata } of server.objects.list(eventsV1Events)) {
      server.objects.delete(eventsV1Events, metadata);
    }
    recorder.event(pod, synced);
    await recorder.close();
    expect(written()).toEqual(['Synced 2']);
  });

  it('N12: a write is retried if the server is down, and not if it refuses the event', async () => {
    const { scheduler, server, recorder, pod, written, writes, dropped } = rig();
    server.faults.failNext({ method: 'POST' }, { status: 500, times: 2 });
    recorder.event(pod, synced);
    await scheduler.advance(25_000);
    expect([written(), writes()]).toEqual([['Synced 1'], 3]);
    server.faults.failNext({ method: 'POST' }, { status: 403, message: 'no events for you' });
    recorder.event(pod, { ...synced, reason: 'Forbidden' });
    await scheduler.advance(25_000);
    expect(writes()).toBe(4);
    expect(dropped).toEqual([expect.stringContaining('no events for you')]);
    const fault = server.faults.refuse();
    recorder.event(pod, { ...synced, reason: 'Down' });
    await scheduler.advance(200_000);
    expect(dropped).toHaveLength(2);
    fault.heal();
    expect(recorder.pending).toBe(0);
    await recorder.close();
  });

  it('N12: writing is rate limited, and the number of waiting events is limited', async () => {
    const { scheduler, server, recorder, pod, writes, dropped } = rig({ limit: 60 });
    for (let count = 0; count < 100; count++)
      recorder.event(pod, { ...synced, reason: `R${count}` });
    await scheduler.advance(0);
    expect(writes()).toBe(25);
    await scheduler.advance(1_000);
    expect(writes()).toBe(30);
    await scheduler.advance(60_000);
    expect(server.objects.list(eventsV1Events).length + dropped.length).toBe(100);
    expect(dropped.length).toBeGreaterThan(30);
    await recorder.close();
  });

  it('N12: remembers `seriesKept` series, and forgets the one that was quiet the longest', async () => {
    const { scheduler, recorder, pod, written } = rig({ seriesKept: 2 });
    const record = async (reasons: string) => {
      for (const reason of reasons) recorder.event(pod, { ...synced, reason });
      await scheduler.advance(0);
    };
    await record('ABAB');
    expect(written().sort()).toEqual(['A 2', 'B 2']);
    // A was quiet the longest.
    await record('C');
    await record('BC');
    expect(written().sort()).toEqual(['A 2', 'B 2', 'C 2']);
    // Now B was quiet the longest.
    await record('A');
    expect(written().sort()).toEqual(['A 1', 'A 2', 'B 3', 'C 2']);
    await recorder.close();
  });

  it('N12: writes the count of a series that it forgets, instead of keeping it for later', async () => {
    const { scheduler, recorder, pod, written } = rig({ seriesKept: 1, burst: 100 });
    for (let series = 0; series < 20; series++) {
      for (let count = 0; count < 3; count++) {
        recorder.event(pod, { ...synced, reason: `R${series}` });
        await scheduler.advance(0);
      }
    }
    // The last series is remembered and waits for its time; the counts of all others are written.
    expect(recorder.pending).toBe(1);
    expect(written().filter((event) => event.endsWith(' 3'))).toHaveLength(19);
    await recorder.close();
    expect(written().filter((event) => event.endsWith(' 3'))).toHaveLength(20);
    expect(scheduler.pending).toBe(0);
  });

  it('N12: a forgotten series that the server refuses does not take its successor along', async () => {
    const { scheduler, server, recorder, pod, dropped, written } = rig({ seriesKept: 1 });
    recorder.event(pod, synced);
    recorder.event(pod, synced);
    await scheduler.advance(1_000);
    recorder.event(pod, synced);
    server.faults.failNext({ method: 'PATCH' }, { status: 403 });
    // Synced is forgotten, and its count is written, which the server refuses.
    recorder.event(pod, { ...synced, reason: 'Broken' });
    recorder.event(pod, synced);
    await scheduler.advance(1_000);
    expect(dropped).toHaveLength(1);
    recorder.event(pod, synced);
    await recorder.close();
    expect(written().sort()).toEqual(['Broken 1', 'Synced 2', 'Synced 2']);
  });

  it('N12: no argument makes it throw', async () => {
    const { recorder, pod, dropped } = rig({
      onDropped: () => {
        throw new ApiError({ code: 0, reason: 'x', message: 'from the handler' });
      },
      scheduler: new VirtualTime(),
    });
    const unhandled: unknown[] = [];
    const { config } = await import('rxjs');
    config.onUnhandledError = (error) => unhandled.push(error);
    recorder.event({}, synced);
    recorder.event(pod, { reason: '', message: '' });
    await recorder.close();
    recorder.event(pod, synced);
    await allReported();
    config.onUnhandledError = null;
    expect([unhandled.length, dropped.length]).toEqual([3, 0]);
  });

  it('N12: close() waits for the server at most as long as its timeout', async () => {
    const { scheduler, server, recorder, pod, dropped } = rig();
    server.faults.neverAnswer();
    recorder.event(pod, synced);
    let closed = false;
    const close = recorder.close({ timeoutMs: 3_000 }).then(() => {
      closed = true;
    });
    await scheduler.advance(2_999);
    expect(closed).toBe(false);
    await scheduler.advance(1);
    await close;
    expect(dropped).toHaveLength(1);
    expect(scheduler.pending).toBe(0);
  });
});
