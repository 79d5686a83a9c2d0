/**
 * Chooses the cluster to show. A cluster that the options name must answer. The cluster of KUBECONFIG or
 * ~/.kube/config is used if it answers, otherwise the embedded cluster is used.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { KubeClient } from 'rx-informer';
import type { DashboardOptions } from './arguments.ts';

const CONNECT_TIMEOUT_MS = 5_000;
/** Without an embedded cluster in its place, the cluster may take longer. */
const REQUESTED_TIMEOUT_MS = 30_000;

export interface RealCluster {
  readonly client: KubeClient;
  readonly name: string;
  /** The context of the kubeconfig. */
  readonly context: string | undefined;
  /** A client of the cluster without any credentials. */
  anonymous(): Promise<KubeClient>;
}

/** The requested cluster cannot be used. The message is one sentence for the user. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

export type Choice = { readonly cluster: RealCluster } | { readonly embeddedBecause: string };

function hasDefaultConfig(): boolean {
  const files = process.env.KUBECONFIG?.split(delimiter).filter(Boolean) ?? [
    join(homedir(), '.kube', 'config'),
  ];
  return files.some((file) => existsSync(file));
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0]?.replace(/\.$/, '') ?? text;
}

async function configOf(options: Pick<DashboardOptions, 'kubeconfig' | 'context'>) {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  const { kubeconfig, context } = options;
  if (kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(kubeconfig);
  if (context !== undefined) config.setCurrentContext(context);
  return config;
}

/** The contexts of the kubeconfig, and the current one. Nothing of them is connected, so no plugin runs. */
export async function readContexts(options: Pick<DashboardOptions, 'kubeconfig'>) {
  const config = await configOf(options);
  return { names: config.contexts.map(({ name }) => name), current: config.currentContext };
}

async function connect(options: DashboardOptions, timeoutMs: number): Promise<RealCluster> {
  const { kubeconfig, context } = options;
  // Loaded here because loading takes half a second, which the embedded cluster does not need.
  const { clientFromKubeConfig } = await import('rx-informer/node');
  const client = await clientFromKubeConfig({
    ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  try {
    await client.request({ path: '/version', signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    await client.close();
    throw error;
  }
  const { current } = await readContexts(options).catch(() => ({ current: undefined }));
  const anonymous = async () => {
    const config = await configOf(options);
    const cluster = config.getCurrentCluster();
    if (cluster === null) throw new ClusterError('The kubeconfig names no cluster.');
    config.loadFromClusterAndUser(cluster, { name: 'nobody' });
    return clientFromKubeConfig(config);
  };
  return {
    anonymous,
    client,
    name: context ?? new URL(client.baseUrl).host,
    context: context ?? current,
  };
}

/** Finds the cluster to show. Throws a {@link ClusterError} if a requested cluster does not answer. */
export async function chooseCluster(options: DashboardOptions): Promise<Choice> {
  if (options.embedded) return { embeddedBecause: 'it was requested' };
  const isRequested = options.kubeconfig !== undefined || options.context !== undefined;
  if (options.kubeconfig !== undefined && !existsSync(options.kubeconfig)) {
    throw new ClusterError(`The kubeconfig ${options.kubeconfig} cannot be read.`);
  }
  if (!isRequested && !hasDefaultConfig()) {
    return { embeddedBecause: 'there is no kubeconfig' };
  }
  try {
    const timeoutMs = isRequested ? REQUESTED_TIMEOUT_MS : CONNECT_TIMEOUT_MS;
    return { cluster: await connect(options, timeoutMs) };
  } catch (error) {
    if (isRequested) throw new ClusterError(`The cluster cannot be used: ${reasonOf(error)}.`);
    return {
      embeddedBecause: `the cluster of the kubeconfig does not answer (${reasonOf(error)})`,
    };
  }
}
