/** A diagnosis of a real API server, directly and behind nginx. */
import { readFileSync } from 'node:fs';
import { createClient, type KubeClient } from 'rx-informer';
import { type Diagnosis, diagnose } from 'rx-informer/diagnose';
import { clientFromKubeConfig, inspectKubeConfig } from 'rx-informer/node';
import { configMaps, pods } from 'rx-informer/resources';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { type NginxConfiguration, startNginx } from './nginx/nginx.ts';

const endings: (() => Promise<unknown>)[] = [];
const named = ({ findings }: Diagnosis) =>
  findings.map(({ code, name, seen }) => `${code} ${name}: ${seen}`);

describe('a diagnosis of a real API server', () => {
  let server: ApiServerProcess;

  beforeAll(async () => {
    server = await startApiServer();
  });
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end();
  });
  afterAll(() => server?.stop());

  const open = async (context: string) => {
    const source = { file: server.kubeconfig, context };
    const client = await clientFromKubeConfig(source);
    endings.push(() => client.close());
    return { client, inspect: inspectKubeConfig(source) };
  };
  const behind = async (configuration: NginxConfiguration): Promise<KubeClient> => {
    const nginx = await startNginx(configuration, server);
    endings.push(() => nginx.close());
    const client = createClient({ baseUrl: nginx.url });
    endings.push(() => client.close());
    return client;
  };

  /** Diagnoses until `check` passes: a server that stands still for a while answers a watch late, which is rightly a finding. */
  const settled = (run: () => Promise<Diagnosis>, check: (found: Diagnosis) => void) =>
    eventually(async () => check(await run()));

  it('C51: has no finding, with a token and with a certificate', async () => {
    for (const context of ['admin', 'cert-admin']) {
      const { client, inspect } = await open(context);
      const run = () => diagnose(client, { inspect, resources: [pods, configMaps] });
      await settled(run, (diagnosis) => {
        expect(named(diagnosis)).toEqual([]);
        expect(diagnosis.observations).toMatchObject({
          facts: {
            tls: 'TLSv1.3',
            credentials: { kind: /cert/.test(context) ? 'certificate' : 'token' },
          },
          reach: { protocol: 'h2' },
          streamed: { ended: 'cleanly' },
        });
      });
    }
  });

  it('C50: names the missing rights of a user', async () => {
    const { client, inspect } = await open('limited');
    const run = () => diagnose(client, { inspect, resources: [pods] });
    await settled(run, ({ findings }) =>
      expect(findings.map(({ name, seen }) => `${name}: ${seen}`)).toEqual([
        'missing-right: the server does not permit to list and watch pods in all namespaces',
      ]),
    );
  });

  it('C50: names a wrong token', async () => {
    const text = readFileSync(server.kubeconfig, 'utf8').replaceAll(server.token, 'hunter2');
    const client = await clientFromKubeConfig({ text, context: 'admin' });
    endings.push(() => client.close());
    const seen: Diagnosis[] = [];
    await settled(
      () => diagnose(client),
      (diagnosis) => {
        seen.push(diagnosis);
        expect(diagnosis.findings.map(({ name }) => name)).toEqual(['credentials-refused']);
      },
    );
    expect(JSON.stringify(seen)).not.toContain('hunter2');
  });

  it.each(['unbuffered', 'gzip-unbuffered'] as const)(
    'C51: has no error behind nginx %s',
    async (configuration) => {
      const client = await behind(configuration);
      await settled(
        () => diagnose(client),
        ({ findings }) =>
          expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]),
      );
    },
  );

  it.each(['defaults', 'gzip-buffered'] as const)(
    'C50: names the buffers of nginx %s',
    async (configuration) => {
      const client = await behind(configuration);
      await settled(
        () => diagnose(client),
        ({ findings }) => expect(findings.map(({ name }) => name)).toContain('held-back'),
      );
    },
  );
});
