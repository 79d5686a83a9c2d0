/** Discovery, the REST mapper and the dynamic client. */
import {
  ApiError,
  createClient,
  createDiscovery,
  createDynamicClient,
  createRestMapper,
  type DiscoveredResource,
  type Discovery,
  defineResource,
  type ServedApi,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { failureOf } from '../support/errors.ts';
import { refusal, type Scripted, scriptedServer } from './scripted-server.ts';

const aggregated = (items: object[]): Scripted => ({
  body: { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', items },
});
const core = aggregated([
  {
    metadata: {},
    versions: [
      {
        version: 'v1',
        freshness: 'Current',
        resources: [
          {
            resource: 'pods',
            responseKind: { group: '', version: 'v1', kind: 'Pod' },
            scope: 'Namespaced',
            singularResource: 'pod',
            shortNames: ['po'],
            categories: ['all'],
            verbs: ['get', 'list'],
            subresources: [{ subresource: 'log' }, { subresource: 'status' }],
          },
          { resource: 'bindings', responseKind: null, scope: 'Namespaced', verbs: ['create'] },
        ],
      },
    ],
  },
]);
const named = aggregated([
  {
    metadata: { name: 'metrics.k8s.io' },
    versions: [{ version: 'v1beta1', freshness: 'Stale', resources: [] }],
  },
  {
    metadata: { name: 'example.com' },
    versions: ['v2', 'v1'].map((version) => ({
      version,
      resources: [
        {
          resource: 'widgets',
          responseKind: { kind: 'Widget' },
          scope: 'Cluster',
          singularResource: 'widget',
          verbs: ['get'],
        },
      ],
    })),
  },
]);
const pod: DiscoveredResource = {
  group: '',
  version: 'v1',
  apiVersion: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
  singular: 'pod',
  shortNames: ['po'],
  categories: ['all'],
  verbs: ['get', 'list'],
  subresources: ['log', 'status'],
};

describe('discovery', () => {
  it('C16: sends two requests to a server with aggregated discovery', async () => {
    const { client, asked } = scriptedServer(({ path }) => (path === '/api' ? core : named));
    const { resources, failed } = await createDiscovery(client).served();
    expect(asked.map(({ path }) => path)).toEqual(['/api', '/apis']);
    expect(asked[0]?.accept).toBe(
      'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json',
    );
    expect(resources[0]).toEqual(pod);
    expect(
      resources
        .slice(1)
        .map(({ apiVersion, plural, namespaced }) => [apiVersion, plural, namespaced]),
    ).toEqual([
      ['example.com/v2', 'widgets', false],
      ['example.com/v1', 'widgets', false],
    ]);
    expect(failed).toMatchObject([{ groupVersion: 'metrics.k8s.io/v1beta1' }]);
  });

  it('C16: requests each version from an older server, the preferred one first, and continues if one fails', async () => {
    const list = (resources: object[]): Scripted => ({
      body: { kind: 'APIResourceList', resources },
    });
    const answers: Record<string, Scripted> = {
      '/api': { body: { kind: 'APIVersions', versions: ['v1'] } },
      '/api/v1': list([
        { ...pod, name: 'pods', singularName: 'pod' },
        { name: 'pods/log', kind: 'Pod', namespaced: true },
        { name: 'pods/status', kind: 'Pod', namespaced: true },
      ]),
      '/apis': {
        body: {
          kind: 'APIGroupList',
          groups: [
            {
              name: 'example.com',
              versions: [{ version: 'v1' }, { version: 'v2' }],
              preferredVersion: { version: 'v2' },
            },
            { name: 'metrics.k8s.io', versions: [{ version: 'v1beta1' }] },
          ],
        },
      },
      '/apis/example.com/v1': list([{ name: 'widgets', kind: 'Widget', namespaced: false }]),
      '/apis/example.com/v2': list([{ name: 'widgets', kind: 'Widget', namespaced: false }]),
      '/apis/metrics.k8s.io/v1beta1': refusal(503, 'ServiceUnavailable'),
    };
    const { client } = scriptedServer(({ path }) => answers[path] ?? null);
    const { resources, failed } = await createDiscovery(client).served();
    expect(resources[0]).toEqual(pod);
    expect(resources.map(({ apiVersion }) => apiVersion)).toEqual([
      'v1',
      'example.com/v2',
      'example.com/v1',
    ]);
    expect(failed).toMatchObject([
      { groupVersion: 'metrics.k8s.io/v1beta1', error: { code: 503 } },
    ]);
  });

  it('C16: names an API version whose server answers with a page, instead of one without resources', async () => {
    const { client } = scriptedServer(({ path }) => {
      if (path === '/api') return { body: { kind: 'APIVersions', versions: ['v1'] } };
      if (path === '/apis') return { body: { kind: 'APIGroupList', groups: [] } };
      return { body: '<html>' };
    });
    const { resources, failed } = await createDiscovery(client).served();
    expect(resources).toEqual([]);
    expect(failed).toMatchObject([{ groupVersion: 'v1', error: { reason: 'Unexpected' } }]);
    expect(failed[0]?.error.message).toContain('v1: its server answered no list of resources');
  });

  it('C16: rejects if the address is not an API server, and ends when its signal aborts', async () => {
    const { client } = scriptedServer([{ body: { hello: 'world' } }]);
    expect((await failureOf(createDiscovery(client).served())).message).toBe(
      'GET /api: expected a list of API groups, got "undefined"; is "http://server" an API server?',
    );
    const roots: Record<string, Scripted> = {
      '/api': { body: { kind: 'APIVersions', versions: ['v1'] } },
      '/apis': { body: { kind: 'APIGroupList', groups: [] } },
    };
    // One that is silent from the beginning, and an older one whose core group is.
    for (const isOld of [false, true]) {
      const silent = scriptedServer(({ path }) => (isOld && roots[path]) || null);
      const controller = new AbortController();
      const { signal } = controller;
      const asked = failureOf(createDiscovery(silent.client).served({ signal }));
      await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect(await asked).toMatchObject({ reason: 'Aborted' });
      expect(silent.aborted).toContain(isOld ? 'GET /api/v1' : 'GET /apis');
    }
  });

  it('C16: discovers the resources of the fake API server', async () => {
    const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
    const { resources, failed } = await createDiscovery(client).served();
    expect(failed).toEqual([]);
    expect(resources.find(({ plural }) => plural === 'deployments')).toMatchObject({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      namespaced: true,
      singular: 'deployment',
      subresources: expect.arrayContaining(['status']),
    });
  });
});

function served(kind: string, group: string, versions: readonly string[]): DiscoveredResource[] {
  return versions.map((version) => ({
    ...{ group, version, kind, namespaced: true },
    apiVersion: group === '' ? version : `${group}/${version}`,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [kind.slice(0, 2).toLowerCase()],
    categories: [],
    verbs: [],
    subresources: [],
  }));
}

/** A discovery whose results a test can set. */
function rig(resources: DiscoveredResource[]) {
  const time = new VirtualTime();
  const state = {
    api: { resources, failed: [] } as ServedApi,
    asks: 0,
    failure: undefined as unknown,
  };
  const discovery: Discovery = {
    served: async () => {
      state.asks++;
      if (state.failure !== undefined) throw state.failure;
      const { api } = state;
      await new Promise((resolve) => setImmediate(resolve));
      return api;
    },
  };
  return { state, time, mapper: createRestMapper(discovery, { scheduler: time }) };
}

describe('a REST mapper', () => {
  const all = [
    ...served('Pod', '', ['v1']),
    ...served('Deployment', 'apps', ['v1', 'v1beta1']),
    ...served('Widget', 'example.com', ['v2', 'v1']),
    ...served('Widget', 'other.example.com', ['v1']),
  ];

  it('C17: finds kinds, plurals, singulars and short names in the preferred version', async () => {
    const { mapper, state } = rig(all);
    const kind = async (kind: string, apiVersion?: string) => {
      const found = await mapper.forKind({ kind, ...(apiVersion ? { apiVersion } : {}) });
      return `${found.plural} ${found.apiVersion}`;
    };
    const plural = async (name: Parameters<typeof mapper.forPlural>[0]) => {
      const found = await mapper.forPlural(name);
      return `${found.kind} ${found.apiVersion}`;
    };
    expect(await kind('Deployment')).toBe('deployments apps/v1');
    expect(await kind('Deployment', 'apps/v1beta1')).toBe('deployments apps/v1beta1');
    expect(await kind('Widget')).toBe('widgets example.com/v2');
    expect(await kind('Widget', 'other.example.com/v1')).toBe('widgets other.example.com/v1');
    for (const name of ['pods', 'pod', 'po', 'Pods', 'pods.v1.']) {
      expect(await plural(name), name).toBe('Pod v1');
    }
    expect(await plural('widgets.other.example.com')).toBe('Widget other.example.com/v1');
    expect(await plural('widgets.v1.example.com')).toBe('Widget example.com/v1');
    expect(await plural({ group: 'example.com', plural: 'widgets' })).toBe('Widget example.com/v2');
    expect(await plural({ group: '', version: 'v1', plural: 'pods' })).toBe('Pod v1');
    expect(state.asks).toBe(1);
    const short = {
      ...(served('Gadget', 'aaa.dev', ['v1'])[0] as DiscoveredResource),
      shortNames: ['widgets'],
    };
    expect((await rig([short, ...all]).mapper.forPlural('widgets')).kind).toBe('Widget');
    const found = await mapper.forKind({ kind: 'Pod' });
    expect(await mapper.forPlural('pods')).toBe(found);
    expect(found).toEqual(
      defineResource({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }),
    );
  });

  it('C17: runs discovery again for an unknown name, once for concurrent lookups, and at most once a second', async () => {
    const { mapper, state, time } = rig(all);
    await mapper.forKind({ kind: 'Pod' });
    await time.advance(1_000);
    state.api = { resources: [...all, ...served('Gadget', 'example.com', ['v1'])], failed: [] };
    const looks = ['gadgets', 'gadget', 'gadgets.example.com'].map((name) =>
      mapper.forPlural(name),
    );
    const found = await Promise.all(looks);
    expect(found.map(({ kind }) => kind)).toEqual(['Gadget', 'Gadget', 'Gadget']);
    expect(state.asks).toBe(2);
    const unknown = () => failureOf(mapper.forKind({ kind: 'Gizmo' }));
    expect(await unknown()).toMatchObject({ reason: 'NoMatch' });
    expect(state.asks).toBe(2);
    await time.advance(10);
    const waiting = [unknown(), unknown()];
    await time.advance(989);
    expect(state.asks).toBe(2);
    await time.advance(1);
    for (const failure of await Promise.all(waiting)) {
      expect(failure).toMatchObject({ reason: 'NoMatch' });
    }
    expect(state.asks).toBe(3);
    mapper.reset();
    await mapper.forKind({ kind: 'Pod' });
    expect(state.asks).toBe(4);
  });

  it('C17: a name that was unknown is found after its definition was installed, without a wait by the caller', async () => {
    const { mapper, state, time } = rig(all);
    expect(await failureOf(mapper.forPlural('gadgets'))).toMatchObject({ reason: 'NoMatch' });
    await time.advance(20);
    state.api = { resources: [...all, ...served('Gadget', 'example.com', ['v1'])], failed: [] };
    const found = mapper.forPlural('gadgets');
    const controller = new AbortController();
    const aborted = failureOf(mapper.forPlural('gizmos', { signal: controller.signal }));
    await time.advance(500);
    controller.abort();
    expect(await aborted).toMatchObject({ reason: 'Aborted' });
    await time.advance(480);
    expect((await found).kind).toBe('Gadget');
    expect(state.asks).toBe(2);
    expect(time.pending).toBe(0);
  });

  it('C17: with an infinite minRefreshMs only reset() runs discovery again', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const minRefreshMs = Number.POSITIVE_INFINITY;
    const mapper = createRestMapper(createDiscovery(client), { minRefreshMs });
    expect((await mapper.forKind({ kind: 'Pod' })).plural).toBe('pods');
    const asked = server.requests.length;
    expect(await failureOf(mapper.forPlural('gadgets'))).toMatchObject({ reason: 'NoMatch' });
    expect(server.requests).toHaveLength(asked);
  });

  it('C17: the answer of a discovery that had begun before reset() is not used after it', async () => {
    const { mapper, state } = rig(all);
    const early = mapper.forKind({ kind: 'Widget' });
    mapper.reset();
    state.api = { resources: served('Pod', '', ['v1']), failed: [] };
    expect((await early).apiVersion).toBe('example.com/v2');
    expect(await failureOf(mapper.forKind({ kind: 'Widget' }))).toMatchObject({
      reason: 'NoMatch',
    });
    expect(state.asks).toBe(2);
  });

  it('C17: the error suggests similar names, and lists the API versions that could not be read', async () => {
    const { mapper, state } = rig(all);
    state.api = {
      resources: all,
      failed: [{ groupVersion: 'metrics.k8s.io/v1', error: ApiError.local('Network', 'down') }],
    };
    const failure = await failureOf(mapper.forKind({ kind: 'Deployemnt', apiVersion: 'apps/v1' }));
    expect(failure).toMatchObject({ reason: 'NoMatch', retryable: true });
    expect(failure.message).toBe(
      'the server serves no kind "Deployemnt" in apps/v1; did you mean Deployment (apps/v1), Deployment (apps/v1beta1)?; these could not be listed: metrics.k8s.io/v1',
    );
    expect((await failureOf(mapper.forPlural('widgts.example.com'))).message).toContain(
      'no resource "widgts.example.com"; did you mean widgets (example.com/v2)',
    );
    // Two swapped letters are one difference, and a name of three letters may have no other.
    expect((await failureOf(mapper.forKind({ kind: 'Pdo' }))).message).toContain(
      'did you mean Pod (v1)',
    );
    const none = await failureOf(mapper.forKind({ kind: 'Xylophone' }));
    expect(none?.message).not.toContain('did you mean');
    for (const name of [{ kind: '' }, undefined] as never[]) {
      expect((await failureOf(mapper.forKind(name))).message).toContain('forKind: kind is ');
    }
    for (const name of [{}, undefined, null] as never[]) {
      expect((await failureOf(mapper.forPlural(name))).message).toContain(
        'forPlural: the name is ',
      );
    }
  });

  it('C17: keeps the names of an API version that is down, and retries after a failed discovery', async () => {
    const { mapper, state, time } = rig(all);
    state.failure = ApiError.local('Network', 'refused');
    expect(await failureOf(mapper.forKind({ kind: 'Pod' }))).toBe(state.failure);
    state.failure = undefined;
    expect((await mapper.forKind({ kind: 'Pod' })).plural).toBe('pods');
    const down = { groupVersion: 'apps/v1', error: ApiError.local('Network', 'down') };
    const others = all.filter(({ apiVersion }) => apiVersion !== 'apps/v1');
    state.api = { resources: others, failed: [down] };
    await time.advance(1_000);
    await failureOf(mapper.forKind({ kind: 'Gizmo' }));
    expect((await mapper.forKind({ kind: 'Deployment', apiVersion: 'apps/v1' })).plural).toBe(
      'deployments',
    );
  });

  it('T6, C17: aborting one lookup does not abort the discovery of the others', async () => {
    const { mapper, state } = rig(all);
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = failureOf(mapper.forKind({ kind: 'Pod' }, { signal }));
    const waiting = mapper.forKind({ kind: 'Pod' });
    controller.abort();
    expect(await aborted).toMatchObject({ reason: 'Aborted' });
    expect((await waiting).plural).toBe('pods');
    expect(state.asks).toBe(1);
  });
});

describe('a dynamic client', () => {
  it('C17: finds resources by name, and sends no request for a known resource', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const dynamic = createDynamicClient(client);
    const metadata = { namespace: 'shop', name: 'p' };
    await dynamic.resource(pods).create({ metadata, spec: { containers: [] } });
    expect(server.requests).toHaveLength(1);
    expect('log' in dynamic.resource(pods)).toBe(true);
    for (const name of [
      'pods',
      { group: '', version: 'v1', plural: 'pods' },
      { apiVersion: 'v1', kind: 'Pod' },
      { apiVersion: 'v1', kind: 'Pod', metadata },
    ]) {
      const found = await dynamic.resource(name);
      const pod = await found.get('shop/p');
      expect(pod['spec']).toEqual({ containers: [] });
      expect(pod.kind).toBe('Pod');
    }
  });

  it('C17: finds a resource that was added later', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const time = new VirtualTime();
    const dynamic = createDynamicClient(client, { scheduler: time });
    const widget = { apiVersion: 'example.com/v1', kind: 'Widget' };
    expect(await failureOf(dynamic.resource(widget))).toMatchObject({ reason: 'NoMatch' });
    const definition = { group: 'example.com', version: 'v1', plural: 'widgets', kind: 'Widget' };
    server.addResource(defineResource({ ...definition, namespaced: true }));
    await time.advance(1_000);
    const widgets = (await dynamic.resource(widget)).namespace('shop');
    const created = await widgets.create({ ...widget, metadata: { name: 'w' }, spec: { size: 1 } });
    expect(created['spec']).toEqual({ size: 1 });
    expect((await widgets.list()).items).toHaveLength(1);
  });
});
