/** Consumers that are slow, or never ready: their queues are limited, and no other consumer waits. */
import {
  addEventHandler,
  createSharedInformer,
  type DeliveryPolicy,
  deliver,
  toView,
} from 'rx-informer';
import { NEVER, Observable, of, Subject } from 'rxjs';
import { take } from 'rxjs/operators';
import { describe, expect, it, vi } from 'vitest';

import { added, deleted, modified, type Pod, pod } from '../support/scripted-list-watch.ts';
import { type Rig, rig, settle } from './rig.ts';

const KEYS = 50;
const ROUNDS = 100;
const name = (at: number) => `pod-${at}`;
/** Sends 5,000 changes of 50 keys, including deletions and recreations, and returns their number. */
async function flood({ source }: Rig): Promise<number> {
  source.listed(1, ...Array.from({ length: KEYS }, (_, at) => pod(name(at), 1)));
  await settle();
  let version = 1;
  let sets = 0;
  for (let round = 1; round <= ROUNDS; round++) {
    for (let at = 0; at < KEYS; at++) {
      version++;
      const uid = `${name(at)}-${Math.floor(round / 10)}`;
      if (round % 10 === 9) source.send(deleted(pod(name(at), version, uid)));
      else if (round % 10 === 0) source.send(added(pod(name(at), version, uid)));
      else source.send(modified(pod(name(at), version, round < 10 ? name(at) : uid)));
      sets++;
    }
    if (round % 50 === 0) await settle();
  }
  return sets;
}

const policies: Record<string, [DeliveryPolicy<Pod>, number]> = {
  // A deletion and a recreation are two changes of one key.
  conflate: [{ kind: 'conflate', ready: () => NEVER }, KEYS * 2],
  'buffer, then conflate': [
    { kind: 'buffer', limit: 10, overflow: 'conflate', ready: () => NEVER },
    KEYS * 2,
  ],
  drop: [{ kind: 'drop', limit: 10, ready: () => NEVER }, KEYS + 10],
};

describe('a consumer that is never ready', () => {
  it.each(Object.entries(policies))(
    'I11: deliver, %s: the number of waiting changes is limited',
    async (_, [policy, bound]) => {
      let most = 0;
      let calls = 0;
      const all = rig((informer) => {
        const delivery = deliver(informer, policy);
        delivery.changes$.subscribe(() => calls++);
        informer.changes$.subscribe(() => {
          most = Math.max(most, delivery.lag);
        });
      });
      const sets = await flood(all);
      // The empty store, the list, and its end. A set without changes needs no capacity.
      expect(calls).toBe(3);
      expect(most).toBeLessThanOrEqual(bound);
      expect(most).toBeGreaterThan(0);
      for (const setsReceived of all.witnesses)
        expect(setsReceived.filter((set) => set.startsWith('watch'))).toHaveLength(sets);
      await all.stop();
    },
  );

  it.each(Object.entries(policies))(
    'I20: a handler, %s: the number of waiting changes is limited',
    async (_, [{ ready: _ready, ...delivery }]) => {
      let most = 0;
      let calls = 0;
      const all = rig((informer) => {
        const forever = () => {
          calls++;
          return new Promise(() => {});
        };
        const handler = { onAdd: forever, onUpdate: forever, onDelete: forever };
        const registration = addEventHandler(informer, handler, { delivery });
        informer.changes$.subscribe(() => {
          most = Math.max(most, registration.lag);
        });
      });
      const sets = await flood(all);
      expect(calls).toBe(1);
      // One change per key under every policy, because the queue of a handler folds beyond its limit.
      expect(most).toBeLessThanOrEqual(KEYS + 10);
      expect(most).toBeGreaterThanOrEqual(KEYS - 1);
      for (const setsReceived of all.witnesses)
        expect(setsReceived.filter((set) => set.startsWith('watch'))).toHaveLength(sets);
      await all.stop();
    },
  );

  it('I11: the policy pause stops reading for all subscribers, and has no other effect', async () => {
    const capacity = new Subject<void>();
    let lag = 0;
    const { source, informer, witnesses, stop } = rig((informer) => {
      const policy = {
        kind: 'buffer',
        limit: 2,
        overflow: 'pause',
        ready: () => capacity,
      } as const;
      const delivery = deliver(informer, policy);
      delivery.changes$.subscribe();
      informer.changes$.subscribe(() => {
        lag = delivery.lag;
      });
    });
    source.listed(1, pod('a', 1));
    for (let version = 2; version < 1_000; version++) source.send(modified(pod('a', version)));
    await settle();
    expect(lag).toBeLessThanOrEqual(4);
    expect(witnesses[0].length).toBeLessThan(10);
    for (let turn = 0; turn < 2_000; turn++) capacity.next();
    await settle();
    expect(informer.indexer.getByKey('shop/a')?.metadata.resourceVersion).toBe('999');
    await stop();
  });

  it('Q3: a loop that is pulled only once computes no further rows', async () => {
    let snapshots: { mock: { calls: unknown[] } } = vi.fn();
    const all = rig((informer) => {
      const view = informer.changes$.pipe(toView());
      snapshots = vi.spyOn(view, 'getSnapshot');
      const loop = view[Symbol.asyncIterator]();
      loop.next();
      informer.changes$.subscribe({ complete: () => loop.return?.() });
    });
    const sets = await flood(all);
    for (const setsReceived of all.witnesses)
      expect(setsReceived.filter((set) => set.startsWith('watch'))).toHaveLength(sets);
    expect(snapshots.mock.calls.length).toBeLessThan(5);
    await all.stop();
  });
});

