/**
 * The cluster of a test: the cluster of `KUBECONFIG_E2E` or `KUBECONFIG`, otherwise a server of our own. An external
 * cluster has no control port, so tests that need one (for compaction, crashes, flags) are skipped there.
 */
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './apiserver.ts';

/** The kubeconfig of an external cluster, if any. */
export const givenKubeconfig: string | undefined =
  process.env.KUBECONFIG_E2E || process.env.KUBECONFIG || undefined;

/** For `it.skipIf(noControl)`: tests cannot compact or crash an external cluster. */
export const noControl: boolean = givenKubeconfig !== undefined;

/** An open cluster. */
export interface Cluster {
  /** The path of its kubeconfig. */
  readonly kubeconfig: string;
  /** Our own server, unless the cluster is external. */
  readonly server?: ApiServerProcess;
  /** Stops our own server. An external cluster is not changed. */
  close(): Promise<void>;
}

/** Opens the external cluster, or starts a server. */
export async function openCluster(options: ApiServerOptions = {}): Promise<Cluster> {
  if (givenKubeconfig !== undefined) return { kubeconfig: givenKubeconfig, close: async () => {} };
  const server = await startApiServer(options);
  return { kubeconfig: server.kubeconfig, server, close: () => server.stop() };
}
