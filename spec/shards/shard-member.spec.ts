/** Members of a ring over the fake API server, in virtual time. */
import { createClient, createShardMember, type ShardMember, type ShardOptions } from 'rx-informer';
import { type Lease, leases } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { Clock } from '../rx/clock.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

const LEASE_MS = 4_000;
const place = { namespace: 'shop', name: 'foos' };

function rig() {
  const time = new VirtualTime();
  const server = createFakeApiServer({ resources: [leases] });
  /** The members whose requests fail. */
  const cut = new Set<string>();
  /** What a proxy answers to a member with status 200, in place of the server. */
  const proxied = new Map<string, object>();
  /** Called before a deletion reaches the server. */
  const onDelete = { before: (_path: string): void => undefined };
  const member = (identity: string, options: Partial<ShardOptions> = {}): ShardMember => {
    const client = createClient({
      baseUrl: 'http://fake',
      fetch: async (...args) => {
        if (cut.has(identity)) throw new TypeError('the cable is cut');
        const instead = proxied.get(identity);
        if (instead !== undefined) return Response.json(instead);
        const [url, init] = args;
        if (init?.method === 'DELETE') onDelete.before(new URL(String(url)).pathname);
        return await server.fetch(...args);
      },
      scheduler: options.scheduler ?? time,
    });
    return createShardMember({
      ...{ ...place, client, identity, scheduler: time, leaseDurationMs: LEASE_MS },
      ...options,
    });
  };
  const joined = async (...identities: string[]) => {
    const members = identities.map((identity) => member(identity));
    for (const each of members) each.start();
    await time.advance(2 * LEASE_MS);
    return members;
  };
  const stopped = (...members: readonly (ShardMember | undefined)[]) =>
    Promise.all([...members.map((each) => each?.stop()), time.advance(10_000)]);
  const listed = (): readonly Lease[] =>
    server.objects.list(leases).filter(({ metadata }) => metadata?.namespace === place.namespace);
  return { time, server, cut, proxied, onDelete, member, joined, stopped, listed };
}

const counts = (members: readonly ShardMember[]) =>
  members.map(({ status }) => status.owned.length);
const sum = (members: readonly ShardMember[]) => counts(members).reduce((one, two) => one + two, 0);

