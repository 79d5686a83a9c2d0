/** Informers of a factory whose ListerWatchers come from the application, for example from NATS. */
import { type CollectionPart, createClient, createListWatch, resourceName } from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { place, rig } from './rig.ts';

describe('a factory with other ListerWatchers', () => {
  it('G20: reads from them, and from the API server where there is none', async () => {
    const { factory, time, until, requestedPaths } = rig();
    const other = createFakeApiServer({ scheduler: time });
    other.objects.create(pods, { metadata: place('cached', 'shop') });
    const client = createClient({ baseUrl: 'http://other', fetch: other.fetch, scheduler: time });
    const asked: (readonly [string, CollectionPart])[] = [];
    const { informer, start, whenSynced } = factory({
      listWatch: (resource, part) => {
        asked.push([resourceName(resource), part]);
        if (resource.plural !== 'pods' || part.labelSelector !== '') return undefined;
        return createListWatch(client, resource, { scheduler: time });
      },
    });
    const all = informer(pods);
    const selected = informer(pods, { labelSelector: 'app=web', namespaces: ['shop', 'till'] });
    informer(nodes, { as: 'metadata' });
    informer(nodes, { as: 'table' });
    start();
    await until(whenSynced());
    expect(all.indexer.listKeys()).toEqual(['shop/cached']);
    expect([...selected.indexer.listKeys()].sort()).toEqual(['shop/web-0', 'till/web-0']);
    expect(requestedPaths()).toEqual([
      '/api/v1/namespaces/shop/pods',
      '/api/v1/namespaces/till/pods',
      '/api/v1/nodes',
    ]);
    const every = { namespace: '', labelSelector: '', fieldSelector: '', as: 'object' };
    expect(asked).toEqual([
      ['pods', every],
      ['pods', { ...every, labelSelector: 'app=web', namespace: 'shop' }],
      ['pods', { ...every, labelSelector: 'app=web', namespace: 'till' }],
      ['nodes', { ...every, as: 'metadata' }],
    ]);
  });
});
