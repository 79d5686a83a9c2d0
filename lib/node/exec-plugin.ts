/// <reference types="node" />
/**
 * Prepares credential plugins as kubectl does: resolves their commands against the folder of the kubeconfig, and
 * passes them KUBERNETES_EXEC_INFO. client-node runs a plugin from the working directory, so that the owner of that
 * directory decides which program runs, and passes no information. client-go: plugin/pkg/client/auth/exec/exec.go;
 * tools/clientcmd, ResolveLocalPaths.
 */
import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import { isatty } from 'node:tty';
import type { Cluster, User } from '@kubernetes/client-node';

/** A cluster, with the fields that only plugins need. */
export interface FullCluster extends Cluster {
  /** The extension `client.authentication.k8s.io/exec`. */
  readonly execConfig?: unknown;
  readonly disableCompression?: boolean;
}

/** A plugin as a kubeconfig describes it. Nothing of it has been checked. */
interface PluginFields {
  readonly apiVersion?: unknown;
  readonly command?: unknown;
  readonly args?: readonly unknown[] | null;
  readonly env?: readonly ({ readonly name?: unknown; readonly value?: unknown } | null)[] | null;
  readonly interactiveMode?: unknown;
  readonly installHint?: unknown;
  readonly provideClusterInfo?: unknown;
}

/** A plugin that is ready to run. */
export interface Plugin {
  /** The name of the user, for errors. */
  readonly user: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The API version that the plugin must answer in. */
  readonly apiVersion: string;
  readonly installHint?: string;
  /** Whether the plugin may ask a user at the terminal of this process. */
  readonly interactive: boolean;
}

const VERSIONS: readonly unknown[] = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
];
const MODES: readonly unknown[] = ['Never', 'IfAvailable', 'Always'];
const STANDARD_INPUT = 0;

/** The plugin of a user: `exec`, or that of client-node's own `auth-provider`. */
function fieldsOf({ exec, authProvider }: User): PluginFields | undefined {
  return exec || authProvider?.config?.exec || undefined;
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

/**
 * Throws a `TypeError` if a plugin would run from the working directory, if it needs a terminal and there is none, or
 * if kubectl would refuse its fields.
 */
export function checkPlugin(user: User, terminal: boolean = isatty(STANDARD_INPUT)): void {
  const plugin = fieldsOf(user);
  for (const command of [plugin?.command, user.authProvider?.config?.['cmd-path']]) {
    if (!isRelative(command)) continue;
    throw new TypeError(
      `clientFromKubeConfig: the command '${command}' of user '${user.name}' is a relative path, and the folder of the kubeconfig is not known; give an absolute path, a name in PATH, or the option file`,
    );
  }
  if (plugin === undefined) return;
  const { command, apiVersion, interactiveMode: mode } = plugin;
  const refuse = (what: string) =>
    new TypeError(
      `clientFromKubeConfig: the plugin '${command ?? ''}' of user '${user.name}' ${what}`,
    );
  if (typeof command !== 'string' || command === '') throw refuse('has no command');
  if (!VERSIONS.includes(apiVersion)) {
    const has =
      apiVersion === undefined ? 'has no apiVersion' : `has the apiVersion '${apiVersion}'`;
    throw refuse(`${has}; it must be ${VERSIONS.join(' or ')}`);
  }
  if (plugin.env?.some((each) => !each?.name)) throw refuse('has an env entry without a name');
  if (mode && !MODES.includes(mode)) {
    throw refuse(`has the interactiveMode '${mode}'; it must be ${MODES.join(', ')}`);
  }
  if (mode === 'Always' && !terminal) {
    throw refuse(
      'needs a terminal (interactiveMode: Always), but no terminal is available; log in with the plugin first, and set interactiveMode to IfAvailable',
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
 * Returns the plugin of a user, or `undefined` if the user has none or, as in kubectl, has other credentials. A plugin
 * receives KUBERNETES_EXEC_INFO: the API version to answer in, whether it may ask a user, and the cluster if it
 * requests it.
 */
export async function preparedPlugin(
  user: User,
  cluster: FullCluster,
  terminal: boolean = isatty(STANDARD_INPUT),
): Promise<Plugin | undefined> {
  const fields = fieldsOf(user);
  if (!fields || user.token || user.username || user.certData || user.certFile) return undefined;
  const { apiVersion, command, args, installHint, provideClusterInfo } = fields;
  // A plugin without a mode is from the time before there were modes. client-go: clientcmd/api/v1, defaults.go.
  const interactive = fields.interactiveMode !== 'Never' && terminal;
  const info = {
    kind: 'ExecCredential',
    apiVersion,
    spec: {
      interactive,
      ...(provideClusterInfo === true ? { cluster: await clusterInfo(cluster) } : {}),
    },
  };
  const given = (fields.env ?? []).map((each) => [String(each?.name), String(each?.value ?? '')]);
  return {
    user: user.name,
    command: String(command),
    args: (args ?? []).map((each) => String(each ?? '')),
    env: { ...Object.fromEntries(given), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    apiVersion: String(apiVersion),
    ...(typeof installHint === 'string' && installHint !== '' ? { installHint } : {}),
    interactive,
  };
}
