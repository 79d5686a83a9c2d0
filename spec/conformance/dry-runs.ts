/** Dry runs: writes that return the result of the write and change nothing. */
import { expect, it } from 'vitest';
import {
  type ApiServer,
  configMaps,
  expectFailure,
  get,
  names,
  post,
  succeed,
  take,
} from './api-server.ts';
import { JSON_PATCH, MERGE, patch, patched } from './patches.ts';

const dry = { dryRun: 'All' };

export function dryRunTests(server: () => ApiServer): void {
  it('a dry-run POST returns an object without a version', async () => {
    const path = configMaps(await server().freshNamespace());
    const body = { metadata: { generateName: 'a-' }, data: { k: 'v' } };
    const made = await succeed(server(), 'POST', path, { query: dry, body });
    expect(made).toMatchObject({ kind: 'ConfigMap', data: { k: 'v' } });
    expect(made.metadata.name).toMatch(/^a-[a-z0-9]{5}$/);
    expect(made.metadata.uid).toEqual(expect.any(String));
    expect(made.metadata).not.toHaveProperty('resourceVersion');
    expect(names(await get(server(), path))).toEqual([]);
  });

  it('a dry-run PUT or PATCH returns the changed object with its present version', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { name: 'a' }, data: { k: '1' } });
    const body = { ...one, data: { k: '2' } };
    const put = await succeed(server(), 'PUT', `${path}/a`, { query: dry, body });
    const merged = await patch(server(), MERGE, `${path}/a`, { data: { k: '2' } }, dry);
    const replaced = [{ op: 'replace', path: '/data/k', value: '2' }];
    const json = await patch(server(), JSON_PATCH, `${path}/a`, replaced, dry);
    for (const answer of [put, merged, json]) {
      expect(answer.data).toEqual({ k: '2' });
      expect(answer.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
    }
    expect(await get(server(), `${path}/a`)).toEqual(one);
  });

  it('a dry-run DELETE, by query or by body, returns what a DELETE would return', async () => {
    const path = configMaps(await server().freshNamespace());
    const a = await post(server(), path, { metadata: { name: 'a' } });
    const metadata = { name: 'b', finalizers: ['example.com/b'] };
    const b = await post(server(), path, { metadata });
    const success = { status: 'Success', details: { name: 'a', uid: a.metadata.uid } };
    const body = { dryRun: ['All'] };
    expect(await succeed(server(), 'DELETE', `${path}/a`, { query: dry })).toMatchObject(success);
    expect(await succeed(server(), 'DELETE', `${path}/a`, { body })).toMatchObject(success);
    const marked = await succeed(server(), 'DELETE', `${path}/b`, { query: dry });
    expect(marked.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      resourceVersion: b.metadata.resourceVersion,
    });
    expect(names(await succeed(server(), 'DELETE', path, { query: dry }))).toEqual(['a', 'b']);
    expect((await get(server(), path)).items).toHaveLength(2);
    expect(await get(server(), `${path}/b`)).toEqual(b);
  });

  it('a dry run of an invalid write is refused', async () => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const again = { query: dry, body: { metadata: { name: 'a' } } };
    expectFailure(await server().request('POST', path, again), 409, 'AlreadyExists', /already/);
    const stale = { metadata: { resourceVersion: '1' } };
    expectFailure(await patched(server(), MERGE, `${path}/a`, stale, dry), 409, 'Conflict', /./);
    const none = await server().request('DELETE', `${path}/none`, { query: dry });
    expectFailure(none, 404, 'NotFound', /"none" not found/);
  });

  it('a dry run sends no event to a watch', async () => {
    const path = configMaps(await server().freshNamespace());
    const one = await post(server(), path, { metadata: { name: 'a' } });
    const { resourceVersion } = one.metadata;
    const lines = server().stream(path, { watch: '1', resourceVersion });
    await patch(server(), MERGE, `${path}/a`, { data: { k: 'tried' } }, dry);
    await succeed(server(), 'DELETE', `${path}/a`, { query: dry });
    const two = await patch(server(), MERGE, `${path}/a`, { data: { k: 'done' } });
    const [event] = await take(lines, 1);
    lines.close();
    expect(event).toEqual({ type: 'MODIFIED', object: two });
  });

  it.each([
    ['POST', '', 'CreateOptions'],
    ['PUT', '/a', 'UpdateOptions'],
    ['PATCH', '/a', 'PatchOptions'],
    ['DELETE', '/a', 'DeleteOptions'],
  ])('a %s refuses values of dryRun other than All', async (method, name, kind) => {
    const path = configMaps(await server().freshNamespace());
    await post(server(), path, { metadata: { name: 'a' } });
    const answer = await server().request(method, `${path}${name}`, {
      query: { dryRun: 'Some' },
      ...(method === 'DELETE' ? {} : { body: { metadata: { name: 'a' } } }),
      ...(method === 'PATCH' ? { headers: { 'content-type': MERGE } } : {}),
    });
    expectFailure(answer, 422, 'Invalid', /dryRun: Unsupported value: \["Some"\]: supported/);
    expect(answer.json.details).toMatchObject({ group: 'meta.k8s.io', kind });
  });
}
