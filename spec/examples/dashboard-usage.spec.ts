/** Tests what the dashboard says about the CPU and memory that Pods and Nodes use. */
import { parseQuantity, toView } from 'rx-informer';
import { nodes, type Pod, pods as podResource } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { Subject, tap } from 'rxjs';
import { expect, test } from 'vitest';
import { metricsFor } from '../../examples/dashboard/embedded/metrics.ts';
import { populate } from '../../examples/dashboard/embedded/populate.ts';
import { seedFaults } from '../../examples/dashboard/embedded/seeded-faults.ts';
import { World } from '../../examples/dashboard/embedded/world.ts';
import { nodeKind } from '../../examples/dashboard/page/kinds/nodes.ts';
import { podKind, podRow } from '../../examples/dashboard/page/kinds/pods.ts';
import {
  type Used,
  usageKey,
  usageWords,
  withUsage,
} from '../../examples/dashboard/page/kinds/usage.ts';
import { fittingColumns, shownColumns } from '../../examples/dashboard/page/table/shown-columns.ts';
import { changesOfUsage } from '../../examples/dashboard/page/worker/usage.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

const container = (resources: object) => ({ name: 'c', image: 'x', resources });
const podWith = (...all: readonly object[]): Pod => ({
  metadata: { name: 'web-0', namespace: 'shop', uid: 'u' },
  spec: { nodeName: 'n1', containers: all.map(container) },
  status: { phase: 'Running' },
});

const MIB = 2 ** 20;
const used = (milliCpu: number, mib: number): Used => {
  return { key: 'shop/web-0', milliCpu, bytes: mib * MIB };
};

test('the usage of a Pod stands beside its requests and limits', () => {
  const requests = { cpu: '200m', memory: '128Mi' };
  const row = podRow(podWith({ requests, limits: { memory: '256Mi' } }));
  expect(usageKey(row)).toBe('shop/web-0');
  expect(withUsage(row, used(120, 240))).toMatchObject({
    usedCpuText: '0.12 of 0.2',
    usedCpuTitle: '0.12 CPU used, 0.2 CPU requested, no limit',
    usedMemory: 240 / 256,
    usedMemoryText: '240 of 256 MiB',
    usedMemoryTitle: '240 MiB used, 128 MiB requested, limit 256 MiB',
  });
  expect(usageWords(row, used(120, 240))).toEqual({
    CPU: '0.12 CPU used, 0.2 CPU requested, no limit',
    Memory: '240 MiB used, 128 MiB requested, limit 256 MiB',
  });
});

test('memory is in the unit of its limit', () => {
  const row = podRow(podWith({ limits: { memory: '2Gi' } }));
  expect(withUsage(row, used(1, 543))['usedMemoryText']).toBe('0.5 of 2 GiB');
  // A full node shows no more than it has.
  const large = podRow(podWith({ limits: { memory: '62259Mi' } }));
  expect(withUsage(large, used(1, 62_188))['usedMemoryText']).toBe('60.7 of 60.8 GiB');
});

test('a Pod may use more than it requests, but not more than its limit', () => {
  const requested = podRow(podWith({ requests: { cpu: '100m' } }));
  // A bar turns yellow above it.
  expect(withUsage(requested, used(900, 1))['usedCpu']).toBe(0.75);
  const limited = podRow(podWith({ limits: { cpu: '1' } }));
  expect(withUsage(limited, used(950, 1))['usedCpu']).toBe(0.95);
  // A container without a limit may use all that there is.
  const half = podRow(podWith({ limits: { cpu: '1' } }, {}));
  expect(withUsage(half, used(950, 1))['usedCpuTitle']).toMatch(/no limit$/);
});

test('where nothing is known, nothing is said', () => {
  const row = podRow(podWith({}));
  expect(withUsage(row)).toBe(row);
  expect(usageWords(row, undefined)).toEqual({});
  for (const kind of [podKind, nodeKind]) {
    const ids = (isMetered: boolean, chosen?: string[]) =>
      shownColumns(kind, chosen, { isMetered }).map(({ id }) => id);
    expect(ids(true)).toEqual(expect.arrayContaining(['usedCpu', 'usedMemory']));
    expect(ids(false)).not.toContain('usedCpu');
    expect(ids(false, ['name', 'usedCpu'])).toEqual(['name']);
  }
});

test('only rows whose usage differs change, and those of ended Pods go', () => {
  const lists$ = new Subject<readonly Used[]>();
  const changes$ = changesOfUsage(lists$);
  const seen: string[][] = [];
  const leave = changes$.subscribe(({ changes, synced }) => {
    expect(synced).toBe(true);
    seen.push(changes.map(({ key, object }) => `${key} ${object?.milliCpu ?? 'gone'}`));
  });
  const view = toView(changes$);
  expect(view.getSnapshot().rows).toEqual([]);
  const of = (key: string, milliCpu: number) => ({ key, milliCpu, bytes: 1 });
  lists$.next([of('a', 1), of('b', 2)]);
  lists$.next([of('a', 1), of('b', 3), of('c', 4)]);
  lists$.next([]);
  leave.unsubscribe();
  expect(seen).toEqual([[], ['a 1', 'b 2'], ['b 3', 'c 4'], ['a gone', 'b gone', 'c gone']]);
});

