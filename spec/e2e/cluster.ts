/**
 * The cluster that a test talks to: the one named by `KUBECONFIG_E2E` or `KUBECONFIG`, else a server of our
 * own. A foreign cluster has no control port: what needs one (compaction, crashes, flags) is skipped there.
 */
import { type ApiServerOptions, type ApiServerProcess, startApiServer } from './apiserver.ts';

/** The kubeconfig given from outside, if any. */
export const givenKubeconfig: string | undefined =
  process.env.KUBECONFIG_E2E || process.env.KUBECONFIG || undefined;

/** For `it.skipIf(noControl)`: a foreign cluster can be neither compacted nor crashed. */
export const noControl: boolean = givenKubeconfig !== undefined;

/** A cluster in use. */
export interface Cluster {
  /** Path of its kubeconfig. */
  readonly kubeconfig: string;
  /** Our own server, when it is one. */
  readonly server?: ApiServerProcess;
  /** Stops our own server; a foreign cluster is left as it is. */
  close(): Promise<void>;
}

/** Takes the given cluster, or starts a server. */
export async function openCluster(options: ApiServerOptions = {}): Promise<Cluster> {
  if (givenKubeconfig !== undefined) return { kubeconfig: givenKubeconfig, close: async () => {} };
  const server = await startApiServer(options);
  return { kubeconfig: server.kubeconfig, server, close: () => server.stop() };
}
