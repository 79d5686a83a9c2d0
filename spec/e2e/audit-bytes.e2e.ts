/**
 * Measures an audit on a real server: the bytes of its pages compared with those of complete lists, and its requests.
 */
import { ApiError, createClient, createListWatch, listPages, type Status } from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { lastValueFrom, NEVER } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { podOf } from '../bench/corpus/pods.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { noControl } from './cluster.ts';
import { figures } from './figures.ts';
import { type LossyProxy, openLossyProxy } from './lossy-proxy.ts';
import { freshNamespace } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';

const PODS = 500;

interface Spec {
  readonly volumes: readonly object[];
  readonly containers: readonly { readonly volumeMounts: readonly object[] }[];
  readonly tolerations: readonly object[];
  readonly priority: number;
}

interface MadePod {
  metadata: { name: string; namespace?: string; [field: string]: unknown };
  spec: Spec;
  status: { readonly containerStatuses: readonly object[] };
}

/**
 * Adds to a pod what a cluster's admission adds: the token of its service account. The test server has this admission
 * switched off.
 */
function withAccount(spec: Spec): Spec {
  const name = 'kube-api-access-7xq2d';
  const field = { apiVersion: 'v1', fieldPath: 'metadata.namespace' };
  const projected = {
    defaultMode: 420,
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: field }] } },
    ],
  };
  const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
  const unreachable = {
    key: 'node.kubernetes.io/unreachable',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  };
  return {
    ...spec,
    volumes: [...spec.volumes, { name, projected }],
    containers: spec.containers.map((container) => ({
      ...container,
      volumeMounts: [...container.volumeMounts, { name, readOnly: true, mountPath }],
    })),
    tolerations: [...spec.tolerations, unreachable],
  };
}

/** The fields of a container that a current kubelet reports, in addition to those of the benchmark. */
function reported({ status, spec }: MadePod): object {
  const [container] = withAccount(spec).containers;
  const volumeMounts = container?.volumeMounts.map((mount) => ({
    ...mount,
    recursiveReadOnly: 'Disabled',
  }));
  const requests = { cpu: '100m', memory: '128Mi' };
  const resources = { limits: { cpu: '500m', memory: '512Mi' }, requests };
  const user = { linux: { uid: 65_532, gid: 65_532, supplementalGroups: [65_532] } };
  const more = { volumeMounts, resources, allocatedResources: requests, user };
  return {
    ...status,
    containerStatuses: status.containerStatuses.map((each) => ({ ...each, ...more })),
  };
}

/** Creates a pod like a controller and reports its status like a kubelet. Both leave managed fields. */
async function makePod(api: RawApi, namespace: string, at: number): Promise<void> {
  const pod = podOf(at, 1) as MadePod;
  const { metadata, spec } = pod;
  const { priority: _priority, ...own } = withAccount(spec);
  const { name, labels, annotations, ownerReferences, generateName } = metadata;
  const collection = `/api/v1/namespaces/${namespace}/pods`;
  await api.ok('POST', collection, {
    query: { fieldManager: 'kube-controller-manager' },
    body: { spec: own, metadata: { name, generateName, labels, annotations, ownerReferences } },
  });
  await api.ok('PATCH', `${collection}/${name}/status`, {
    query: { fieldManager: 'kubelet' },
    body: { status: reported(pod) },
  });
}

describe.skipIf(noControl)('the bytes of an audit', () => {
  let server: ApiServerProcess;
  let api: RawApi;
  let proxy: LossyProxy;

  beforeAll(async () => {
    server = await startApiServer();
    api = await openRawApi(server.kubeconfig);
    proxy = await openLossyProxy(server);
    const namespace = await freshNamespace(api);
    let next = 0;
    const write = async () => {
      while (next < PODS) await makePod(api, namespace, next++);
    };
    await Promise.all(Array.from({ length: 32 }, write));
  });
  afterAll(async () => {
    await proxy?.close();
    api?.close();
    await server?.stop();
  });

  it('W31: are a tenth of those of an uncompressed list with gzip, and 55 % without', async () => {
    const transport = createUndiciTransport({ baseUrl: proxy.url });
    const client = createClient({ baseUrl: proxy.url, transport });
    const listWatch = createListWatch(client, pods);
    const plain = createListWatch(
      { ...client, send: (request) => client.send({ ...request, acceptGzip: false }) },
      pods,
    );
    const request = { resourceVersion: '', limit: 500 };
    await lastValueFrom(listPages(listWatch, request));
    const { resourceVersion } = await api.listAll(pods);
    const exact = { ...request, resourceVersion, resourceVersionMatch: 'Exact' as const };
    await lastValueFrom(listWatch.listMetadata?.(exact) ?? NEVER);
    await lastValueFrom(plain.listMetadata?.(request) ?? NEVER);
    const [whole, packed, unpacked] = proxy.lists;
    expect(proxy.lists).toHaveLength(3);
    expect([whole?.encoding, packed?.encoding, unpacked?.encoding]).toEqual([
      'identity',
      'gzip',
      'identity',
    ]);
    const part = (of = Number.NaN) => of / (whole?.bytes ?? 0);
    figures('an audit of 500 pods', {
      'complete list KB': (whole?.bytes ?? 0) / 1000,
      'metadata KB': (unpacked?.bytes ?? 0) / 1000,
      'metadata as gzip KB': (packed?.bytes ?? 0) / 1000,
      'part %': part(unpacked?.bytes) * 100,
      'part as gzip %': part(packed?.bytes) * 100,
    });
    expect(part(packed?.bytes)).toBeLessThanOrEqual(0.1);
    expect(part(unpacked?.bytes)).toBeLessThanOrEqual(0.55);
    await client.close();
  });

  it('S28: an exact version that was compacted, or that is in the future, is refused as the audit expects', async () => {
    const path = '/api/v1/pods';
    const exact = (resourceVersion: string) =>
      api.call<Status>('GET', path, {
        query: { resourceVersion, resourceVersionMatch: 'Exact', limit: '100' },
      });
    const { resourceVersion } = await api.listAll(pods);
    const future = await exact(String(Number(resourceVersion) + 10_000));
    expect(ApiError.fromStatus(future.body, future.status).isTooLargeResourceVersion).toBe(true);
    await api.ok('PATCH', '/api/v1/namespaces/default', {
      body: { metadata: { labels: { a: 'b' } } },
    });
    await server.compact();
    const old = await exact('10');
    expect(ApiError.fromStatus(old.body, old.status).isExpired).toBe(true);
  });
});
