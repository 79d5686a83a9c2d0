import { defineResource } from 'rx-informer';
import { createFakeApiServer, createTcpProxy } from 'rx-informer/testing';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pod, pods, Wire } from './wire.ts';

const shop = (name: string) => ({ name, namespace: 'shop' });

async function listed(server: ReturnType<typeof createFakeApiServer>, query = '') {
  const answer = await server.fetch(`http://fake/api/v1/pods${query}`);
  return answer.json();
}

describe('a fake server', () => {
  it('records requests in order', async () => {
    const scheduler = new VirtualTimeScheduler();
    const server = createFakeApiServer({ scheduler });
    await server.fetch('http://fake/api/v1/namespaces/shop/pods?limit=1');
    const wire = await Wire.open(server.fetch, 'watch=true&resourceVersion=1');
    await server.fetch('http://fake/version');
    expect(server.requests).toEqual([
      {
        method: 'GET',
        path: '/api/v1/namespaces/shop/pods',
        query: { limit: '1' },
        use: 'list',
        resource: 'pods',
        namespace: 'shop',
        atMs: 0,
      },
      expect.objectContaining({ use: 'watch', resource: 'pods', path: '/api/v1/pods' }),
      { method: 'GET', path: '/version', query: {}, use: 'call', atMs: 0 },
    ]);
    wire.abort();
    server.clearRequests();
    expect(server.requests).toEqual([]);
  });

  it('refuses streaming lists if watchList is false', async () => {
    const server = createFakeApiServer({ watchList: false });
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const answer = await server.fetch(`http://fake/api/v1/pods?${query}&allowWatchBookmarks=true`);
    expect(answer.status).toBe(422);
    expect((await answer.json()).details.causes[0].field).toBe('sendInitialEvents');
    const wire = await Wire.open(server.fetch, 'watch=1&allowWatchBookmarks=true');
    server.objects.create(pods, pod('a'));
    expect(await wire.lines()).toEqual(['ADDED a']);
  });

  it('returns no page that is longer than pageSizeMax', async () => {
    const server = createFakeApiServer({ pageSizeMax: 2 });
    for (const name of 'abc') server.objects.create(pods, pod(name));
    expect((await listed(server, '?limit=10')).items).toHaveLength(2);
    expect((await listed(server)).items).toHaveLength(3);
  });

  it('supports the field selectors of each resource', async () => {
    const server = createFakeApiServer();
    server.objects.create(pods, pod('a', {}, 'Pending'));
    server.objects.create(pods, pod('b'));
    const found = await listed(server, '?fieldSelector=status.phase%21%3DRunning');
    expect(found.items).toHaveLength(1);
    expect((await listed(server, '?fieldSelector=spec.x%3D1')).code).toBe(400);
    const widgets = defineResource({
      ...{ group: 'example.com', version: 'v1', plural: 'widgets' },
      ...{ kind: 'Widget', namespaced: false },
    });
    server.addResource(widgets, { selectableFields: ['spec.size'] });
    server.objects.create(widgets, { metadata: { name: 'w' } });
    const path = 'http://fake/apis/example.com/v1/widgets?fieldSelector=spec.size%3D1';
    expect((await (await server.fetch(path)).json()).items).toEqual([]);
  });

  it('A94: serves one version of a resource, and adding a resource that it serves leaves its objects and watches alone', async () => {
    const server = createFakeApiServer();
    const { fetch, objects, addResource } = server;
    objects.create(pods, pod('a'));
    const wire = await Wire.open(fetch);
    expect(await wire.lines()).toEqual(['ADDED a']);
    const beta = defineResource({ ...pods, version: 'v1beta1' });
    for (const resource of [pods, beta]) {
      expect(() => addResource(resource)).toThrow(
        /^addResource: pods is already served, in version v1; removeResource it first$/,
      );
    }
    objects.create(pods, pod('b'));
    expect(await wire.lines()).toEqual(['ADDED b']);
    expect(objects.list(pods)).toHaveLength(2);
    expect(() => createFakeApiServer({ resources: [beta, pods] })).toThrow(
      /^createFakeApiServer: resources has pods in the versions v1beta1 and v1; the server serves/,
    );
    expect(createFakeApiServer({ resources: [pods, { ...pods }] }).objects.list(pods)).toEqual([]);
  });

  it('A94: refuses options and resources of another type', async () => {
    const { objects, addResource } = createFakeApiServer();
    expect(() => createFakeApiServer({ resources: 5 as never })).toThrow(
      'createFakeApiServer: resources is 5; it must be a list of resources',
    );
    expect(() => createFakeApiServer({ allows: 5 as never })).toThrow(
      'createFakeApiServer: allows is 5; it must be a function',
    );
    const itself = /: resource is (undefined|"pods"); it must be the resource itself, such as pods/;
    for (const resource of [undefined, 'pods'] as never[]) {
      expect(() => createFakeApiServer({ resources: [resource] })).toThrow(itself);
      expect(() => addResource(resource)).toThrow(itself);
      expect(() => objects.create(resource, pod('a'))).toThrow(itself);
      expect(() => objects.get(resource, shop('a'))).toThrow(itself);
    }
    for (const options of [undefined, {}, { target: {} }] as never[]) {
      await expect(createTcpProxy(options)).rejects.toThrow(
        /^createTcpProxy: target is .*; it must be a URL/,
      );
    }
  });

  it('accepts Request objects', async () => {
    const server = createFakeApiServer();
    const body = JSON.stringify({ metadata: { name: 'a' } });
    const request = new Request('http://fake/api/v1/namespaces/shop/pods', {
      method: 'POST',
      body,
    });
    request.headers.set('content-type', 'application/json');
    expect((await server.fetch(request)).status).toBe(201);
    expect(server.objects.get(pods, shop('a'))).toBeDefined();
  });
});
