/** Events that a server refuses or does not answer, and that affect no other event. */
import {
  ApiError,
  createEventRecorder,
  type EventRecorderOptions,
  type KubeRequest,
  type KubernetesObject,
} from 'rx-informer';
import { config } from 'rxjs';
import { beforeAll, describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

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
    const { scheduler, recorder, log } = rig(({ reason }) => (reason === 'Stuck' ? 'silence' : {}));
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
