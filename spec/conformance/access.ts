/** The rights that a request needs. */
import { expect, it } from 'vitest';
import { type ApiServer, configMaps, expectFailure, fill, get, names } from './api-server.ts';

const APPLY = { 'content-type': 'application/apply-patch+yaml' };

export function accessTests(server: () => ApiServer): void {
  it('A14: an apply needs the verb create if the object does not exist, and only then', async () => {
    const namespace = await server().freshNamespace();
    const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] };
    const headers = { ...(await server().userWith(namespace, rule)), ...APPLY };
    await fill(server(), namespace, ['there']);
    const apply = (name: string, kind = 'ConfigMap') =>
      server().request('PATCH', `${configMaps(namespace)}/${name}`, {
        ...{ headers, query: { fieldManager: 'test' } },
        body: { kind, apiVersion: 'v1', metadata: { name }, data: { key: 'value' } },
      });
    expect((await apply('there')).status).toBe(200);
    expectFailure(await apply('missing'), 403, 'Forbidden', /^configmaps "missing" is forbidden/);
    expect((await apply('missing', 'Other')).status).toBe(400);
    expect(names(await get(server(), configMaps(namespace)))).not.toContain('missing');
  });

  it('A14: a PUT needs the verb create if the object does not exist, and only then', async () => {
    const namespace = await server().freshNamespace();
    const rule = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['update'] };
    const headers = await server().userWith(namespace, rule);
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
    const put = (name: string, rights: Record<string, string>, resourceVersion?: string) =>
      server().request('PUT', `${path}/${name}`, {
        ...{ headers: rights, body: { metadata: { name, resourceVersion } } },
      });
    const made = await put('there', {});
    expect(made.status, made.text).toBe(201);
    const { resourceVersion } = made.json.metadata;
    expect((await put('there', headers, resourceVersion)).status).toBe(200);
    const refused = await put('missing', headers);
    expectFailure(refused, 403, 'Forbidden', /^leases.coordination.k8s.io "missing" is forbidden/);
    expect(names(await get(server(), path))).toEqual(['there']);
  });

  it('A14: the name in the field selector of a list or a watch counts as the name of the object', async () => {
    const namespace = await server().freshNamespace();
    const headers = await server().userWith(namespace, {
      ...{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'] },
      verbs: ['list', 'watch', 'deletecollection'],
    });
    await fill(server(), namespace, ['a', 'b']);
    const path = configMaps(namespace);
    const send = (fieldSelector: string, method = 'GET', watch: Record<string, string> = {}) =>
      server().request(method, path, { query: { fieldSelector, ...watch }, headers });
    const listed = await send('metadata.name=a');
    expect(listed.status, listed.text).toBe(200);
    expect(names(listed.json)).toEqual(['a']);
    expect((await send(`metadata.namespace=${namespace},metadata.name==a`)).status).toBe(200);
    const short = { watch: '1', timeoutSeconds: '1' };
    expect((await send('metadata.name=a', 'GET', short)).status).toBe(200);
    for (const selector of ['', 'metadata.name!=b', `metadata.namespace=${namespace}`]) {
      expectFailure(await send(selector), 403, 'Forbidden', /^configmaps is forbidden: .* list /);
    }
    const other = await send('metadata.name=b', 'GET', short);
    expectFailure(other, 403, 'Forbidden', /^configmaps "b" is forbidden: .* cannot watch /);
    const emptied = await send('metadata.name=a', 'DELETE');
    expectFailure(emptied, 403, 'Forbidden', /^configmaps is forbidden: .* deletecollection /);
  });
}
