/** Slow subscribers: what waits for them is bounded, and nobody else waits. */

import {
  type ChangeSet,
  createSharedInformer,
  type DeliveryPolicy,
  type ListPart,
} from 'rx-informer';
import { marbles } from 'rx-informer/testing';
import { firstValueFrom, NEVER, Subject, timer } from 'rxjs';
import { filter, take } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { brief } from '../support/brief.ts';
import {
  added,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

function slow(make: (ready: () => Subject<void>) => DeliveryPolicy<Pod>) {
  const source = scriptedListWatch();
  const informer = createSharedInformer(source);
  source.listed(1, pod('web', 1));
  informer.start();
  const gate = new Subject<void>();
  const delivery = informer.deliver(make(() => gate));
  const seen: string[] = [];
  const sets: ChangeSet<Pod>[] = [];
  delivery.changes$.subscribe((set) => {
    seen.push(brief(set));
    sets.push(set);
  });
  return { source, informer, gate, delivery, seen, sets };
}

describe('delivery', () => {
  it('I11: conflate folds what a slow subscriber misses, one net change a key', async () => {
    const { source, informer, gate, delivery, seen } = slow((ready) => ({
      kind: 'conflate',
      ready,
    }));
    source.send(modified(pod('web', 2)), added(pod('db', 3)));
    source.send(modified(pod('web', 4)), deleted(pod('db', 5)), added(pod('api', 6)));
    expect(delivery.lag).toBe(3);
    expect(seen).toEqual(['snapshot*! +web@1']);
    gate.next();
    expect(seen[1]).toBe('watch* ~web@1>4 +api@6');
    expect(delivery.lag).toBe(0);
    await informer.stop();
  });

  it('I11: conflate never loses a delete, nor makes an update of delete and recreate', async () => {
    const { source, informer, gate, seen } = slow((ready) => ({ kind: 'conflate', ready }));
    source.send(deleted(pod('web', 2)), added(pod('web', 3, 'second')));
    gate.next();
    expect(seen[1]).toBe('watch* -web@2 +web@3');
    await informer.stop();
  });

  it('I11: buffer keeps every set up to its limit', async () => {
    const { source, informer, gate, seen } = slow((ready) => ({
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
    await informer.stop();
  });

  it('I11: buffer over its limit folds', async () => {
    const { source, informer, gate, seen } = slow((ready) => ({
      kind: 'buffer',
      limit: 2,
      overflow: 'conflate',
      ready,
    }));
    for (let version = 2; version < 20; version++) source.send(modified(pod('web', version)));
    gate.next();
    expect(seen.slice(1)).toEqual(['watch* ~web@1>19']);
    await informer.stop();
  });

  it('I11: drop starts over from the store with a reset set', async () => {
    const { source, informer, gate, delivery, seen } = slow((ready) => ({
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
    await informer.stop();
  });

  it('I11: pause stops reading until the buffer is empty again', () =>
    marbles(({ scheduler }) => {
      const source = scriptedListWatch();
      const informer = createSharedInformer(source, { scheduler });
      source.listed(1);
      informer.start();
      const gate = new Subject<void>();
      const policy = { kind: 'buffer', limit: 1, overflow: 'pause', ready: () => gate } as const;
      const seen: string[] = [];
      informer.deliver(policy).changes$.subscribe((set) => seen.push(brief(set)));
      // The snapshot is empty and waits for nobody; the first set is taken, the second waits, the third is over.
      for (let version = 2; version < 5; version++) source.send(added(pod(`p${version}`, version)));
      expect(informer.indexer.size).toBe(3);
      source.send(added(pod('p5', 5)));
      expect(informer.indexer.size).toBe(3);
      for (let round = 0; round < 4; round++) gate.next();
      expect(informer.indexer.size).toBe(4);
      expect(seen.at(-1)).toBe('watch* +p5@5');
      void informer.stop();
    }));

  it('I11: a subscriber that leaves while it asks for a pause lets the informer read again', async () => {
    const source = scriptedListWatch();
    const informer = createSharedInformer(source);
    source.listed(1, pod('web', 1));
    informer.start();
    const policy = { kind: 'buffer', limit: 1, overflow: 'pause', ready: () => NEVER } as const;
    const leaving = informer.deliver(policy).changes$.subscribe();
    source.send(modified(pod('web', 2)));
    source.send(modified(pod('web', 3)));
    source.send(modified(pod('web', 4)));
    expect(informer.lastSyncResourceVersion).toBe('3');
    leaving.unsubscribe();
    expect(informer.lastSyncResourceVersion).toBe('4');
    source.send(modified(pod('web', 5)));
    expect(informer.lastSyncResourceVersion).toBe('5');
    await informer.stop();
  });

  it('I11: a frozen subscriber holds back neither the store nor the others', async () => {
    const source = scriptedListWatch();
    const informer = createSharedInformer(source);
    const objects = Array.from({ length: 500 }, (_, at) => pod(`p${at}`, 1));
    source.listed(1, ...objects);
    informer.start();
    const frozen = informer.deliver({ kind: 'conflate', ready: () => NEVER });
    frozen.changes$.subscribe();
    let heard = 0;
    informer.changes$.subscribe((set) => {
      heard += set.updated.length;
    });
    let version = 2;
    for (let round = 0; round < 200; round++) {
      source.send(...objects.map((_, at) => modified(pod(`p${at}`, version++))));
    }
    expect(heard).toBe(100_000);
    expect(frozen.lag).toBe(500);
    await informer.stop();
  });

  it('I11: without ready each set is delivered at once', async () => {
    const source = scriptedListWatch();
    const informer = createSharedInformer(source);
    source.listed(1, pod('web', 1));
    informer.start();
    const seen: string[] = [];
    informer.deliver({ kind: 'conflate' }).changes$.subscribe((set) => seen.push(brief(set)));
    source.send(modified(pod('web', 2)));
    source.send(deleted(pod('web', 3)));
    expect(seen).toEqual(['snapshot*! +web@1', 'watch* ~web@1>2', 'watch* -web@3']);
    await informer.stop();
  });

  for (const policy of [
    { kind: 'drop', limit: 1 },
    { kind: 'buffer', limit: 1, overflow: 'reset' },
    { kind: 'buffer', limit: 1, overflow: 'conflate' },
    { kind: 'conflate' },
  ] as const) {
    const overflow = 'overflow' in policy ? ` with ${policy.overflow}` : '';
    it(`I1, I11: ${policy.kind}${overflow} delivers a change once when ready fires between the commit and its delivery`, async () => {
      const source = scriptedListWatch();
      const informer = createSharedInformer(source);
      const gate = new Subject<void>();
      let open = false;
      // Hears each commit first.
      informer.changes$.subscribe(() => {
        if (open) gate.next();
      });
      source.listed(1, pod('web', 1));
      const seen: string[] = [];
      informer
        .deliver({ ...policy, ready: () => gate })
        .changes$.subscribe((set) => seen.push(brief(set)));
      source.send(added(pod('a', 2)));
      source.send(added(pod('b', 3)));
      open = true;
      source.send(added(pod('c', 4)));
      open = false;
      gate.next();
      gate.next();
      const told = seen.flatMap((set) => set.match(/[+~]\S+/g) ?? []);
      expect([...told].sort()).toEqual(
        seen.some((set) => /^snapshot.*\+c/.test(set))
          ? ['+a@2', '+b@3', '+c@4', '+web@1', '+web@1']
          : ['+a@2', '+b@3', '+c@4', '+web@1'],
      );
      await informer.stop();
    });
  }

  it('I2, I11: pause delivers in order, and synced never goes back', () => {
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
    informer.deliver(policy).changes$.subscribe((set) => seen.push(brief(set)));
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

  it('I11: a subscriber of a run that was stopped does not hold up the next run', async () => {
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
    await informer.whenSynced({ timeoutMs: 1_000 });
    expect(informer.lastSyncResourceVersion).toBe('9');
    // What it had been given is still delivered.
    gate.next();
    gate.next();
    expect(seen.slice(1)).toEqual(['watch* +p2@2', 'watch* +p3@3', 'watch* +p4@4'].slice(0, 2));
    await informer.stop();
  });

  it('I11: a limit below one is refused', () => {
    const informer = createSharedInformer(scriptedListWatch());
    const policy = { kind: 'drop', limit: 0, ready: () => timer(1) } as const;
    expect(() => informer.deliver(policy)).toThrow(/limit is 0/);
  });

  it('I11: an empty, synced snapshot waits for nobody', async () => {
    const source = scriptedListWatch();
    const informer = createSharedInformer(source);
    const first = firstValueFrom(
      informer.deliver({ kind: 'conflate', ready: () => NEVER }).changes$,
    );
    expect(brief(await first)).toBe('snapshot!');
    await informer.stop();
  });
});
