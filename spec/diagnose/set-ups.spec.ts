/** Broken set-ups on loopback, with real sockets and proxies: `diagnose` names each of them, and what to do. */
import { createClient, createInformerFactory, type KubeClient } from 'rx-informer';
import { diagnose } from 'rx-informer/diagnose';
import { viteProxy } from 'rx-informer/node';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import type { ProxyOptions } from 'vite';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as failing from '../node/failing-servers.ts';
import { listen } from '../node/servers.ts';
import { eventually } from '../support/patience.ts';
import * as broken from './broken-proxies.ts';
import { behind, named, overUndici, quick, served, vite } from './set-up-rig.ts';

describe.concurrent('a diagnosis over sockets', () => {
  it('C50: a server that cannot be reached', async ({ onTestFinished: ends }) => {
    const { url } = await failing.refused.open();
    const diagnosis = await diagnose(overUndici(ends, url), quick);
    expect(named(diagnosis)).toEqual(['RX101 unreachable']);
    expect(diagnosis.findings[0]?.seen).toContain('ECONNREFUSED');
  });

  it('C50: an expired certificate', async ({ onTestFinished: ends }) => {
    const url = await behind(ends, failing.expired.open());
    const client = overUndici(ends, url, { tls: failing.expired.tls ?? {} });
    const diagnosis = await diagnose(client, quick);
    expect(named(diagnosis)).toEqual(['RX102 certificate-dates']);
    expect(diagnosis.findings[0]?.advice).toContain("Renew the server's certificate");
  });

  it('C50: a certificate of an unknown CA, and one of another host', async ({
    onTestFinished: ends,
  }) => {
    const unknown = overUndici(ends, await behind(ends, failing.unknownCa.open()));
    expect(named(await diagnose(unknown, quick))).toEqual(['RX103 certificate-refused']);
    const url = await behind(ends, failing.otherHost.open());
    const other = overUndici(ends, url, { tls: failing.otherHost.tls ?? {} });
    expect(named(await diagnose(other, quick))).toEqual(['RX103 certificate-refused']);
  });

  it('C50: something else than an API server', async ({ onTestFinished: ends }) => {
    const page = listen('http', (_, response) => {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end('<html>');
    });
    const client = overUndici(ends, await behind(ends, page));
    expect(named(await diagnose(client, quick))).toEqual(['RX104 no-api-server']);
  });

  it('C50: a wrong token', async ({ onTestFinished: ends }) => {
    const url = await behind(ends, broken.guarding((await served(ends)).url, 'right'));
    const of = (token: string) =>
      createClient({ baseUrl: url, headers: { authorization: `Bearer ${token}` } });
    const diagnosis = await diagnose(of('wrong'), quick);
    expect(named(diagnosis)).toEqual(['RX106 credentials-refused']);
    expect(diagnosis.findings[0]?.advice).toContain('renew the token');
    expect(named(await diagnose(of('right'), quick))).toEqual([]);
  });

  it('C50: no right to watch', async ({ onTestFinished: ends }) => {
    const { url } = await served(ends, { allows: ({ verb }) => verb !== 'watch' });
    const { findings } = await diagnose(createClient({ baseUrl: url }), quick);
    expect(findings.map(({ code, seen }) => `${code} ${seen}`)).toEqual([
      'RX107 the server does not permit to watch pods in all namespaces',
    ]);
    expect(findings[0]?.advice).toContain('verbs list and watch');
  });

  it('C50: a clock that is wrong', async ({ onTestFinished: ends }) => {
    const url = await behind(ends, broken.early((await served(ends)).url, 300_000));
    const { findings } = await diagnose(createClient({ baseUrl: url }), quick);
    expect(findings.map(({ code, seen }) => `${code} ${seen}`)).toEqual([
      "RX110 this clock is 5 min ahead of the server's",
    ]);
  });

  it('C50: a proxy with a time limit', async ({ onTestFinished: ends }) => {
    const url = await behind(ends, broken.cutting((await served(ends)).url));
    const { findings } = await diagnose(createClient({ baseUrl: url }), {
      ...quick,
      watchSeconds: 300,
    });
    expect(findings.map(({ code }) => code)).toEqual(['RX113']);
    expect(findings[0]?.seen).toMatch(/^a watch of pods for 300 s was cut after [\d.]+ s$/);
  });

  it('C50: lists that are compressed', async ({ onTestFinished: ends }) => {
    const url = await behind(ends, broken.compressing((await served(ends)).url));
    const { findings } = await diagnose(createClient({ baseUrl: url }), quick);
    expect(findings.map(({ code, severity, seen }) => `${code} ${severity} ${seen}`)).toEqual([
      'RX114 warning an empty list of pods is compressed with gzip',
    ]);
    // This transport asks for no compression, so the list fails.
    const other = await diagnose(overUndici(ends, url), quick);
    expect(other.findings.map(({ code, severity }) => `${code} ${severity}`)).toEqual([
      'RX114 error',
    ]);
  });

  it('C50: a server without bookmarks', async ({ onTestFinished: ends }) => {
    const { server, url } = await served(ends);
    server.faults.withoutBookmarks();
    const diagnosis = await diagnose(createClient({ baseUrl: url }), quick);
    expect(named(diagnosis)).toEqual(['RX116 no-bookmarks']);
  });

  it('C50: few connections over HTTP/1.1', async ({ onTestFinished: ends }) => {
    const client = overUndici(ends, (await served(ends)).url, { maxConnections: 3 });
    const { findings } = await diagnose(client, quick);
    expect(findings.map(({ code, seen }) => `${code} ${seen}`)).toEqual([
      'RX117 3 more requests can be open at a time (http/1.1), and each watch holds one',
    ]);
  });

  it('C50: a kind that the server does not have, and an informer that is blocked by it', async ({
    onTestFinished: ends,
  }) => {
    const { server, url } = await served(ends);
    server.removeResource(pods);
    const factory = createInformerFactory(createClient({ baseUrl: url }));
    ends(() => factory.stop());
    factory.informer(pods);
    factory.start();
    await factory.whenSynced().catch(() => undefined);
    const diagnosis = await diagnose(factory, quick);
    expect(named(diagnosis)).toEqual(['RX119 not-served', 'RX120 blocked-informer']);
  });

  it('C51: a healthy set-up has no finding over fetch, over undici, and behind viteProxy', async ({
    onTestFinished: ends,
  }) => {
    const { url } = await served(ends);
    const front = await vite(ends, { '/': viteProxy(url) as ProxyOptions });
    const clients = [
      createClient({ baseUrl: url }),
      overUndici(ends, url),
      createClient({ baseUrl: front }),
    ];
    const all = await Promise.all(clients.map((client) => diagnose(client, quick)));
    expect(all.map(named)).toEqual([[], [], []]);
  });

  it('C51, C52: a factory has no finding while its informers run, and sends the requests that are promised', async ({
    onTestFinished: ends,
  }) => {
    const { server, url } = await served(ends);
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web-0' } });
    // No ping is sent, however long this takes.
    const client = createClient({ baseUrl: url, livenessMs: Number.POSITIVE_INFINITY });
    const factory = createInformerFactory(client, { namespace: 'shop' });
    ends(() => factory.stop());
    const informer = factory.informer(pods);
    factory.start();
    await factory.whenSynced();
    // Later than the list, if this process stood still between them.
    await eventually(() => informer.status.live, 'the watch has caught up');
    server.clearRequests();
    const before = informer.status;
    const { findings, observations } = await diagnose(factory, quick);
    expect(findings).toEqual([]);
    expect(observations.informers).toMatchObject([{ name: 'pods/shop', live: true }]);
    expect(informer.status).toEqual(before);
    // If this process stood still, the informer tries by such a watch whether a proxy holds events back.
    const own = server.requests.filter(
      ({ use, query: { fieldSelector, resourceVersion } }) =>
        !(use === 'watch' && fieldSelector === undefined && resourceVersion === '0'),
    );
    const asked = own.map(({ method, path, use }) => `${method} ${path} ${use}`);
    expect(asked.sort()).toEqual([
      'GET /api/v1/namespaces/shop/pods list',
      'GET /api/v1/namespaces/shop/pods watch',
      'GET /api/v1/namespaces/shop/pods watch',
      'GET /version call',
      'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews call',
      'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews call',
    ]);
    const reads = own.filter(({ use }) => use !== 'call');
    expect(reads.map(({ query }) => query.fieldSelector)).toEqual(
      reads.map(() => 'metadata.name=rx-informer-diagnose'),
    );
  });
});

it('C50: a namespace is not that of kinds without namespaces, also of a factory', async () => {
  const server = createFakeApiServer();
  const factory = createInformerFactory(
    createClient({ baseUrl: 'http://fake', fetch: server.fetch }),
  );
  onTestFinished(() => factory.stop());
  factory.informer(nodes);
  factory.informer(pods);
  const { findings, observations } = await diagnose(factory, { ...quick, namespace: 'shop' });
  expect(findings).toEqual([]);
  const asked = observations.rights.map(({ resource, namespace }) => `${resource} ${namespace}`);
  expect([...new Set(asked)]).toEqual(['nodes ', 'pods shop']);
});

it('C52: what is neither a client nor a factory, and an invalid option, is refused', async () => {
  const client = createClient({ baseUrl: 'http://fake' });
  onTestFinished(() => client.close());
  for (const other of [{}, undefined, null, 5]) {
    await expect(diagnose(other as KubeClient)).rejects.toThrow(
      /^diagnose: the factory is .*; it must be one that/,
    );
  }
  await expect(diagnose(client, { watchSeconds: 0 })).rejects.toThrow('diagnose: watchSeconds');
});
