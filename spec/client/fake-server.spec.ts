/** The clients together with the fake API server. */
import { createClient, createResourceClient, type JsonPatchOperation } from 'rx-informer';
import { configMaps, deployments, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { failureOf } from './scripted-server.ts';

function rig() {
  const server = createFakeApiServer();
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, qps: 0 });
  const maps = createResourceClient(client, configMaps).namespace('shop');
  const apps = createResourceClient(client, deployments).namespace('shop');
  return { server, client, maps, apps, pods: createResourceClient(client, pods).namespace('shop') };
}
const labels = { app: 'web' };
const web = {
  metadata: { name: 'web', labels },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'c', image: 'example.com/c:1' }] },
    },
  },
};

describe('a client of the fake API server', () => {
  it('C2: sends patches of all three types', async () => {
    const { apps } = rig();
    await apps.create(web);
    const container = { name: 'd', image: 'example.com/d:1' };
    const spec = { template: { spec: { containers: [container] } } };
    const strategic = await apps.patch('web', { strategic: { spec } });
    const names = strategic.spec?.template.spec?.containers.map(({ name }) => name);
    expect(names?.toSorted()).toEqual(['c', 'd']);
    const merged = await apps.patch('web', { merge: { metadata: { labels: { app: null } } } });
    expect(merged.metadata.labels ?? {}).toEqual({});
    const json: JsonPatchOperation[] = [{ op: 'replace', path: '/spec/replicas', value: 5 }];
    expect((await apps.patch('web', { json })).spec?.replicas).toBe(5);
    expect((await apps.patch('web', { json }, { dryRun: true })).spec?.replicas).toBe(5);
    const status = await apps.patchStatus('web', { merge: { status: { replicas: 2 } } });
    expect(status.status?.replicas).toBe(2);
  });

  it('C2: applies, scales and evicts', async () => {
    const { maps, apps, pods } = rig();
    const prices = { metadata: { name: 'prices' }, data: { tea: '3' } };
    expect((await maps.apply(prices, { fieldManager: 'me' })).data).toEqual({ tea: '3' });
    await apps.create(web);
    await apps.patchScale('web', { merge: { spec: { replicas: 3 } } });
    expect((await apps.updateScale('web', { spec: { replicas: 4 } })).spec?.replicas).toBe(4);
    expect((await apps.getScale('web')).spec?.replicas).toBe(4);
    await pods.create({ metadata: { name: 'p' }, spec: { containers: [] } });
    expect(await pods.evict('p')).toMatchObject({ status: 'Success' });
    expect(await failureOf(pods.get('p'))).toMatchObject({ code: 404 });
  });

  it('C10: follows a log until it is unsubscribed', async () => {
    const { server, pods: all } = rig();
    const web = { namespace: 'shop', name: 'web-0' };
    await all.create({ metadata: web, spec: { containers: [{ name: 'c' }] } });
    server.logs.append(web, 'one');
    const lines: string[] = [];
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
    const following = all.log('web-0', { follow: true }).subscribe((line) => lines.push(line));
    while (lines.length < 1) await turn();
    server.logs.append(web, 'two €');
    while (lines.length < 2) await turn();
    following.unsubscribe();
    server.logs.append(web, 'three');
    await turn();
    expect(lines).toEqual(['one', 'two €']);
    const last: string[] = [];
    await all.log('web-0', { tailLines: 1 }).forEach((line) => {
      last.push(line);
    });
    expect(last).toEqual(['three']);
  });

  it('C12, C14: concurrent edits are all kept', async () => {
    const { maps, server } = rig();
    const made = await maps.create({ metadata: { name: 'prices' }, data: { count: '0' } });
    await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        maps.edit(
          at % 2 === 0 ? made : 'prices',
          (draft) => {
            const data = draft.data ?? {};
            data[`item-${at}`] = 'x';
            data['count'] = String(Number(data['count']) + 1);
          },
          { attempts: 50 },
        ),
      ),
    );
    const left = await maps.get('prices');
    expect(left.data?.['count']).toBe('8');
    expect(Object.keys(left.data ?? {})).toHaveLength(9);
    const patches = server.requests.filter(({ method }) => method === 'PATCH');
    expect(patches.length).toBeGreaterThan(8);
  });

  it('C15: an edit does not change an object that was created again with the same name', async () => {
    const { maps } = rig();
    const made = await maps.create({ metadata: { name: 'prices' }, data: { a: '1' } });
    await maps.delete('prices');
    await maps.create({ metadata: { name: 'prices' }, data: { a: '2' } });
    const edit = maps.edit(made, (draft) => {
      draft.data = {};
    });
    expect(await failureOf(edit)).toMatchObject({ code: 404, reason: 'NotFound' });
    expect((await maps.get('prices')).data).toEqual({ a: '2' });
  });
});
