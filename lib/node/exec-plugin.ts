/// <reference types="node" />
/**
 * Prepares credential plugins as kubectl does: resolves their commands against the folder of the kubeconfig, and
 * passes them KUBERNETES_EXEC_INFO. client-node runs a plugin from the working directory, so that the owner of that
 * directory decides which program runs, and passes no information. client-go: plugin/pkg/client/auth/exec/exec.go;
 * tools/clientcmd, ResolveLocalPaths.
 */
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';

/** A cluster, with the fields that only plugins need. */
export interface FullCluster extends Cluster {
  /** The extension `client.authentication.k8s.io/exec`. */
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

/** Whether a command is a relative path. A name without a separator is looked up in PATH instead. */
function isRelative(command: unknown): command is string {
  const separated = typeof command === 'string' && (command.includes('/') || command.includes(sep));
  return separated && !isAbsolute(command);
}

/** Resolves the field `name` against the folder if it is a relative command. */
function inFolder<T>(fields: T, name: string, folder: string): T {
  const command = (fields as Record<string, unknown> | null | undefined)?.[name];
  return isRelative(command) ? { ...fields, [name]: resolve(folder, command) } : fields;
}

/** Resolves the commands of a user's plugins against the folder of the kubeconfig. */
export function withResolvedCommands(user: User, folder: string): User {
  const { exec, authProvider } = user;
  const own = { ...user, exec: inFolder(exec, 'command', folder) };
  if (!authProvider?.config) return own;
  const config = inFolder(authProvider.config, 'cmd-path', folder);
  const provided = { ...config, exec: inFolder(config.exec, 'command', folder) };
  return { ...own, authProvider: { ...authProvider, config: provided } };
}

/** Throws a `TypeError` if a plugin would run from the working directory, or if it needs a terminal. */
export function checkPlugin(user: User): void {
  const config = user.authProvider?.config;
  const plugin: Plugin | undefined = user.exec ?? config?.exec;
  for (const command of [plugin?.command, config?.['cmd-path']]) {
    if (!isRelative(command)) continue;
    throw new TypeError(
      `clientFromKubeConfig: the command '${command}' of user '${user.name}' is a relative path, and the folder of the kubeconfig is not known; give an absolute path, a name in PATH, or the option file`,
    );
  }
  if (plugin?.interactiveMode === 'Always') {
    throw new TypeError(
      `clientFromKubeConfig: the plugin '${plugin.command}' of user '${user.name}' needs a terminal (interactiveMode: Always), but no terminal is available; log in with the plugin first, and set interactiveMode to IfAvailable`,
    );
  }
}

async function clusterInfo(cluster: FullCluster): Promise<object> {
  const { server, tlsServerName, skipTLSVerify, caData, caFile, proxyUrl } = cluster;
  // A CA file that cannot be read is reported by the first request.
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

/**
 * Adds the variable KUBERNETES_EXEC_INFO, as kubectl does: the API version to answer in, and the cluster if the
 * plugin requests it.
 */
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
