/// <reference types="node" />
/**
 * Handles the kubeconfig fields that kubectl obeys and client-node ignores or interprets differently. Each is either
 * obeyed, or refused by name. client-go: tools/clientcmd.
 */
import type { Cluster, User } from '@kubernetes/client-node';
import { checkPlugin, type FullCluster, type Plugin, preparedPlugin } from './exec-plugin.ts';

/** A user, with what client-node does not know. It does not see the plugin, which it would run in its own way. */
export interface FullUser extends User {
  /** The fields of impersonation, which are checked only for the chosen user. */
  readonly impersonated?: ImpersonationFields;
  readonly impersonation?: RepeatedHeaders;
  /** A file with a token, which takes precedence over `token`. */
  readonly tokenFile?: string;
  readonly plugin?: Plugin;
}

/** Returns the user with its impersonation headers. Throws a `TypeError` if kubectl would refuse a field of them. */
export function withImpersonation({ impersonated, ...user }: FullUser): FullUser {
  if (impersonated === undefined) return user;
  return { ...user, impersonation: impersonation(user.name, impersonated) };
}

/** The providers that client-node supports. The names of authenticators that a caller has added are not known. */
const PROVIDERS: readonly unknown[] = ['azure', 'gcp', 'oidc', 'exec', 'tokenFile'];

function checkUser(user: FullUser, hasOwn: boolean): void {
  const { exec, authProvider, token, tokenFile, username, password, name } = user;
  const refuse = (what: string) => new TypeError(`clientFromKubeConfig: user '${name}' ${what}`);
  const twice = [
    [token && 'token', (username && 'username') || (password && 'password')],
    [tokenFile && 'tokenFile', username && 'username'],
    [exec && 'exec', (tokenFile && 'tokenFile') || (authProvider && 'auth-provider')],
  ].find((pair) => pair.every(Boolean));
  if (twice !== undefined) {
    throw refuse(`has more than one kind of credentials: ${twice.join(', ')}; keep one`);
  }
  if ((user.certFile || user.certData) && !(user.keyFile || user.keyData)) {
    throw refuse('has a client-certificate without its client-key');
  }
  const provider = authProvider?.name;
  const config = authProvider?.config;
  if (!authProvider || hasOwn || PROVIDERS.includes(provider)) return;
  if (config?.exec || config?.tokenFile) return;
  throw refuse(
    `has the auth-provider '${provider}', which is not supported; use exec, or a KubeConfig with your own authenticator`,
  );
}

function checkCluster({ name, skipTLSVerify, caFile, caData }: FullCluster): void {
  if (!skipTLSVerify || !(caFile || caData)) return;
  throw new TypeError(
    `clientFromKubeConfig: cluster '${name}' has a certificate-authority beside insecure-skip-tls-verify, which would ignore it; remove one of the two`,
  );
}

const isCredential = (value: unknown) => value !== undefined && value !== null && value !== '';

/**
 * Returns the user without credentials, or the same user if it has none. Impersonation stays, as in client-go: it is no credential, and
 * requests through a proxy such as `kubectl proxy` would otherwise have more permissions.
 */
export function withoutCredentials(user: FullUser): FullUser {
  const { name, impersonateUser, impersonation: headers, ...credentials } = user;
  if (!Object.values(credentials).some(isCredential)) return user;
  return {
    name,
    ...(impersonateUser === undefined ? {} : { impersonateUser }),
    ...(headers === undefined ? {} : { impersonation: headers }),
  };
}

/** Throws a `TypeError` if the credentials would be sent differently from kubectl. */
export function checkFields(user: FullUser, cluster: FullCluster, hasOwn: boolean): void {
  checkUser(user, hasOwn);
  checkPlugin(user);
  if (!isPlain(cluster)) checkCluster(cluster);
}

/** Throws a `TypeError` if the context runs a program, reads a file, or asks any other server than that of its cluster. */
export function checkUntrusted(user: FullUser, cluster: FullCluster): void {
  const { exec, plugin, authProvider, tokenFile, certFile, keyFile } = user;
  const named = Object.entries({
    exec: exec ?? plugin,
    'auth-provider': authProvider,
    tokenFile,
    'client-certificate': certFile,
    'client-key': keyFile,
    'certificate-authority': cluster.caFile,
    'proxy-url': cluster.proxyUrl,
  }).find(([, value]) => isCredential(value));
  if (named === undefined) return;
  throw new TypeError(
    `clientFromKubeConfig: the kubeconfig is untrusted, and user '${user.name}' or cluster '${cluster.name}' has ${named[0]}; only data in the kubeconfig itself is accepted`,
  );
}

