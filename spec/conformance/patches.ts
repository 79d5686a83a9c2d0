/** JSON Patch and JSON Merge Patch. */
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  type ApiServer,
  configMaps,
  deployments,
  expectFailure,
  get,
  isNewer,
  type Json,
  post,
  succeed,
  WIDGETS,
  widget,
  widgets,
} from './api-server.ts';

export const JSON_PATCH = 'application/json-patch+json';
export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const APPLY = 'application/apply-patch+yaml';

/** Sends a patch of one media type. */
export function patched(
  server: ApiServer,
  type: string,
  path: string,
  body: unknown,
  query: Record<string, string> = {},
): Promise<Answer> {
  return server.request('PATCH', path, { body, query, headers: { 'content-type': type } });
}

/** Sends a patch like {@link patched} and returns the body. Fails unless the response is a success. */
export async function patch(
  server: ApiServer,
  type: string,
  path: string,
  body: unknown,
  query: Record<string, string> = {},
): Promise<Json> {
  const headers = { 'content-type': type };
  return succeed(server, 'PATCH', path, { body, query, headers });
}

const REJECTED = /^the server rejected our request due to an error in our request$/;

export function patchTests(server: () => ApiServer): void {
  const make = async (fields: object = {}) => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, {
      metadata: { name: 'a', labels: { x: '1' } },
      data: { k: 'v', l: 'w' },
      ...fields,
    });
    return { path: `${path}/a`, one };
  };
  const makeWidget = async (spec: object) => {
    const path = widgets(await server().freshNamespace());
    const one = await post(server(), path, widget('w', { spec }));
    return { path: `${path}/w`, one };
  };

  describe('JSON Patch', () => {
    it('the operations are applied in order, as one change', async () => {
      const { path, one } = await make();
      const two = await patch(server(), JSON_PATCH, path, [
        { op: 'test', path: '/data/k', value: 'v' },
        { op: 'replace', path: '/data/k', value: 'v2' },
        { op: 'remove', path: '/data/l' },
        { op: 'copy', from: '/data/k', path: '/data/copied' },
        { op: 'move', from: '/metadata/labels/x', path: '/metadata/labels/y' },
        { op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] },
        { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/c' },
        { op: 'add', path: '/metadata/finalizers/1', value: 'example.com/b' },
        { op: 'remove', path: '/metadata/finalizers/0' },
      ]);
      expect(two.data).toEqual({ k: 'v2', copied: 'v2' });
      expect(two.metadata.labels).toEqual({ y: '1' });
      expect(two.metadata.finalizers).toEqual(['example.com/b', 'example.com/c']);
      expect(two.metadata.uid).toBe(one.metadata.uid);
      expect(isNewer(two, one)).toBe(true);
      expect(await get(server(), path)).toEqual(two);
    });

    it('~1 and ~0 in a path are unescaped', async () => {
      const { path } = await makeWidget({ 'a/b': 1, 'm~n': 2 });
      const two = await patch(server(), JSON_PATCH, path, [
        { op: 'replace', path: '/spec/a~1b', value: 3 },
        { op: 'replace', path: '/spec/m~0n', value: 4 },
      ]);
      expect(two.spec).toEqual({ 'a/b': 3, 'm~n': 4 });
      expect(two.metadata.generation).toBe(2);
    });

    it('a patch that changes nothing keeps the version', async () => {
      const { path, one } = await make();
      for (const operations of [[], [{ op: 'replace', path: '/data/k', value: 'v' }]]) {
        const same = await patch(server(), JSON_PATCH, path, operations);
        expect(same.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
      }
    });

    it.each<[string, Json]>([
      ['a test that fails', { op: 'test', path: '/spec/a', value: 2 }],
      ['a test of another version', { op: 'test', path: '/metadata/resourceVersion', value: '1' }],
      ['a removal of a missing field', { op: 'remove', path: '/spec/none' }],
      ['an add to a missing parent', { op: 'add', path: '/spec/none/x', value: 1 }],
      ['an add to a parent that is not a container', { op: 'add', path: '/spec/a/x', value: 1 }],
      ['an index past the end', { op: 'add', path: '/spec/list/3', value: 1 }],
      ['an invalid index', { op: 'add', path: '/spec/list/x', value: 1 }],
      ['a replacement of a missing item', { op: 'replace', path: '/spec/list/2', value: 1 }],
      ['a move of a missing field', { op: 'move', from: '/spec/none', path: '/spec/x' }],
      ['an unknown operation', { op: 'put', path: '/spec/x', value: 1 }],
      ['an operation without a path', { op: 'add', value: 1 }],
      ['a path that is not a JSON pointer', { op: 'add', path: 'spec', value: 1 }],
      ['a second operation that fails', { op: 'test', path: '/spec/b', value: 1 }],
    ])('a patch with %s is refused and changes nothing', async (_, operation) => {
      const { path, one } = await makeWidget({ a: 1, list: [1, 2] });
      const first = { op: 'add', path: '/spec/first', value: 1 };
      const answer = await patched(server(), JSON_PATCH, path, [first, operation]);
      expectFailure(answer, 422, 'Invalid', REJECTED);
      expect(answer.json.details).toEqual({});
      expect(await get(server(), path)).toEqual(one);
    });

    it('unlike in RFC 6902, replace adds a missing field, and a missing field equals null', async () => {
      const { path } = await makeWidget({ a: 1 });
      const two = await patch(server(), JSON_PATCH, path, [
        { op: 'replace', path: '/spec/b', value: 2 },
        { op: 'test', path: '/spec/none', value: null },
      ]);
      expect(two.spec).toEqual({ a: 1, b: 2 });
    });

    it('a test for null passes only for a missing field, so that an add after it overwrites nothing', async () => {
      const { path, one } = await make();
      const adding = (name: string, value: Json) => [
        { op: 'test', path: `/metadata/${name}`, value: null },
        { op: 'add', path: `/metadata/${name}`, value },
      ];
      const first = adding('finalizers', ['example.com/a']);
      const two = await patch(server(), JSON_PATCH, path, first);
      expect(two.metadata.finalizers).toEqual(['example.com/a']);
      expect(isNewer(two, one)).toBe(true);
      for (const late of [adding('finalizers', ['example.com/b']), adding('labels', { y: '1' })]) {
        const answer = await patched(server(), JSON_PATCH, path, late);
        expectFailure(answer, 422, 'Invalid', REJECTED);
      }
      expect(await get(server(), path)).toEqual(two);
    });

    it('a body that is not an array of operations is refused', async () => {
      const { path } = await make();
      for (const body of [{ op: 'add' }, 'true']) {
        const answer = await patched(server(), JSON_PATCH, path, body);
        expectFailure(answer, 400, 'BadRequest', /^error decoding patch: /);
      }
    });

    it('a patch of any type whose body is not JSON is refused', async () => {
      const { path } = await make();
      for (const type of [JSON_PATCH, MERGE, STRATEGIC]) {
        const answer = await patched(server(), type, path, '[nope');
        expectFailure(answer, 400, 'BadRequest', /^invalid JSON patch$/);
      }
    });
  });

  describe('JSON Merge Patch', () => {
    it('objects are merged, null removes a field, and lists are replaced', async () => {
      const { path, one } = await makeWidget({ a: 1, o: { x: 1, y: { z: 1 } }, list: [1, 2] });
      const two = await patch(server(), MERGE, path, {
        metadata: { labels: { m: 'n' } },
        spec: { a: null, o: { y: { z: null, n: null, w: 2 } }, list: [3], none: null },
      });
      expect(two.spec).toEqual({ o: { x: 1, y: { w: 2 } }, list: [3] });
      expect(two.metadata.labels).toEqual({ m: 'n' });
      expect(two.metadata.generation).toBe(2);
      expect(isNewer(two, one)).toBe(true);
      const three = await patch(server(), MERGE, path, { spec: { list: { now: 'an object' } } });
      expect(three.spec.list).toEqual({ now: 'an object' });
    });

    it('a patch that changes nothing keeps the version', async () => {
      const { path, one } = await make();
      const same = await patch(server(), MERGE, path, { data: { k: 'v', none: null } });
      expect(same.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
    });

    it('a body that is not an object is refused', async () => {
      const { path } = await make();
      for (const body of ['{nope', [1], 'null', '"text"']) {
        expectFailure(await patched(server(), MERGE, path, body), 400, 'BadRequest', /./);
      }
    });
  });

  describe.each([
    ['JSON Patch', JSON_PATCH, (path: string, value: Json) => [{ op: 'add', path, value }]],
    [
      'JSON Merge Patch',
      MERGE,
      (path: string, value: Json) =>
        path
          .slice(1)
          .split('/')
          .reduceRight((inner, name) => ({ [name]: inner }), value),
    ],
  ] as const)('%s', (_, type, setting) => {
    it('a patch with an outdated version is refused', async () => {
      const { path, one } = await make();
      const stale = setting('/metadata/resourceVersion', '1');
      const answer = await patched(server(), type, path, stale);
      expectFailure(
        answer,
        409,
        'Conflict',
        /configmaps "a": the object has been modified; please/,
      );
      expect(answer.json.details).toEqual({ name: 'a', kind: 'configmaps' });
      const fresh = setting('/metadata/resourceVersion', one.metadata.resourceVersion);
      await patch(server(), type, path, fresh);
    });

    it('a patch cannot change the identity of an object', async () => {
      const { path, one } = await make();
      const uid = await patched(server(), type, path, setting('/metadata/uid', 'other'));
      expectFailure(
        uid,
        422,
        'Invalid',
        /metadata.uid: Invalid value: "other": field is immutable/,
      );
      expect(uid.json.details).toMatchObject({ name: 'a', kind: 'ConfigMap' });
      const name = await patched(server(), type, path, setting('/metadata/name', 'b'));
      expectFailure(name, 400, 'BadRequest', /^the name of the object \(b\) does not match/);
      const namespace = await patched(server(), type, path, setting('/metadata/namespace', 'b'));
      expectFailure(namespace, 400, 'BadRequest', /^the namespace of the provided object does not/);
      const kind = await patched(server(), type, path, setting('/kind', 'Pod'));
      expectFailure(kind, 422, 'Invalid', /unknown conversion/);
      const deleted = await patched(
        server(),
        type,
        path,
        setting('/metadata/deletionTimestamp', '2020-01-01T00:00:00Z'),
      );
      expectFailure(deleted, 422, 'Invalid', /metadata.deletionTimestamp: .*field is immutable/);
      expect(await get(server(), path)).toEqual(one);
    });

    it('a patch cannot remove the version of a custom object', async () => {
      const { path } = await makeWidget({ a: 1 });
      const body =
        type === MERGE
          ? { metadata: { resourceVersion: null } }
          : [{ op: 'remove', path: '/metadata/resourceVersion' }];
      const answer = await patched(server(), type, path, body);
      expectFailure(answer, 422, 'Invalid', /metadata.resourceVersion: .*must be specified/);
      expect(answer.json.details).toMatchObject({ group: WIDGETS.group, kind: 'widgets' });
    });

    it('a patch of the object ignores the status, and a patch of the status ignores the other fields', async () => {
      const { path, one } = await makeWidget({ a: 1 });
      const two = await patch(server(), type, path, setting('/status', { x: 1 }));
      expect(two.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
      const three = await patch(server(), type, `${path}/status`, setting('/status', { x: 1 }));
      expect(three.status).toEqual({ x: 1 });
      expect(three.metadata.generation).toBe(1);
      expect(isNewer(three, one)).toBe(true);
      const four = await patch(server(), type, `${path}/status`, setting('/spec/a', 2));
      expect(four.metadata.resourceVersion).toBe(three.metadata.resourceVersion);
      const five = await patch(server(), type, path, setting('/spec/a', 2));
      expect(five).toMatchObject({ spec: { a: 2 }, status: { x: 1 }, metadata: { generation: 2 } });
    });

    it('a patch cannot add a finalizer to an object that is being deleted, and can remove the last one', async () => {
      const { path } = await make({ metadata: { name: 'a', finalizers: ['example.com/a'] } });
      await succeed(server(), 'DELETE', path);
      const more = setting('/metadata/finalizers', ['example.com/a', 'example.com/b']);
      const refused = await patched(server(), type, path, more);
      expectFailure(refused, 422, 'Invalid', /no new finalizers can be added/);
      await patch(server(), type, path, setting('/metadata/finalizers', []));
      expect((await server().request('GET', path)).status).toBe(404);
    });

    it('a patch of a missing object or of a collection is refused', async () => {
      const { path } = await make();
      const body = type === MERGE ? {} : [];
      const none = await patched(server(), type, path.replace(/a$/, 'none'), body);
      expectFailure(none, 404, 'NotFound', /^configmaps "none" not found$/);
      const all = await patched(server(), type, path.replace(/\/a$/, ''), body);
      expectFailure(all, 405, 'MethodNotAllowed', /does not allow this method/);
    });

    it('a patch reaches no prototype', async () => {
      const { path } = await makeWidget({ a: 1 });
      for (const to of ['/spec/__proto__/polluted', '/spec/constructor/prototype/polluted']) {
        await patched(server(), type, path, setting(to, 'yes'));
      }
      await patched(server(), type, path, `{"__proto__":{"polluted":"yes"}}`);
      expect(({} as Json).polluted).toBeUndefined();
      expect((await get(server(), path)).polluted).toBeUndefined();
      const own = await patch(server(), type, path, setting('/spec/constructor', 'mine'));
      expect(own.spec.constructor).toBe('mine');
    });
  });

  it('a patch of an unknown media type is refused', async () => {
    const { path } = await make();
    const answer = await patched(server(), 'text/plain', path, '[]');
    expectFailure(answer, 415, 'UnsupportedMediaType', /./);
  });

  it('a patch of a Deployment increments the generation if it changes the spec', async () => {
    const path = deployments(await server().freshNamespace());
    await post(server(), path, deployment('web'));
    const scaled = await patch(server(), MERGE, `${path}/web`, { spec: { replicas: 2 } });
    expect(scaled.metadata.generation).toBe(2);
    const status = await patch(server(), MERGE, `${path}/web/status`, { status: { replicas: 2 } });
    expect(status.metadata.generation).toBe(2);
    expect(status.status).toEqual({ replicas: 2 });
  });
}

/** A Deployment with one container. */
export function deployment(name: string): Json {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
}
