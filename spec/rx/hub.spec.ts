/** The hub: those who follow one state, with random calls within calls. Holders: what they hold ends some time after the last has left. */

import { config } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { afterLinger, Holders } from '../../lib/rx/sharing/holders.ts';
import { ender, Hub } from '../../lib/rx/sharing/hub.ts';
import { allReported } from '../support/errors.ts';
import * as fc from '../support/fast-check.ts';
import { VirtualTime } from './virtual-time.ts';

type Action = 'add' | 'tell' | 'throw' | 'take' | { readonly leave: number } | { end: number };

interface Follower {
  readonly id: number;
  /** The position of the last change that it has. */
  at: number;
  hasLeft: boolean;
  /** Removed, because it is to be ended. */
  isRemoved: boolean;
  wasEnded: boolean;
  leave: () => boolean;
  /** Absent: it stays when the others are ended. */
  complete?(): void;
}

const action = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Action>('add', 'tell') },
  { weight: 1, arbitrary: fc.constantFrom<Action>('throw', 'take') },
  { weight: 2, arbitrary: fc.record({ leave: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ end: fc.nat(3) }) },
);

/** Performs actions, of which the followers perform some in their calls, and checks what each follower is told. */
class World {
  readonly followers: Follower[] = [];
  readonly #ends: { readonly of: readonly Follower[]; end(): void }[] = [];
  readonly #reactions: (Action | undefined)[];
  readonly #countsItself: boolean;
  readonly #hub = new Hub<Follower>();
  #position = 0;
  thrown = 0;

  constructor(reactions: readonly (Action | undefined)[], countsItself: boolean) {
    this.#reactions = [...reactions];
    this.#countsItself = countsItself;
  }

  get #present(): readonly Follower[] {
    return this.followers.filter(({ hasLeft, isRemoved }) => !hasLeft && !isRemoved);
  }

  perform(next: Action | undefined): void {
    if (next === 'add') this.#add();
    else if (next === 'tell') this.#tell();
    else if (next === 'take') this.#take();
    else if (next === 'throw' || next === undefined) return;
    else if ('leave' in next) this.#leave(next.leave);
    else this.#end(next.end);
    expect(this.#hub.size).toBe(this.#present.length);
  }

  /** What a follower does when it is called. */
  #react(): void {
    const next = this.#reactions.shift();
    this.perform(next);
    if (next !== 'throw') return;
    this.thrown++;
    throw new Error('no');
  }

  #add(): void {
    const follower: Follower = {
      ...{ id: this.followers.length, at: this.#position, hasLeft: false },
      ...{ isRemoved: false, wasEnded: false, leave: () => false },
    };
    // Every third has no end.
    if (follower.id % 3 > 0) follower.complete = () => this.#complete(follower);
    this.followers.push(follower);
    follower.leave = this.#countsItself
      ? this.#hub.add(follower)
      : this.#hub.add(follower, this.#position);
  }

  #tell(): void {
    const present = this.#present;
    const at = ++this.#position;
    const call = (follower: Follower) => {
      expect([follower.hasLeft, follower.isRemoved]).toEqual([false, false]);
      // What a follower has, it is not told again, and nothing older after it.
      expect(follower.at).toBeLessThan(at);
      follower.at = at;
      this.#react();
    };
    if (this.#countsItself) this.#hub.tell(call);
    else this.#hub.tell(call, at);
    for (const { at: has, hasLeft, isRemoved } of present) {
      if (!hasLeft && !isRemoved) expect(has).toBeGreaterThanOrEqual(at);
    }
  }

  #leave(nth: number): void {
    const follower = this.followers[nth % (this.followers.length || 1)];
    if (follower === undefined) return;
    const { hasLeft, isRemoved } = follower;
    follower.hasLeft = true;
    const wasPresent = !hasLeft && !isRemoved;
    expect(follower.leave()).toBe(wasPresent);
  }

  #take(): void {
    const of = this.#present.filter(({ complete }) => complete !== undefined);
    this.#ends.push({ of, end: ender(this.#hub) });
  }

  #complete(follower: Follower): void {
    expect([follower.hasLeft, follower.isRemoved, follower.wasEnded]).toEqual([false, true, false]);
    follower.wasEnded = true;
    this.#react();
  }

  #end(nth: number): void {
    const taken = this.#ends[nth];
    if (taken === undefined) return;
    const ending = taken.of.filter((each) => this.#present.includes(each));
    for (const each of ending) each.isRemoved = true;
    taken.end();
    for (const { hasLeft, wasEnded } of ending) expect(hasLeft || wasEnded).toBe(true);
  }
}

