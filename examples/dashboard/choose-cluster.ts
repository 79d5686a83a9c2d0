/**
 * Which cluster to show. One that was asked for by name must answer; one that merely lies at hand (KUBECONFIG,
 * ~/.kube/config) is used when it answers; else the embedded cluster is.
 */
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { KubeClient } from 'rx-informer';
import type { DashboardOptions } from './arguments.ts';

const PATIENCE_MS = 5000;

/** A real cluster, connected. */
export interface RealCluster {
  readonly client: KubeClient;
  /** For people. */
  readonly name: string;
}

/** The cluster that was asked for cannot be used; the message is one sentence for a person. */
export class ClusterError extends Error {
  override readonly name = 'ClusterError';
}

/** What was found: a cluster, or why there is none. */
export type Choice = { readonly cluster: RealCluster } | { readonly embeddedBecause: string };

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function hasDefaultConfig(): Promise<boolean> {
  const files = process.env.KUBECONFIG?.split(delimiter).filter(Boolean) ?? [
    join(homedir(), '.kube', 'config'),
  ];
  return (await Promise.all(files.map(isThere))).includes(true);
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0]?.replace(/\.$/, '') ?? text;
}

async function connect({ kubeconfig, context }: DashboardOptions): Promise<RealCluster> {
  // Loaded late: reading kubeconfigs takes half a second that the embedded cluster does not need.
  const { clientFromKubeConfig } = await import('rx-informer/node');
  const client = await clientFromKubeConfig({
    ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
    ...(context === undefined ? {} : { context }),
  });
  try {
    await client.request({ path: '/version', signal: AbortSignal.timeout(PATIENCE_MS) });
  } catch (error) {
    await client.close();
    throw error;
  }
  return { client, name: context ?? new URL(client.baseUrl).host };
}

/** Finds the cluster to show. Throws {@link ClusterError} when one that was asked for does not answer. */
export async function chooseCluster(options: DashboardOptions): Promise<Choice> {
  if (options.embedded) return { embeddedBecause: 'it was asked for' };
  const isAskedFor = options.kubeconfig !== undefined || options.context !== undefined;
  if (options.kubeconfig !== undefined && !(await isThere(options.kubeconfig))) {
    throw new ClusterError(`The kubeconfig ${options.kubeconfig} cannot be read.`);
  }
  if (!isAskedFor && !(await hasDefaultConfig())) {
    return { embeddedBecause: 'there is no kubeconfig' };
  }
  try {
    return { cluster: await connect(options) };
  } catch (error) {
    if (isAskedFor) throw new ClusterError(`The cluster cannot be used: ${reasonOf(error)}.`);
    return {
      embeddedBecause: `the cluster of the kubeconfig does not answer (${reasonOf(error)})`,
    };
  }
}
