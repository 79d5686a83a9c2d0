/** Streams of clients that take turns: over the slots of one page, over the locks of several tabs. */
import { ApiError, type TransportEvent, type TransportRequest } from 'rx-informer';
import { concat, defer, finalize, NEVER, Observable, of, Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Drain } from '../../lib/rx/drain.ts';
import { stopwatch } from '../../lib/rx/stopwatch.ts';
import { lockPool, pagePool, type SlotPool } from '../../lib/transport/page/slot-pool.ts';
import { StreamTurns } from '../../lib/transport/page/taking-turns.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { FakeLocks } from './page-rig.ts';

const head: TransportEvent = { kind: 'head', status: 200, header: () => null };

/** Clients whose watches are requested again when they yield, as a reflector does. */
class Tab {
  readonly turns: StreamTurns;
  readonly open = new Set<string>();
  readonly log: string[] = [];
  #time: VirtualTime;

  constructor(time: VirtualTime, pool: SlotPool, most = 4) {
    this.#time = time;
    this.turns = new StreamTurns({
      ...{ origin: 'http://host', scheduler: time, pool, drain: new Drain(), stopwatch },
      most: () => most,
    });
  }

  take(
    request: TransportRequest & { readonly use: 'list' | 'watch' },
    send: () => Observable<TransportEvent>,
  ) {
    const yielded = (why: string) => ApiError.local('Yielded', why);
    const turn = { request, kind: request.use, send, yielded };
    return new Observable<TransportEvent>((subscriber) => this.turns.join(turn, subscriber));
  }

  watch(name: string, mayYield = () => true): Subscription {
    const request = { method: 'GET', path: `/${name}`, use: 'watch', mayYield } as const;
    const send = () =>
      defer(() => {
        this.open.add(name);
        return concat(of(head), NEVER);
      }).pipe(finalize(() => this.open.delete(name)));
    const all = new Subscription();
    const subscribe = (): void => {
      const stream = this.take(request, send).subscribe({
        next: ({ kind }) => this.log.push(`${this.#time.now()} ${name} ${kind}`),
        error: ({ reason }: ApiError) => {
          this.log.push(`${this.#time.now()} ${name} # ${reason}`);
          if (reason === 'Yielded') subscribe();
        },
      });
      all.add(stream);
    };
    subscribe();
    return all;
  }
}

/** How long each watch was open and at most closed, over a time. */
async function observe(
  time: VirtualTime,
  tabs: readonly Tab[],
  names: readonly string[],
  ms: number,
) {
  const waited = new Map<string, number>();
  let longest = 0;
  let most = 0;
  for (let passed = 0; passed < ms; passed += 100) {
    await time.advance(100);
    most = Math.max(
      most,
      tabs.reduce((sum, { open }) => sum + open.size, 0),
    );
    for (const tab of tabs) {
      for (const name of names) {
        const key = `${tabs.indexOf(tab)} ${name}`;
        const now = tab.open.has(name) ? 0 : (waited.get(key) ?? 0) + 100;
        waited.set(key, now);
        longest = Math.max(longest, now);
      }
    }
  }
  return { longest, most };
}

