/** Informers of users who may not list the complete cluster. */
import {
  createClient,
  createInformerFactory,
  type InformerFactoryOptions,
  namespaceFallback,
} from 'rx-informer';
import { namespaces, nodes, pods } from 'rx-informer/resources';
import { type AccessAttributes, createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** A server with pods in the namespaces a, b and c, for a user with rights in some of them. */
function rig(
  options: InformerFactoryOptions,
  permitted: string[],
  more: (access: AccessAttributes) => boolean = () => false,
) {
  const time = new VirtualTime();
  let open = 0;
  let most = 0;
  const reviewed: string[] = [];
  const server = createFakeApiServer({
    scheduler: time,
    latencyMs: 10,
    allows: (access) => permitted.includes(access.namespace) || more(access),
  });
  for (const name of ['a', 'b', 'c']) {
    server.objects.create(namespaces, { metadata: { name } });
    server.objects.create(pods, { metadata: { namespace: name, name: `pod-${name}` } });
  }
  const client = createClient({
    baseUrl: 'http://fake',
    scheduler: time,
    fetch: async (url, init) => {
      if (!url.endsWith(REVIEWS)) return server.fetch(url, init);
      const { spec } = JSON.parse(String(init?.body));
      const { verb, namespace } = spec.resourceAttributes as AccessAttributes;
      reviewed.push(`${verb} ${namespace}`);
      most = Math.max(most, ++open);
      try {
        return await server.fetch(url, init);
      } finally {
        open--;
      }
    },
  });
  const factory = createInformerFactory(client, {
    ...{ scheduler: time, random: () => 0.5 },
    ...options,
  });
  const informer = factory.informer(pods);
  factory.start();
  const names = () => informer.indexer.list().map(({ metadata }) => metadata.name);
  return {
    ...{ time, server, client, factory, informer, names, permitted, reviewed },
    get most() {
      return most;
    },
  };
}

const listNamespaces = ({ verb, resource }: AccessAttributes) =>
  verb === 'list' && resource === 'namespaces';

describe('a user without rights in all namespaces', () => {
  it('G17: sees the given namespaces in which list and watch are permitted, and what is missing', async () => {
    const fallback = { namespaceFallback: namespaceFallback(['a', 'b', 'c']) };
    const { time, informer, factory, names, server, reviewed } = rig(fallback, ['a', 'c']);
    let isSynced = false;
    void factory.whenSynced().then(() => (isSynced = true));
    await time.advance(5_000);
    expect(isSynced).toBe(true);
    expect(names()).toEqual(['pod-a', 'pod-c']);
    expect(informer.status).toMatchObject({
      live: true,
      access: { namespaces: ['a', 'c'], missing: ['b'] },
    });
    expect(informer.status.access?.message).toBe(
      'listing and watching pods in all namespaces is not permitted; shown: namespaces a, c. Not permitted in b',
    );
    expect(Object.keys(informer.status.scopes ?? {})).toEqual(['a', 'c']);
    expect(server.openWatches).toHaveLength(2);
    expect(reviewed).toHaveLength(8);
    server.objects.create(pods, { metadata: { namespace: 'c', name: 'late' } });
    await time.advance(100);
    expect(names()).toContain('late');
    await factory.stop();
  });

  it('G17: sees the namespaces that can be listed, and at most four reviews are open', async () => {
    const found = rig({ namespaceFallback: namespaceFallback() }, ['b'], listNamespaces);
    await found.time.advance(5_000);
    expect(found.names()).toEqual(['pod-b']);
    expect(found.informer.status.access?.missing).toEqual(['a', 'c']);
    expect(found.most).toBeLessThanOrEqual(4);
    await found.factory.stop();
    found.reviewed.length = 0;
    found.factory.start();
    await found.time.advance(5_000);
    expect(found.reviewed).toEqual([]);
    expect(found.names()).toEqual(['pod-b']);
    await found.factory.stop();
  });

  it('G17: with all rights has one watch, and so has a cluster-scoped resource', async () => {
    const { time, server, informer, factory } = rig(
      { namespaceFallback: namespaceFallback() },
      [],
      () => true,
    );
    factory.informer(nodes);
    await time.advance(5_000);
    expect(informer.status.access).toBeUndefined();
    expect(server.openWatches).toHaveLength(2);
    await factory.stop();
  });

  it('G18: without any namespace sees the refusal of the server', async () => {
    const { time, informer, factory } = rig({ namespaceFallback: namespaceFallback() }, []);
    await time.advance(5_000);
    expect(informer.status).toMatchObject({ blocked: 'forbidden', synced: false });
    expect(informer.status.access?.message).toContain('The namespaces cannot be listed either');
    await factory.stop();
  });

  it('G19: follows rights that are taken and given while it runs', async () => {
    const fallback = { namespaceFallback: namespaceFallback(['a', 'b']) };
    const { time, informer, factory, names, server, permitted } = rig(fallback, ['a', 'b']);
    const deleted: string[] = [];
    informer.deleted$.subscribe(({ key }) => deleted.push(key));
    await time.advance(5_000);
    expect(names()).toEqual(['pod-a', 'pod-b']);
    permitted.splice(1, 1);
    server.faults.dropWatches();
    await time.advance(30_000);
    expect(names()).toEqual(['pod-a']);
    expect(deleted).toEqual(['b/pod-b']);
    expect(informer.status).toMatchObject({ live: true, access: { missing: ['b'] } });
    // The right for everything makes one watch of all, after the next 403.
    permitted.push('');
    permitted.splice(0, 1);
    server.faults.dropWatches();
    await time.advance(30_000);
    expect(names()).toEqual(['pod-a', 'pod-b', 'pod-c']);
    expect(informer.status.access).toBeUndefined();
    await factory.stop();
  });
});

describe('the fake API server', () => {
  it('A14: refuses and reviews by one rule', async () => {
    const server = createFakeApiServer({ allows: ({ namespace }) => namespace === 'a' });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const review = (namespace: string) =>
      client.request<object>({
        method: 'POST',
        path: REVIEWS,
        body: { spec: { resourceAttributes: { verb: 'list', resource: 'pods', namespace } } },
      });
    expect(await review('a')).toMatchObject({ status: { allowed: true } });
    expect(await review('b')).toMatchObject({ status: { allowed: false } });
    await client.request({ path: '/api/v1/namespaces/a/pods' });
    for (const path of ['/api/v1/namespaces/b/pods', '/api/v1/pods', '/api/v1/namespaces/b/pods/x'])
      await expect(client.request({ path })).rejects.toMatchObject({ code: 403 });
    await expect(client.request({ method: 'POST', path: REVIEWS, body: {} })).rejects.toMatchObject(
      {
        code: 422,
      },
    );
  });
});
