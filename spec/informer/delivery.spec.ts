/** Delivery policies for slow subscribers: their queues, their limits, and their independence of other subscribers. */

import {
  addEventHandler,
  type ChangeSet,
  createSharedInformer,
  type DeliveryPolicy,
  deliver,
  type ListPart,
} from 'rx-informer';

import { firstValueFrom, NEVER, Subject } from 'rxjs';
import { filter, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { brief } from '../support/brief.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

function slow(make: (ready: () => Subject<void>) => DeliveryPolicy<Pod>) {
  const { source, informer } = scriptedInformer();
  source.listed(1, pod('web', 1));
  informer.start();
  const gate = new Subject<void>();
  const delivery = deliver(
    informer,
    make(() => gate),
  );
  const seen: string[] = [];
  const sets: ChangeSet<Pod>[] = [];
  delivery.changes$.subscribe((set) => {
    seen.push(brief(set));
    sets.push(set);
  });
  return { source, informer, gate, delivery, seen, sets };
}

describe('delivery', () => {
  it('I11: buffer keeps every set up to its limit', () => {
    const { source, gate, seen } = slow((ready) => ({
      kind: 'buffer',
      limit: 3,
      overflow: 'conflate',
      ready,
    }));
    source.send(modified(pod('web', 2)));
    source.send(modified(pod('web', 3)));
    gate.next();
    gate.next();
    expect(seen.slice(1)).toEqual(['watch* ~web@1>2', 'watch* ~web@2>3']);
  });

  it('I11: drop starts over from the store with a reset set', () => {
    const { source, gate, delivery, seen } = slow((ready) => ({
      kind: 'drop',
      limit: 2,
      ready,
    }));
    for (let version = 2; version < 9; version++) source.send(added(pod(`p${version}`, version)));
    source.send(deleted(pod('web', 9)));
    expect(delivery.lag).toBe(1);
    gate.next();
    expect(seen[1]).toBe('snapshot*! +p2@2 +p3@3 +p4@4 +p5@5 +p6@6 +p7@7 +p8@8');
    gate.next();
    source.send(added(pod('later', 10)));
    expect(seen[2]).toBe('watch* +later@10');
  });

  it('I11: reading resumes if a subscriber that paused reading unsubscribes', () => {
    const { source, informer } = scriptedInformer();
    source.listed(1, pod('web', 1));
    informer.start();
    const policy = { kind: 'buffer', limit: 1, overflow: 'pause', ready: () => NEVER } as const;
    const subscription = deliver(informer, policy).changes$.subscribe();
    source.send(modified(pod('web', 2)));
    source.send(modified(pod('web', 3)));
    source.send(modified(pod('web', 4)));
    expect(informer.lastSyncResourceVersion).toBe('3');
    subscription.unsubscribe();
    expect(informer.lastSyncResourceVersion).toBe('4');
    source.send(modified(pod('web', 5)));
    expect(informer.lastSyncResourceVersion).toBe('5');
  });

  it('I11: without ready each set is delivered synchronously', () => {
    const { source, informer } = scriptedInformer();
    source.listed(1, pod('web', 1));
    informer.start();
    const seen: string[] = [];
    deliver(informer, { kind: 'conflate' }).changes$.subscribe((set) => seen.push(brief(set)));
    source.send(modified(pod('web', 2)));
    source.send(deleted(pod('web', 3)));
    expect(seen).toEqual(['snapshot*! +web@1', 'watch* ~web@1>2', 'watch* -web@3']);
  });

  for (const policy of [
    { kind: 'drop', limit: 1 },
    { kind: 'buffer', limit: 1, overflow: 'conflate' },
    { kind: 'conflate' },
  ] as const) {
    const overflow = 'overflow' in policy ? ` with ${policy.overflow}` : '';
    it(`I1, I11: ${policy.kind}${overflow} delivers a change once if ready fires between the commit and its delivery`, () => {
      const { source, informer } = scriptedInformer();
      const gate = new Subject<void>();
      let open = false;
      // Receives each commit before the delivery.
      informer.changes$.subscribe(() => {
        if (open) gate.next();
      });
      source.listed(1, pod('web', 1));
      const seen: string[] = [];
      deliver(informer, { ...policy, ready: () => gate }).changes$.subscribe((set) =>
        seen.push(brief(set)),
      );
      source.send(added(pod('a', 2)));
      source.send(added(pod('b', 3)));
      open = true;
      source.send(added(pod('c', 4)));
      open = false;
      gate.next();
      gate.next();
      const changes = seen.flatMap((set) => set.match(/[+~]\S+/g) ?? []);
      expect([...changes].sort()).toEqual(
        seen.some((set) => /^snapshot.*\+c/.test(set))
          ? ['+a@2', '+b@3', '+c@4', '+web@1', '+web@1']
          : ['+a@2', '+b@3', '+c@4', '+web@1'],
      );
    });
  }

  it('I2, I11: pause delivers in order, and synced never becomes false again', () => {
    const pages = new Subject<ListPart<Pod>>();
    const informer = createSharedInformer<Pod>({
      watchList: false,
      list: ({ continue: token }) =>
        pages.pipe(
          filter(({ metadata }) => token === undefined || metadata?.continue !== '1'),
          take(1),
        ),
      watch: () => NEVER,
    });
    const gate = new Subject<void>();
    const policy = { kind: 'buffer', limit: 1, overflow: 'pause', ready: () => gate } as const;
    const seen: string[] = [];
    deliver(informer, policy).changes$.subscribe((set) => seen.push(brief(set)));
    for (let page = 1; page < 6; page++) {
      const metadata = { resourceVersion: '9', ...(page < 4 ? { continue: String(page) } : {}) };
      pages.next({ items: page < 4 ? [pod(`p${page}`, page)] : [], metadata });
    }
    for (let round = 0; round < 8; round++) gate.next();
    const versions = seen.flatMap((set) => (set.match(/@\d+/g) ?? []).map((at) => at.slice(1)));
    expect(versions).toEqual(['1', '2', '3']);
    const synced = seen.map((set) => set.includes('*'));
    expect(synced.at(-1)).toBe(true);
    expect(synced).toEqual([...synced].sort());
    void informer.stop();
  });

  it('I11: a paused subscriber of a stopped run does not hold up the next run', async () => {
    const { source, informer, delivery, seen, gate } = slow((ready) => ({
      kind: 'buffer',
      limit: 1,
      overflow: 'pause',
      ready,
    }));
    for (let version = 2; version < 5; version++) source.send(added(pod(`p${version}`, version)));
    expect(delivery.lag).toBe(2);
    await informer.stop();
    source.listed(9, pod('web', 9));
    informer.start();
    await informer.whenSynced();
    expect(informer.lastSyncResourceVersion).toBe('9');
    // The sets that it was given are still delivered.
    gate.next();
    gate.next();
    expect(seen.slice(1)).toEqual(['watch* +p2@2', 'watch* +p3@3', 'watch* +p4@4'].slice(0, 2));
  });

  it.each([
    [{}, 'delivery.kind is undefined'],
    [{ kind: 'latest', limit: 1 }, 'delivery.kind is "latest"'],
    [{ kind: 'buffer', limit: 1 }, 'delivery.overflow is undefined'],
    [{ kind: 'buffer', limit: 1, overflow: 'Pause' }, 'delivery.overflow is "Pause"'],
  ])('I11: the policy %j is refused', (policy, message) => {
    const informer = createSharedInformer(scriptedListWatch());
    const delivery = policy as never;
    expect(() => deliver(informer, delivery)).toThrow(message);
    expect(() => addEventHandler(informer, {}, { delivery })).toThrow(message);
  });

  it('I11: the removed overflow reset is refused with the policy that replaces it', () => {
    const informer = createSharedInformer(scriptedListWatch());
    const delivery = { kind: 'buffer', limit: 1, overflow: 'reset' } as never;
    expect(() => deliver(informer, delivery)).toThrow(/use \{ kind: 'drop', limit \}/);
    expect(() => addEventHandler(informer, {}, { delivery })).toThrow(TypeError);
  });

  it('I11: an empty snapshot is delivered immediately', async () => {
    const { informer } = scriptedInformer();
    const first = firstValueFrom(
      deliver(informer, { kind: 'conflate', ready: () => NEVER }).changes$,
    );
    expect(brief(await first)).toBe('snapshot!');
  });
});
