/** Streams of clients that take turns, over the slots of one page and the locks of several tabs, and the machine that gives them, input by input. */
import { ApiError, type TransportEvent, type TransportRequest } from 'rx-informer';
import { concat, defer, finalize, NEVER, Observable, of, Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Drain } from '../../lib/rx/drain.ts';
import { stopwatch } from '../../lib/rx/stopwatch.ts';
import { lockPool, pagePool, type SlotPool } from '../../lib/transport/page/slot-pool.ts';
import {
  nextTurn,
  noStreams,
  type StreamKind,
  type TurnEffect,
  type TurnInput,
  type TurnState,
} from '../../lib/transport/page/stream-turns.ts';
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

  it('T64: a tab does not yield to tabs of a server whose address only begins like that of its own', async () => {
    const locks = new FakeLocks();
    const { time, tabs } = tabsOf(locks, 1);
    for (const name of named(4)) tabs[0]?.watch(name);
    const other = lockPool(locks, 'rx:8443', pagePool());
    const granted: unknown[] = [];
    for (let at = 0; at < 5; at++)
      other.acquire(
        4,
        (each) => granted.push(each),
        () => expect.fail(),
      );
    await time.advance(60_000);
    expect([granted.length, await other.contended()]).toEqual([4, true]);
    expect(tabs[0]?.log.map((line) => line.slice(2))).toEqual(
      named(4).map((each) => `${each} head`),
    );
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
    const pool = lockPool(locks, 'rx', pagePool());
    const granted: { release(): void }[] = [];
    const ask = () =>
      pool.acquire(
        1,
        (slot) => granted.push(slot),
        () => expect.fail(),
      );
    const withdrawals = [ask(), ask(), ask()];
    await time.advance(1);
    withdrawals[1]?.();
    granted[0]?.release();
    granted[1]?.release();
    expect([granted.length, await pool.contended()]).toEqual([2, false]);
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

const UNLIMITED = Number.POSITIVE_INFINITY;

function shown(effect: TurnEffect): string {
  if (effect.type === 'release') return `release ${slotName(effect.slot)}`;
  if (effect.type === 'send') return `send ${effect.id}`;
  if (effect.type === 'yield') return `yield ${effect.id}${effect.force ? '!' : ''}`;
  if ('delayMs' in effect) return `${effect.type} ${effect.delayMs}`;
  return effect.type;
}

const slots = new Map<string, object>();
const slot = (name: string): object => {
  const known = slots.get(name) ?? {};
  slots.set(name, known);
  return known;
};
const slotName = (of: object) => [...slots].find(([, each]) => each === of)?.[0];

/** Runs the machine on inputs with their times, and returns the effects of each. */
function rig(most = 4) {
  let state: TurnState = noStreams();
  let limit = most;
  const enter = (nowMs: number, input: TurnInput) => {
    const [next, effects] = nextTurn(state, input, { nowMs, most: limit });
    state = next;
    return effects.map(shown);
  };
  return {
    get state() {
      return state;
    },
    limit(next: number) {
      limit = next;
    },
    enter,
    request: (nowMs: number, id: number, kind: StreamKind = 'watch') =>
      enter(nowMs, { type: 'request', id, kind }),
    grant: (nowMs: number, name: string) => enter(nowMs, { type: 'granted', slot: slot(name) }),
    answer: (nowMs: number, id: number) => enter(nowMs, { type: 'answered', id }),
    end: (nowMs: number, id: number) => enter(nowMs, { type: 'end', id }),
    tick: (nowMs: number) => enter(nowMs, { type: 'tick' }),
    /** Opens watches that are answered at the time 0. */
    watching(count: number) {
      for (let id = 1; id <= count; id++) {
        enter(0, { type: 'request', id, kind: 'watch' });
        enter(0, { type: 'granted', slot: slot(`s${id}`) });
        enter(0, { type: 'answered', id });
      }
    },
  };
}

describe('the turns of streams', () => {
  it('T62: a page of a list goes before lists, and lists before watches', () => {
    const turns = rig();
    for (const [id, kind] of (['watch', 'list', 'page', 'list'] as const).entries()) {
      turns.request(0, id, kind);
    }
    const order = ['a', 'b', 'c', 'd'].map((name) => turns.grant(0, name)[0]);
    expect(order).toEqual(['send 2', 'send 1', 'send 3', 'send 0']);
  });

  it('T62: the slot of a stream goes to a waiting list directly, but is returned if a watch waits', () => {
    const turns = rig();
    turns.request(0, 1, 'list');
    turns.grant(0, 'a');
    turns.request(0, 2, 'list');
    turns.request(0, 3);
    expect(turns.end(5, 1)).toEqual(['send 2']);
    expect(turns.end(6, 2)).toEqual(['release a']);
    expect(turns.grant(7, 'b')).toEqual(['send 3', 'look-after 3000']);
  });

  // Of a round of 20 s each waiting watch has its share, within 2 and 10 s.
  it.each([
    [1, 10_000],
    [8, 10_000],
    [16, 5_000],
    [40, 2_000],
    [400, 2_000],
  ])('T63: while %i watches wait, a watch yields after %i ms', (count, shareMs) => {
    const turns = rig();
    turns.watching(4);
    for (let id = 10; id < 10 + count; id++) turns.request(0, id);
    expect(turns.tick(300)).toEqual([`tick-after ${shareMs - 300}`]);
    const yields = turns.tick(shareMs).filter((each) => each.startsWith('yield'));
    expect(yields).toEqual([1, 2, 3, 4].slice(0, count).map((id) => `yield ${id}`));
  });

  it('T63: a watch that is open for long yields to a list, after a moment in which a free slot would be granted', () => {
    const turns = rig();
    turns.watching(4);
    expect(turns.request(60_000, 5, 'list')).toEqual(['acquire', 'tick-after 250']);
    expect(turns.tick(60_250)).toEqual(['yield 1']);
    expect(turns.end(60_260, 1)).toEqual(['send 5', 'cancel', 'look-after 3000']);
  });

  it('T63: while a slot is being returned, no further watch yields', () => {
    const turns = rig();
    turns.watching(4);
    turns.request(60_000, 5);
    expect(turns.tick(60_250)).toEqual(['yield 1']);
    expect(turns.end(60_300, 1)).toEqual(['release s1', 'tick-after 250']);
    expect(turns.grant(60_301, 's1')).toEqual(['send 5', 'look-after 3000']);
  });

  it('T63: a list, and a watch that is not answered, do not yield', () => {
    const turns = rig(2);
    turns.request(0, 1, 'list');
    turns.grant(0, 'a');
    turns.request(0, 2);
    turns.grant(0, 'b');
    turns.request(0, 3);
    expect(turns.tick(600_000)).toEqual([]);
    expect(turns.answer(600_000, 2)).toEqual(['tick-after 10000']);
  });

  it('T63: a streaming list yields as soon as it is complete', () => {
    const turns = rig(1);
    turns.request(0, 1, 'list');
    turns.grant(0, 'a');
    turns.answer(5, 1);
    turns.request(5, 2, 'list');
    expect(turns.tick(5_000)).toEqual([]);
    expect(turns.enter(5_001, { type: 'listed', id: 1 })).toEqual(['yield 1']);
  });

  it('T63: a watch that cannot yield now is told again after another share', () => {
    const turns = rig(1);
    turns.watching(1);
    turns.request(20_000, 2);
    expect(turns.tick(20_250)).toEqual(['yield 1']);
    expect(turns.enter(20_250, { type: 'refused', id: 1 })).toEqual(['tick-after 10000']);
    expect(turns.tick(30_250)).toEqual(['yield 1']);
  });

  it('T68: a watch that nobody uses yields before others, after 1 s, and waits without asking for a slot', () => {
    const turns = rig();
    turns.watching(4);
    expect(turns.enter(0, { type: 'use', id: 3, unused: true })).toEqual(['look-after 3000']);
    expect(turns.request(500, 5)).toEqual(['acquire', 'tick-after 500']);
    expect(turns.tick(1_000)).toEqual(['yield 3']);
    expect(turns.end(1_001, 3)).toEqual(['release s3', 'tick-after 8999']);
    expect(turns.grant(1_002, 's3')).toEqual(['send 5', 'look-after 3000']);
    const again = { type: 'request', id: 6, kind: 'watch', unused: true } as const;
    expect(turns.enter(1_003, again)).toEqual(['look-after 3000']);
    expect(turns.tick(60_000)).toEqual(['look-after 3000']);
    expect(turns.enter(60_000, { type: 'use', id: 6, unused: false })).toEqual([
      'acquire',
      'tick-after 250',
    ]);
  });

  it('T68: a list that nobody uses any more is completed, and without a limit everything is sent', () => {
    const turns = rig(1);
    const unused = true;
    expect(turns.enter(0, { type: 'request', id: 1, kind: 'page', unused })).toEqual(['acquire']);
    expect(turns.grant(0, 'a')[0]).toBe('send 1');
    turns.enter(0, { type: 'request', id: 2, kind: 'watch', unused });
    turns.limit(UNLIMITED);
    expect(turns.tick(0)).toEqual(['send 2']);
  });

  it('T68: a watch that nobody uses is the first one to yield to another tab', () => {
    const turns = rig();
    turns.watching(4);
    turns.enter(2_000, { type: 'use', id: 4, unused: true });
    const contended = { type: 'contended', contended: true } as const;
    expect(turns.enter(3_000, contended)).toEqual(['yield 4']);
  });

  it('T64: a stream whose slot is taken away is ended, and returns no slot', () => {
    const turns = rig();
    turns.watching(2);
    expect(turns.enter(1, { type: 'lost', slot: slot('s1') })).toContain('yield 1!');
    expect(turns.end(1, 1)).toEqual(['look-after 3000']);
    expect(turns.enter(2, { type: 'lost', slot: slot('s1') })).toEqual(['look-after 3000']);
  });

  it('T61: a slot that is granted when nothing waits any more is returned', () => {
    const turns = rig();
    turns.request(0, 1);
    expect(turns.end(0, 1)).toEqual(['cancel']);
    expect(turns.grant(0, 'a')).toEqual(['release a']);
  });

  it('T64: without a limit everything is sent, also what waited before the limit was lifted', () => {
    const turns = rig(UNLIMITED);
    expect(turns.request(0, 1)).toEqual(['send 1']);
    turns.limit(1);
    turns.request(0, 2);
    turns.request(0, 3);
    turns.limit(UNLIMITED);
    expect(turns.tick(0)).toEqual(['cancel', 'send 2', 'send 3']);
  });

  it('T62, T64: when the limit is lifted, lists are sent before watches that waited longer', () => {
    const turns = rig(1);
    turns.request(0, 1);
    turns.request(0, 2);
    turns.request(0, 3, 'list');
    turns.limit(UNLIMITED);
    expect(turns.tick(0)).toEqual(['cancel', 'send 3', 'send 1', 'send 2']);
  });
});