describe('a member of a ring', () => {
  it('H6: the slots of a new ring are given out after a full lease, to all members together', async () => {
    const { time, joined, member, listed, stopped } = rig();
    const early = member('early');
    early.start();
    await time.advance(LEASE_MS - 1);
    expect(early.status).toMatchObject({ phase: 'joining', owned: [], epoch: 0 });
    expect(early.status.text).toMatch(/after a full lease/);
    const members = [early, ...(await joined('a', 'b'))];
    expect(sum(members)).toBe(64);
    expect(Math.min(...counts(members))).toBeGreaterThan(8);
    expect(early.status.text).toBe(`owns ${early.status.owned.length} of 64 slots; 3 members`);
    expect(listed().map(({ metadata }) => metadata?.name?.replace(/\.[^.]*$/, ''))).toEqual([
      ...['foos', 'foos.a', 'foos.b', 'foos.early'],
    ]);
    await stopped(...members);
    expect(listed().map(({ metadata }) => metadata?.name)).toEqual(['foos']);
    expect(time.pending).toBe(0);
  });

  it('H6: the slots of a new ring are given out when the lease has passed, and not a retry period later', async () => {
    const { time, member, stopped } = rig();
    const only = member('only', { retryPeriodMs: 1_300, renewDeadlineMs: 2_700 });
    only.start();
    await time.advance(LEASE_MS - 1);
    expect(only.status.owned).toEqual([]);
    await time.advance(101);
    expect(only.status.owned).toHaveLength(64);
    await stopped(only);
  });

  it('H5: a slot is handed over when the work on it has ended, and a slot without work does not wait for it', async () => {
    const { time, joined, member, stopped } = rig();
    const [a] = await joined('a');
    const ended: number[] = [];
    let busy = -1;
    let finish = () => {};
    a?.onRelease(async (slot) => {
      ended.push(slot);
      if (busy === -1) busy = slot;
      if (slot === busy) await new Promise<void>((resolve) => (finish = resolve));
    });
    const b = member('b');
    b.start();
    await time.advance(2_000);
    expect(a?.status.releasing).toEqual([busy]);
    expect(a?.ownsSlot(busy)).toBe(true);
    expect(a?.admitsSlot(busy)).toBe(false);
    expect(b.ownsSlot(busy)).toBe(false);
    expect(b.status.owned).toEqual(ended.filter((slot) => slot !== busy));
    expect(a?.status.text).toMatch(/, releases 1 more; 2 members$/);
    finish();
    await time.advance(1_000);
    expect([a?.ownsSlot(busy), b.ownsSlot(busy)]).toEqual([false, true]);
    await stopped(a, b);
  });

  it('H1: the Lease of a member that renews it while it is taken for dead is not deleted', async () => {
    const { time, server, cut, onDelete, joined, stopped, listed } = rig();
    const [a, b] = await joined('a', 'b');
    const ofB = () => listed().find(({ metadata }) => metadata?.name?.startsWith('foos.b.'));
    const deletions: string[] = [];
    onDelete.before = (path) => {
      deletions.push(path);
      const lease = ofB();
      if (!path.includes('/foos.b.') || lease === undefined) return;
      // The renewal of b arrives just before.
      const spec = { ...lease.spec, leaseTransitions: deletions.length };
      server.objects.update(leases, { ...lease, spec });
    };
    cut.add('b');
    await time.advance(4 * LEASE_MS);
    expect(deletions.length).toBeGreaterThan(0);
    expect(ofB()?.metadata?.uid).toBeDefined();
    cut.clear();
    onDelete.before = () => undefined;
    await stopped(a, b);
  });

  it('H5: work that does not end is waited for at most drainMs', async () => {
    const { time, member, stopped } = rig();
    const a = member('a', { drainMs: 3_000 });
    a.onRelease(() => new Promise(() => {}));
    a.start();
    await time.advance(2 * LEASE_MS);
    const b = member('b');
    b.start();
    await time.advance(2_500);
    expect(b.status.owned).toEqual([]);
    await time.advance(2_000);
    expect(b.status.owned.length).toBeGreaterThan(16);
    await stopped(a, b);
  });

  it('H2: the slots of a member that is killed are owned again within a lease and two seconds', async () => {
    const { time, cut, joined, stopped } = rig();
    const [victim, ...others] = await joined('victim', 'a', 'b', 'c');
    expect(sum(others)).toBeLessThan(64);
    cut.add('victim');
    await time.advance(LEASE_MS - 500);
    expect(sum(others)).toBeLessThan(64);
    expect(victim?.status.owned).toEqual([]);
    await time.advance(1_500);
    expect(sum(others)).toBe(64);
    await stopped(victim, ...others);
  });

  it('H15: replicas with different by never share a ring, and the later one joins when the former have left', async () => {
    const time = new VirtualTime();
    const server = createFakeApiServer({ resources: [leases], scheduler: time });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const errors = new Set<string>();
    const make = (identity: string, by: 'uid' | 'namespace') =>
      createShardMember({
        ...{ client, by, identity, namespace: 'shop', name: 'maps', scheduler: time },
        ...{ leaseDurationMs: 3_000, onError: ({ message }) => errors.add(message) },
      });
    const [a, b] = [make('a', 'uid'), make('b', 'namespace')];
    a.start();
    b.start();
    await time.advance(15_000);
    const owned = () => [a.status.owned.length, b.status.owned.length];
    expect(owned()).toEqual([64, 0]);
    expect(b.status.phase).toBe('joining');
    expect([...errors]).toContainEqual(
      expect.stringMatching(/divides by 'uid', and this member by 'namespace'/),
    );
    expect(b.lastError?.message).toMatch(/divides by 'uid'/);
    await Promise.all([a.stop(), time.advance(5_000)]);
    await time.advance(10_000);
    expect(owned()).toEqual([0, 64]);
    a.start();
    await time.advance(15_000);
    expect(owned()).toEqual([0, 64]);
    await Promise.all([a.stop(), b.stop(), time.advance(10_000)]);
  });

  it('H15: processes with one identity are reported, and one that joins again is not', async () => {
    const time = new VirtualTime();
    const server = createFakeApiServer({ resources: [leases], scheduler: time });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const errors: string[] = [];
    const make = (onError: (error: Error) => void) =>
      createShardMember({
        ...{ client, identity: 'one', namespace: 'shop', name: 'maps', scheduler: time, onError },
        leaseDurationMs: 3_000,
      });
    const ignored = () => undefined;
    const first = make(({ message }) => errors.push(message));
    first.start();
    await time.advance(10_000);
    // One that was killed leaves its Lease.
    server.objects.create(leases, {
      metadata: {
        ...{ namespace: 'shop', name: 'maps.one.dead', labels: { 'rx-informer/ring': 'maps' } },
      },
      spec: { holderIdentity: 'one.dead', leaseDurationSeconds: 3 },
    });
    await time.advance(10_000);
    expect(errors).toEqual([]);
    const second = make(ignored);
    second.start();
    await time.advance(10_000);
    expect(errors).toEqual([
      'ring shop/maps: another process has the identity one, too, so only one of them gets slots; give each replica its own, such as the name of its pod',
    ]);
    await Promise.all([first.stop(), second.stop(), time.advance(10_000)]);
  });

  it('H1: a member whose requests fail owns nothing after the deadline, and joins again under another id', async () => {
    const { time, cut, joined, stopped } = rig();
    const [a] = await joined('a');
    const { id } = a?.status ?? {};
    const joins: boolean[] = [];
    a?.joined$.subscribe((joined) => joins.push(joined));
    cut.add('a');
    await time.advance(3_000);
    expect([a?.ownsSlot(0), a?.status.phase, a?.status.owned]).toEqual([false, 'joining', []]);
    expect(a?.lastError?.message).toMatch(/cable is cut/);
    cut.clear();
    await time.advance(1_000);
    expect(a?.status).toMatchObject({ phase: 'member' });
    expect([a?.status.owned.length, a?.status.id === id]).toEqual([64, false]);
    expect(joins).toEqual([true, false, true]);
    await stopped(a);
  });

  it.each([{}, { kind: 'Status', status: 'Success' }, { kind: 'PodList', items: [] }])(
    'H1: status 200 with %j in place of the server is no renewal: the member owns nothing after the deadline',
    async (instead) => {
      const { time, proxied, joined, stopped } = rig();
      const [a, b] = await joined('a', 'b');
      const owned = a?.status.owned ?? [];
      expect(owned.length).toBeGreaterThan(0);
      proxied.set('a', instead);
      await time.advance(3_000);
      expect(a?.status.owned).toEqual([]);
      expect(a?.lastError?.message).toMatch(/the response is not the requested Lease/);
      await time.advance(2 * LEASE_MS);
      expect(b?.status.owned).toHaveLength(64);
      proxied.clear();
      await stopped(a, b);
    },
  );

  it('H1: owns() compares the time, so a process that was stopped owns nothing when it runs again', async () => {
    const { time, joined, stopped } = rig();
    const [a] = await joined('a');
    expect(a?.owns({ metadata: { name: 'web', uid: 'u-1' } })).toBe(true);
    time.jump(2 * LEASE_MS);
    // No timer has run yet.
    expect(a?.owns({ metadata: { name: 'web', uid: 'u-1' } })).toBe(false);
    expect(a?.status.owned).toHaveLength(64);
    await time.advance(1_000);
    expect(a?.status.phase).toBe('member');
    await stopped(a);
  });

  it('H1: a clock that is set, forward or back, costs no slot and gives none away', async () => {
    const { time, member, stopped } = rig();
    const clocks = [new Clock(time, 1e12), new Clock(time, 5e11)];
    const members = clocks.map((scheduler, at) => member(`m${at}`, { scheduler }));
    for (const each of members) each.start();
    await time.advance(2 * LEASE_MS);
    const before = counts(members);
    for (const byMs of [-3_600_000, -1, -50]) {
      clocks[0]?.set(byMs);
      await time.advance(1_500);
      expect(counts(members)).toEqual(before);
    }
    expect(sum(members)).toBe(64);
    await stopped(...members);
  });

  it('H6: if the ring is deleted or garbled, all members lose their slots, and have them again two leases later', async () => {
    const { time, server, joined, stopped } = rig();
    const members = await joined('a', 'b');
    const before = counts(members);
    server.objects.delete(leases, place);
    await time.advance(1_000);
    expect(counts(members)).toEqual([0, 0]);
    await time.advance(2 * LEASE_MS);
    expect(counts(members)).toEqual(before);
    const text = server.objects.get(leases, place)?.metadata?.annotations?.['rx-informer/ring'];
    const endless = JSON.stringify({ ...JSON.parse(text ?? ''), leaseMs: 9_007_199_254_740_990 });
    for (const garbled of ['{}', endless]) {
      const ring = server.objects.get(leases, place);
      server.objects.update(leases, {
        ...ring,
        metadata: { ...ring?.metadata, name: 'foos', annotations: { 'rx-informer/ring': garbled } },
      } as Lease);
      await time.advance(1_000);
      expect(counts(members)).toEqual([0, 0]);
      await time.advance(2 * LEASE_MS);
      expect(counts(members)).toEqual(before);
    }
    await stopped(...members);
  });

  it('H8: a name that another Lease has is reported, and costs four requests per period', async () => {
    const { time, server, member, stopped } = rig();
    // For example of a leader election that the ring replaces.
    server.objects.create(leases, { metadata: place, spec: { holderIdentity: 'web-0' } });
    const errors: string[] = [];
    const a = member('a', { onError: ({ message }) => errors.push(message) });
    a.start();
    await time.advance(LEASE_MS);
    expect(server.requests.length).toBeLessThanOrEqual(16 * 4);
    expect(errors[0]).toMatch(
      /the Lease shop\/foos exists and is no ring.*give the ring another name/,
    );
    expect(a.status.owned).toEqual([]);
    server.objects.delete(leases, place);
    await time.advance(2 * LEASE_MS);
    expect(a.status.owned).toHaveLength(64);
    await stopped(a);
  });

  it('H58: the streams of slots and ranges continue when a member is stopped and started again', async () => {
    const { time, joined, stopped } = rig();
    const [a] = await joined('a');
    const [slots, ranges]: [number[], number[]] = [[], []];
    const subscriptions = [
      a?.slots$.subscribe(({ size }) => slots.push(size)),
      a?.ranges$.subscribe(({ length }) => ranges.push(length)),
    ];
    let ends = 0;
    a?.status$.subscribe({ complete: () => ends++ });
    await stopped(a);
    a?.start();
    await time.advance(2 * LEASE_MS);
    expect([slots, ranges, ends]).toEqual([[64, 0, 64], [1, 0, 1], 1]);
    for (const each of subscriptions) each?.unsubscribe();
    await stopped(a);
  });

  it('H15: a member that has stopped has no timer and no request, so it does not keep its process alive', async () => {
    const { time, server, joined } = rig();
    const [a] = await joined('a');
    const sent = server.requests.length;
    let left = -1;
    const stopping = a?.stop().then(() => (left = time.pending));
    await time.advance(100);
    await stopping;
    expect(left).toBe(0);
    const ended = server.requests.length;
    expect(ended).toBeGreaterThan(sent);
    await time.advance(2 * LEASE_MS);
    expect(server.requests.length).toBe(ended);
  });

  it('H1: a request that is aborted by the stop is not reported as a failure', async () => {
    const { time, member } = rig();
    const errors: string[] = [];
    const request = ({ signal }: { signal?: AbortSignal }) =>
      new Promise<never>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      });
    const client = { request } as unknown as ShardOptions['client'];
    const a = member('a', { client, onError: ({ message }) => errors.push(message) });
    a.start();
    await time.advance(10);
    await Promise.all([a.stop(), time.advance(100)]);
    expect(errors).toEqual([]);
    expect(time.pending).toBe(0);
  });

  it('H8: periods with which two members could own a slot, and names that no Lease can have, are refused', () => {
    const { member } = rig();
    const refused = (options: Partial<ShardOptions>) => () => member('a', options);
    expect(refused({ renewDeadlineMs: 4_000 })).toThrow(/must be over renewDeadlineMs \(4000\)/);
    expect(refused({ retryPeriodMs: 2_000 })).toThrow(/over 2 times retryPeriodMs \(2000\)/);
    expect(refused({ retryPeriodMs: 0 })).toThrow(/retryPeriodMs is 0/);
    const periods = { renewDeadlineMs: 3_000, retryPeriodMs: 1_000 };
    for (const leaseDurationMs of [Number.POSITIVE_INFINITY, 2 ** 31 * 1000]) {
      expect(refused({ ...periods, leaseDurationMs })).toThrow(/a Lease counts seconds in 32 bits/);
    }
    expect(refused({ name: 'Foos' })).toThrow(/name is "Foos"/);
    expect(refused({ identity: 'a_b' })).toThrow(/identity is "a_b"/);
    expect(refused({ namespace: '' })).toThrow(/namespace is ""/);
    expect(refused({ namespace: 'a/../b' })).toThrow(/namespace is "a\/..\/b"/);
    expect(refused({ by: 'name' as 'uid' })).toThrow(
      /by is "name"; it must be 'uid' or 'namespace'/,
    );
  });
});
