/** Other representations of objects: metadata only, and tables. */
import { describe, expect, it } from 'vitest';
import { printedPods } from '../support/printed-pods.ts';
import {
  type ApiServer,
  configMaps,
  deployments,
  expectFailure,
  fill,
  get,
  type Json,
  post,
  succeed,
  take,
  widget,
  widgets,
} from './api-server.ts';
import { deployment, MERGE } from './patches.ts';

const as = (kind: string) => ({ accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` });
const ONE = as('PartialObjectMetadata');
const LIST = as('PartialObjectMetadataList');
const TABLE = as('Table');
const META = 'meta.k8s.io/v1';

const titles = (table: Json): string[] => table.columnDefinitions.map(({ name }: Json) => name);
const rows = (table: Json): unknown[] => table.rows.map(({ cells }: Json) => cells);
const AGE = expect.stringMatching(/^[0-9]+s$/);

const partial = ({ metadata }: Json) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: META,
  metadata,
});

export function projectionTests(server: () => ApiServer): void {
  const ask = (path: string, headers: Record<string, string>, query = {}) =>
    succeed(server(), 'GET', path, { headers, query });
  const initial = {
    watch: '1',
    sendInitialEvents: 'true',
    resourceVersionMatch: 'NotOlderThan',
    allowWatchBookmarks: 'true',
  };
  const mark = {
    resourceVersion: expect.stringMatching(/^[0-9]+$/),
    annotations: { 'k8s.io/initial-events-end': 'true' },
  };

  describe('metadata only', () => {
    it('an object and a list can be read as metadata', async () => {
      const namespace = await server().freshNamespace();
      const [a, b] = await fill(server(), namespace, ['a', 'b']);
      const path = configMaps(namespace);
      expect(await ask(`${path}/a`, ONE)).toEqual(partial(a));
      const list = await ask(path, LIST, { limit: '1' });
      expect(list).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: META });
      expect(list.items).toEqual([partial(a)]);
      expect(list.metadata.remainingItemCount).toBeGreaterThan(0);
      const rest = await ask(path, LIST, { continue: list.metadata.continue });
      expect(rest.items).toContainEqual(partial(b));
    });

    it('a watch can send metadata, also in its bookmarks', async () => {
      const namespace = await server().freshNamespace();
      const path = configMaps(namespace);
      await post(server(), path, {
        metadata: { name: 'a', labels: { on: 'y' } },
        data: { k: '1' },
      });
      const lines = server().stream(path, { ...initial, labelSelector: 'on=y' }, ONE);
      const a = await get(server(), `${path}/a`);
      const [added, bookmark] = await take(lines, 2);
      expect(added).toEqual({ type: 'ADDED', object: partial(a) });
      expect(bookmark).toEqual({ type: 'BOOKMARK', object: partial({ metadata: mark }) });
      const changed = await put(path, a, { labels: { on: 'y', more: 'x' } });
      await put(path, changed, { labels: {} });
      const [modified, deleted] = await take(lines, 2);
      lines.close();
      expect(modified).toEqual({ type: 'MODIFIED', object: partial(changed) });
      expect(deleted.type).toBe('DELETED');
      expect(deleted.object.metadata.labels).toEqual({ on: 'y', more: 'x' });
    });

    it('a write can return metadata', async () => {
      const namespace = await server().freshNamespace();
      const [a] = await fill(server(), namespace, ['a']);
      const patched = await succeed(server(), 'PATCH', `${configMaps(namespace)}/a`, {
        body: { data: { k: 'v' } },
        headers: { ...ONE, 'content-type': MERGE },
      });
      expect(patched).toEqual(partial({ metadata: expect.objectContaining({ name: 'a' }) }));
      expect(patched.metadata.uid).toBe(a.metadata.uid);
    });

    it('the metadata type of an object is refused for a list, and vice versa', async () => {
      const namespace = await server().freshNamespace();
      await fill(server(), namespace, ['a']);
      const path = configMaps(namespace);
      const list = await server().request('GET', path, { headers: ONE });
      expectFailure(
        list,
        406,
        'NotAcceptable',
        /^you requested PartialObjectMetadata, but the req/,
      );
      const one = await server().request('GET', `${path}/a`, { headers: LIST });
      expectFailure(one, 406, 'NotAcceptable', /^you requested PartialObjectMetadataList, but the/);
    });
  });

  describe('tables', () => {
    it('a list, an object and the result of a write can be read as a table', async () => {
      const namespace = await server().freshNamespace();
      const path = configMaps(namespace);
      const a = await post(server(), path, { metadata: { name: 'a' }, data: { k: '1', l: '2' } });
      const labels = { select: 'me' };
      const b = await post(server(), path, { metadata: { name: 'b', labels } });
      const table = await ask(path, TABLE, { labelSelector: 'select=me' });
      expect(table).toMatchObject({ kind: 'Table', apiVersion: META });
      expect(table.metadata.resourceVersion).toMatch(/^[0-9]+$/);
      expect(titles(table)).toEqual(['Name', 'Data', 'Age']);
      expect(table.columnDefinitions[0]).toEqual({
        name: 'Name',
        type: 'string',
        format: 'name',
        description: expect.any(String),
        priority: 0,
      });
      expect(table.rows).toEqual([{ cells: ['b', 0, AGE], object: partial(b) }]);
      const one = await ask(`${path}/a`, TABLE);
      expect(one.metadata).toEqual({ resourceVersion: a.metadata.resourceVersion });
      expect(one.rows).toEqual([{ cells: ['a', 2, AGE], object: partial(a) }]);
      const written = await succeed(server(), 'PATCH', `${path}/a`, {
        body: { data: { k: null } },
        headers: { ...TABLE, 'content-type': MERGE },
      });
      expect(rows(written)).toEqual([['a', 1, AGE]]);
    });

    it('each row contains no object, the metadata or the complete object, as requested', async () => {
      const namespace = await server().freshNamespace();
      const path = configMaps(namespace);
      const a = await post(server(), path, { metadata: { name: 'a' }, data: { k: '1' } });
      const row = async (includeObject: string) =>
        (await ask(`${path}/a`, TABLE, { includeObject })).rows[0];
      expect(await row('None')).toEqual({ cells: ['a', 1, AGE], object: null });
      expect((await row('Metadata')).object).toEqual(partial(a));
      expect((await row('Object')).object).toEqual(a);
      const bad = { headers: TABLE, query: { includeObject: 'Some' } };
      const answer = await server().request('GET', `${path}/a`, bad);
      expectFailure(answer, 400, 'BadRequest', /includeObject: Invalid value: "Some": must be/);
    });

    it('a table can be read in pages', async () => {
      const namespace = await server().freshNamespace();
      await fill(server(), namespace, ['a', 'b']);
      const first = await ask(configMaps(namespace), TABLE, { limit: '1' });
      expect(first.rows).toHaveLength(1);
      const { continue: token, remainingItemCount } = first.metadata;
      expect(remainingItemCount).toBeGreaterThan(0);
      const second = await ask(configMaps(namespace), TABLE, { continue: token });
      expect(titles(second)).toEqual(['Name', 'Data', 'Age']);
      expect(second.rows[0].object.metadata.name).not.toBe(first.rows[0].object.metadata.name);
    });

    it('only the first event of a watch contains the columns', async () => {
      const namespace = await server().freshNamespace();
      const path = configMaps(namespace);
      const labels = { on: 'y' };
      const a = await post(server(), path, { metadata: { name: 'a', labels } });
      const query = { ...initial, labelSelector: 'on=y' };
      const lines = server().stream(path, query, TABLE);
      const [added, bookmark] = await take(lines, 2);
      expect(added.type).toBe('ADDED');
      expect(added.object).toMatchObject({
        kind: 'Table',
        apiVersion: META,
        metadata: { resourceVersion: a.metadata.resourceVersion },
        rows: [{ cells: ['a', 0, AGE], object: partial(a) }],
      });
      expect(titles(added.object)).toEqual(['Name', 'Data', 'Age']);
      expect(bookmark).toEqual({
        type: 'BOOKMARK',
        object: {
          kind: 'Table',
          apiVersion: META,
          metadata: { resourceVersion: mark.resourceVersion },
          columnDefinitions: null,
          rows: [{ cells: ['', 0, '<unknown>'], object: partial({ metadata: mark }) }],
        },
      });
      const two = await post(server(), path, { metadata: { name: 'b', labels }, data: { k: '1' } });
      const [next] = await take(lines, 1);
      lines.close();
      expect(next.object.columnDefinitions).toBeNull();
      expect(next.object.rows).toEqual([{ cells: ['b', 1, AGE], object: partial(two) }]);
    });

    it('pods, deployments and custom objects have their own columns', async ({ skip }) => {
      const namespace = await server().freshNamespace();
      await post(server(), deployments(namespace), deployment('web'));
      const deployed = await ask(deployments(namespace), TABLE);
      expect(titles(deployed)).toEqual([
        ...['Name', 'Ready', 'Up-to-date', 'Available', 'Age'],
        ...['Containers', 'Images', 'Selector'],
      ]);
      expect(rows(deployed)).toEqual([['web', '0/1', 0, 0, AGE, 'c', 'i', 'app=web']]);
      const pods = `/api/v1/namespaces/${namespace}/pods`;
      await post(server(), pods, {
        metadata: { name: 'p' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      });
      const running = await ask(pods, TABLE);
      expect(titles(running)).toEqual([
        ...['Name', 'Ready', 'Status', 'Restarts', 'Age'],
        ...['IP', 'Node', 'Nominated Node', 'Readiness Gates'],
      ]);
      const none = '<none>';
      expect(rows(running)).toEqual([['p', '0/1', 'Pending', '0', AGE, none, none, none, none]]);
      if (!server().capabilities.widgets) return skip('this server has no widgets');
      await post(server(), widgets(namespace), widget('w', { spec: { size: 3 } }));
      const custom = await ask(widgets(namespace), TABLE);
      expect(custom.columnDefinitions.map(({ name, type }: Json) => [name, type])).toEqual([
        ['Name', 'string'],
        ['Size', 'integer'],
        ['Ready', 'string'],
        ['Age', 'date'],
      ]);
      expect(rows(custom)).toEqual([['w', 3, null, AGE]]);
      const conditions = [
        { type: 'Other', status: 'False' },
        { type: 'Ready', status: 'True' },
      ];
      await succeed(server(), 'PATCH', `${widgets(namespace)}/w/status`, {
        body: { status: { conditions } },
        headers: { 'content-type': MERGE },
      });
      expect(rows(await ask(widgets(namespace), TABLE))).toEqual([['w', 3, 'True', AGE]]);
    });
  });

  it('a table of pods shows the state of each as kubectl prints it', async () => {
    const path = `/api/v1/namespaces/${await server().freshNamespace()}/pods`;
    const headers = { 'content-type': MERGE };
    for (const [at, pod] of printedPods.entries()) {
      const name = `p${String(at).padStart(2, '0')}`;
      const { init, containers, status, deleted } = pod;
      const finalizers = deleted ? ['example.com/hold'] : [];
      await post(server(), path, {
        metadata: { name, finalizers },
        spec: { initContainers: init, containers },
      });
      const one = `${path}/${name}`;
      await succeed(server(), 'PATCH', `${one}/status`, { body: { status }, headers });
      if (deleted) await succeed(server(), 'DELETE', one);
    }
    const { rows } = await ask(path, TABLE);
    const found = rows.map(({ cells }: Json, at: number) => [
      printedPods[at]?.what,
      ...cells.slice(1, 4),
    ]);
    const expected = printedPods.map(({ what, columns: [ready, status, restarts] }) => [
      ...[what, ready, status, String(restarts)],
    ]);
    expect(found).toEqual(expected);
    for (const at of printedPods.keys()) {
      const name = `p${String(at).padStart(2, '0')}`;
      const body = { metadata: { finalizers: null } };
      await succeed(server(), 'PATCH', `${path}/${name}`, { body, headers });
    }
  });

  it('the server uses the first media type of Accept that it supports', async () => {
    const namespace = await server().freshNamespace();
    const [a] = await fill(server(), namespace, ['a']);
    const path = `${configMaps(namespace)}/a`;
    for (const [accept, kind] of [
      [`text/xml, ${ONE.accept}, application/json`, 'PartialObjectMetadata'],
      [`application/json, ${ONE.accept}`, 'ConfigMap'],
      [`${TABLE.accept},${ONE.accept}`, 'Table'],
      [`${as('Nope').accept}, application/json`, 'ConfigMap'],
      [`${TABLE.accept.replace('v=v1', 'v=v9')}, */*`, 'ConfigMap'],
      [`application/json;q=0.5, ${ONE.accept};q=0.9`, 'PartialObjectMetadata'],
    ] as const) {
      expect((await ask(path, { accept })).kind, accept).toBe(kind);
    }
    expect(await ask(path, { accept: '*/*' })).toEqual(a);
    for (const accept of ['text/xml', as('Nope').accept]) {
      const answer = await server().request('GET', path, { headers: { accept } });
      expectFailure(answer, 406, 'NotAcceptable', /Not Acceptable|only the following media types/);
    }
  });

  function put(path: string, object: Json, metadata: object): Promise<Json> {
    const body = { ...object, metadata: { ...object.metadata, ...metadata } };
    return succeed(server(), 'PUT', `${path}/${object.metadata.name}`, { body });
  }
}