test('a later list in which much differs changes 200 rows at a time, and loses none', () => {
  const time = new VirtualTime();
  const lists$ = new Subject<readonly Used[]>();
  const seen: number[] = [];
  const changes$ = changesOfUsage(lists$, time).pipe(
    tap(({ changes }) => seen.push(changes.length)),
  );
  const view = toView(changes$ as ReturnType<typeof changesOfUsage>);
  const leave = view.subscribe(() => undefined);
  const listOf = (milliCpu: number) =>
    Array.from({ length: 450 }, (_, at) => ({ key: `${at}`, milliCpu, bytes: 1 }));
  lists$.next(listOf(1));
  lists$.next(listOf(2));
  lists$.next(listOf(3));
  expect(seen).toEqual([0, 450, 200]);
  time.elapse(1_000);
  expect(seen).toEqual([0, 450, 200, 200, 50, 200, 200, 50]);
  expect(view.getSnapshot().rows.every(({ milliCpu }) => milliCpu === 3)).toBe(true);
  leave();
});

test('the embedded metrics server answers for running Pods, and sums them per Node', () => {
  const pods = [
    podWith({ requests: { cpu: '200m', memory: '128Mi' } }),
    { ...podWith({}), status: { phase: 'Pending' } },
  ];
  const node = { name: 'n1', uid: 'n', ip: '', requested: 0, cordoned: false };
  const items = (path: string) => {
    const list = metricsFor(`/apis/metrics.k8s.io/v1beta1${path}`, pods, [node]);
    return (list as { items: { metadata: { name: string } }[] }).items;
  };
  expect(items('/pods')).toHaveLength(1);
  expect(items('/namespaces/other/pods')).toEqual([]);
  expect(items('/nodes')[0]).toMatchObject({ metadata: { name: 'n1' }, window: '15s' });
  expect(metricsFor('/api/v1/pods', pods, [node])).toBeUndefined();
});

test('what the embedded cluster says it uses fits its limits, and the pressure on its nodes', () => {
  const server = createFakeApiServer();
  const world = new World(server, { objects: 300, seed: 3, isTroubled: false });
  populate(world, 300);
  seedFaults(world, 'mix');
  const all = server.objects.list(podResource);
  const items = (path: string) => {
    const list = metricsFor(`/apis/metrics.k8s.io/v1beta1${path}`, all, world.nodes);
    return (
      list as {
        items: { metadata: { name: string }; usage: Amounts; containers: UsedByContainer[] }[];
      }
    ).items;
  };
  const bytes = (memory: string | number = 0) => parseQuantity(memory).value;
  for (const { metadata, containers } of items('/pods')) {
    const pod = all.find((each) => each.metadata.name === metadata.name);
    for (const { name, usage } of containers) {
      const limit = pod?.spec?.containers.find((each) => each.name === name)?.resources?.limits;
      expect(bytes(usage.memory), name).toBeLessThanOrEqual(bytes(limit?.['memory']));
    }
  }
  const pressed = server.objects.list(nodes).map(({ metadata, status }) => {
    const used = items('/nodes').find((each) => each.metadata.name === metadata.name)?.usage;
    const share = bytes(used?.memory) / bytes(status?.allocatable?.['memory']);
    const says = status?.conditions?.find(({ type }) => type === 'MemoryPressure')?.status;
    expect([metadata.name, share > 0.95, share <= 1]).toEqual([
      metadata.name,
      says === 'True',
      true,
    ]);
    return says;
  });
  expect(pressed).toContain('True');
  for (const { spec, status } of all.filter((each) => each.status?.reason === 'Evicted')) {
    const [, used = '', asked = ''] =
      /using (\S+), request is (\S+),/.exec(status?.message ?? '') ?? [];
    const { requests, limits } = spec?.containers[0]?.resources ?? {};
    expect(asked).toBe(requests?.['memory']);
    expect(bytes(used)).toBeGreaterThan(bytes(asked));
    expect(bytes(used)).toBeLessThanOrEqual(bytes(limits?.['memory']));
  }
});

interface Amounts {
  readonly memory: string;
}

interface UsedByContainer {
  readonly name: string;
  readonly usage: Amounts;
}

test('beside the details, the reason, the namespace and the node keep their places', () => {
  const all = shownColumns(podKind, undefined, { isTrouble: true, isMetered: true });
  const ids = (width: number) => fittingColumns(all, width).map(({ id }) => id);
  // The table of a window of 1440 pixels, and of 1280.
  for (const width of [660, 573]) {
    expect(ids(width).slice(0, 2)).toEqual(['name', 'status']);
    expect(ids(width)).toEqual(expect.arrayContaining(['why', 'namespace', 'node']));
    const least = fittingColumns(all, width).reduce((sum, column) => sum + column.width, 0);
    expect(least).toBeLessThanOrEqual(width);
  }
  expect(ids(2000)).toEqual(all.map(({ id }) => id));
});
