import { existsSync } from 'node:fs';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { noControl } from './cluster.ts';

describe.skipIf(noControl)('the API server of the tests', () => {
  let server: ApiServerProcess;
  let agent: Agent;

  beforeAll(async () => {
    server = await startApiServer();
    agent = new Agent({ connect: { ca: server.ca } });
  });
  afterAll(async () => {
    await agent.destroy();
    await server.stop();
  });

  async function call(path: string, init: { token?: string; body?: unknown } = {}) {
    const { statusCode, body } = await request(`${server.url}${path}`, {
      dispatcher: agent,
      method: init.body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${init.token ?? server.token}`,
        'content-type': 'application/json',
      },
      body: init.body === undefined ? null : JSON.stringify(init.body),
    });
    return { statusCode, json: JSON.parse(await body.text()) };
  }
  const configMaps = '/api/v1/namespaces/default/configmaps';

  it('accepts an administrator and refuses the limited user', async () => {
    expect((await call('/version')).json.gitVersion).toMatch(/^v1\./);
    expect((await call(configMaps)).statusCode).toBe(200);
    expect((await call(configMaps, { token: server.limitedToken })).statusCode).toBe(403);
    expect((await call(configMaps, { token: 'nobody' })).statusCode).toBe(401);
  });

  it('keeps its objects and its address over a kill -9', async () => {
    const body = { metadata: { name: 'kept' }, data: { a: '1' } };
    const { statusCode, json: created } = await call(configMaps, { body });
    expect(statusCode).toBe(201);
    const { url, pid } = server;

    await server.kill();
    await expect(call(configMaps)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    server = await server.restart();

    expect(server.url).toBe(url);
    expect(server.pid).not.toBe(pid);
    expect((await call(`${configMaps}/kept`)).json).toEqual(created);
  });

  it('compacts on demand, so that an old version expires', async () => {
    const events = '/api/v1/namespaces/default/events';
    const old = (await call(events)).json.metadata.resourceVersion;
    const at = await server.compact();
    expect(await server.revision()).toBeGreaterThanOrEqual(at);
    const exact = `?resourceVersion=${old}&resourceVersionMatch=Exact&limit=1`;
    expect((await call(events + exact)).json).toMatchObject({ code: 410, reason: 'Expired' });
  });

  it('removes its temporary folder when it stops', async () => {
    const other = await startApiServer({ flags: ['--feature-gates=WatchList=false'] });
    expect(existsSync(other.kubeconfig)).toBe(true);
    await other.stop();
    expect(existsSync(other.dataDir)).toBe(false);
  });
});