/** Whether the server is addressed by http. */
export function isPlain({ server }: Cluster): boolean {
  return /^http:/i.test(server);
}

/** The token file of client-node's own `auth-provider`, which a `KubeConfig` of a pod has. */
function providedFile({ authProvider: provider }: FullUser): string | undefined {
  // client-node asks these providers first.
  const isOther = provider?.name === 'azure' || provider?.name === 'gcp';
  return isOther ? undefined : provider?.config?.tokenFile || undefined;
}

/** Returns the chosen user and cluster as kubectl understands them, in a form that client-node cannot understand otherwise. */
export async function effective(
  user: FullUser,
  cluster: FullCluster,
): Promise<{ readonly user: FullUser; readonly cluster: FullCluster }> {
  const { caFile, ...withoutCaFile } = cluster;
  const { certFile, keyFile, keyData, exec, ...withoutFiles } = user;
  const hasCertificate = Boolean(certFile || user.certData);
  if (withoutFiles.authProvider?.config?.exec) delete withoutFiles.authProvider;
  // client-node would keep an empty file for a minute, and send anonymous requests.
  const provided = providedFile(withoutFiles);
  if (provided) delete withoutFiles.authProvider;
  const tokenFile = user.tokenFile || provided;
  const plugin = await preparedPlugin(user, cluster);
  // If both a file and inline data are given, client-node takes the file, and kubectl the data.
  const own: FullUser = {
    ...withoutFiles,
    ...(tokenFile ? { tokenFile } : {}),
    ...(certFile && !user.certData ? { certFile } : {}),
    // As in kubectl, a key without a certificate is not read.
    ...(hasCertificate && keyData ? { keyData } : {}),
    ...(hasCertificate && keyFile && !keyData ? { keyFile } : {}),
    ...(plugin === undefined ? {} : { plugin }),
  };
  return {
    user: own,
    cluster: caFile && !cluster.caData ? cluster : withoutCaFile,
  };
}

/** The fields of a kubeconfig user that request impersonation. */
export interface ImpersonationFields {
  readonly as?: string;
  readonly 'as-uid'?: string;
  readonly 'as-groups'?: readonly (string | null)[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly (string | null)[] | null>>;
}

/** Headers by name, in lower case. Each value is sent in a header line of its own. */
type RepeatedHeaders = Readonly<Record<string, readonly string[]>>;

/** A header cannot contain a control character other than a tab. */
const isPrintable = (value: string) => !/[^\t\P{Cc}]/u.test(value);

/** Encodes text as the bytes of its UTF-8 form, because a server reads the values of headers as UTF-8. */
export const bytesOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/**
 * Returns the header name of an extra field. Characters that a header name cannot contain are escaped as in a URL.
 */
function nameOf(key: string): string {
  const escaped = [...Buffer.from(key, 'utf8')].map((byte) => {
    const char = String.fromCharCode(byte);
    return /[!#$&'*+\-.^_`|~\w]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  });
  return `impersonate-extra-${escaped.join('')}`.toLowerCase();
}

/**
 * Returns the headers of impersonation. Throws a `TypeError` with the field's name if kubectl would refuse the field.
 * client-go: transport/round_trippers.go.
 */
function impersonation(user: string, fields: ImpersonationFields): RepeatedHeaders {
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = fields;
  const all: [name: string, field: string, values: readonly (string | null)[]][] = [
    ['impersonate-user', 'as', as ? [as] : []],
    ['impersonate-uid', 'as-uid', uid ? [uid] : []],
    ['impersonate-group', 'as-groups', groups ?? []],
    ...Object.entries(extra ?? {}).map(([key, values]): (typeof all)[number] => [
      nameOf(key),
      'as-user-extra',
      values ?? [],
    ]),
  ];
  const refuse = (what: string) => new TypeError(`clientFromKubeConfig: user '${user}' ${what}`);
  const given = all.map(([name, field, values]): [string, string[]] => {
    const sent = values.map((value) => value ?? '');
    if (!sent.every(isPrintable)) throw refuse(`has a control character in ${field}`);
    return [name, sent.map(bytesOf)];
  });
  const isNamed = Boolean(as);
  if (!isNamed && (uid || groups?.length || Object.keys(extra ?? {}).length)) {
    throw refuse(
      'has as-groups, as-uid or as-user-extra without as, which names the user to impersonate',
    );
  }
  return Object.fromEntries(given.filter(([, values]) => values.length > 0));
}
