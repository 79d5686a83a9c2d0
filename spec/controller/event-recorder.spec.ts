/** The event recorder: coalescing, limits, and events that a server refuses or does not answer, which affect no other event. */
import {
  ApiError,
  createClient,
  createEventRecorder,
  type EventRecorderOptions,
  type KubeRequest,
  type KubernetesObject,
} from 'rx-informer';
import { eventsV1Events, nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { config } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { allReported } from '../support/errors.ts';

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

describe('event failures', () => {
  interface Sent {
    readonly metadata: { readonly name: string; readonly namespace: string };
    readonly reason: string;
    readonly series?: { readonly count: number };
  }
  type Answer = (body: Sent, request: KubeRequest) => unknown;

  function rig(answer: Answer, options: Partial<EventRecorderOptions> = {}) {
    const scheduler = new VirtualTime();
    const log: string[] = [];
    const dropped: string[] = [];
    const sent: Sent[] = [];
    const request = async <R>(request: KubeRequest): Promise<R> => {
      const body = request.body as Sent;
      log.push(`${scheduler.now()} ${request.method} ${body.reason ?? `${body.series?.count}`}`);
      if (request.method === 'POST') sent.push(body);
      const { signal } = request;
      if (signal?.aborted) throw ApiError.local('Aborted', 'aborted');
      return await new Promise<R>((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(ApiError.local('Aborted', 'aborted')));
        try {
          const given = answer(body, request);
          if (given === 'page') resolve('<html>' as R);
          else if (given !== 'silence') resolve({ kind: 'Event', ...(given as object) } as R);
        } catch (error) {
          reject(error);
        }
      });
    };
    const recorder = createEventRecorder(
      { request },
      {
        component: 'watcher',
        scheduler,
        random: () => 0,
        onDropped: (error) => dropped.push((error as Error).message),
        ...options,
      },
    );
    return { scheduler, recorder, log, dropped, sent };
  }

  const named = (name: string, namespace?: string): KubernetesObject => ({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  });
  const eventOf = (reason: string) => ({ reason, message: 'again' });
  const fail = (code: number, retryAfterMs?: number) => {
    throw ApiError.fromStatus({}, code, retryAfterMs === undefined ? {} : { retryAfterMs });
  };

  beforeAll(() => {
    config.onUnhandledError = () => undefined;
  });

  describe('a recorder', () => {
    it.each<[string, () => number]>([
      [
        'throws',
        () => {
          throw new Error('no random');
        },
      ],
      ['returns NaN', () => Number.NaN],
    ])('X4: whose random %s writes its Events, also after a failure', async (_how, random) => {
      let failures = 1;
      const answer = () => (failures-- > 0 ? fail(503) : {});
      const { scheduler, recorder, sent, dropped } = rig(answer, { random });
      recorder.event(named('a', 'shop'), eventOf('A'));
      await scheduler.advance(60_000);
      recorder.event(named('b', 'shop'), eventOf('B'));
      await scheduler.advance(60_000);
      expect([sent.map(({ reason }) => reason), dropped]).toEqual([['A', 'A', 'B'], []]);
      const closed = recorder.close();
      await scheduler.advance(60_000);
      await closed;
    });
  });

  describe('the name of an event', () => {
    it.each([
      ['web', 'web'],
      ['web.v1', 'web.v1'],
      ['system:controller:foo', 'system-controller-foo'],
      ['UPPER_case', 'upper-case'],
      ['kube-system/10.0.0.1:6443', 'kube-system-10.0.0.1-6443'],
      ['-.a..b-.-c.', 'a.b.c'],
      [':::', 'event'],
      ['grün', 'gr-n'],
      ['a'.repeat(253), 'a'.repeat(236)],
      // A name that was cut must not end with a hyphen.
      [`${'a'.repeat(235)}-bcdefgh`, 'a'.repeat(235)],
    ])('N26: the name of an event about %s is one that a server accepts', async (name, prefix) => {
      const { scheduler, recorder, sent } = rig(() => ({}));
      await scheduler.advance(1_700_000_000_000);
      recorder.event(named(name), eventOf('Synced'));
      await recorder.flush();
      const { metadata } = sent[0] as Sent;
      expect(metadata.name).toMatch(
        /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
      );
      expect(metadata.name.length).toBeLessThanOrEqual(253);
      expect(metadata.name.replace(/\.[^.]*$/, '')).toBe(prefix);
      await recorder.close();
    });

    it('N26: other values that a server would refuse are refused immediately, or cut', async () => {
      const make = (component: string) => () =>
        createEventRecorder({ request: async <R>() => ({}) as R }, { component });
      expect(make('my controller')).toThrow(
        /component is "my controller"; it must be the name of the controller, such as/,
      );
      expect(make('')).toThrow(/component is ""; it must be the name/);
      for (const name of ['watcher', 'example.com/watcher', 'A_b.c-1']) await make(name)().close();
      const { recorder, sent } = rig(() => ({}), { instance: 'i'.repeat(200) });
      recorder.event(named('web', ''), eventOf('Synced'));
      await recorder.close();
      expect(sent[0]).toMatchObject({
        reportingInstance: 'i'.repeat(128),
        metadata: { namespace: 'default' },
      });
      const texts = rig(() => ({}), { instance: 'é'.repeat(100) });
      const event = { reason: '€'.repeat(100), action: 'x'.repeat(129), message: '' };
      texts.recorder.event(named('web', ''), event);
      texts.recorder.event(named('web', ''), { reason: 'Synced', action: '', message: '' });
      await texts.recorder.close();
      const [long, empty] = texts.sent;
      const { reason, action, reportingInstance } = long as unknown as Record<string, string>;
      expect([reason, action, reportingInstance]).toEqual([
        '€'.repeat(42),
        'x'.repeat(128),
        'é'.repeat(64),
      ]);
      expect(empty).toMatchObject({ action: 'Synced' });
    });
  });

  describe('an event whose request fails', () => {
    it('N27: a failing event waits separately: the others are written meanwhile', async () => {
      const { scheduler, recorder, log, dropped } = rig(({ reason }) =>
        reason === 'Bad' ? fail(500) : {},
      );
      for (const reason of ['One', 'Bad', 'Two']) recorder.event(named('web'), eventOf(reason));
      await scheduler.advance(0);
      expect(log).toEqual(['0 POST One', '0 POST Bad', '0 POST Two']);
      expect(recorder.pending).toBe(1);
      await scheduler.advance(5_000);
      recorder.event(named('web'), eventOf('Three'));
      // A repetition does not make it retry earlier.
      recorder.event(named('web'), eventOf('Bad'));
      await scheduler.advance(0);
      expect(log.slice(3)).toEqual(['5000 POST Three']);
      await scheduler.advance(200_000);
      expect(log.filter((line) => line.endsWith('Bad'))).toHaveLength(12);
      expect([dropped.length, recorder.pending]).toEqual([1, 0]);
      await recorder.close();
      expect(scheduler.pending).toBe(0);
    });

    it('N27: the failures of an event count until it is written', async () => {
      let isDown = false;
      const { scheduler, recorder, log, dropped } = rig(() => (isDown ? fail(500) : {}));
      for (let outage = 0; outage < 3; outage++) {
        isDown = true;
        recorder.event(named('web'), eventOf('One'));
        await scheduler.advance(100_000);
        isDown = false;
        await scheduler.advance(60_000);
        expect([dropped, recorder.pending]).toEqual([[], 0]);
      }
      expect(log.length).toBeGreaterThan(15);
      await recorder.close();
    });

    it('N27: a page that a proxy sends with status 200 is a failure, and the event is written later', async () => {
      let isProxied = true;
      const { scheduler, recorder, log, dropped } = rig(() => (isProxied ? 'page' : {}));
      recorder.event(named('web'), eventOf('One'));
      await scheduler.advance(0);
      expect([log, recorder.pending]).toEqual([['0 POST One'], 1]);
      isProxied = false;
      await scheduler.advance(60_000);
      expect([log.length, dropped, recorder.pending]).toEqual([2, [], 0]);
      await recorder.close();
    });

    it('N27: an event also waits separately if the server does not answer it, or defers it for a day', async () => {
      const { scheduler, recorder, log } = rig(({ reason }) =>
        reason === 'Stuck' ? 'silence' : {},
      );
      recorder.event(named('web'), eventOf('Stuck'));
      recorder.event(named('web'), eventOf('Fine'));
      await scheduler.advance(10_000);
      expect(log).toEqual(['0 POST Stuck', '10000 POST Fine']);
      const closed = recorder.close();
      await scheduler.advance(5_000);
      await closed;
      expect(scheduler.pending).toBe(0);
    });

    it('N27: a failing event is flushed with the others, and dropped when the recorder is closed', async () => {
      const { scheduler, recorder, dropped } = rig(({ reason }) =>
        reason === 'Bad' ? fail(500) : {},
      );
      recorder.event(named('web'), eventOf('Bad'));
      let flushed = false;
      void recorder.flush().then(() => {
        flushed = true;
      });
      await scheduler.advance(100_000);
      expect(flushed).toBe(false);
      const closed = recorder.close({ timeoutMs: 1_000 });
      await scheduler.advance(1_000);
      await closed;
      expect([flushed, recorder.pending, dropped]).toEqual([
        true,
        0,
        [expect.stringContaining('the server answered 500')],
      ]);
      expect(scheduler.pending).toBe(0);
    });

    it('N27: an event whose response was lost is the same Event at the next attempt', async () => {
      let tries = 0;
      const stored = new Map<string, number>();
      let draws = 0;
      const random = () => (++draws % 10) / 10;
      const answer: Answer = ({ metadata, series }, { method, path }) => {
        const name = metadata?.name ?? path.split('/').at(-1) ?? '';
        if (method === 'POST' && stored.has(name)) return fail(409);
        stored.set(name, series?.count ?? 1);
        tries++;
        return tries === 1 ? fail(504) : {};
      };
      const { scheduler, recorder, sent, dropped } = rig(answer, { random });
      recorder.event(named('web'), eventOf('Synced'));
      await scheduler.advance(0);
      recorder.event(named('web'), eventOf('Synced'));
      recorder.event(named('web'), eventOf('Synced'));
      await scheduler.advance(20_000);
      await recorder.close();
      expect(new Set(sent.map(({ metadata }) => metadata.name)).size).toBe(1);
      expect([[...stored.values()], dropped]).toEqual([[3], []]);
    });

    it('N27: an event whose name is taken gets another name', async () => {
      const { scheduler, recorder, sent, dropped } = rig(({ metadata }, { method }) => {
        if (
          method === 'POST' &&
          sent.slice(0, -1).some((one) => one.metadata.name === metadata.name)
        ) {
          fail(409);
        }
        return {};
      });
      // One object, one time and equal random numbers.
      recorder.event(named('web'), eventOf('One'));
      recorder.event(named('web'), eventOf('Two'));
      await scheduler.advance(60_000);
      await recorder.close();
      expect([dropped, new Set(sent.map(({ metadata }) => metadata.name)).size]).toEqual([[], 2]);
    });
  });
});