describe('a hub', () => {
  let reported: unknown[] = [];
  beforeEach(() => {
    reported = [];
    config.onUnhandledError = (error) => reported.push(error);
  });
  afterEach(() => {
    config.onUnhandledError = null;
  });

  it.each([true, false])(
    'I1: tells each change once to those who were there before, whatever they do in their calls (positions of its own: %s)',
    async (countsItself) => {
      let thrown = 0;
      fc.assert(
        fc.property(
          fc.array(action, { maxLength: 30 }),
          fc.array(fc.option(action, { nil: undefined }), { maxLength: 40 }),
          (actions, reactions) => {
            const world = new World(reactions, countsItself);
            for (const each of ['add' as const, ...actions]) world.perform(each);
            thrown += world.thrown;
          },
        ),
        { numRuns: 500 },
      );
      await allReported();
      // An expectation that fails within a call is reported, too.
      expect(reported.filter((error) => String(error) !== 'Error: no')).toEqual([]);
      expect(reported).toHaveLength(thrown);
    },
  );

  it('I1: one that joins in a call has the change already, one that leaves in a call is not told', () => {
    const hub = new Hub<string>();
    const told: string[] = [];
    const leaves = new Map(['a', 'b', 'c'].map((name) => [name, hub.add(name)]));
    const call = (name: string) => {
      told.push(name);
      if (name !== 'a') return;
      leaves.get('b')?.();
      hub.add('d');
    };
    hub.tell(call);
    expect(told.splice(0)).toEqual(['a', 'c']);
    leaves.get('a')?.();
    hub.tell(call);
    expect([told, hub.size]).toEqual([['c', 'd'], 2]);
  });

  it('I1: a receiver is not told a change that its state contains', () => {
    const hub = new Hub<string>();
    const told: string[] = [];
    hub.add('old', 4);
    hub.add('new', 5);
    hub.tell((name) => told.push(`${name} 5`), 5);
    hub.tell((name) => told.push(`${name} 6`), 6);
    expect(told).toEqual(['old 5', 'old 6', 'new 6']);
  });

  it('I2: those who are ended are removed first, so who is added meanwhile stays, and one without an end, too', async () => {
    const hub = new Hub<{ readonly name: string; complete?(): void }>();
    const ended: string[] = [];
    const add = (name: string) =>
      hub.add({
        name,
        complete() {
          ended.push(`${name} of ${hub.size}`);
          add(`${name} again`);
          throw new Error(name);
        },
      });
    add('a');
    add('b');
    hub.add({ name: 'stays' });
    add('c');
    const end = ender(hub);
    const late = add('late');
    end();
    await allReported();
    expect(ended).toEqual(['a of 2', 'b of 3', 'c of 4']);
    expect(reported.map(String)).toEqual(['Error: a', 'Error: b', 'Error: c']);
    expect([late(), late()]).toEqual([true, false]);
    const told: string[] = [];
    hub.tell(({ name }) => told.push(name));
    expect(told).toEqual(['stays', 'a again', 'b again', 'c again']);
  });
});

function held(lingerMs: number) {
  const time = new VirtualTime();
  const ends: number[] = [];
  const holders = new Holders(
    () => ends.push(time.now()),
    (end) => afterLinger(end, lingerMs, time),
  );
  return { time, ends, holders };
}

describe('holders', () => {
  it('I5: the end comes after the linger, unless somebody comes meanwhile or the wait is cancelled', () => {
    const { time, ends, holders } = held(30);
    const [one, two] = [holders.hold(), holders.hold()];
    one();
    one();
    expect([holders.count, time.pending]).toEqual([1, 0]);
    two();
    time.elapse(29);
    const third = holders.hold();
    expect(time.pending).toBe(0);
    time.elapse(100);
    third();
    time.elapse(30);
    expect([ends, holders.count]).toEqual([[159], 0]);
    holders.hold()();
    holders.cancel();
    time.elapse(100);
    expect([ends.length, time.pending]).toEqual([1, 0]);
  });

  it('I5: without a linger the end comes at once, and with an infinite one never and without a timer', () => {
    const now = held(0);
    now.holders.hold()();
    expect(now.ends).toEqual([0]);
    const never = held(Number.POSITIVE_INFINITY);
    never.holders.hold()();
    expect([never.ends, never.time.pending]).toEqual([[], 0]);
    let ends = 0;
    const simple = new Holders(() => ends++);
    simple.hold()();
    simple.hold()();
    expect(ends).toBe(2);
  });

  it('I5: an end that comes after somebody has come again does nothing, also if he has left again', () => {
    const late: (() => void)[] = [];
    let ends = 0;
    const holders = new Holders(
      () => ends++,
      (end) => void late.push(end),
    );
    holders.hold()();
    const again = holders.hold();
    late[0]?.();
    again();
    late[0]?.();
    expect(ends).toBe(0);
    late[1]?.();
    late[1]?.();
    expect(ends).toBe(1);
  });
});
