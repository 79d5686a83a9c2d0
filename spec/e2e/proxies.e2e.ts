/** Tests informers behind nginx that does not buffer. `proxies.night.ts` measures them, also in Chromium and behind buffers. */
import type { KubernetesObject } from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { nodeFollower } from './followers.ts';
import { fillNamespaces } from './namespaces.ts';
import { startNginx } from './nginx/nginx.ts';
import { openRawApi, type RawApi } from './raw-api.ts';

describe('behind nginx', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let path: string;

  beforeAll(async () => {
    server = await startApiServer();
    api = await openRawApi(server.kubeconfig);
    const [namespace] = await fillNamespaces(api, { namespaces: 1, objects: 500 });
    path = `/api/v1/namespaces/${namespace}/configmaps`;
  });
  afterAll(async () => {
    api?.close();
    await server?.stop();
  });

  const truth = async () => {
    const { items } = await api.listAll(configMaps);
    return Object.fromEntries(
      items.map(({ metadata }) => [metadata?.name, metadata?.resourceVersion] as const),
    );
  };

  it.each([
    ['unbuffered', 'undici'],
    ['unbuffered', 'fetch'],
    ['gzip-unbuffered', 'undici'],
    ['gzip-unbuffered', 'fetch'],
    // The global fetch does not trust the certificate.
    ['http2', 'undici'],
  ] as const)(
    'W21: %s, by %s: events arrive, and no probe is needed',
    async (configuration, kind) => {
      const nginx = await startNginx(configuration, server);
      onTestFinished(() => nginx.close());
      const follower = nodeFollower(kind, nginx.url);
      onTestFinished(() => follower.stop());
      await follower.synced();
      const create = () =>
        api.ok<KubernetesObject>('POST', path, { body: { metadata: { generateName: 'late-' } } });
      const [stays, goes] = [await create(), await create()];
      await api.ok('PATCH', `${path}/${stays.metadata?.name}`, {
        body: { data: { changed: 'yes' } },
      });
      await api.ok('DELETE', `${path}/${goes.metadata?.name}`);
      const expected = await truth();
      await eventually(async () => expect(await follower.versions()).toEqual(expected));
      expect(await follower.heldBack()).toBeUndefined();
    },
  );
});
