/** Plays secrets and names in every place that a report could copy, and searches the report for them. */
import {
  createClient,
  createInformerFactory,
  defineResource,
  type Fetch,
  type InformerFactory,
} from 'rx-informer';
import { type ConnectionFacts, debug, diagnose } from 'rx-informer/diagnose';
import { secrets } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

/** Each is planted in one place. */
const canaries = {
  token: 'canary0token',
  cookie: 'canary0cookie',
  host: 'canary0host.example',
  namespace: 'canary0namespace',
  object: 'canary0object',
  value: 'canary0value',
  group: 'canary0company.example',
  plural: 'canary0things',
  factory: 'canary0factory',
  label: 'canary0label',
  reason: 'canary0reason',
  message: 'canary0message',
  vendor: 'canary0vendor',
  encoding: 'canary0encoding',
  refused: 'canary0refused',
} as const;

const things = defineResource({
  ...{ group: canaries.group, version: 'v1', plural: canaries.plural, kind: 'Thing' },
  namespaced: true,
});

/** A server that puts canaries into its responses. */
async function started(): Promise<InformerFactory> {
  const { namespace, label } = canaries;
  const server = createFakeApiServer({ resources: [secrets, things] });
  const labels = { [label]: label };
  const metadata = { name: canaries.object, namespace, labels };
  server.objects.create(secrets, { metadata, stringData: { password: canaries.value } });
  server.objects.create(things, { metadata });
  const { reason, message } = canaries;
  server.faults.failNext(({ use, query }) => use === 'watch' && !query.sendInitialEvents, {
    ...{ status: 403, reason, message, times: 1_000 },
  });
  const fetch: Fetch = async (url, init) => {
    if (url.endsWith('/version')) {
      const headers = { 'content-type': 'application/json', 'content-encoding': canaries.encoding };
      return new Response(JSON.stringify({ gitVersion: `v1.37.0-${canaries.vendor}` }), {
        headers,
      });
    }
    const response = await server.fetch(url, init as RequestInit);
    response.headers.set('content-encoding', canaries.encoding);
    return response;
  };
  const client = createClient({
    ...{ baseUrl: `https://${canaries.host}`, fetch },
    headers: { authorization: `Bearer ${canaries.token}`, cookie: canaries.cookie },
  });
  const factory = createInformerFactory(client, {
    ...{ name: canaries.factory, namespace, labelSelector: label },
    onWarning: () => undefined,
    transform: (object) => {
      if (object.kind === 'Thing') throw new Error(canaries.refused);
      return object;
    },
  });
  onTestFinished(() => factory.stop());
  for (const resource of [secrets, things]) debug(factory.informer(resource), () => undefined);
  factory.start();
  await factory.whenSynced().catch(() => undefined);
  return factory;
}

const inspect = async (): Promise<ConnectionFacts> => ({
  credentials: { kind: 'token', issuedAtMs: 1, expiresAtMs: 2, renews: false },
  tls: canaries.host,
});

const quick = { watchSeconds: 1, inspect };

describe('a report for a bug', () => {
  it('C53: contains no name, no host and no secret from anywhere', async () => {
    const factory = await started();
    const { report } = await diagnose(factory, { ...quick, report: true });
    const text = JSON.stringify(report);
    expect(Object.values(canaries).filter((canary) => text.includes(canary))).toEqual([]);
    expect(text).not.toContain('canary');
    expect(report?.versions).toMatchObject({
      'rx-informer': expect.stringMatching(/^\d+\.\d+\.\d/),
      server: 'v1.37.0',
    });
    expect(report?.informers).toMatchObject([
      { name: 'informer 1', resource: 'secrets', status: { objects: 1 } },
      { name: 'informer 2', resource: 'a custom resource', status: { refused: 1 } },
    ]);
    // The report is not empty: it has the events of both informers.
    expect(JSON.stringify(report?.informers[0])).toContain('list of 1 objects complete');
    expect(JSON.stringify(report?.informers[1])).toContain('1 objects and 0 items are refused');
  });

  it('C53: contains names if it is asked for them, but no credentials and no contents', async () => {
    const factory = await started();
    const { report } = await diagnose(factory, { ...quick, report: 'with-names' });
    const text = JSON.stringify(report);
    const { token, cookie, value, label, host, namespace, plural, factory: name } = canaries;
    for (const shown of [host, namespace, plural, name]) expect(text).toContain(shown);
    expect([token, cookie, value, btoa(value)].filter((each) => text.includes(each))).toEqual([]);
    expect(text).toContain(label);
  });

  it('C53: contains the newest 200 events of an informer, however long it runs', async () => {
    const scheduler = new VirtualTime();
    const { fetch } = createFakeApiServer({ scheduler });
    const client = createClient({ ...{ baseUrl: 'http://fake', fetch, scheduler, qps: 0 } });
    const factory = createInformerFactory(client, { scheduler });
    const informer = factory.informer(secrets);
    onTestFinished(debug(informer, () => undefined));
    for (let run = 0; run < 101; run++) {
      informer.start();
      await scheduler.advance(10);
      await informer.stop();
    }
    const diagnosis = diagnose(factory, { ...quick, scheduler, report: true });
    await scheduler.advance(60_000);
    const [reported] = (await diagnosis).report?.informers ?? [];
    const { events, counts } = reported as { events: string[]; counts: { run: number } };
    expect(counts.run).toBe(202);
    expect(events).toHaveLength(200);
    expect(events.at(-1)).toMatch(/ s the run has ended \(stopped\)$/);
  });

  it('C53: contains the versions of TLS, and no other text in their place', async () => {
    const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
    const tlsIn = async (tls: string) => {
      const inspectTls = async (): Promise<ConnectionFacts> => ({ ...(await inspect()), tls });
      const options = { watchSeconds: 1, inspect: inspectTls, report: true } as const;
      const { report } = await diagnose(client, options);
      return /"tls":"([^"]*)"/.exec(JSON.stringify(report))?.[1];
    };
    const shown = await Promise.all(['TLSv1', 'TLSv1.3', 'TLSv1.'].map(tlsIn));
    expect(shown).toEqual(['TLSv1', 'TLSv1.3', 'unknown']);
  });

  it('C53: is absent unless it is asked for', async () => {
    const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
    expect((await diagnose(client, { watchSeconds: 1 })).report).toBeUndefined();
  });
});
