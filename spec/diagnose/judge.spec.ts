/** Tests what follows from observations, as data: set-ups that take long, or need a clock or a vendor. */
import type { KubeClient, TransportEvent } from 'rx-informer';
import type { Observations, SeenWatch } from 'rx-informer/diagnose';
import { concat, firstValueFrom, map, of, Subject, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../lib/diagnose/exchange.ts';
import { judge } from '../../lib/diagnose/judge.ts';
import { observedWatch } from '../../lib/diagnose/observe-watch.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

const atMs = 1_800_000_000_000;
const MINUTE = 60_000;
const streamed: SeenWatch = {
  ...{ resource: 'pods', askedMs: 5_000, headMs: 3, bookmarkMs: 5 },
  ...{ endMs: 5_002, ended: 'cleanly' },
};
const quiet: SeenWatch = {
  ...{ resource: 'pods', askedMs: 5_000, headMs: 4, endMs: 4, ended: 'left' },
};
const healthy: Observations = {
  atMs,
  facts: {
    credentials: { kind: 'token', expiresAtMs: atMs + MINUTE, renews: true },
    ...{ tls: 'TLSv1.3', certificateEndsAtMs: atMs + 30 * 86_400_000 },
  },
  reach: {
    ...{ tookMs: 12, clockAheadMs: 400, version: 'v1.37.2', protocol: 'h2' },
    connectionsLeft: Number.POSITIVE_INFINITY,
  },
  rights: [{ resource: 'pods', namespace: '', verb: 'list', allowed: true }],
  lists: [{ resource: 'pods' }],
  ...{ streamed, quiet, informers: [] },
};
const refused = { reason: 'Invalid', status: 422, message: 'sendInitialEvents is forbidden' };
const unstreamed: SeenWatch = {
  ...{ resource: 'pods', askedMs: 5_000, headMs: 3, endMs: 3, ended: 'broken', error: refused },
};
const unnamed = { code: '', name: 'pods', phase: 'backoff', live: false, heldBack: false };

const judged = (change: Partial<Observations>) =>
  judge({ ...healthy, ...change }).map(
    ({ name, severity, seen }) => `${severity} ${name}: ${seen}`,
  );
const reach = (change: Partial<Observations['reach']>) => ({
  reach: { ...healthy.reach, ...change },
});
const facts = (change: Observations['facts']) => ({ facts: { ...healthy.facts, ...change } });
const error = (reason: string, status: number, message: string, systemCode?: string) =>
  reach({ version: undefined, error: { reason, status, message, systemCode } });

describe('judge', () => {
  it('C51: finds nothing in healthy observations', () => {
    expect(judged({})).toEqual([]);
    expect(judged({ streamed: undefined, quiet: undefined, lists: [] })).toEqual([]);
    expect(judged(reach({ protocol: undefined, connectionsLeft: undefined }))).toEqual([]);
    expect(judged(reach({ clockAheadMs: -9_000, version: 'v1.33.0' }))).toEqual([]);
  });

  it.each<[string, Partial<Observations>, string[]]>([
    [
      'an unknown host',
      error('Network', 0, 'unknown host', 'ENOTFOUND'),
      ['error unreachable: unknown host'],
    ],
    [
      'a page without a cause',
      error('Network', 0, 'no response'),
      ['error unreachable: no response'],
    ],
    [
      'a CA that has expired',
      error('Network', 0, 'not valid', 'CERT_HAS_EXPIRED'),
      ['error certificate-dates: not valid'],
    ],
    [
      'an old server',
      reach({ version: 'v1.32.9' }),
      ['warning untested-version: the server is v1.32.9'],
    ],
    [
      'a new server',
      reach({ version: 'v1.38.0' }),
      ['warning untested-version: the server is v1.38.0'],
    ],
    [
      'a server that is overloaded',
      error('ServiceUnavailable', 503, 'try again'),
      ['error unreachable: try again'],
    ],
    [
      'a plugin that fails',
      error('Credentials', 0, 'the plugin failed'),
      ['error no-credentials: the plugin failed'],
    ],
    [
      'a login page',
      error('Unexpected', 0, 'redirects are not followed'),
      ['error no-api-server: redirects are not followed'],
    ],
    [
      'a clock that is behind',
      reach({ clockAheadMs: -3 * MINUTE }),
      ["warning clock-skew: this clock is 3 min behind the server's"],
    ],
    [
      'an expired token',
      facts({
        credentials: { kind: 'token', expiresAtMs: atMs - 90 * MINUTE, renews: true },
      }),
      ['error token-ends: the token expired 90 min ago'],
    ],
    [
      'a token that ends soon',
      facts({
        credentials: { kind: 'token', expiresAtMs: atMs + 5 * MINUTE, renews: false },
      }),
      ['warning token-ends: the token expires in 5 min, and nothing renews it'],
    ],
    [
      'a client certificate that ends',
      facts({
        credentials: { kind: 'certificate', expiresAtMs: atMs + 3 * 86_400_000, renews: false },
      }),
      ['warning token-ends: the client certificate expires in 3 days, and nothing renews it'],
    ],
    [
      'a certificate that ends',
      facts({ certificateEndsAtMs: atMs + 24 * 3_600_000 }),
      ["warning certificate-ends: the server's certificate ends in 24 h"],
    ],
    [
      'six connections',
      reach({ protocol: 'http/1.1', connectionsLeft: 6 }),
      [
        'warning few-connections: 6 more requests can be open at a time (http/1.1), and each watch holds one',
      ],
    ],
    [
      'no rights in a namespace',
      {
        rights: (['list', 'watch'] as const).map((verb) => ({
          ...{ resource: 'pods', namespace: 'shop', verb, allowed: false },
        })),
      },
      [
        'error missing-right: the server does not permit to list and watch pods in the namespace shop',
      ],
    ],
    [
      'a server that cannot stream lists',
      {
        streamed: unstreamed,
        quiet: { ...quiet, bookmarkMs: 3_000, endMs: 5_001, ended: 'cleanly' },
      },
      ['note no-streaming: sendInitialEvents is forbidden'],
    ],
    [
      'a buffering proxy before such a server',
      {
        streamed: unstreamed,
        quiet: { ...quiet, headMs: 5_000, bookmarkMs: 5_000, endMs: 5_001, ended: 'cleanly' },
      },
      [
        'error held-back: the first event of a watch arrived after 5 s, with its end',
        'note no-streaming: sendInitialEvents is forbidden',
      ],
    ],
    [
      'such a server without bookmarks',
      {
        streamed: unstreamed,
        quiet: { ...quiet, endMs: 5_001, ended: 'cleanly' },
      },
      [
        'warning no-bookmarks: a watch of 5 s had no bookmark',
        'note no-streaming: sendInitialEvents is forbidden',
      ],
    ],
    [
      'streaming lists that are compressed',
      { streamed: { ...streamed, encoding: 'gzip' } },
      ['note compressed: streaming lists are compressed with gzip'],
    ],
    [
      'a proxy that compresses and does not flush',
      { streamed: { ...streamed, encoding: 'gzip', bookmarkMs: 5_000, endMs: 5_001 } },
      [
        'error held-back: the first event of a watch arrived after 5 s, with its end; the watch is compressed with gzip',
        'note compressed: streaming lists are compressed with gzip',
      ],
    ],
    [
      'a watch without an end',
      { streamed: { ...streamed, endMs: 8_000, ended: 'late' } },
      ['error late-head: a watch of pods for 5 s was still open after 8 s, so its end is hidden'],
    ],
    [
      'a watch without a response',
      {
        streamed: {
          ...streamed,
          headMs: undefined,
          bookmarkMs: undefined,
          endMs: 8_000,
          ended: 'late',
        },
      },
      ['error held-back: a watch of pods for 5 s had no response after 8 s'],
    ],
    [
      'a long watch whose last bookmark is all that is late',
      {
        streamed: { ...streamed, askedMs: 330_000, bookmarkMs: 328_000, endMs: 330_000 },
      },
      [],
    ],
    [
      'a watch that ends early',
      { streamed: { ...streamed, endMs: 3_000 } },
      ['warning time-limit: a watch of pods for 5 s ended after 3 s'],
    ],
    [
      'an informer behind a buffer',
      { informers: [{ ...unnamed, heldBack: true }] },
      ['error held-back: the events of informer pods arrive only when its watch ends'],
    ],
    [
      'a blocked informer',
      { informers: [{ ...unnamed, blocked: 'forbidden' }] },
      ['error blocked-informer: informer pods is blocked (forbidden)'],
    ],
    [
      'nothing if this process stood still, and a watch only looks held back',
      {
        streamed: { ...streamed, bookmarkMs: 5_000, endMs: 5_001, stalledMs: 4_800 },
        quiet: { ...quiet, headMs: 5_000, endMs: 5_000, stalledMs: 4_800 },
      },
      [],
    ],
  ])('C50: names %s', (_, change, expected) => {
    expect(judged(change)).toEqual(expected);
  });

  it('C50: finds no fault of a watch in the times for which this process stood still', async () => {
    const time = new VirtualTime();
    let stoppedMs: number | undefined;
    const scheduler = {
      now: () => stoppedMs ?? time.now(),
      schedule: time.schedule.bind(time),
    };
    const events$ = new Subject<TransportEvent>();
    const client = { baseUrl: 'http://fake', send: () => events$ } as unknown as KubeClient;
    let seen: SeenWatch | undefined;
    observedWatch(
      { client, scheduler, timeoutMs: 1_000 },
      { resource: 'pods', path: '/api/v1/pods', query: {}, seconds: 1 },
    ).subscribe((watch) => {
      seen = watch;
    });
    // Its timers are then due before what has arrived is read.
    for (const ms of [4_500, 3_500, 2_500]) {
      stoppedMs = time.now();
      await time.advance(ms);
      stoppedMs = undefined;
      await time.advance(100);
    }
    expect(seen).toBeUndefined();
    events$.next({ kind: 'head', status: 200, header: () => null });
    events$.next({ kind: 'chunk', bytes: new TextEncoder().encode('{"type":"BOOKMARK"}\n') });
    events$.complete();
    expect(seen?.bookmarkMs).toBeGreaterThan(10_000);
    expect(judged({ streamed: seen })).toEqual([]);
  });

  it('C50: the time in which a request waits for its turn is not that of the server', async () => {
    const time = new VirtualTime();
    const head: TransportEvent = { kind: 'head', status: 200, header: () => null };
    const later = (ms: number, event: TransportEvent) =>
      timer(ms, time).pipe(map((): TransportEvent => event));
    const send = () =>
      concat(of({ kind: 'queued' }), later(500, { kind: 'sending' }), later(10, head));
    const client = { baseUrl: 'http://fake', send } as unknown as KubeClient;
    const tools = { client, scheduler: time, timeoutMs: 1_000 };
    const sent = { path: '/api/v1/pods', query: {} };
    const watch = firstValueFrom(observedWatch(tools, { ...sent, resource: 'pods', seconds: 1 }));
    const call = exchange(tools, { ...sent, method: 'GET' });
    await time.advance(1_000);
    expect([(await watch).headMs, (await call).tookMs]).toEqual([10, 10]);
  });

  it('C50: a watch that never ends is late, although no time was lost', async () => {
    const time = new VirtualTime();
    const client = { baseUrl: 'http://fake', send: () => new Subject() } as unknown as KubeClient;
    let seen: SeenWatch | undefined;
    observedWatch(
      { client, scheduler: time, timeoutMs: 1_000 },
      { resource: 'pods', path: '/api/v1/pods', query: {}, seconds: 1 },
    ).subscribe((watch) => {
      seen = watch;
    });
    await time.advance(3_900);
    expect(seen).toBeUndefined();
    await time.advance(100);
    expect(seen).toMatchObject({ ended: 'late', endMs: 4_000, stalledMs: 0 });
  });

  it('C50: one failure of all requests is one finding', () => {
    const failed = { reason: 'Unauthorized', status: 401, message: 'Unauthorized' };
    const lists = [
      { resource: 'pods', error: { ...failed, message: 'LIST pods: Unauthorized' } },
      { resource: 'nodes', error: { ...failed, message: 'LIST nodes: Unauthorized' } },
    ];
    expect(judged({ lists, streamed: undefined })).toEqual([
      'error credentials-refused: LIST pods: Unauthorized',
    ]);
  });
});
