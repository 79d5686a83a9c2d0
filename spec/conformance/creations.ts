/** Creation of objects: rules for names, and PUT requests that create. */
import { expect, it } from 'vitest';
import {
  type ApiServer,
  configMaps,
  expectFailure,
  get,
  isNewer,
  type Json,
  names,
  post,
  put,
  succeed,
} from './api-server.ts';
import { APPLY, MERGE, patched } from './patches.ts';

export function creationTests(server: () => ApiServer): void {
  const makeNames = async () => {
    const path = configMaps(await server().freshNamespace());
    return (metadata: object) => server().request('POST', path, { body: { metadata } });
  };
  const leasesOf = (namespace: string) =>
    `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const lease = (name: string, metadata: object = {}) => ({
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    metadata: { name, ...metadata },
    spec: { holderIdentity: 'me' },
  });

  it('a generated name contains at most 58 characters of generateName', async () => {
    const make = await makeNames();
    const nameFrom = async (generateName: string) => {
      const { status, text, json } = await make({ generateName });
      expect(status, text).toBe(201);
      expect(json.metadata.generateName).toBe(generateName);
      return json.metadata.name as string;
    };
    const long = 'g'.repeat(70);
    expect(await nameFrom(`${long}-`)).toMatch(/^g{58}[a-z0-9]{5}$/);
    expect(await nameFrom(`${'g'.repeat(57)}-and-more`)).toMatch(/^g{57}-[a-z0-9]{5}$/);
    const both = await make({ name: 'both', generateName: long });
    expect(both.json.metadata.name).toBe('both');
  });

  it('generateName must be a valid name', async () => {
    const make = await makeNames();
    const bad = await make({ generateName: 'A_' });
    expectFailure(
      bad,
      422,
      'Invalid',
      /^ConfigMap "A_[a-z0-9]{5}" is invalid: \[metadata.generateName: Invalid value: "A_": a lowercase RFC 1123 .*, metadata.name: /,
    );
    const fields = bad.json.details.causes.map(({ field }: Json) => field);
    expect(fields).toEqual(['metadata.generateName', 'metadata.name']);
    const dot = await make({ generateName: 'a.' });
    expectFailure(dot, 422, 'Invalid', /^ConfigMap "a\.[a-z0-9]{5}" is invalid: metadata.gen/);
    const long = await make({ generateName: 'a'.repeat(300) });
    expectFailure(long, 422, 'Invalid', /": must be no more than 253 characters$/);
    const besides = await make({ name: 'a', generateName: 'A_' });
    expectFailure(besides, 422, 'Invalid', /^ConfigMap "a" is invalid: metadata.generateName: /);
  });

  it('a missing namespace is reported before an invalid name', async () => {
    const answer = await server().request('POST', configMaps('no-such-namespace'), {
      body: { metadata: { name: 'A_' } },
    });
    expectFailure(answer, 404, 'NotFound', /^namespaces "no-such-namespace" not found$/);
  });

  it('an apply that creates an object checks the name', async () => {
    const path = `${configMaps(await server().freshNamespace())}/A_`;
    const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'A_' } };
    const answer = await patched(server(), APPLY, path, body, { fieldManager: 'me' });
    expectFailure(answer, 422, 'Invalid', /Invalid value: "A_": a lowercase RFC 1123/);
  });

  it('a PUT creates a missing Lease', async () => {
    const path = leasesOf(await server().freshNamespace());
    const answer = await server().request('PUT', `${path}/a`, { body: lease('a') });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.json).toMatchObject({ kind: 'Lease', spec: { holderIdentity: 'me' } });
    expect(answer.json.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(await get(server(), `${path}/a`)).toEqual(answer.json);
    // The version in the body is ignored if the object does not exist.
    const old = await put(server(), `${path}/b`, lease('b', { resourceVersion: '1' }));
    expect(isNewer(old, answer.json)).toBe(true);
    const dry = { query: { dryRun: 'All' }, body: lease('c') };
    const tried = await server().request('PUT', `${path}/c`, dry);
    expect(tried.status).toBe(201);
    expect(tried.json.metadata).not.toHaveProperty('resourceVersion');
    expect(names(await get(server(), path))).toEqual(['a', 'b']);
  });

  it('a PUT that creates a Lease with a UID, an invalid name or a missing namespace is refused', async () => {
    const path = leasesOf(await server().freshNamespace());
    const attempt = (name: string, metadata: object = {}, at = path) =>
      server().request('PUT', `${at}/${name}`, { body: lease(name, metadata) });
    expectFailure(
      await attempt('a', { uid: 'other' }),
      409,
      'Conflict',
      /leases.coordination.k8s.io "a": .*UID in precondition: other, UID in object meta: $/,
    );
    expectFailure(await attempt('A_'), 422, 'Invalid', /Invalid value: "A_": a lowercase RFC 1123/);
    const nowhere = await attempt('a', {}, leasesOf('no-such-namespace'));
    expectFailure(nowhere, 404, 'NotFound', /^namespaces "no-such-namespace" not found$/);
    const merge = await patched(server(), MERGE, `${path}/a`, { spec: {} });
    expectFailure(merge, 404, 'NotFound', /^leases.coordination.k8s.io "a" not found$/);
    expect(names(await get(server(), path))).toEqual([]);
  });

  it('a PUT creates Services and Events, but no ConfigMaps and Secrets', async () => {
    const root = `/api/v1/namespaces/${await server().freshNamespace()}`;
    const metadata = { name: 'a' };
    const spec = { ports: [{ port: 80 }] };
    const namespace = root.split('/').at(-1);
    for (const [plural, body] of [
      ['services', { metadata, spec }],
      ['events', { metadata, involvedObject: { namespace } }],
    ] as const) {
      const answer = await server().request('PUT', `${root}/${plural}/a`, { body });
      expect(answer.status, answer.text).toBe(201);
      const again = await server().request('PUT', `${root}/${plural}/a`, {
        body: { ...answer.json, metadata: { ...answer.json.metadata, labels: { x: '1' } } },
      });
      expect(again.status, again.text).toBe(200);
    }
    for (const plural of ['configmaps', 'secrets']) {
      const answer = await server().request('PUT', `${root}/${plural}/a`, { body: { metadata } });
      expectFailure(answer, 404, 'NotFound', `${plural} "a" not found`);
    }
  });

  it('a Lease is replaced only if its version is given', async () => {
    const path = leasesOf(await server().freshNamespace());
    const one = await post(server(), path, lease('a'));
    const without =
      /^leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: .*must be/;
    for (const body of [lease('a'), { ...one, metadata: { name: 'a' }, spec: {} }]) {
      const answer = await server().request('PUT', `${path}/a`, { body });
      expectFailure(answer, 422, 'Invalid', without);
      expect(answer.json.details).toMatchObject({ kind: 'leases', name: 'a' });
    }
    const other = await server().request('PUT', `${path}/a`, {
      body: lease('a', { uid: 'other' }),
    });
    expectFailure(other, 409, 'Conflict', /UID in precondition: other/);
    const merge = { metadata: { resourceVersion: null }, spec: { holderIdentity: 'you' } };
    expectFailure(await patched(server(), MERGE, `${path}/a`, merge), 422, 'Invalid', without);
    expect(await get(server(), `${path}/a`)).toEqual(one);
    const { resourceVersion } = one.metadata;
    const body = { ...lease('a', { resourceVersion }), spec: { holderIdentity: 'you' } };
    const two = await succeed(server(), 'PUT', `${path}/a`, { body });
    expect(two.spec.holderIdentity).toBe('you');
  });
}
