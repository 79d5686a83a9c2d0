/** Those who hold something, which ends some time after the last of them has left. */
import { describe, expect, it } from 'vitest';
import { afterLinger, Holders } from '../../lib/rx/sharing/holders.ts';
import { VirtualTime } from './virtual-time.ts';

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
