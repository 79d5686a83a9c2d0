/**
 * The failures after which the informer of client-node stops, retries without a wait, reports nothing or leaves a
 * connection open.
 */
import type { FakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { type Rig, type RigOptions, rig } from './rig.ts';

/** One row of the table: a failure, and the requests until the reflector is healthy again. */
interface Row {
  readonly name: string;
  /** Runs before the first request. */
  readonly before?: (server: FakeApiServer) => void;
  /** Runs when the reflector has been healthy for some time. */
  readonly meets?: (run: Rig) => void;
  readonly requested: string;
  /** The reasons of the errors that the status and `onError` show. */
  readonly errors: readonly string[];
  /** How long until the reflector is healthy again, in milliseconds. @defaultValue 1500 */
  readonly withinMs?: number;
  /** When the test checks the status for the failure, in milliseconds. @defaultValue 700 */
  readonly shownMs?: number;
  readonly options?: RigOptions;
}

const pages: RigOptions = { reflect: { initialList: 'pages' } };
const list = { use: 'list' } as const;
const watch = { use: 'watch' } as const;

/** Closes the open watch; the next one fails with this status. */
const onWatch =
  (status: number, more: object = {}) =>
  (run: Rig) => {
    run.server.faults.failNext(watch, { status, ...more });
    run.server.faults.closeWatches();
  };
const pod = (name: string, version: number) =>
  JSON.stringify({
    type: 'ADDED',
    object: {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name, namespace: 'd', uid: name, resourceVersion: String(version) },
    },
  });

const rows: readonly Row[] = [
  {
    name: 'after a 500 for the first LIST: waits, lists again',
    before: ({ faults }) => void faults.failNext(list, { status: 500 }),
    requested: 'L0 L0 W2',
    errors: ['InternalError'],
    options: pages,
  },
  {
    name: 'after a 403 for the first LIST: shows it, waits, lists again',
    before: ({ faults }) => void faults.failNext(list, { status: 403, reason: 'Forbidden' }),
    requested: 'L0 L0 W2',
    errors: ['Forbidden'],
    options: pages,
  },
  {
    name: 'after a refused connection for the first LIST: waits, lists again',
    before: ({ faults }) => {
      const fault = faults.refuse(({ use }) => {
        queueMicrotask(() => fault.heal());
        return use === 'list';
      });
    },
    requested: 'L0 L0 W2',
    errors: ['Network'],
    options: pages,
  },
  {
    name: 'after a 401 for a WATCH (token expiry): waits, resumes',
    meets: onWatch(401),
    requested: 'S W2 W2',
    errors: ['Unauthorized'],
  },
  {
    name: 'after a 403 for a WATCH: waits, resumes',
    meets: onWatch(403),
    requested: 'S W2 W2',
    errors: ['Forbidden'],
  },
  {
    name: 'after a 429 with Retry-After for a WATCH: waits that long, resumes',
    meets: onWatch(429, { retryAfterSeconds: 20 }),
    requested: 'S W2 W2',
    errors: ['TooManyRequests'],
    withinMs: 20_100,
  },
  {
    name: 'after a 500 for a WATCH: waits, resumes',
    meets: onWatch(500),
    requested: 'S W2 W2',
    errors: ['InternalError'],
  },
  {
    name: 'after a 401 for a LIST (token expiry): waits, lists again',
    before: ({ faults }) => void faults.failNext(list, { status: 401 }),
    requested: 'L0 L0 W2',
    errors: ['Unauthorized'],
    options: pages,
  },
  {
    name: 'after a reset of the connection of a watch: waits, resumes',
    meets: ({ server }) => void server.faults.dropWatches(),
    requested: 'S W2',
    errors: ['Network'],
  },
  {
    name: 'after the server closes the watch cleanly: resumes immediately',
    meets: ({ server }) => void server.faults.closeWatches(),
    requested: 'S W2',
    errors: [],
    withinMs: 1,
  },
  {
    name: 'after a 410 for a WATCH: lists within a second',
    meets: onWatch(410, { reason: 'Expired' }),
    requested: 'S W2 S2',
    errors: ['Expired'],
    shownMs: 400,
  },
  {
    name: 'after an ERROR 410 on a connection that stays open: ends the watch, lists within a second',
    meets: ({ server }) =>
      void server.faults.emitError({ code: 410, reason: 'Expired' }, watch, { staysOpen: true }),
    requested: 'S S2',
    errors: ['Expired'],
    shownMs: 400,
  },
  {
    name: 'after an ERROR 500: shows it, waits, resumes',
    meets: ({ server }) =>
      void server.faults.emitError({ code: 500, reason: 'InternalError' }, watch, {
        staysOpen: true,
      }),
    requested: 'S W2',
    errors: ['InternalError'],
  },
  {
    name: 'after silence of the server: ends the watch, resumes',
    meets: ({ server }) => void server.faults.halfOpen().heal(),
    requested: 'S W2',
    errors: ['Silent'],
    withinMs: 88_000,
  },
  {
    name: 'after a malformed line: ends the watch, keeps the events before the line, resumes after them',
    meets: (run) => void run.server.faults.sendRaw(`${pod('m', 9)}\n{"type":"ADDED",oops}\n`),
    requested: 'S W9',
    errors: ['Malformed'],
  },
  {
    name: 'after a truncated line: ends the watch, resumes',
    meets: ({ server }) => {
      server.faults.sendRaw('{"type":"ADDED","obj');
      server.faults.closeWatches();
    },
    requested: 'S W2',
    errors: ['Malformed'],
  },
  {
    name: 'after a line that is not UTF-8: ends the watch, resumes',
    meets: ({ server }) => void server.faults.sendRaw(new Uint8Array([0x7b, 0xff, 0xfe, 0x0a])),
    requested: 'S W2',
    errors: ['Malformed'],
  },
];

