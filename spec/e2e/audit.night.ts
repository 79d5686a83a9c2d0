/** Measures audits on a real server: through a proxy that loses events, and without losses. */
import {
  audit,
  compareResourceVersion,
  createClient,
  createListWatch,
  createSharedInformer,
  type KubeClient,
  type SharedInformer,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { startChurn } from './churn.ts';
import { noControl } from './cluster.ts';
import { figures } from './figures.ts';
import { type LossyProxy, type LostEvent, openLossyProxy } from './lossy-proxy.ts';
import { expectSameAsServer, mirror } from './mirror.ts';
import { fillNamespaces } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';
import { openRecordedClient, type RecordedClient } from './recorded-client.ts';

const OBJECTS = 5_000;
const PERIOD_MS = 60_000;
/** How many losses the first test waits for. How soon they have happened depends on how fast the machine writes. */
const LOSSES = 5;
const audited = { audit: audit({ periodMs: PERIOD_MS }) };

function auditOf({ status }: SharedInformer<ConfigMap>) {
  const found = status.audit;
  if (typeof found !== 'object') throw new Error(`the audit is ${found}`);
  return found;
}

/**
 * Whether the loss no longer shows in the store. A later state of the key, or its absence on the server, repairs the
 * loss, too.
 */
function isHealed(informer: SharedInformer<ConfigMap>, lost: LostEvent, isGone: boolean): boolean {
  const { uid, resourceVersion = '' } = informer.indexer.getByKey(lost.key)?.metadata ?? {};
  if (lost.type === 'DELETED') return uid !== lost.uid;
  return uid === undefined
    ? isGone
    : compareResourceVersion(resourceVersion, lost.resourceVersion) !== -1;
}

describe.skipIf(noControl)('an informer with an audit', { timeout: 900_000 }, () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let proxy: LossyProxy;
  let client: RecordedClient;
  let lossy: KubeClient;
  let namespaces: readonly string[];

  beforeAll(async () => {
    server = await startApiServer();
    api = await openRawApi(server.kubeconfig);
    proxy = await openLossyProxy(server, () => performance.now());
    client = await openRecordedClient({ file: server.kubeconfig });
    const transport = createUndiciTransport({ baseUrl: proxy.url });
    lossy = createClient({ baseUrl: proxy.url, transport });
    namespaces = await fillNamespaces(api, { namespaces: 3, objects: OBJECTS });
  });
  afterAll(async () => {
    await lossy?.close();
    await client?.close();
    await proxy?.close();
    api?.close();
    await server?.stop();
  });

  it('I90, S27: if a proxy loses one event in a thousand, each lost event is repaired within one period, and no other object differs', async () => {
    const sound = createSharedInformer(createListWatch(client, configMaps), audited);
    const informer = createSharedInformer(createListWatch(lossy, configMaps), audited);
    for (const each of [sound, informer]) {
      each.start();
      onTestFinished(() => each.stop());
    }
    await Promise.all([sound, informer].map((each) => each.whenSynced()));
    proxy.oneIn = 1_000;
    // With many names, few objects are written again soon, which would repair a loss as well.
    const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
    const writers = { names: 600, writers: 3, pause };
    const churn = startChurn({ api, resource: configMaps, namespaces, ...writers });
    const startedMs = performance.now();
    const waiting = new Set<LostEvent>();
    const tookMs: number[] = [];
    const late: LostEvent[] = [];
    let seen = 0;
    let losesUntilMs = Number.POSITIVE_INFINITY;
    // The last period repairs the losses of the time before.
    while (performance.now() < losesUntilMs + PERIOD_MS || waiting.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      const nowMs = performance.now();
      if (losesUntilMs > nowMs && nowMs > startedMs + PERIOD_MS && proxy.lost.length >= LOSSES) {
        losesUntilMs = nowMs;
        proxy.oneIn = Number.POSITIVE_INFINITY;
      }
      for (; seen < proxy.lost.length; seen++) waiting.add(proxy.lost[seen] as LostEvent);
      for (const lost of waiting) {
        const isGone = !sound.indexer.has(lost.key);
        const forMs = performance.now() - lost.atMs;
        const healed = isHealed(informer, lost, isGone);
        if (healed) tookMs.push(forMs);
        else if (forMs > PERIOD_MS) late.push(lost);
        if (healed || forMs > PERIOD_MS) waiting.delete(lost);
      }
    }
    const report = await churn.stop();
    // A round begins 0.7 periods after the one before.
    const rounds = Math.ceil((performance.now() - startedMs) / (0.7 * PERIOD_MS));
    const audits = client.sent.filter(({ query }) => query['resourceVersionMatch'] === 'Exact');
    figures('a proxy that loses one event in a thousand', {
      writes: report.created + report.updated + report.deleted,
      events: proxy.passed,
      lost: proxy.lost.length,
      'found to differ': auditOf(informer).differed,
      'lists for repairs': informer.status.relists,
      'longest until repaired s': Math.max(...tookMs) / 1_000,
    });
    expect(late).toEqual([]);
    expect(auditOf(informer).differed).toBeGreaterThan(0);
    expect(informer.status.relists).toBeLessThanOrEqual(rounds);
    // The informer without losses ran for at least two minutes under the same writes.
    expect(auditOf(sound)).toMatchObject({ differed: 0 });
    expect(auditOf(sound).compared).toBeGreaterThan(2 * OBJECTS);
    expect(auditOf(sound).error).toBeUndefined();
    expect(sound.status.relists).toBe(0);
    expect(audits.length).toBeLessThanOrEqual(rounds + 1);
    const mirrored = mirror(informer);
    await expectSameAsServer(informer, mirrored, {
      ...{ api, resource: configMaps, namespace: namespaces[0] as string },
    });
    expect([...mirrored.objects.keys()].sort()).toEqual([...sound.indexer.listKeys()].sort());
  });
});
