/// <reference types="node" />
/** The credentials of a kubeconfig's user, or of a pod, that need no code of client-node: certificates and a token. */
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import type { FullCluster } from './exec-plugin.ts';
import type { FullUser } from './kube-config-fields.ts';
import type { Sections } from './kube-config-sections.ts';

/** Data, or else a file, which is read each time, because certificates rotate. */
async function bytes(data: string | undefined, file: string | undefined) {
  if (data) return Buffer.from(data, 'base64');
  return file ? await readFile(file) : undefined;
}

/** One context with its cluster and user. It has the members of client-node's `KubeConfig` that clients read. */
export class OwnKubeConfig {
  readonly clusters: readonly FullCluster[];
  readonly users: readonly FullUser[];
  readonly contexts: Sections['contexts'];
  readonly currentContext: string;

  constructor({ clusters, users, contexts, currentContext }: Sections) {
    this.clusters = clusters;
    this.users = users;
    this.contexts = contexts;
    this.currentContext = currentContext;
  }

  getCurrentCluster(): FullCluster | null {
    return this.clusters[0] ?? null;
  }

  getCurrentUser(): FullUser | null {
    return this.users[0] ?? null;
  }

  /** Adds the certificates and the token. Token files, passwords and plugins are read by `kubeConfigCredentials`, for every config. */
  async applyToHTTPSOptions(options: RequestOptions): Promise<void> {
    const [cluster] = this.clusters;
    const [user] = this.users;
    if (cluster?.skipTLSVerify) options.rejectUnauthorized = false;
    if (cluster?.tlsServerName) options.servername = cluster.tlsServerName;
    const [ca, cert, key] = await Promise.all([
      bytes(cluster?.caData, cluster?.caFile),
      bytes(user?.certData, user?.certFile),
      bytes(user?.keyData, user?.keyFile),
    ]);
    Object.assign(options, ca && { ca }, cert && { cert }, key && { key });
    if (user?.token) options.headers = { authorization: `Bearer ${user.token}` };
  }
}