describe('the reflector', () => {
  it.each(rows)('R7, R8, R9, R11, R13, R19: $name', async (row) => {
    const run = rig(row.options, row.before);
    const withinMs = row.withinMs ?? 1_500;
    if (row.meets !== undefined) {
      await run.advance(2_000);
      row.meets(run);
    }
    await run.advance(row.shownMs ?? (row.withinMs === 1 ? 1 : 700));
    if (row.errors.length > 0 && withinMs < 30_000) {
      expect(run.status).toMatchObject({ phase: 'backoff', error: { reason: row.errors[0] } });
    }
    await run.advance(withinMs);
    expect(run.requested()).toBe(row.requested);
    expect(run.errors.map(({ reason }) => reason)).toEqual(row.errors);
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    expect(run.status?.error).toBeUndefined();
    expect(run.server.openWatches.length).toBe(1);
    // The reflector is healthy again: later events are delivered, and only once.
    run.server.objects.advance(20);
    run.create('late');
    await run.advance(1);
    expect(run.emitted.filter((line) => line.includes('+late@')).length).toBe(1);
    run.subscription.unsubscribe();
    await run.advance(0);
    expect([run.server.openWatches.length, run.time.pending]).toEqual([0, 0]);
  });
});

describe('stopping', () => {
  const moments: readonly (readonly [string, number, (server: FakeApiServer) => void, string])[] = [
    ['during the list', 500, ({ faults }) => void faults.delay(1_000, list), 'L0'],
    ['while the watch connects', 500, ({ faults }) => void faults.delay(1_000, watch), 'L0 W2'],
    ['during a wait', 500, ({ faults }) => void faults.failNext(list, { status: 500 }), 'L0'],
    ['during a live watch', 500, () => {}, 'L0 W2'],
  ];
  it.each(moments)(
    'R16: unsubscribing %s leaves no connection and no timer, and reports no error',
    async (_name, ms, fault, requested) => {
      const run = rig(pages, fault);
      await run.advance(ms);
      const emitted = run.emitted.length;
      const errors = run.errors.length;
      const statuses = run.statuses.length;
      run.subscription.unsubscribe();
      run.create('late');
      await run.advance(120_000);
      expect(run.requested()).toBe(requested);
      expect([run.emitted.length, run.errors.length, run.statuses.length]).toEqual([
        emitted,
        errors,
        statuses,
      ]);
      expect([run.server.openWatches.length, run.time.pending]).toEqual([0, 0]);
    },
  );

  it('R16: a run that starts after another was stopped is independent of it', async () => {
    const first = rig(pages, ({ faults }) => void faults.delay(1_000, list));
    await first.advance(500);
    first.subscription.unsubscribe();
    const second = rig(pages);
    await second.advance(2_000);
    await first.advance(2_000);
    expect([first.emitted, second.emitted]).toEqual([[], ['(a@2', ')@2']]);
    second.subscription.unsubscribe();
  });
});

