/** Streams of clients that take turns: over the slots of one page, over the locks of several tabs, in hidden pages. */
import { type ApiError, createClient, type KubeClient, type TransportEvent } from 'rx-informer';
import { concat, defer, finalize, NEVER, type Observable, of, Subscription } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PageEvent } from '../../lib/transport/page/page-life.ts';
import { lockPool, pagePool, type SlotPool } from '../../lib/transport/page/slot-pool.ts';
import { StreamTurns } from '../../lib/transport/page/taking-turns.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { FakeLocks, FakePage } from './page-rig.ts';

afterEach(() => vi.unstubAllGlobals());

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const head: TransportEvent = { kind: 'head', status: 200, header: () => null };

/** Clients whose watches are requested again when they yield, as a reflector does. */
class Tab {
  readonly turns: StreamTurns;
  readonly open = new Set<string>();
  readonly log: string[] = [];
  #time: VirtualTime;

  constructor(time: VirtualTime, pool: SlotPool, life$: Observable<PageEvent> = NEVER, most = 4) {
    this.#time = time;
    this.turns = new StreamTurns({
      ...{ origin: 'http://host', scheduler: time, pool, life$ },
      most: () => most,
    });
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
      const stream = this.turns.take(request, send).subscribe({
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

  it('T61: one that is unsubscribed while it waits, or in the callback of another, leaves its turn', async () => {
    const time = new VirtualTime();
    const pool = pagePool();
    const tab = new Tab(time, pool, NEVER, 1);
    const first = tab.watch('a');
    const [b, c] = [tab.watch('b'), tab.watch('c')];
    b.unsubscribe();
    // The next one is stopped at the moment at which it would be sent.
    tab.turns
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
    const tab = new Tab(time, pool, NEVER, 1);
    const blocker = tab.watch('blocker');
    const both: Subscription[] = [];
    const stopAll = () => {
      for (const each of both) each.unsubscribe();
    };
    for (const path of ['/a', '/b']) {
      const list = { method: 'GET', path, use: 'list' } as const;
      both.push(
        tab.turns
          .take(list, () => of(head))
          .subscribe(({ kind }) => kind === 'sending' && stopAll()),
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
    const tab = new Tab(time, pagePool(), NEVER, 1);
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

describe('a page that is hidden', () => {
  /** A client in a page that sends watches which never end. */
  function inPage(options: { readonly hiddenGraceMs?: number } = {}) {
    const time = new VirtualTime();
    const page = new FakePage();
    page.install();
    const sent: string[] = [];
    const aborted: string[] = [];
    const log: string[] = [];
    const client: KubeClient = createClient({
      baseUrl: 'http://127.0.0.1:8001',
      scheduler: time,
      fetch: (url, init) => {
        sent.push(new URL(url).pathname);
        init?.signal?.addEventListener('abort', () => aborted.push(new URL(url).pathname));
        return new Promise(() => undefined);
      },
      ...options,
    });
    const watch = (name: string) =>
      client.send({ method: 'GET', path: `/${name}`, use: 'watch' }).subscribe({
        next: (event) => log.push(`${time.now()} ${name} ${event.kind}`),
        error: ({ reason }: ApiError) => log.push(`${time.now()} ${name} # ${reason}`),
      });
    return { time, page, sent, aborted, log, client, watch };
  }

  it('T66: closes watches after a grace, and not if it is shown again before', async () => {
    const { time, page, log, aborted, watch } = inPage();
    watch('a');
    page.show(false);
    await time.advance(59_000);
    page.show(true);
    page.show(true);
    await time.advance(59_000);
    page.show(false);
    page.show(false);
    await time.advance(59_999);
    expect(aborted).toEqual([]);
    await time.advance(1);
    expect(aborted).toEqual(['/a']);
    expect(log).toEqual(['178000 a # Yielded']);
  });

  it('T66: sends nothing while it is hidden, says so, and sends when it is shown', async () => {
    const { time, page, log, sent, client } = inPage();
    client.awake$?.subscribe();
    page.show(false);
    await time.advance(60_000);
    const reasons: (string | undefined)[] = [];
    client.send({ method: 'GET', path: '/b', use: 'watch' }).subscribe((event) => {
      log.push(event.kind);
      if (event.kind === 'queued') reasons.push(event.reason);
    });
    await time.advance(3_600_000);
    expect([sent, log]).toEqual([[], ['queued']]);
    expect(reasons[0]).toContain('The tab is hidden');
    page.show(true);
    expect([sent, log]).toEqual([['/b'], ['queued', 'sending']]);
  });

  it('T66: a grace of Infinity keeps watches open, but not in a page that is left', async () => {
    const { time, page, aborted, watch } = inPage({ hiddenGraceMs: Number.POSITIVE_INFINITY });
    watch('a');
    page.show(false);
    await time.advance(10_000_000);
    expect(aborted).toEqual([]);
    page.emit('pagehide');
    expect(aborted).toEqual(['/a']);
  });

  it.each(['pagehide', 'freeze'] as const)('T66: %s closes everything at once', async (name) => {
    const { page, aborted, watch, client } = inPage();
    watch('a');
    client.send({ method: 'GET', path: '/list', use: 'list' }).subscribe({ error: () => {} });
    client.send({ method: 'GET', path: '/call', use: 'call' }).subscribe();
    if (name === 'pagehide') page.emit(name);
    else page.emitOnDocument(name);
    expect(aborted).toEqual(['/a', '/list']);
  });

  it.each([-1, Number.NaN])('T66: a grace of %d is refused', (hiddenGraceMs) => {
    expect(() => inPage({ hiddenGraceMs })).toThrow(/hiddenGraceMs is/);
  });

  it.each([0, -1, 1.5, Number.NaN])('T65: maxStreams %d is refused', (maxStreams) => {
    expect(() => createClient({ baseUrl: '', maxStreams })).toThrow(/maxStreams is/);
  });

  it('T67: emits awake$ when it is shown after it was away, when it is online, and after a sleep', async () => {
    const { time, page, client } = inPage();
    const awake: number[] = [];
    const subscription = client.awake$?.subscribe(() => awake.push(time.now()));
    await time.advance(1_000);
    page.show(false);
    page.show(true);
    page.emit('online');
    await time.advance(30_000);
    page.show(false);
    await time.advance(60_000);
    page.show(true);
    expect(awake).toEqual([1_000, 91_000]);
    time.jump(3_600_000);
    await time.advance(10_000);
    expect(awake).toHaveLength(3);
    subscription?.unsubscribe();
    expect(time.pending).toBe(0);
  });

  it('T66: outside of a page nothing waits and nothing is heard', async () => {
    vi.unstubAllGlobals();
    expect(createClient({ baseUrl: 'http://host' }).awake$).toBeUndefined();
    await settle();
  });
});
