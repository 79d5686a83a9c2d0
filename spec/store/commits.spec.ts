/** How a batch is divided into commits, and which change a commit is of. */

import type { Delta } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { CommitChanges } from '../../lib/store/commit/commit-changes.ts';
import { splitCommits } from '../../lib/store/commit/commits.ts';
import {
  added,
  bookmark,
  brief,
  deleted,
  missed,
  type Pod,
  pod,
  refused,
  replaced,
  replacing,
  retry,
  updated,
} from '../delta/pods.ts';
import * as fc from '../support/fast-check.ts';

const [a, b, c] = [added(pod('a', 1)), added(pod('b', 2)), added(pod('c', 3))];
const a2 = updated(pod('a', 4));
const sync: Delta<Pod> = { type: 'sync', key: 'b', object: pod('b', 2) };

function split(deltas: readonly Delta<Pod>[], synced = true): string[] {
  return splitCommits(deltas, () => synced).map(
    ({ cause, initial, deltas: own }) => `${cause}${initial ? 'i' : ''} ${brief(own)}`,
  );
}

describe('commits', () => {
  it.each<[string, Delta<Pod>[], string[]]>([
    ['deltas of different keys are one commit', [a, b, c], ['watch +a@1 +b@2 +c@3']],
    ['a repeated key at the start', [a, a2, b, c], ['watch +a@1', 'watch ~a@4 +b@2 +c@3']],
    ['a repeated key in the middle', [a, b, a2, c], ['watch +a@1 +b@2', 'watch ~a@4 +c@3']],
    ['a repeated key at the end', [a, b, c, a2], ['watch +a@1 +b@2 +c@3', 'watch ~a@4']],
    [
      'deltas of one key',
      [a, a2, deleted(pod('a', 5))],
      ['watch +a@1', 'watch ~a@4', 'watch -a@5'],
    ],
    ['an empty batch', [], []],
    ['a bookmark stays in its place', [a, bookmark(5), b], ['watch +a@1 ^5 +b@2']],
    ['a bookmark alone', [bookmark(5)], ['watch ^5']],
    ['an abort stays in its place', [a, { type: 'replace-abort' }, b], ['watch +a@1 ! +b@2']],
    ['a refusal stays in its place', [a, refused(pod('a', 5)), b], ['watch +a@1 xa@5 +b@2']],
    ['a refusal alone', [refused(pod('a', 5))], ['watch xa@5']],
    ['a retry is a separate commit', [a, retry, b], ['watch +a@1', 'watch *', 'watch +b@2']],
  ])('S6: %s (TestRealFIFO_PopMultipleDeltaInBatch)', (_case, deltas, expected) => {
    expect(split(deltas)).toEqual(expected);
  });

  it('S6: a commit does not cross the end of the first list (TestRealFIFO_PopMultipleDeltaInBatch, TestRealFIFO_ReplaceAtomicPop, TestRealFIFO_HasSynced)', () => {
    const parts = [replacing([pod('x', 1)]), replacing([pod('y', 1)])];
    const end = replaced([pod('z', 1)], 5);
    expect(split([...parts, end, a, b], false)).toEqual([
      'initiali (x@1) (y@1) [z@1]@5',
      'watch +a@1 +b@2',
    ]);
    expect(split([end, end, bookmark(6)], false)).toEqual([
      'initiali [z@1]@5',
      'relist [z@1]@5',
      'watch ^6',
    ]);
    expect(split([a, end, b])).toEqual(['watch +a@1', 'relist [z@1]@5', 'watch +b@2']);
  });

  it('S6: each scope has its own first list', () => {
    const shop = replaced([], 5, { scope: 'shop' });
    const lab = replaced([], 5, { scope: 'lab' });
    const commits = splitCommits([shop, lab, shop], (scope) => scope === 'lab');
    expect(commits.map(({ cause }) => cause)).toEqual(['initial', 'relist', 'relist']);
  });

  it('S6: a commit has one cause', () => {
    expect(split([a, sync, b, replacing([pod('x', 1)]), c])).toEqual([
      'watch +a@1',
      'resync =b@2',
      'watch +b@2',
      'relist (x@1)',
      'watch +c@3',
    ]);
  });

  it('S5, S6: what a list misses becomes visible together with its end, after the deltas before it', () => {
    const missing = [missed(pod('b', 1)), missed(pod('a', 4))];
    const list = replaced([pod('z', 1)], 9, { missing });
    expect(split([a2, list])).toEqual(['watch ~a@4', 'relist -b@1? -a@4? [z@1]@9']);
    expect(split([missed(pod('b', 1)), list])).toEqual([
      'watch -b@1?',
      'relist -b@1? -a@4? [z@1]@9',
    ]);
    expect(split([missed(pod('b', 1)), missed(pod('a', 1))])).toEqual(['watch -b@1? -a@1?']);
  });

  it('S6: no delta of a random batch is lost or reordered', () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const delta: fc.Arbitrary<Delta<Pod>> = fc.oneof(
      key.map((name) => added(pod(name, 1))),
      key.map((name) => missed(pod(name, 1))),
      key.map((name): Delta<Pod> => ({ type: 'sync', key: name, object: pod(name, 1) })),
      fc.constant(replaced([], 1)),
      fc.constant(replacing([])),
      fc.constant(bookmark(1)),
      key.map((name) => refused(pod(name, 1))),
      fc.constant(retry),
    );
    fc.assert(
      fc.property(fc.array(delta), fc.boolean(), (deltas, synced) => {
        const commits = splitCommits(deltas, () => synced);
        expect(commits.flatMap((commit) => commit.deltas)).toEqual(deltas);
        for (const commit of commits) {
          const single = commit.cause === 'watch' || commit.cause === 'resync';
          const keys = commit.deltas.flatMap((it) => ('object' in it ? [it.key] : []));
          if (single) expect(new Set(keys).size).toBe(keys.length);
          if (commit.deltas.includes(retry)) expect(commit.deltas).toEqual([retry]);
          const ends = commit.deltas.filter(({ type }) => type === 'replaced');
          expect(ends.length).toBeLessThan(2);
          if (ends.length === 1) expect(commit.deltas.at(-1)).toBe(ends[0]);
        }
        const initial = commits.filter((commit) => commit.initial);
        expect(commits.slice(0, initial.length).every((it) => it.cause !== 'relist')).toBe(true);
        if (synced) expect(initial).toEqual([]);
      }),
    );
  });
});

const write = fc.record({
  kind: fc.constantFrom('stored', 'deleted'),
  had: fc.option(fc.constantFrom('u1', ''), { nil: undefined }),
  uid: fc.constantFrom('u1', 'u2', ''),
  finalStateUnknown: fc.boolean(),
});

describe('the changes of a commit', () => {
  it('S7: one write per key gives the changes that folding gives', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 6 }), (writes) => {
        const direct = new CommitChanges<Pod>(false);
        const folded = new CommitChanges<Pod>(true);
        for (const [at, { kind, had, uid, finalStateUnknown }] of writes.entries()) {
          const before = had === undefined ? undefined : pod(`p${at}`, 1, had);
          const object = pod(`p${at}`, 2, uid);
          for (const changes of [direct, folded]) {
            if (kind === 'stored') changes.stored(`p${at}`, before, object);
            else if (before !== undefined) {
              changes.deleted(`p${at}`, before, object, finalStateUnknown);
            }
          }
        }
        expect(direct.take()).toEqual(folded.take());
      }),
    );
  });
});
