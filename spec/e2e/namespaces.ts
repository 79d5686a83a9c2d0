/** Creates, fills and removes the namespaces of a test run, because the cluster may be shared. */
import type { KubernetesObject } from 'rx-informer';
import type { RawApi } from './raw-api.ts';

const WRITERS = 32;

/** Creates one namespace with a unique name. */
export async function freshNamespace(api: RawApi): Promise<string> {
  const body = { metadata: { generateName: 'rx-informer-' } };
  const { metadata } = await api.ok<KubernetesObject>('POST', '/api/v1/namespaces', { body });
  return metadata?.name ?? '';
}

/** Creates namespaces and ConfigMaps, distributed over the namespaces. */
export async function fillNamespaces(
  api: RawApi,
  options: {
    readonly namespaces: number;
    readonly objects: number;
    readonly labels?: Readonly<Record<string, string>>;
  },
): Promise<readonly string[]> {
  const names = await Promise.all(
    Array.from({ length: options.namespaces }, () => freshNamespace(api)),
  );
  const { labels = {} } = options;
  let next = 0;
  const write = async () => {
    while (next < options.objects) {
      const at = next++;
      const metadata = { name: `config-${at}`, labels: { ...labels, group: `g${at % 10}` } };
      const body = { metadata, data: { at: String(at), text: 'naïve – 設定 ⚙️' } };
      const path = `/api/v1/namespaces/${names[at % names.length]}/configmaps`;
      await api.ok('POST', path, { body });
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return names;
}

/** Deletes namespaces with their contents, as far as the cluster has controllers for that. */
export async function removeNamespaces(api: RawApi, names: readonly string[]): Promise<void> {
  for (const name of names) await api.call('DELETE', `/api/v1/namespaces/${name}`);
}
