/** Creations, replacements and deletions. */
import { expect, it } from 'vitest';
import {
  type ApiServer,
  configMaps,
  deployments,
  expectFailure,
  get,
  isNewer,
  names,
  post,
  put,
  succeed,
} from './api-server.ts';

export function writeTests(server: () => ApiServer): void {
  it('a POST creates an object', async () => {
    const path = configMaps(await server().freshNamespace());
    const answer = await server().request('POST', path, {
      body: {
        metadata: { name: 'a', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z' },
        data: { key: 'value' },
      },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const { kind, apiVersion, metadata, data } = answer.json;
    expect({ kind, apiVersion, data }).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      data: { key: 'value' },
    });
    expect(metadata.uid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
    expect(metadata.creationTimestamp).toMatch(/^20[0-9-]{8}T[0-9:]{8}Z$/);
    expect(metadata.creationTimestamp).not.toBe('2001-01-01T00:00:00Z');
    expect(metadata).not.toHaveProperty('generation');
    expect((await get(server(), `${path}/a`)).metadata).toEqual(metadata);
  });

  it('a POST with generateName generates a name', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { generateName: 'g-' } });
    const two = await post(server(), path, { metadata: { generateName: 'g-' } });
    expect(one.metadata.name).toMatch(/^g-[a-z0-9]{5}$/);
    expect(one.metadata.generateName).toBe('g-');
    expect(two.metadata.name).not.toBe(one.metadata.name);
  });

  it('a second POST of the same name is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const again = await server().request('POST', path, { body: { metadata: { name: 'a' } } });
    expectFailure(again, 409, 'AlreadyExists', /^configmaps "a" already exists$/);
    expect(again.json.details).toEqual({ name: 'a', kind: 'configmaps' });
  });

  it('a PUT replaces an object, and each change has a newer version', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { name: 'a' }, data: { k: '1' } });
    const two = await put(server(), `${path}/a`, { ...one, data: { k: '2' } });
    expect(two.data).toEqual({ k: '2' });
    expect(isNewer(two, one)).toBe(true);
    expect(two.metadata.uid).toBe(one.metadata.uid);
  });

  it('a PUT without a version replaces a built-in object', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { name: 'a', labels: { x: '1' } } });
    const two = await put(server(), `${path}/a`, { metadata: { name: 'a' }, data: { k: '2' } });
    expect(isNewer(two, one)).toBe(true);
    expect(two.metadata).not.toHaveProperty('labels');
    expect(two.metadata.creationTimestamp).toBe(one.metadata.creationTimestamp);
  });

  it('a PUT that changes nothing keeps the version', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { name: 'a' }, data: { k: '1' } });
    const two = await put(server(), `${path}/a`, { metadata: { name: 'a' }, data: { k: '1' } });
    expect(two.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
  });

  it('a PUT with an outdated version is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { name: 'a' } });
    await put(server(), `${path}/a`, { ...one, data: { k: '2' } });
    const late = await server().request('PUT', `${path}/a`, { body: { ...one, data: { k: '3' } } });
    expectFailure(
      late,
      409,
      'Conflict',
      /^Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply/,
    );
    expect(late.json.details).toEqual({ name: 'a', kind: 'configmaps' });
  });

  it('a PUT with the UID of another object is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const body = { metadata: { name: 'a', uid: 'other' }, data: { k: '1' } };
    const answer = await server().request('PUT', `${path}/a`, { body });
    expectFailure(answer, 409, 'Conflict', /Precondition failed: UID in precondition: other/);
  });

  it('a change of the spec increments the generation, and the status is changed separately', async () => {
    const path = deployments(await server().freshNamespace());
    const labels = { app: 'web' };
    const one = await post(server(), path, {
      metadata: { name: 'web', generation: 7 },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
      status: { replicas: 9 },
    });
    expect(one.metadata.generation).toBe(1);
    expect(one.status).toEqual({});
    const spec = { ...one.spec, replicas: 2 };
    const two = await put(server(), `${path}/web`, { ...one, spec, status: { replicas: 9 } });
    expect(two.metadata.generation).toBe(2);
    expect(two.status).toEqual({});
    const three = await put(server(), `${path}/web`, {
      ...two,
      metadata: { ...two.metadata, labels },
    });
    expect(three.metadata.generation).toBe(2);
    const four = await put(server(), `${path}/web/status`, {
      ...three,
      metadata: { ...three.metadata, labels: { app: 'other' } },
      spec: { ...three.spec, replicas: 5 },
      status: { replicas: 2 },
    });
    expect(four.status).toEqual({ replicas: 2 });
    expect(four.spec.replicas).toBe(2);
    expect(four.metadata.labels).toEqual(labels);
    expect(four.metadata.generation).toBe(2);
    expect(isNewer(four, three)).toBe(true);
    expect((await get(server(), `${path}/web/status`)).status).toEqual({ replicas: 2 });
  });

  it('a DELETE deletes an object', async () => {
    const path = configMaps(await server().freshNamespace());
    const { metadata } = await post(server(), path, { metadata: { name: 'a' } });
    const body = { propagationPolicy: 'Background', preconditions: { uid: metadata.uid } };
    const answer = await succeed(server(), 'DELETE', `${path}/a`, { body });
    expect(answer).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'a', kind: 'configmaps', uid: metadata.uid },
    });
    expectFailure(
      await server().request('DELETE', `${path}/a`),
      404,
      'NotFound',
      /^configmaps "a" not found$/,
    );
  });

  it('a DELETE checks its preconditions', async () => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const attempt = (preconditions: object) =>
      server().request('DELETE', `${path}/a`, { body: { preconditions } });
    const byUid = await attempt({ uid: 'other' });
    expectFailure(byUid, 409, 'Conflict', /the UID in the precondition \(other\) does not match/);
    expect(byUid.json.details).toEqual({ name: 'a', kind: 'ConfigMap' });
    const byVersion = await attempt({ resourceVersion: '1' });
    expectFailure(byVersion, 409, 'Conflict', /the ResourceVersion in the precondition \(1\)/);
    expect(names(await get(server(), path))).toEqual(['a']);
  });

  it('a deletion waits for finalizers', async () => {
    const path = configMaps(await server().freshNamespace());
    const finalizers = ['example.com/a', 'example.com/b'];
    const one = await post(server(), path, { metadata: { name: 'a', finalizers } });
    const marked = await succeed(server(), 'DELETE', `${path}/a`);
    expect(marked.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      deletionGracePeriodSeconds: 0,
      finalizers,
    });
    expect(isNewer(marked, one)).toBe(true);
    const again = await succeed(server(), 'DELETE', `${path}/a`);
    expect(again.metadata.resourceVersion).toBe(marked.metadata.resourceVersion);

    const withFinalizers = (list: string[]) => ({ metadata: { name: 'a', finalizers: list } });
    const more = await server().request('PUT', `${path}/a`, {
      body: withFinalizers([...finalizers, 'example.com/c']),
    });
    expectFailure(more, 422, 'Invalid', /no new finalizers can be added .*"example.com\/c"/);
    expect(more.json.details.causes[0].field).toBe('metadata.finalizers');

    const left = await put(server(), `${path}/a`, withFinalizers(['example.com/b']));
    expect(left.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp);
    await put(server(), `${path}/a`, withFinalizers([]));
    expect((await server().request('GET', `${path}/a`)).status).toBe(404);
  });

  it('a DELETE of a collection deletes the objects that a selector matches', async () => {
    const path = configMaps(await server().freshNamespace());
    for (const name of ['a', 'b', 'c']) {
      const labels: Record<string, string> = name === 'c' ? {} : { del: 'yes' };
      const finalizers = name === 'b' ? ['example.com/b'] : [];
      await post(server(), path, { metadata: { name, labels, finalizers } });
    }
    const gone = await succeed(server(), 'DELETE', path, { query: { labelSelector: 'del=yes' } });
    expect(gone.kind).toBe('ConfigMapList');
    expect(names(gone)).toEqual(['a', 'b']);
    const left = await get(server(), path);
    expect(names(left)).toEqual(['b', 'c']);
    expect(left.items[0].metadata.deletionTimestamp).toEqual(expect.any(String));
    await put(server(), `${path}/b`, { metadata: { name: 'b' } });
    expect(names(await get(server(), path))).toEqual(['c']);
  });
}
