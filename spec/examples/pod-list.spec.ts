/** Tests the list behind the dashboard's table against filtering and sorting from scratch. */
import fc from 'fast-check';
import type { Pod } from 'rx-informer/resources';
import { changeSet } from 'rx-informer/testing';
import { expect, test } from 'vitest';
import { type Filter, noFilter, testOf } from '../../examples/dashboard/page/pods/filter.ts';
import { orderOf, type Sort, type SortKey } from '../../examples/dashboard/page/pods/order.ts';
import { PodList } from '../../examples/dashboard/page/pods/pod-list.ts';
import { podRow } from '../../examples/dashboard/page/pods/pod-row.ts';
import { versionHash, withHash } from '../../examples/dashboard/shared/fingerprint.ts';

const sortKeys: readonly SortKey[] = ['name', 'namespace', 'status', 'restarts', 'age', 'owner'];

type Step =
  | { readonly do: 'put'; readonly slot: number; readonly restarts: number; readonly phase: string }
  | { readonly do: 'remove'; readonly slot: number }
  | { readonly do: 'sort'; readonly sort: Sort }
  | { readonly do: 'filter'; readonly filter: Filter };

const slot = fc.nat(15);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      slot,
      restarts: fc.nat(3),
      phase: fc.constantFrom('Running', 'Pending', 'Failed'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), slot }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('sort' as const),
      sort: fc.record({ key: fc.constantFrom(...sortKeys), descending: fc.boolean() }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('filter' as const),
      filter: fc.record({
        text: fc.constantFrom('', 'pod-1', 'ns-a', 'nothing'),
        phase: fc.constantFrom('', 'Running'),
        namespace: fc.constantFrom('', 'ns-b'),
        trouble: fc.boolean(),
      }),
    }),
  },
);

function podIn(place: number, restarts: number, phase: string, version: number): Pod {
  const state = { name: 'main', image: '', imageID: '', ready: phase === 'Running' };
  return {
    metadata: {
      uid: `uid-${place}`,
      name: `pod-${place}`,
      namespace: place % 2 === 0 ? 'ns-a' : 'ns-b',
      resourceVersion: String(version),
      creationTimestamp: new Date(1_700_000_000_000 + (place % 4) * 1000).toISOString(),
    },
    spec: { containers: [{ name: 'main' }] },
    status: { phase, containerStatuses: [{ ...state, restartCount: restarts }] },
  };
}

test('rows and counts are equal to those that are filtered, sorted and counted from scratch', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 12 }), (batches) => {
      const list = new PodList({ key: 'name', descending: false });
      const model = new Map<string, Pod>();
      let sort: Sort = { key: 'name', descending: false };
      let filter = noFilter;
      let version = 0;
      for (const batch of batches) {
        const before = new Map(model);
        for (const each of batch) {
          if (each.do === 'sort') {
            sort = each.sort;
            list.sort(sort);
          } else if (each.do === 'filter') {
            filter = each.filter;
            list.filter(filter);
          } else if (each.do === 'remove') model.delete(`uid-${each.slot}`);
          else {
            const pod = podIn(each.slot, each.restarts, each.phase, ++version);
            model.set(`uid-${each.slot}`, pod);
          }
        }
        const ids = new Set([...before.keys(), ...model.keys()]);
        const changed = [...ids].filter((id) => before.get(id) !== model.get(id));
        list.apply(
          changeSet({
            synced: true,
            resourceVersion: String(version),
            added: changed.flatMap((id) => (before.has(id) ? [] : [model.get(id) as Pod])),
            updated: changed.flatMap((id) => {
              const [previous, object] = [before.get(id), model.get(id)];
              return previous && object ? [{ previous, object }] : [];
            }),
            deleted: changed.flatMap((id) => (model.has(id) ? [] : [before.get(id) as Pod])),
          }),
        );
        const all = [...model.values()].map((pod) => podRow(pod));
        const { rows, total, phases, trouble } = list.getSnapshot();
        expect(rows).toEqual(all.filter(testOf(filter)).sort(orderOf(sort)));
        expect(total).toBe(all.length);
        expect(trouble).toBe(all.filter(({ tone }) => tone === 'bad').length);
        for (const { key, count } of phases) {
          expect(count).toBe(all.filter(({ phase }) => phase === key).length);
        }
        const hashes = [...model].map(([uid, pod]) =>
          versionHash(uid, pod.metadata?.resourceVersion ?? ''),
        );
        expect(list.getSnapshot().fingerprint).toBe(hashes.reduce(withHash, 0));
      }
    }),
    { numRuns: 200 },
  );
});

test('a pod whose columns have not changed keeps its row', () => {
  const list = new PodList({ key: 'name', descending: false });
  const before = podIn(1, 0, 'Running', 1);
  const object = podIn(1, 0, 'Running', 2);
  list.apply(changeSet({ added: [before] }));
  const { rows } = list.getSnapshot();
  list.apply(changeSet({ updated: [{ previous: before, object }] }));
  expect(list.getSnapshot().rows).toBe(rows);
  expect(list.getSnapshot().fingerprint).toBe(versionHash('uid-1', '2'));
});

test('a reset replaces all rows', () => {
  const list = new PodList({ key: 'name', descending: false });
  list.apply(changeSet({ added: [podIn(1, 0, 'Running', 1), podIn(2, 0, 'Failed', 2)] }));
  list.apply(changeSet({ reset: true, added: [podIn(3, 0, 'Running', 3)] }));
  expect(list.getSnapshot()).toMatchObject({
    total: 1,
    trouble: 0,
    phases: [{ key: 'Running', count: 1 }],
  });
});
