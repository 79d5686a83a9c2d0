/// <reference types="node" />
/**
 * From where a credential plugin runs and what it is told, as with kubectl; client-node runs it from the working
 * directory, so that whoever owns that decides what runs, and tells it nothing.
 * client-go: plugin/pkg/client/auth/exec/exec.go; tools/clientcmd, ResolveLocalPaths.
 */
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';

/** A cluster, with what of it is for plugins only. */
export interface FullCluster extends Cluster {
  /** Of the extension `client.authentication.k8s.io/exec`. */
  readonly execConfig?: unknown;
  readonly disableCompression?: boolean;
}

interface Plugin {
  readonly apiVersion?: unknown;
  readonly command?: unknown;
  readonly env?: readonly unknown[] | null;
  readonly interactiveMode?: unknown;
  readonly provideClusterInfo?: unknown;
}

/** A bare name is looked for in PATH, whatever the folder. */
function isRelative(command: unknown): command is string {
  const separated = typeof command === 'string' && (command.includes('/') || command.includes(sep));
  return separated && !isAbsolute(command);
}

/** The same fields, where this one is a relative command in the folder. */
function inFolder<T>(fields: T, name: string, folder: string): T {
  const command = (fields as Record<string, unknown> | null | undefined)?.[name];
  return isRelative(command) ? { ...fields, [name]: resolve(folder, command) } : fields;
}

/** A user whose plugin runs from the kubeconfig's folder. */
export function withResolvedCommands(user: User, folder: string): User {
  const { exec, authProvider } = user;
  const own = { ...user, exec: inFolder(exec, 'command', folder) };
  if (!authProvider?.config) return own;
  const config = inFolder(authProvider.config, 'cmd-path', folder);
  const provided = { ...config, exec: inFolder(config.exec, 'command', folder) };
  return { ...own, authProvider: { ...authProvider, config: provided } };
}

/** Throws a `TypeError` on a plugin that would run from the working directory, or that cannot be served. */
export function checkPlugin(user: User): void {
  const config = user.authProvider?.config;
  const plugin: Plugin | undefined = user.exec ?? config?.exec;
  for (const command of [plugin?.command, config?.['cmd-path']]) {
    if (!isRelative(command)) continue;
    throw new TypeError(
      `clientFromKubeConfig: the command '${command}' of user '${user.name}' is relative to a folder that is not known; give an absolute path, a bare name, or the file of the kubeconfig`,
    );
  }
  if (plugin?.interactiveMode === 'Always') {
    throw new TypeError(
      `clientFromKubeConfig: the plugin '${plugin.command}' of user '${user.name}' needs a terminal (interactiveMode: Always), and there is none here; log in with it first, and use IfAvailable`,
    );
  }
}

async function clusterInfo(cluster: FullCluster): Promise<object> {
  const { server, tlsServerName, skipTLSVerify, caData, caFile, proxyUrl } = cluster;
  // One that cannot be read is told with the first request.
  const ca = caData || (caFile ? await readFile(caFile, 'base64').catch(() => '') : '');
  return {
    server,
    ...(tlsServerName ? { 'tls-server-name': tlsServerName } : {}),
    ...(skipTLSVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(ca ? { 'certificate-authority-data': ca } : {}),
    ...(proxyUrl ? { 'proxy-url': proxyUrl } : {}),
    ...(cluster.disableCompression ? { 'disable-compression': true } : {}),
    ...(cluster.execConfig === undefined ? {} : { config: cluster.execConfig }),
  };
}

/** A user whose plugin is told what kubectl tells one: which version to answer in, and the cluster where it asks for that. */
export async function withExecInfo(user: User, cluster: FullCluster): Promise<User> {
  const exec: Plugin | undefined = user.exec;
  if (!exec) return user;
  const info = {
    kind: 'ExecCredential',
    apiVersion: exec.apiVersion,
    spec: {
      interactive: false,
      ...(exec.provideClusterInfo === true ? { cluster: await clusterInfo(cluster) } : {}),
    },
  };
  const own = { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) };
  return { ...user, exec: { ...exec, env: [...(exec.env ?? []), own] } };
}
