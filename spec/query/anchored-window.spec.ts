/** A window around an anchor whose row leaves. */
import { liveSort, liveWindow, toView } from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { BehaviorSubject } from 'rxjs';
import { describe, expect, it } from 'vitest';

const row = (name: string) => ({ metadata: { name, uid: name } });
type Row = ReturnType<typeof row>;

/** The rows of a window of two from the anchor on, before and after the row of the anchor has left. */
function around(names: string, anchor: string, offset = 0) {
  const all = [...names].map(row);
  const sets$ = new BehaviorSubject(changeSet({ added: all, reset: true, cause: 'snapshot' }));
  const view = toView(
    sets$.pipe(
      liveSort<Row>((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1)),
      liveWindow({ anchor, offset, limit: 2 }),
    ),
  );
  view.subscribe(() => undefined);
  const rows = () =>
    view
      .getSnapshot()
      .rows.map(({ metadata }) => metadata.name)
      .join('');
  const before = rows();
  sets$.next(changeSet({ deleted: all.filter(({ metadata }) => metadata.name === anchor) }));
  return [before, rows()];
}

describe('a window around an anchor that leaves', () => {
  it.each([
    ['the first row', 'abc', 'a', ['ab', 'bc']],
    ['a row in the middle', 'abcd', 'b', ['bc', 'cd']],
    ['the last row', 'abc', 'c', ['c', 'b']],
    ['the only row', 'a', 'a', ['a', '']],
  ])(
    'Q20: stays at the position of the row, or at the last one: %s',
    (_what, names, anchor, seen) => {
      expect(around(names, anchor)).toEqual(seen);
    },
  );

  it('Q20: begins before the position by its offset', () => {
    expect(around('abcd', 'd', -1)).toEqual(['cd', 'bc']);
  });
});
