import { describe, expect, it } from 'vitest';
import {
  createShardFilter,
  type ShardRange,
  shardHash,
  shardRanges,
  shardSelector,
  shardSlot,
  shardSlotOf,
} from '../../lib/index.ts';
import { joinRanges, sameRanges, withoutRanges } from '../../lib/meta/shard-ranges/ranges.ts';
import * as fc from '../support/fast-check.ts';

/** Texts with the results of `HashField` of k8s.io/apimachinery v0.36.3. */
const VECTORS = [
  ['', 'cbf29ce484222325'],
  ['a', 'af63dc4c8601ec8c'],
  ['abc', 'e71fa2190541574b'],
  ['shop', '46dc5e18e28e2409'],
  ['kube-system', 'df65c7bc1d82b35e'],
  ['test-uid-12345', 'd4c53b72f9287c28'],
  ['aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee', '93754b7248a00eb9'],
  ['1b4e28ba-2fa1-11d2-883f-0016d3cca427', '244306627c7e8ba9'],
  ['größe', 'b7450e1ef58140da'],
  ['日本語', 'ee9ee2b5c854ef87'],
  ['😀', 'feff073875020288'],
] as const;

const TOP = 1n << 64n;

function fnv(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % TOP;
  }
  return hash;
}

const bound = (at: bigint): string => `0x${at.toString(16).padStart(16, '0')}`;
const someRange = fc
  .tuple(fc.bigInt(0n, TOP - 1n), fc.bigInt(1n, TOP))
  .map(([a, b]): ShardRange => {
    const [from, to] = a < b ? [a, b] : [b, a];
    return { start: bound(from), end: bound(from === to ? to + 1n : to) };
  });
/** Few bounds, so that ranges often touch. */
const coarseRange = fc.tuple(fc.nat(15), fc.integer({ min: 1, max: 16 })).map(([a, b]) => {
  const [from, to] = a < b ? [a, b] : [b - 1, a + 1];
  return { start: bound(BigInt(from) << 60n), end: bound(BigInt(to) << 60n) };
});
const ranges = fc.array(fc.oneof(someRange, coarseRange), { maxLength: 6 });
const slots = fc.uniqueArray(fc.nat(63), { maxLength: 64 });

const isIn = (hash: bigint, list: readonly ShardRange[]) =>
  list.some(({ start, end }) => hash >= BigInt(start) && hash < BigInt(end));

describe('shard hashes', () => {
  it.each(VECTORS)('H50: the hash of %j is that of kube-apiserver', (text, hash) => {
    expect(shardHash(text)).toBe(`0x${hash}`);
  });

  it('H50: the hash of every text is FNV-1a with 64 bits over its bytes in UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
        expect(BigInt(shardHash(text))).toBe(fnv(text));
      }),
    );
  });
});

describe('shard ranges', () => {
  it('H50: a slot is the first six bits of the hash, and its range contains exactly its hashes', () => {
    fc.assert(
      fc.property(fc.string(), fc.nat(63), (text, slot) => {
        expect(BigInt(shardSlotOf(text))).toBe(fnv(text) >> 58n);
        expect(createShardFilter('uid', shardRanges([slot])).containsValue(text)).toBe(
          shardSlotOf(text) === slot,
        );
      }),
    );
  });

  it('H50: slots become the fewest ranges', () => {
    expect(shardRanges(Array.from({ length: 64 }, (_, slot) => slot))).toEqual([
      { start: '0x0000000000000000', end: '0x10000000000000000' },
    ]);
    fc.assert(
      fc.property(slots, (some) => {
        const expected = some.filter((slot) => !some.includes(slot + 1)).length;
        expect(shardRanges(some)).toHaveLength(expected);
      }),
    );
  });

  it.each([-1, 64, 0.5, Number.NaN])('H50: the slot %s is refused', (slot) => {
    expect(() => shardRanges([slot])).toThrow('a slot is');
  });

  it('H52: ranges that contain the same hashes become the same ranges', () => {
    fc.assert(
      fc.property(ranges, ranges, fc.bigInt(0n, TOP - 1n), (a, b, hash) => {
        const [joinedA, joinedB] = [joinRanges(a), joinRanges(b)];
        expect(isIn(hash, joinedA)).toBe(isIn(hash, a));
        const rest = withoutRanges(joinedA, joinedB);
        expect(isIn(hash, rest)).toBe(isIn(hash, a) && !isIn(hash, b));
        const back = joinRanges([...rest, ...joinedB]);
        expect(sameRanges(back, joinRanges([...a, ...b]))).toBe(true);
        for (const edge of [...a, ...b].flatMap(({ start, end }) => [BigInt(start), BigInt(end)])) {
          expect(isIn(edge, rest)).toBe(isIn(edge, a) && !isIn(edge, b));
        }
      }),
    );
  });

  it.each([
    { start: '0x0', end: '0x10000000000000000' },
    { start: '0x0000000000000000', end: '0x10000000000000001' },
    { start: '0X0000000000000000', end: '0x1000000000000000' },
    { start: '0xABCDEF0000000000', end: '0xf000000000000000' },
    { start: '0x1000000000000000', end: '0x1000000000000000' },
    { start: '0x10000000000000000', end: '0x1000000000000000' },
  ])('H52: the range $start to $end is refused, as by the server', (range) => {
    expect(() => createShardFilter('uid', [range])).toThrow('shard range');
    expect(() => shardSelector('uid', [range])).toThrow('shard range');
  });

  it('H52: a filter selects by the hash of the UID or of the namespace', () => {
    fc.assert(
      fc.property(ranges, fc.uuid(), fc.string(), (some, uid, namespace) => {
        const object = { metadata: { name: 'web', namespace, uid } };
        expect(createShardFilter('uid', some).contains(object)).toBe(isIn(fnv(uid), some));
        expect(createShardFilter('namespace', some).contains(object)).toBe(
          isIn(fnv(namespace), some),
        );
        expect(shardSlot(object, 'namespace')).toBe(shardSlotOf(namespace));
      }),
    );
    expect(createShardFilter('uid', []).contains({ metadata: { uid: 'u' } })).toBe(false);
    expect(() => createShardFilter('name' as 'uid', [])).toThrow("'uid', 'namespace' or 'owner'");
  });

  it('H52: a selector is written as the server reads it; no ranges have no selector', () => {
    expect(shardSelector('uid', shardRanges([63, 0, 1]))).toBe(
      "shardRange(object.metadata.uid, '0x0000000000000000', '0x0800000000000000') || " +
        "shardRange(object.metadata.uid, '0xfc00000000000000', '0x10000000000000000')",
    );
    expect(() => shardSelector('uid', [])).toThrow('no range given');
  });
});
