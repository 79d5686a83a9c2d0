/** The request that each call sends. */
import {
  ApiError,
  addFinalizer,
  createClient,
  createDiscovery,
  createListWatch,
  createResourceClient,
  defineResource,
  type KubernetesObject,
  type Resource,
  type ResourceClient,
} from 'rx-informer';
import { clusterRoles, deployments, nodes, pods } from 'rx-informer/resources';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../support/errors.ts';
import { type Asked, refusal, type Scripted, scriptedServer } from './scripted-server.ts';

interface Widget extends KubernetesObject {
  spec?: { size?: number; sides?: { color: string }[] };
  status?: { ready?: boolean };
}
const widgets: Resource<Widget> = defineResource<Widget>({
  group: 'example.com',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
});
const type = { kind: 'Widget', apiVersion: 'example.com/v1' };
const metadata = { namespace: 'shop', name: 'w' };
const root = '/apis/example.com/v1';
const one = `${root}/namespaces/shop/widgets/w`;
const ok: Scripted = { body: { kind: 'Widget', metadata } };
const scale: Scripted = { body: { kind: 'Scale', metadata, spec: { replicas: 3 } } };

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).map(freeze);
  return Object.freeze(value);
}

/** The request of a call, without the fields that are not set. */
async function requestOf(
  call: (client: ResourceClient<Widget>) => Promise<unknown>,
  answer: Scripted = ok,
): Promise<Partial<Asked>> {
  const { client, asked } = scriptedServer([answer]);
  await call(createResourceClient(client, widgets));
  expect(asked).toHaveLength(1);
  const { method, path, query, contentType, body } = asked[0] as Asked;
  return {
    method,
    path,
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(body === undefined ? {} : { body }),
  };
}
const json = 'application/json';

