import { describe, expect, it } from 'vitest';
import { CommitChanges } from '../../lib/store/commit/commit-changes.ts';
import { type Pod, pod } from '../delta/pods.ts';
import * as fc from '../support/fast-check.ts';

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
