import { describe, expect, it } from 'vitest';
import { type RigOptions, rig } from './rig.ts';

const pages: RigOptions = { reflect: { initialList: 'pages' } };
const list = { use: 'list' } as const;
const watch = { use: 'watch' } as const;

describe('stopping', () => {
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
