/** `liveFilter`: what counts as true. */
import { liveFilter, toView } from 'rx-informer';
import { changeSet } from 'rx-informer/testing';
import { of } from 'rxjs';
import { expect, it } from 'vitest';

it('Q20: a predicate holds if its value counts as true, as in a filter of an array', () => {
  const values = ['web', '', 0, 1, null, undefined, {}, true, false, Number.NaN];
  const added = values.map((value, at) => ({ metadata: { name: `${at}`, uid: `${at}` }, value }));
  const valued = ({ value }: { readonly value: unknown }) => value as boolean;
  const view = toView(of(changeSet({ added })).pipe(liveFilter(valued)));
  view.subscribe(() => undefined);
  expect(view.getSnapshot().rows.map(valued)).toEqual(added.filter(valued).map(valued));
  expect(view.getSnapshot().rows.length).toBe(4);
});