const named = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`);

describe('watches of one page', () => {
  it('T63: twenty on four slots: none waits longer than 25 s, and at most four are open', async () => {
    const time = new VirtualTime();
    const tab = new Tab(time, pagePool());
    const names = named(20);
    for (const name of names) tab.watch(name);
    const { longest, most } = await observe(time, [tab], names, 120_000);
    expect(most).toBe(4);
    expect(longest).toBeLessThanOrEqual(25_000);
    expect(longest).toBeGreaterThan(10_000);
  });

  it('T61: up to four are never ended', async () => {
    const time = new VirtualTime();
    const tab = new Tab(time, pagePool());
    for (const name of named(4)) tab.watch(name);
    await time.advance(600_000);
    expect(tab.log).toEqual(named(4).map((name) => `0 ${name} head`));
  });

  it('T61, T62: one that is unsubscribed while it waits, or in the callback of another, leaves its turn', async () => {
    const time = new VirtualTime();
    const pool = pagePool();
    const tab = new Tab(time, pool, 1);
    const first = tab.watch('a');
    const [b, c] = [tab.watch('b'), tab.watch('c')];
    b.unsubscribe();
    // The next one is stopped at the moment at which it would be sent.
    tab
      .take({ method: 'GET', path: '/d', use: 'list' }, () => NEVER)
      .subscribe(({ kind }) => {
        if (kind === 'sending') c.unsubscribe();
      })
      .unsubscribe();
    first.unsubscribe();
    await time.advance(1_000);
    expect([...tab.open]).toEqual(['c']);
    c.unsubscribe();
    await time.advance(1_000);
    expect(time.pending).toBe(0);
    expect(await pool.contended()).toBe(false);
    let granted = false;
    pool.acquire(
      1,
      () => (granted = true),
      () => undefined,
    );
    expect(granted).toBe(true);
  });

  it('T61: two that stop each other when one is sent leave no slot behind', async () => {
    const time = new VirtualTime();
    const pool = pagePool();
    const tab = new Tab(time, pool, 1);
    const blocker = tab.watch('blocker');
    const both: Subscription[] = [];
    const stopAll = () => {
      for (const each of both) each.unsubscribe();
    };
    for (const path of ['/a', '/b']) {
      const list = { method: 'GET', path, use: 'list' } as const;
      both.push(
        tab.take(list, () => of(head)).subscribe(({ kind }) => kind === 'sending' && stopAll()),
      );
    }
    blocker.unsubscribe();
    await time.advance(1_000);
    tab.watch('later');
    await time.advance(1_000);
    expect([...tab.open]).toEqual(['later']);
  });

  it('T61: two clients of a page share its slots', async () => {
    const time = new VirtualTime();
    const pool = pagePool();
    const tabs = [new Tab(time, pool), new Tab(time, pool)];
    const names = named(4);
    for (const tab of tabs) for (const name of names) tab.watch(name);
    const { longest, most } = await observe(time, tabs, names, 120_000);
    expect(most).toBe(4);
    expect(longest).toBeLessThanOrEqual(30_000);
  });

  it('T63: a clock that is set back or forward ends no turn early', async () => {
    const time = new VirtualTime();
    const tab = new Tab(time, pagePool(), 1);
    tab.watch('a');
    tab.watch('b');
    await time.advance(1_000);
    time.frame -= 900;
    await time.advance(500);
    expect([...tab.open]).toEqual(['a']);
    await time.advance(20_000);
    expect(tab.log.filter((line) => line.endsWith('Yielded')).length).toBeGreaterThan(0);
  });
});

describe('watches of several tabs', () => {
  const tabsOf = (locks: FakeLocks, count: number) => {
    const time = new VirtualTime();
    const make = () => new Tab(time, lockPool(locks, 'rx', pagePool()));
    return { time, tabs: Array.from({ length: count }, make) };
  };

  it('T64: three tabs with eight watches each have four open together, and each has its turn', async () => {
    const locks = new FakeLocks();
    const { time, tabs } = tabsOf(locks, 3);
    const names = named(8);
    for (const tab of tabs) for (const name of names) tab.watch(name);
    const { longest, most } = await observe(time, tabs, names, 180_000);
    expect(most).toBe(4);
    expect(longest).toBeLessThanOrEqual(60_000);
    expect(locks.held).toEqual(['rx 0', 'rx 1', 'rx 2', 'rx 3']);
  });

  it('T64: a tab whose watches are open for long gives a slot to one that opens later', async () => {
    const { time, tabs } = tabsOf(new FakeLocks(), 2);
    for (const name of named(4)) tabs[0]?.watch(name);
    await time.advance(60_000);
    tabs[1]?.watch('late');
    await time.advance(4_000);
    expect([...(tabs[1]?.open ?? [])]).toEqual(['late']);
  });

  it('T61: a stream says that it waits for its turn only if others have all slots, not while the browser grants its lock', async () => {
    const { time, tabs } = tabsOf(new FakeLocks(), 2);
    const [first, second] = tabs;
    for (const name of named(4)) {
      first?.watch(name);
      await time.advance(1);
    }
    expect(first?.log.map((line) => line.slice(2))).toEqual(named(4).map((name) => `${name} head`));
    first?.watch('fifth');
    second?.watch('other');
    await time.advance(99);
    expect([first?.log.slice(4), second?.log]).toEqual([['4 fifth queued'], []]);
    await time.advance(1);
    expect(second?.log).toEqual(['104 other queued']);
  });

  it('T64: a lock that is stolen ends its stream, which is requested again', async () => {
    const locks = new FakeLocks();
    const { time, tabs } = tabsOf(locks, 1);
    tabs[0]?.watch('a');
    await time.advance(10);
    const [name = ''] = locks.held;
    locks.steal(name);
    await time.advance(1_000);
    expect(tabs[0]?.log.filter((line) => line.endsWith('Yielded'))).toEqual(['10 a # Yielded']);
    expect([...(tabs[0]?.open ?? [])]).toEqual(['a']);
    expect(locks.held).toHaveLength(1);
  });

  it('T64: where the browser refuses locks, the slots are those of the page', async () => {
    const locks = new FakeLocks();
    locks.refuses = true;
    const { time, tabs } = tabsOf(locks, 1);
    const names = named(6);
    for (const name of names) tabs[0]?.watch(name);
    const { longest, most } = await observe(time, tabs, names, 60_000);
    expect(most).toBe(4);
    expect(longest).toBeLessThanOrEqual(12_000);
  });

  it('T64: unsubscribing leaves no lock and no request for one', async () => {
    const locks = new FakeLocks();
    const { time, tabs } = tabsOf(locks, 1);
    const all = named(6).map((name) => tabs[0]?.watch(name));
    await time.advance(10);
    for (const each of all) each?.unsubscribe();
    await time.advance(1_000);
    expect([locks.held, locks.pending, time.pending]).toEqual([[], [], 0]);
  });
});