describe('a call of a resource', () => {
  it.each<
    [string, (client: ResourceClient<Widget>) => Promise<unknown>, Partial<Asked>, Scripted?]
  >([
    ['get', (c) => c.get('shop/w'), { method: 'GET', path: one }],
    [
      'get with a resourceVersion',
      (c) => c.get(metadata, { resourceVersion: '0' }),
      { method: 'GET', path: one, query: { resourceVersion: '0' } },
    ],
    ['get in a namespace', (c) => c.namespace('shop').get('w'), { method: 'GET', path: one }],
    ['get by object', (c) => c.get({ metadata }), { method: 'GET', path: one }],
    [
      'list of one page',
      (c) =>
        c.list({
          namespace: 'shop',
          labelSelector: 'app=web',
          fieldSelector: 'metadata.name=w',
          limit: 2,
          continue: 'token',
        }),
      {
        method: 'GET',
        path: `${root}/namespaces/shop/widgets`,
        query: {
          labelSelector: 'app=web',
          fieldSelector: 'metadata.name=w',
          limit: '2',
          continue: 'token',
        },
      },
      { body: { kind: 'WidgetList', metadata: {}, items: [] } },
    ],
    [
      'list of everything at a version',
      (c) => c.list({ resourceVersion: '7', resourceVersionMatch: 'Exact' }),
      {
        method: 'GET',
        path: `${root}/widgets`,
        query: { limit: '500', resourceVersion: '7', resourceVersionMatch: 'Exact' },
      },
      { body: { kind: 'WidgetList', metadata: { resourceVersion: '7' }, items: [] } },
    ],
    [
      'create',
      (c) =>
        c.create(freeze({ metadata, spec: { size: 1 } }), {
          dryRun: true,
          fieldManager: 'me',
          fieldValidation: 'Strict',
        }),
      {
        method: 'POST',
        path: `${root}/namespaces/shop/widgets`,
        query: { dryRun: 'All', fieldManager: 'me', fieldValidation: 'Strict' },
        contentType: json,
        body: { ...type, metadata, spec: { size: 1 } },
      },
    ],
    [
      'create with a generated name',
      (c) => c.namespace('shop').create(freeze({ metadata: { generateName: 'w-' } })),
      {
        method: 'POST',
        path: `${root}/namespaces/shop/widgets`,
        contentType: json,
        body: { ...type, metadata: { generateName: 'w-' } },
      },
    ],
    [
      'update',
      (c) => c.update(freeze({ metadata, spec: { size: 2 } })),
      {
        method: 'PUT',
        path: one,
        contentType: json,
        body: { ...type, metadata, spec: { size: 2 } },
      },
    ],
    [
      'updateStatus',
      (c) => c.updateStatus(freeze({ metadata, status: { ready: true } }), { fieldManager: 'me' }),
      {
        method: 'PUT',
        path: `${one}/status`,
        query: { fieldManager: 'me' },
        contentType: json,
        body: { ...type, metadata, status: { ready: true } },
      },
    ],
    [
      'a JSON patch',
      (c) => c.patch('shop/w', freeze({ json: [{ op: 'remove', path: '/spec/size' }] })),
      {
        method: 'PATCH',
        path: one,
        contentType: 'application/json-patch+json',
        body: [{ op: 'remove', path: '/spec/size' }],
      },
    ],
    [
      'a merge patch of a subresource',
      (c) =>
        c.patch('shop/w', freeze({ merge: { spec: { size: null } } }), { subresource: 'resize' }),
      {
        method: 'PATCH',
        path: `${one}/resize`,
        contentType: 'application/merge-patch+json',
        body: { spec: { size: null } },
      },
    ],
    [
      'a strategic merge patch',
      (c) => c.patchStatus('shop/w', freeze({ strategic: { status: { ready: false } } })),
      {
        method: 'PATCH',
        path: `${one}/status`,
        contentType: 'application/strategic-merge-patch+json',
        body: { status: { ready: false } },
      },
    ],
    [
      'apply',
      (c) =>
        c.apply(freeze({ metadata, spec: { sides: [{ color: 'red' }] } }), {
          fieldManager: 'me',
          force: true,
        }),
      {
        method: 'PATCH',
        path: one,
        query: { fieldManager: 'me', force: 'true' },
        contentType: 'application/apply-patch+yaml',
        body: { ...type, metadata, spec: { sides: [{ color: 'red' }] } },
      },
    ],
    [
      'applyStatus',
      (c) => c.applyStatus(freeze({ metadata, status: { ready: true } }), { fieldManager: 'me' }),
      {
        method: 'PATCH',
        path: `${one}/status`,
        query: { fieldManager: 'me' },
        contentType: 'application/apply-patch+yaml',
        body: { ...type, metadata, status: { ready: true } },
      },
    ],
    ['delete', (c) => c.delete('shop/w'), { method: 'DELETE', path: one }],
    [
      'delete with all options',
      (c) =>
        c.delete(
          'shop/w',
          freeze({
            propagationPolicy: 'Foreground',
            gracePeriodSeconds: 0,
            preconditions: { uid: 'u', resourceVersion: '7' },
            dryRun: true,
          }),
        ),
      {
        method: 'DELETE',
        path: one,
        contentType: json,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: 'Foreground',
          gracePeriodSeconds: 0,
          preconditions: { uid: 'u', resourceVersion: '7' },
          dryRun: ['All'],
        },
      },
    ],
    [
      'deleteCollection',
      (c) =>
        c.namespace('shop').deleteCollection({
          labelSelector: 'app=web',
          propagationPolicy: 'Orphan',
        }),
      {
        method: 'DELETE',
        path: `${root}/namespaces/shop/widgets`,
        query: { labelSelector: 'app=web' },
        contentType: json,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan' },
      },
      { body: { kind: 'WidgetList', metadata: {}, items: [{ metadata }] } },
    ],
    ['getScale', (c) => c.getScale('shop/w'), { method: 'GET', path: `${one}/scale` }, scale],
    [
      'updateScale',
      (c) => c.updateScale('shop/w', freeze({ spec: { replicas: 3 } })),
      {
        method: 'PUT',
        path: `${one}/scale`,
        contentType: json,
        body: {
          kind: 'Scale',
          apiVersion: 'autoscaling/v1',
          metadata: { name: 'w', namespace: 'shop' },
          spec: { replicas: 3 },
        },
      },
      scale,
    ],
    [
      'patchScale',
      (c) => c.patchScale('shop/w', { merge: { spec: { replicas: 3 } } }, { dryRun: true }),
      {
        method: 'PATCH',
        path: `${one}/scale`,
        query: { dryRun: 'All' },
        contentType: 'application/merge-patch+json',
        body: { spec: { replicas: 3 } },
      },
      scale,
    ],
  ])('C2: %s sends one request', async (_name, call, expected, answer = ok) => {
    expect(await requestOf(call, answer)).toEqual(expected);
  });

  it('C2: adds a missing type at the front, and sends an object with a type unchanged', async () => {
    const { client, asked } = scriptedServer([ok]);
    const shop = createResourceClient(client, widgets);
    await shop.create({ metadata });
    expect(Object.keys(asked[0]?.body as object)).toEqual(['kind', 'apiVersion', 'metadata']);
    await shop.update({ apiVersion: 'example.com/v1', metadata, kind: 'Widget' });
    expect(Object.keys(asked[1]?.body as object)).toEqual(['apiVersion', 'metadata', 'kind']);
  });

  it('C4: sends names with capitals and colons unchanged', async () => {
    const { client, asked } = scriptedServer([
      { body: { kind: 'ClusterRole', metadata } },
      { body: { kind: 'Deployment', metadata } },
    ]);
    await createResourceClient(client, clusterRoles).get('system:Controller:MyRole');
    expect(asked[0]?.path).toBe(
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3AController%3AMyRole',
    );
    await createResourceClient(client, deployments).namespace('a b').get('c?d#😀');
    expect(asked[1]?.path).toBe('/apis/apps/v1/namespaces/a%20b/deployments/c%3Fd%23%F0%9F%98%80');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a name that would change the path', () => on(widgets).get({ namespace: 'shop', name: '..' })],
    ['a namespace that would change the path', () => on(widgets).list({ namespace: '..' })],
    ['an escaped name', () => on(widgets).delete({ namespace: 'shop', name: 'a%2Fb' })],
    ['half of a surrogate pair', () => on(widgets).get({ namespace: 'shop', name: 'a\ud83d' })],
    ['an empty name', () => on(widgets).delete({ namespace: 'shop', name: '' })],
    ['a key of three parts', () => on(widgets).delete('a/b/c')],
    ['a name without a namespace', () => on(widgets).get('w')],
    ['a create without a namespace', () => on(widgets).create({ metadata: { name: 'w' } })],
    ['a deleteCollection in all namespaces', () => on(widgets).deleteCollection()],
    ['a namespace of a cluster-scoped resource', () => on(nodes).get('shop/n')],
    ['an object without a name', () => on(widgets).update({ metadata: { namespace: 'shop' } })],
    ['a target in another namespace', () => on(widgets).namespace('shop').get('bar/w')],
    [
      'an apply without a field manager',
      () => on(widgets).apply({ metadata }, { fieldManager: '' }),
    ],
    ['an empty patch', () => on(widgets).patch('shop/w', {} as { json: [] })],
    ['a dry run that is text', () => on(widgets).delete('shop/w', { dryRun: 'All' as never })],
    [
      'a patch whose dry run is text',
      () => on(widgets).patch('shop/w', { merge: {} }, { dryRun: 'All' as never }),
    ],
    ['a patch of two forms', () => on(widgets).patch('shop/w', { merge: {}, json: [] })],
    ['a patch that is undefined', () => on(widgets).patch('shop/w', { merge: undefined as never })],
    ['a missing patch', () => on(widgets).patch('shop/w', undefined as never)],
    ['a missing object', () => on(widgets).create(undefined as unknown as Widget)],
    ['a missing target', () => on(widgets).get(undefined as unknown as string)],
  ])('C4: refuses %s before anything is sent', async (_name, call) => {
    const failure = await failureOf(call());
    expect(failure).toBeInstanceOf(TypeError);
    expect(failure.message).toMatch(/widgets|nodes|patch is|key|dryRun is/);
  });

  it('C14: an edit that is aborted before it starts names its object', async () => {
    const aborted = on(widgets).edit('shop/w', () => {}, { signal: AbortSignal.abort() });
    expect((await failureOf(aborted)).message).toBe(
      'edit of widgets.example.com shop/w: aborted by the caller',
    );
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
  ])('M9: refuses a selector that is %s, which would select everything', async (text, missing) => {
    const { client, asked } = scriptedServer([ok]);
    const shop = createResourceClient(client, widgets).namespace('shop');
    const expected = `labelSelector is ${text}; give '' for everything, or leave it out`;
    const labels = { labelSelector: missing } as never;
    const fields = { labelSelector: 'app=web', fieldSelector: missing } as never;
    for (const call of [
      () => shop.deleteCollection(labels),
      () => shop.list(labels),
      () => shop.list({ ...(labels as object), limit: 5 }),
    ]) {
      const failure = await failureOf(call());
      expect(failure).toBeInstanceOf(TypeError);
      expect(failure.message).toContain(expected);
    }
    expect(() => shop.watch(labels)).toThrow(expected);
    expect(() => createListWatch(client, widgets, labels)).toThrow(expected);
    expect((await failureOf(shop.deleteCollection(fields))).message).toContain('fieldSelector is');
    expect(asked).toEqual([]);
  });

  it.each([
    [{ labelSelector: 'app in web' }, 'label selector "app in web": found "web" at position 7'],
    [{ fieldSelector: 'metadata.name' }, 'field selector "metadata.name": found the end at'],
    [{ labelSelector: { app: 'web' } as never }, 'formatLabelSelector() makes text of an object'],
  ])(
    'W16: refuses the selector %j before anything is sent, and quotes the selector',
    async (selector, text) => {
      const { client, asked } = scriptedServer([ok]);
      const shop = createResourceClient(client, widgets).namespace('shop');
      for (const call of [
        () => shop.list(selector),
        () => shop.list({ ...selector, limit: 5 }),
        () => shop.deleteCollection(selector),
      ]) {
        const failure = await failureOf(call());
        expect(failure).toBeInstanceOf(TypeError);
        expect(failure.message).toContain(text);
      }
      expect(asked).toEqual([]);
    },
  );

  it('C4: refuses a namespace of a cluster-scoped resource', () => {
    expect(() => on(nodes).namespace('shop')).toThrow(/nodes is cluster-scoped/);
  });

  it('C5: rejects with the error of the server, and names the request', async () => {
    const { client } = scriptedServer([refusal(403, 'Forbidden', 'not allowed')]);
    const failure = await failureOf(createResourceClient(client, widgets).get('shop/w'));
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `GET http://server${one}: not allowed`,
    });
  });

  it('C5: rejects an HTML page of a proxy, and a single object in place of a list', async () => {
    const { client } = scriptedServer([{ body: '<html>' }]);
    const failure = await failureOf(createResourceClient(client, widgets).get('shop/w'));
    expect(failure).toMatchObject({ reason: 'Unexpected' });
    expect(failure.message).toContain('is "http://server" an API server?');
    const ofPage = createClient({ baseUrl: '', fetch: async () => new Response('<html>') });
    expect(
      (await failureOf(createResourceClient(ofPage, widgets).get('shop/w'))).message,
    ).toContain('is the server of this page an API server?');
    expect((await failureOf(createDiscovery(ofPage).served())).message).toContain(
      'is the server of this page an API server?',
    );
    const untyped = createClient({
      baseUrl: 'http://server',
      fetch: async () => new Response(new TextEncoder().encode('{"kind":"Widget"}')),
    });
    expect((await failureOf(createResourceClient(untyped, widgets).get('shop/w'))).message).toBe(
      `GET ${one}: the response is JSON, but has no content-type that says so; does a proxy drop this header?`,
    );
    const list = await failureOf(createResourceClient(scriptedServer([ok]).client, widgets).list());
    expect(list?.message).toBe(
      `GET ${root}/widgets: expected a WidgetList, got "Widget"; is "http://server" an API server, and the kind of the resource right?`,
    );
  });

  const target = { kind: 'Widget', metadata } as const;
  it.each<[string, (client: ResourceClient<Widget>) => Promise<unknown>]>([
    ['get', (c) => c.get('shop/w')],
    ['list', (c) => c.list()],
    ['list of one page', (c) => c.list({ limit: 5 })],
    ['create', (c) => c.create(target)],
    ['update', (c) => c.update(target)],
    ['updateStatus', (c) => c.updateStatus(target)],
    ['patch', (c) => c.patch('shop/w', { merge: {} })],
    ['patchStatus', (c) => c.patchStatus('shop/w', { merge: {} })],
    ['apply', (c) => c.apply(target, { fieldManager: 'test' })],
    ['delete', (c) => c.delete('shop/w')],
    ['deleteCollection', (c) => c.namespace('shop').deleteCollection()],
    ['edit', (c) => c.edit('shop/w', () => {})],
    ['getScale', (c) => c.getScale('shop/w')],
    ['addFinalizer', (c) => addFinalizer(c, target, 'example.com/f')],
  ])(
    'C5: %s refuses a response of another kind, which a proxy may send with status 200',
    async (_, call) => {
      const bodies = [{}, { kind: 'Pod', metadata }, { kind: 'PodList', metadata: {}, items: [] }];
      for (const body of bodies) {
        const { client } = scriptedServer([{ body }]);
        const failure = await failureOf(call(createResourceClient(client, widgets)));
        expect(failure).toHaveProperty('reason', 'kind' in body ? 'WrongKind' : 'Unexpected');
        expect(failure.message).toMatch(/expected a (Widget|WidgetList|Scale), got/);
      }
    },
  );

  it('C5: rejects with a Status that says Failure, whatever the HTTP status is', async () => {
    const status = { kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403 };
    const refusing = { body: { ...status, message: 'not allowed' } };
    const of = (body: object) => createResourceClient(scriptedServer([{ body }]).client, widgets);
    for (const call of [
      of(refusing.body).delete('shop/w'),
      of(refusing.body).get('shop/w'),
      of(refusing.body).namespace('shop').deleteCollection(),
    ]) {
      expect(await failureOf(call)).toMatchObject({ code: 403, reason: 'Forbidden' });
    }
    const success = { kind: 'Status', status: 'Success' };
    expect(await of(success).delete('shop/w')).toEqual(success);
  });

  it('C5: rejects an object without metadata, instead of giving it to the recipe of an edit', async () => {
    const { client } = scriptedServer([{ body: { kind: 'Widget' } }]);
    let runs = 0;
    const failure = await failureOf(
      createResourceClient(client, widgets).edit('shop/w', () => {
        runs++;
      }),
    );
    expect(failure.message).toBe(`GET ${one}: the Widget has no metadata`);
    expect(runs).toBe(0);
  });

  const calls: [
    string,
    (client: ResourceClient<Widget>, signal: AbortSignal) => Promise<unknown>,
  ][] = [
    ['get', (c, signal) => c.get('shop/w', { signal })],
    ['list', (c, signal) => c.list({ signal })],
    ['a page', (c, signal) => c.list({ signal, limit: 1 })],
    ['create', (c, signal) => c.create({ metadata }, { signal })],
    ['update', (c, signal) => c.update({ metadata }, { signal })],
    ['updateStatus', (c, signal) => c.updateStatus({ metadata }, { signal })],
    ['patch', (c, signal) => c.patch('shop/w', { merge: {} }, { signal })],
    ['patchStatus', (c, signal) => c.patchStatus('shop/w', { merge: {} }, { signal })],
    ['apply', (c, signal) => c.apply({ metadata }, { fieldManager: 'me', signal })],
    ['applyStatus', (c, signal) => c.applyStatus({ metadata }, { fieldManager: 'me', signal })],
    ['delete', (c, signal) => c.delete('shop/w', { signal })],
    ['deleteCollection', (c, signal) => c.deleteCollection({ namespace: 'shop', signal })],
    ['getScale', (c, signal) => c.getScale('shop/w', { signal })],
    ['updateScale', (c, signal) => c.updateScale('shop/w', {}, { signal })],
    ['patchScale', (c, signal) => c.patchScale('shop/w', { merge: {} }, { signal })],
    ['edit', (c, signal) => c.edit('shop/w', () => {}, { signal })],
  ];
  it.each(calls)(
    'T6: aborting the signal of %s cancels its request, or prevents it',
    async (_name, call) => {
      const { client, asked, aborted } = scriptedServer([null]);
      const controller = new AbortController();
      const failure = failureOf(call(createResourceClient(client, widgets), controller.signal));
      await new Promise((resolve) => setImmediate(resolve));
      expect(asked).toHaveLength(1);
      expect(aborted).toEqual([]);
      controller.abort();
      expect(await failure).toMatchObject({ reason: 'Aborted' });
      expect(aborted).toHaveLength(1);

      const none = scriptedServer([ok]);
      const early = failureOf(call(createResourceClient(none.client, widgets), controller.signal));
      expect(await early).toMatchObject({ reason: 'Aborted' });
      expect(none.asked).toEqual([]);
    },
  );

  it.each(calls)(
    'T6: aborting the signal while the request of %s is handed to fetch ends the call',
    async (_name, call) => {
      const controller = new AbortController();
      // A server without an answer.
      const { client } = scriptedServer(() => {
        controller.abort();
        return null;
      });
      const failure = failureOf(call(createResourceClient(client, widgets), controller.signal));
      expect(await failure).toMatchObject({ reason: 'Aborted' });
    },
  );

  it('C22: a number that JSON would send as null is refused, also in patches and applied objects', async () => {
    const client = on(widgets);
    const spec = { size: Number.NaN };
    const object = { metadata, spec };
    const writes = [
      client.create(object),
      client.update(object),
      client.apply(object, { fieldManager: 'me' }),
      client.patch('shop/w', { merge: { spec } }),
      client.patch('shop/w', { json: [{ op: 'add', path: '/spec', value: spec }] }),
      client.updateScale('shop/w', { spec: { replicas: Number.NaN } }),
    ];
    for (const write of writes) {
      await expect(write).rejects.toThrow(/the body has NaN in (size|replicas), which JSON would/);
    }
  });

  it('T6: aborting the signal of evict cancels its request', async () => {
    const { client, aborted } = scriptedServer([null]);
    const controller = new AbortController();
    const { signal } = controller;
    const failure = failureOf(createResourceClient(client, pods).evict('shop/p', { signal }));
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(await failure).toMatchObject({ reason: 'Aborted' });
    expect(aborted).toHaveLength(1);
  });
});

function on<T extends KubernetesObject>(resource: Resource<T>): ResourceClient<T> {
  const { client } = scriptedServer(() => {
    throw new Error('no request must be sent');
  });
  return createResourceClient(client, resource);
}
