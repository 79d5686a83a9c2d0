/** Every failure at which the informer of client-node dies, spins, is silent or leaves a zombie. */
import type { FakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { type Rig, type RigOptions, rig } from './rig.ts';

/** One row of the table: what goes wrong, and what is asked for until all is well. */
interface Row {
  readonly name: string;
  /** Before the first request. */
  readonly before?: (server: FakeApiServer) => void;
  /** Once all is well and a second has passed. */
  readonly meets?: (run: Rig) => void;
  readonly asked: string;
  /** What is shown and told, each with its reason. */
  readonly errors: readonly string[];
  /** How long until all is well. @defaultValue 1500 */
  readonly withinMs?: number;
  /** When the failure is looked for. @defaultValue 700 */
  readonly shownMs?: number;
  readonly options?: RigOptions;
}

const pages: RigOptions = { reflect: { initialList: 'pages' } };
const list = { use: 'list' } as const;
const watch = { use: 'watch' } as const;

/** The next watch meets this; the one that is open is closed for it. */
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
    name: 'the first LIST answers 500: waits, lists again',
    before: ({ faults }) => void faults.failNext(list, { status: 500 }),
    asked: 'L0 L0 W2',
    errors: ['InternalError'],
    options: pages,
  },
  {
    name: 'the first LIST answers 403: says so, waits, lists again',
    before: ({ faults }) => void faults.failNext(list, { status: 403, reason: 'Forbidden' }),
    asked: 'L0 L0 W2',
    errors: ['Forbidden'],
    options: pages,
  },
  {
    name: 'the first LIST finds no connection: waits, lists again',
    before: ({ faults }) => {
      const fault = faults.refuse(({ use }) => {
        queueMicrotask(() => fault.heal());
        return use === 'list';
      });
    },
    asked: 'L0 L0 W2',
    errors: ['Network'],
    options: pages,
  },
  {
    name: 'a WATCH answers 401: waits, watches where it stood (token expiry)',
    meets: onWatch(401),
    asked: 'S W2 W2',
    errors: ['Unauthorized'],
  },
  {
    name: 'a WATCH answers 403: waits, watches where it stood',
    meets: onWatch(403),
    asked: 'S W2 W2',
    errors: ['Forbidden'],
  },
  {
    name: 'a WATCH answers 429 with Retry-After: waits that long, watches where it stood',
    meets: onWatch(429, { retryAfterSeconds: 20 }),
    asked: 'S W2 W2',
    errors: ['TooManyRequests'],
    withinMs: 20_100,
  },
  {
    name: 'a WATCH answers 500: waits, watches where it stood',
    meets: onWatch(500),
    asked: 'S W2 W2',
    errors: ['InternalError'],
  },
  {
    name: 'a LIST answers 401: waits, lists again (token expiry)',
    before: ({ faults }) => void faults.failNext(list, { status: 401 }),
    asked: 'L0 L0 W2',
    errors: ['Unauthorized'],
    options: pages,
  },
  {
    name: 'the connection is reset in the middle: waits, watches where it stood',
    meets: ({ server }) => void server.faults.dropWatches(),
    asked: 'S W2',
    errors: ['Network'],
  },
  {
    name: 'the server closes cleanly: watches at once',
    meets: ({ server }) => void server.faults.closeWatches(),
    asked: 'S W2',
    errors: [],
    withinMs: 1,
  },
  {
    name: 'a WATCH answers 410: lists within a second',
    meets: onWatch(410, { reason: 'Expired' }),
    asked: 'S W2 S2',
    errors: ['Expired'],
    shownMs: 400,
  },
  {
    name: 'an ERROR 410 comes and the socket stays open: ends it, lists within a second',
    meets: ({ server }) =>
      void server.faults.emitError({ code: 410, reason: 'Expired' }, watch, { staysOpen: true }),
    asked: 'S S2',
    errors: ['Expired'],
    shownMs: 400,
  },
  {
    name: 'an ERROR 500 comes: shows it, waits, watches where it stood',
    meets: ({ server }) =>
      void server.faults.emitError({ code: 500, reason: 'InternalError' }, watch, {
        staysOpen: true,
      }),
    asked: 'S W2',
    errors: ['InternalError'],
  },
  {
    name: 'nothing comes any more: ends it, watches where it stood',
    meets: ({ server }) => void server.faults.halfOpen().heal(),
    asked: 'S W2',
    errors: ['Silent'],
    withinMs: 88_000,
  },
  {
    name: 'a malformed line comes: ends it, keeps what came before, watches from there',
    meets: (run) => void run.server.faults.sendRaw(`${pod('m', 9)}\n{"type":"ADDED",oops}\n`),
    asked: 'S W9',
    errors: ['Malformed'],
  },
  {
    name: 'a truncated line comes: ends it, watches where it stood',
    meets: ({ server }) => {
      server.faults.sendRaw('{"type":"ADDED","obj');
      server.faults.closeWatches();
    },
    asked: 'S W2',
    errors: ['Malformed'],
  },
  {
    name: 'a line is no UTF-8: ends it, watches where it stood',
    meets: ({ server }) => void server.faults.sendRaw(new Uint8Array([0x7b, 0xff, 0xfe, 0x0a])),
    asked: 'S W2',
    errors: ['Malformed'],
  },
];