describe('an outage', () => {
  it('R12: in an outage of half an hour the waits grow, few requests are sent, and the reflector recovers', async () => {
    const run = rig();
    await run.advance(10_000);
    run.server.clearRequests();
    const fault = run.server.faults.refuse();
    run.server.faults.dropWatches();
    await run.advance(1_800_000);
    const times = run.server.requests.map(({ atMs }) => atMs);
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(times.length).toBeGreaterThan(30);
    expect(times.length).toBeLessThanOrEqual(60);
    expect(waits.filter((wait, at) => wait < (waits[at - 1] ?? 0))).toEqual([]);
    expect(run.errors.length).toBe(times.length + 1);
    expect(run.status).toMatchObject({ phase: 'backoff', synced: true, staleSinceMs: 10_000 });
    fault.heal();
    run.create('b');
    await run.advance(46_000);
    expect(run.emitted.slice(-1)).toEqual(['+b@3']);
    expect(run.status).toMatchObject({ phase: 'watching', relists: 0 });
    expect(run.status?.staleSinceMs).toBeUndefined();
    run.subscription.unsubscribe();
  });

  it('R12, R19: the same holds for an outage before the first list', async () => {
    const run = rig({}, ({ faults }) => void faults.refuse());
    await run.advance(1_800_000);
    expect(run.server.requests.length).toBeLessThanOrEqual(60);
    expect(run.emitted.every((line) => line === 'x')).toBe(true);
    run.server.faults.healAll();
    await run.advance(46_000);
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    run.subscription.unsubscribe();
  });

  it('R2, R9: if the last version was compacted during the outage, the reflector lists again, at the last version first', async () => {
    const run = rig({ reflect: { initialList: 'pages' } });
    await run.advance(10_000);
    const fault = run.server.faults.refuse();
    run.server.faults.dropWatches();
    run.create('b');
    run.delete('a');
    run.server.objects.compact();
    await run.advance(5_000);
    fault.heal();
    await run.advance(20_000);
    expect(run.requested()).toMatch(/^L0 W2( W2)+ L2 W4$/);
    expect(run.emitted.slice(-2)).toEqual(['(b@3', ')@4']);
    run.subscription.unsubscribe();
  });

  it('R2, R11, R14: a server that was restored from a backup is listed again', async () => {
    const run = rig({ reflect: { initialList: 'pages' }, server: { bookmarkIntervalMs: 5_000 } });
    await run.advance(1_000);
    const backup = run.server.objects.snapshot();
    for (const name of ['b', 'c', 'd']) run.create(name);
    await run.advance(1_000);
    run.server.objects.restoreSnapshot(backup);
    run.create('e');
    // Two watches are silent, because the server waits for a version that it has not reached yet.
    await run.advance(200_000);
    const emitted = run.emitted.filter((line) => !line.startsWith('b@'));
    expect(emitted.slice(-2)).toEqual(['(a@2 e@3', ')@3!']);
    expect(run.requested()).toBe('L0 W2 W5 P W5 P L5 L W3');
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    run.subscription.unsubscribe();
  });

  it('R8: behind a proxy that closes each watch immediately, few requests are sent', async () => {
    const empty = { status: 200, body: '', times: 1_000_000 };
    const run = rig(pages, ({ faults }) => void faults.failNext(watch, empty));
    await run.advance(60_000);
    expect(run.server.requests.length).toBeLessThan(16);
    expect(run.errors.length).toBeGreaterThan(3);
    run.subscription.unsubscribe();
  });

  it('W4: a server that never ends its streaming lists receives only one request for a streaming list', async () => {
    const run = rig(
      {},
      ({ faults }) => void faults.withoutBookmarks({ query: { sendInitialEvents: 'true' } }),
    );
    await run.advance(32_000);
    // The list is silent after its last object, as behind a proxy that holds bytes back. A probe finds out which it is.
    expect(run.requested()).toBe('S P L0 W2');
    run.server.faults.emitError({ code: 410, reason: 'Expired' });
    await run.advance(10_000);
    expect(run.requested()).toBe('S P L0 W2 L2 W2');
    expect(run.errors.map(({ reason }) => reason)).toEqual(['Silent', 'Expired']);
    run.subscription.unsubscribe();
  });

  it('W4, R6: a server without streaming lists receives only one request for a streaming list', async () => {
    const run = rig({ server: { watchList: false } });
    await run.advance(1_000);
    expect(run.requested()).toBe('S L0 W2');
    run.server.faults.emitError({ code: 410, reason: 'Expired' });
    await run.advance(10_000);
    expect(run.requested()).toBe('S L0 W2 L2 W2');
    run.subscription.unsubscribe();
  });

  it('R11: behind a proxy that returns its sign-in page for each request, few requests are sent', async () => {
    const page = { status: 200, body: '<html>sign in</html>', contentType: 'text/html' };
    const run = rig({}, ({ faults }) => void faults.failNext(undefined, { ...page, times: 1e6 }));
    await run.advance(60_000);
    expect(run.server.requests.length).toBeLessThan(10);
    expect(new Set(run.errors.map(({ reason }) => reason))).toEqual(new Set(['Malformed']));
    run.server.faults.healAll();
    await run.advance(46_000);
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    run.subscription.unsubscribe();
  });
});