describe('a consumer that leaves while it is called', () => {
  it('I3, R22: the policy of a delivery is not called after its subscriber has unsubscribed', async () => {
    let calls = 0;
    let waiting = 0;
    const forever = new Observable<never>(() => {
      waiting++;
      return () => waiting--;
    });
    const { story } = rig((informer) =>
      deliver(informer, {
        kind: 'conflate',
        ready: () => {
          calls++;
          return forever;
        },
      })
        .changes$.pipe(take(2)) // the empty store, then one set under the policy
        .subscribe(),
    );
    await story();
    expect({ calls, waiting }).toEqual({ calls: 0, waiting: 0 });
  });

  it('I22, R22: a handler that is removed in its own policy no longer waits for the policy', async () => {
    let waiting = 0;
    let removed = false;
    const { story } = rig((informer) => {
      const registration = addEventHandler(
        informer,
        {},
        {
          delivery: {
            kind: 'conflate',
            ready: () => {
              registration.remove().then(() => {
                removed = true;
              });
              return new Observable<never>(() => {
                waiting++;
                return () => waiting--;
              });
            },
          },
        },
      );
    });
    await story();
    expect({ waiting, removed }).toEqual({ waiting: 0, removed: true });
  });

  it('I11: a set without changes that says synced is delivered after the waiting sets', async () => {
    const capacity = new Subject<void>();
    const seen: string[] = [];
    const part = (...items: Pod[]) => ({ items, metadata: { resourceVersion: '1' } });
    const informer = createSharedInformer<Pod>({
      watchList: false,
      list: () => of(part(pod('a', 1)), part(pod('b', 1))),
      watch: () => NEVER,
    });
    const policy = { kind: 'drop', limit: 9, ready: () => capacity } as const;
    deliver(informer, policy).changes$.subscribe(({ synced, changes }) => {
      seen.push(`${synced ? 'synced' : 'not yet'} ${changes.length}`);
    });
    await settle();
    capacity.next();
    capacity.next();
    capacity.next();
    expect(seen).toEqual(['not yet 0', 'not yet 1', 'not yet 1', 'synced 0']);
    await informer.stop();
  });
});