describe('a failure that ends other informers', () => {
  it.each(rows)('R7, R8, R9, R10, R11, R13, R19: $name', async (row) => {
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
    expect(run.asked()).toBe(row.asked);
    expect(run.errors.map(({ reason }) => reason)).toEqual(row.errors);
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    expect(run.status).not.toHaveProperty('error');
    expect(run.server.openWatches.length).toBe(1);
    // All is well: what happens from now on comes, once.
    run.server.objects.advance(20);
    run.create('late');
    await run.advance(1);
    expect(run.told.filter((line) => line.includes('+late@')).length).toBe(1);
    run.subscription.unsubscribe();
    await run.advance(0);
    expect([run.server.openWatches.length, run.time.pending]).toEqual([0, 0]);
  });
});

describe('stopping', () => {
  const moments: readonly (readonly [string, number, (server: FakeApiServer) => void, string])[] = [
    ['during the list', 500, ({ faults }) => void faults.delay(1_000, list), 'L0'],
    ['while the watch connects', 500, ({ faults }) => void faults.delay(1_000, watch), 'L0 W2'],
    ['in a wait', 500, ({ faults }) => void faults.failNext(list, { status: 500 }), 'L0'],
    ['on a live watch', 500, () => {}, 'L0 W2'],
  ];
  it.each(moments)(
    'R17: %s leaves no zombie and tells no error',
    async (_name, ms, fault, asked) => {
      const run = rig(pages, fault);
      await run.advance(ms);
      const told = run.told.length;
      const errors = run.errors.length;
      const statuses = run.statuses.length;
      run.subscription.unsubscribe();
      run.create('late');
      await run.advance(120_000);
      expect(run.asked()).toBe(asked);
      expect([run.told.length, run.errors.length, run.statuses.length]).toEqual([
        told,
        errors,
        statuses,
      ]);
      expect([run.server.openWatches.length, run.time.pending]).toEqual([0, 0]);
    },
  );

  it('R17: starting again after a stop is a run of its own', async () => {
    const first = rig(pages, ({ faults }) => void faults.delay(1_000, list));
    await first.advance(500);
    first.subscription.unsubscribe();
    const second = rig(pages);
    await second.advance(2_000);
    await first.advance(2_000);
    expect([first.told, second.told]).toEqual([[], ['(a@2', ')@2']]);
    second.subscription.unsubscribe();
  });
});

describe('an outage', () => {
  it('R12: of half an hour costs few requests, waits ever longer, and ends by itself', async () => {
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
    expect(run.told.slice(-1)).toEqual(['+b@3']);
    expect(run.status).toMatchObject({ phase: 'watching', relists: 0 });
    expect(run.status).not.toHaveProperty('staleSinceMs');
    run.subscription.unsubscribe();
  });

  it('R12, R19: before the first list is the same', async () => {
    const run = rig({}, ({ faults }) => void faults.refuse());
    await run.advance(1_800_000);
    expect(run.server.requests.length).toBeLessThanOrEqual(60);
    expect(run.told.every((line) => line === 'x')).toBe(true);
    run.server.faults.healAll();
    await run.advance(46_000);
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    run.subscription.unsubscribe();
  });

  it('R2, R9: a version that was compacted in it lists anew, at the last version first', async () => {
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
    expect(run.asked()).toMatch(/^L0 W2( W2)+ L2 W4$/);
    expect(run.told.slice(-2)).toEqual(['(b@3', ')@4']);
    run.subscription.unsubscribe();
  });

  it('R2, R11, R14: a server restored from a backup is listed anew', async () => {
    const run = rig({ reflect: { initialList: 'pages' }, server: { bookmarkIntervalMs: 5_000 } });
    await run.advance(1_000);
    const backup = run.server.objects.snapshot();
    for (const name of ['b', 'c', 'd']) run.create(name);
    await run.advance(1_000);
    run.server.objects.restoreSnapshot(backup);
    run.create('e');
    // Its watch waits for a version to come and says nothing: silence, twice.
    await run.advance(200_000);
    const told = run.told.filter((line) => !line.startsWith('b@'));
    expect(told.slice(-2)).toEqual(['(a@2 e@3', ')@3!']);
    expect(run.asked()).toBe('L0 W2 W5 P W5 P L5 L W3');
    expect(run.status).toMatchObject({ phase: 'watching', synced: true });
    run.subscription.unsubscribe();
  });

  it('R8: a proxy that closes each watch at once is not hammered', async () => {
    const empty = { status: 200, body: '', times: 1_000_000 };
    const run = rig(pages, ({ faults }) => void faults.failNext(watch, empty));
    await run.advance(60_000);
    expect(run.server.requests.length).toBeLessThan(16);
    expect(run.errors.length).toBeGreaterThan(3);
    run.subscription.unsubscribe();
  });

  it('W4: a server that opens streaming lists and never ends them is asked for one once', async () => {
    const run = rig(
      {},
      ({ faults }) => void faults.withoutBookmarks({ query: { sendInitialEvents: 'true' } }),
    );
    await run.advance(32_000);
    expect(run.asked()).toBe('S L0 W2');
    run.server.faults.emitError({ code: 410, reason: 'Expired' });
    await run.advance(10_000);
    expect(run.asked()).toBe('S L0 W2 L2 W2');
    expect(run.errors.map(({ reason }) => reason)).toEqual(['Silent', 'Expired']);
    run.subscription.unsubscribe();
  });

  it('W4, R6: a server without streaming lists is asked for one once', async () => {
    const run = rig({ server: { watchList: false } });
    await run.advance(1_000);
    expect(run.asked()).toBe('S L0 W2');
    run.server.faults.emitError({ code: 410, reason: 'Expired' });
    await run.advance(10_000);
    expect(run.asked()).toBe('S L0 W2 L2 W2');
    run.subscription.unsubscribe();
  });

  it('R11: a proxy that answers each request with its sign-in page is not hammered', async () => {
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
