/** `liveFilter`: what counts as true. */
import {
  type ChangeSet,
  createClient,
  createInformerFactory,
  createLiveQueries,
  liveFilter,
  liveJoin,
  liveMap,
  liveQuery,
  liveSort,
  toView,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { changeSet, createFakeApiServer } from 'rx-informer/testing';
import { type Observable, of } from 'rxjs';
import { expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';

it('Q20: a predicate holds if its value counts as true, as in a filter of an array', () => {
  const values = ['web', '', 0, 1, null, undefined, {}, true, false, Number.NaN];
  const added = values.map((value, at) => ({ metadata: { name: `${at}`, uid: `${at}` }, value }));
  const valued = ({ value }: { readonly value: unknown }) => value as boolean;
  const view = toView(of(changeSet({ added })).pipe(liveFilter(valued)));
  view.subscribe(() => undefined);
  expect(view.getSnapshot().rows.map(valued)).toEqual(added.filter(valued).map(valued));
  expect(view.getSnapshot().rows.length).toBe(4);
});

interface Named {
  readonly metadata: { readonly name: string; readonly uid: string };
}
const web: Named = { metadata: { name: 'web', uid: 'u1' } };
const sets$ = of(changeSet<Named>({ added: [web] } as never));
const later = async () => {
  throw new Error('never reported');
};

/** Functions that return a Promise, which counts as true, or would be taken for a row. */
const promising: Record<string, (source$: Observable<ChangeSet<Named>>) => Observable<unknown>> = {
  liveFilter: liveFilter<Named>(later as never),
  liveMap: liveMap<Named, unknown>(later),
  liveSort: liveSort<Named>(later as never),
  liveJoin: liveJoin<Named, Named>(sets$, {
    on: { owner: 'left' },
    project: later as never,
  }) as never,
};

it.each(Object.entries(promising))(
  'Q23: a function of %s that returns a Promise keeps its row out',
  (_name, operator) => {
    const view = toView(operator(sets$) as Observable<ChangeSet<unknown>>);
    view.subscribe(() => undefined);
    const { rows, status } = view.getSnapshot();
    expect(rows).toEqual([]);
    expect(status.refusedRows.map(({ key, error }) => [key, String(error)])).toEqual([
      [
        'web',
        expect.stringMatching(/^TypeError: .* returned a Promise; it must return synchronously/),
      ],
    ]);
  },
);

it('Q23: so does the test of a query, also behind other conditions', async () => {
  const server = createFakeApiServer();
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const factory = createInformerFactory(client);
  factory.start();
  const test = { key: 'later', test: later as never };
  const other = { path: 'metadata.name', eq: 'db' } as const;
  for (const where of [test, { and: [test] }, { or: [other, test] }, { not: test }]) {
    const view = createLiveQueries(factory).view(liveQuery({ from: pods, where: where as never }));
    const leave = view.subscribe(() => undefined);
    await eventually(() => expect(view.getSnapshot().synced).toBe(true));
    expect(view.getSnapshot().rows).toEqual([]);
    expect(view.getSnapshot().status.refusedRows.length).toBe(1);
    leave();
  }
  await factory.stop();
});
