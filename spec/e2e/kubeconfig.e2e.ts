/** Tests a real API server through its kubeconfig, with each authentication method. */
import { readFileSync } from 'node:fs';
import type { ApiError, KubeClient } from 'rx-informer';
import { clientFromKubeConfig, type KubeConfigClientOptions } from 'rx-informer/node';
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { noControl } from './cluster.ts';

interface Review {
  readonly status: { readonly userInfo: { readonly username: string } };
}

describe.skipIf(noControl)('clientFromKubeConfig with a real API server', () => {
  let server: ApiServerProcess;
  const clients: KubeClient[] = [];

  beforeAll(async () => {
    server = await startApiServer();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });
  afterAll(() => server.stop());

  async function open(options: Partial<KubeConfigClientOptions> = {}): Promise<KubeClient> {
    const client = await clientFromKubeConfig({ file: server.kubeconfig, ...options });
    clients.push(client);
    return client;
  }
  const whoAmI = async (client: KubeClient) => {
    const review = await client.request<Review>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    });
    return review.status.userInfo.username;
  };
  const pods = { path: '/api/v1/namespaces/default/pods' };

  it.each(['admin', 'cert-admin'])('is the administrator in the context %s', async (context) => {
    const client = await open({ context });
    expect(await whoAmI(client)).toMatch(/admin/);
    expect(await client.request(pods)).toMatchObject({ kind: 'PodList' });
  });

  it('is refused as the limited user, once', async () => {
    const client = await open({ context: 'limited' });
    await expect(client.request(pods)).rejects.toMatchObject({
      code: 403,
      reason: 'Forbidden',
      retryable: false,
    });
    expect(await client.request({ path: '/version' })).toMatchObject({ major: '1' });
  });

  it('is refused with a wrong token, which the error does not show', async () => {
    const text = readFileSync(server.kubeconfig, 'utf8').replaceAll(server.token, 'hunter2');
    const client = await open({ text, context: 'admin' });
    const error: ApiError = await client.request<never>(pods).catch((reason) => reason);
    expect(error).toMatchObject({ code: 401, reason: 'Unauthorized' });
    expect(`${error.stack}${JSON.stringify(error)}`).not.toContain('hunter2');
  });

  it('watches with 20 streams and stops them immediately', async () => {
    const client = await open({ context: 'cert-admin' });
    const watch = client.send({
      method: 'GET',
      ...pods,
      query: {
        watch: 'true',
        allowWatchBookmarks: 'true',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
      },
      use: 'watch',
    });
    const chunk = () => firstValueFrom(watch.pipe(filter((event) => event.kind === 'chunk')));
    const chunks = await Promise.all(Array.from({ length: 20 }, chunk));
    for (const { bytes } of chunks) expect(Buffer.from(bytes).toString()).toContain('BOOKMARK');
  });
});
