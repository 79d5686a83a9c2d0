/** The cells of tables, in cases that a new object on a real server cannot show. */
import { defineResource } from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { jsonPath } from '../../../lib/testing/tables/json-path.ts';
import { humanDuration } from '../../../lib/testing/tables/table-columns.ts';
import { pods, Wire } from '../wire.ts';

const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const widgets = defineResource({
  ...{ group: 'example.com', version: 'v1', plural: 'widgets' },
  ...{ kind: 'Widget', namespaced: false },
});

async function cellsOf(fetch: typeof globalThis.fetch, path = 'api/v1/pods') {
  const answer = await fetch(`http://fake/${path}`, { headers: { accept } });
  return ((await answer.json()).rows as { cells: unknown[] }[]).map(({ cells }) => cells);
}

describe('tables of a fake server', () => {
  it.each([
    [-2000, '<invalid>'],
    [0, '0s'],
    [119_000, '119s'],
    [120_000, '2m'],
    [129_000, '2m9s'],
    [10 * 60_000 + 5000, '10m'],
    [3 * 3_600_000, '3h'],
    [3 * 3_600_000 + 60_000, '3h1m'],
    [8 * 3_600_000 + 60_000, '8h'],
    [49 * 3_600_000, '2d1h'],
    [48 * 3_600_000, '2d'],
    [8 * 86_400_000 + 3_600_000, '8d'],
    [730 * 86_400_000, '2y'],
    [735 * 86_400_000, '2y5d'],
    [9 * 365 * 86_400_000, '9y'],
  ])('an age of %i ms is %s', (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });

  it.each([
    ['.a.b', ['x']],
    ['.list[1].n', [2]],
    ['.list[*].n', [1, 2]],
    ['.list[?(@.t=="B")].n', [2]],
    ["['a']['b']", ['x']],
    ['.labels.app\\.kubernetes\\.io/name', ['web']],
    ['.none.at.all', []],
    ['.a.constructor', []],
    ['.list[9].n', []],
  ])('the path %s has the values %j', (path, found) => {
    const list = [
      { t: 'A', n: 1 },
      { t: 'B', n: 2 },
    ];
    const object = { a: { b: 'x' }, list, labels: { 'app.kubernetes.io/name': 'web' } };
    expect(jsonPath(path)(object)).toEqual(found);
  });

  it('A8: a resource whose column has an invalid JSONPath is refused when it is added', () => {
    const server = createFakeApiServer();
    const column = { name: 'Odd', type: 'string', jsonPath: '.a..b' };
    expect(() => server.addResource(widgets, { printerColumns: [column] })).toThrow(
      'a printer column has the JSONPath ".a..b"; supported are members, indices,',
    );
  });

  it('A8: a custom resource has the columns of its definition, or its age', async () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler });
    const path = 'apis/example.com/v1/widgets';
    server.addResource(widgets);
    server.objects.create(widgets, { metadata: { name: 'w' } });
    scheduler.frame = 90_000;
    expect(await cellsOf(server.fetch, path)).toEqual([['w', '90s']]);
    server.removeResource(widgets);
    const printerColumns = [
      { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
      { name: 'Since', type: 'date', jsonPath: '.status.since' },
    ];
    server.addResource(widgets, { printerColumns });
    const status = { since: '1970-01-01T00:01:00Z' };
    server.objects.create(widgets, { metadata: { name: 'w' }, ...{ spec: { size: 3 }, status } });
    server.objects.create(widgets, { metadata: { name: 'x' } });
    expect(await cellsOf(server.fetch, path)).toEqual([
      ['w', 3, '30s'],
      ['x', null, '<unknown>'],
    ]);
  });

  it('A12: show readiness, status and restarts of a pod like kubectl', async () => {
    const server = createFakeApiServer();
    const make = (name: string, status: object, metadata: object = {}) =>
      server.objects.create(pods, {
        metadata: { name, ...metadata },
        ...{ spec: { containers: [{ name: 'c' }, { name: 'd' }], nodeName: 'n' }, status },
      });
    const of = (ready: boolean, restartCount: number, state: object = { running: {} }) => ({
      ready,
      restartCount,
      state,
    });
    make('a', {
      phase: 'Running',
      podIP: '10.0.0.1',
      containerStatuses: [of(true, 2), of(false, 1)],
    });
    const crashed = of(false, 9, { waiting: { reason: 'CrashLoopBackOff' } });
    make('b', { phase: 'Running', containerStatuses: [of(true, 0), crashed] });
    make('c', { phase: 'Failed', reason: 'Evicted' });
    make('d', { phase: 'Running' }, { finalizers: ['example.com/d'] });
    server.objects.delete(pods, { name: 'd' });
    const cells = await cellsOf(server.fetch);
    expect(cells.map((row) => row.slice(0, 4))).toEqual([
      ['a', '1/2', 'Running', '3'],
      ['b', '1/2', 'CrashLoopBackOff', '9'],
      ['c', '0/2', 'Evicted', '0'],
      ['d', '0/2', 'Terminating', '0'],
    ]);
    expect(cells[0]?.slice(5)).toEqual(['10.0.0.1', 'n', '<none>', '<none>']);
  });

  it('A7: a table watch sends bookmarks as tables and errors as a Status, like a real server', async () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler, bookmarkIntervalMs: 1000 });
    server.objects.create(pods, { metadata: { name: 'a' } });
    const projected: typeof fetch = (input, init) =>
      server.fetch(input, { ...init, headers: { accept } });
    const wire = await Wire.open(projected, 'watch=1&allowWatchBookmarks=1&resourceVersion=2');
    scheduler.maxFrames = 1000;
    scheduler.flush();
    const bookmark = JSON.parse((await wire.chunk()) ?? '');
    expect(bookmark).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Table' } });
    expect(bookmark.object.columnDefinitions).toHaveLength(9);
    server.faults.expireWatches();
    const error = JSON.parse((await wire.chunk()) ?? '');
    expect(error).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410 } });
    const list = await server.fetch('http://fake/api/v1/pods?watch=1', {
      headers: { accept: accept.replace('Table', 'PartialObjectMetadataList') },
    });
    expect(list.status).toBe(406);
  });
});
