/// <reference types="node" />
/**
 * Handles the kubeconfig fields that kubectl obeys and client-node ignores or interprets differently. Each is either
 * obeyed, or refused by name. client-go: tools/clientcmd.
 */
import { resolve } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import {
  checkPlugin,
  type FullCluster,
  type Plugin,
  preparedPlugin,
  withResolvedCommands,
} from './exec-plugin.ts';

/** A user, with its impersonation headers. client-node does not see the plugin, which it would run in its own way. */
export interface FullUser extends User {
  readonly impersonation?: RepeatedHeaders;
  readonly plugin?: Plugin;
}

interface RawUser extends ImpersonationFields {
  readonly tokenFile?: unknown;
}
interface RawCluster {
  readonly 'disable-compression'?: unknown;
  readonly extensions?: readonly { name?: unknown; extension?: unknown }[] | null;
}
/** A kubeconfig as written in the file. */
export interface RawKubeConfig {
  readonly users?: readonly { readonly user?: RawUser | null }[] | null;
  readonly clusters?: readonly { readonly cluster?: RawCluster | null }[] | null;
}

/** Uses `tokenFile`, which client-node ignores. In kubectl it takes precedence over `token`. */
function withTokenFile(user: User, file: unknown, folder: string): User {
  if (typeof file !== 'string' || file === '') return user;
  const { token, ...rest } = user;
  const config = { tokenFile: resolve(folder, file) };
  return { ...rest, authProvider: { name: 'tokenFile', config } };
}

/** Returns a user read from a kubeconfig in the folder. Throws a `TypeError` if a field is invalid. */
export function fullUser(user: User, raw: RawUser, folder: string | undefined): FullUser {
  const own = folder === undefined ? user : withResolvedCommands(user, folder);
  return {
    ...withTokenFile(own, raw.tokenFile, folder ?? process.cwd()),
    impersonation: impersonation(user.name, raw),
  };
}

/** Returns a cluster, with the fields that plugins receive. */
export function fullCluster(cluster: Cluster, raw: RawCluster): FullCluster {
  const { 'disable-compression': uncompressed, extensions } = raw;
  const own = (Array.isArray(extensions) ? extensions : []).find(
    (each) => each?.name === 'client.authentication.k8s.io/exec',
  );
  return {
    ...cluster,
    ...(uncompressed === true ? { disableCompression: true } : {}),
    ...(own === undefined ? {} : { execConfig: own.extension }),
  };
}

/** The providers that client-node supports. The names of authenticators that a caller has added are not known. */
const PROVIDERS: readonly unknown[] = ['azure', 'gcp', 'oidc', 'exec', 'tokenFile'];

function checkUser(user: User, hasOwn: boolean): void {
  const { exec, authProvider, token, username, name } = user;
  const refuse = (what: string) => new TypeError(`clientFromKubeConfig: user '${name}' ${what}`);
  const twice = [
    [token && 'token', username && 'username'],
    [
      exec && 'exec',
      authProvider && (authProvider.config?.tokenFile ? 'tokenFile' : 'auth-provider'),
    ],
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

/** Whether the server is addressed by http. */
export function isPlain({ server }: Cluster): boolean {
  return /^http:/i.test(server);
}

/** Returns the chosen user and cluster in the form that client-node needs. */
export async function effective(
  user: FullUser,
  cluster: FullCluster,
): Promise<{ readonly user: FullUser; readonly cluster: FullCluster }> {
  const { caFile, ...withoutCaFile } = cluster;
  const { certFile, keyFile, exec, ...withoutFiles } = user;
  if (withoutFiles.authProvider?.config?.exec) delete withoutFiles.authProvider;
  const plugin = await preparedPlugin(user, cluster);
  // If both a file and inline data are given, client-node takes the file, and kubectl the data.
  const own: FullUser = {
    ...withoutFiles,
    ...(certFile && !user.certData ? { certFile } : {}),
    ...(keyFile && !user.keyData ? { keyFile } : {}),
    ...(plugin === undefined ? {} : { plugin }),
  };
  return {
    user: own,
    cluster: caFile && !cluster.caData ? cluster : withoutCaFile,
  };
}

/** The fields of a kubeconfig user that request impersonation. */
interface ImpersonationFields {
  readonly as?: unknown;
  readonly 'as-uid'?: unknown;
  readonly 'as-groups'?: unknown;
  readonly 'as-user-extra'?: unknown;
}

/** Headers by name, in lower case. Each value is sent in a header line of its own. */
type RepeatedHeaders = Readonly<Record<string, readonly string[]>>;

const isText = (value: unknown): value is string =>
  typeof value === 'string' && !/[\p{Cc}]/u.test(value);
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText);

/** Encodes text as the bytes of its UTF-8 form, because a server reads these headers as UTF-8. */
const bytesOf = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

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
  const refuse = (what: string) => new TypeError(`clientFromKubeConfig: user '${user}' ${what}`);
  const { as, 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = fields;
  if (as && !isText(as))
    throw refuse('has an invalid as: it must be a string without control characters');
  if (uid && !isText(uid))
    throw refuse('has an invalid as-uid: it must be a string without control characters');
  if (groups && !isTexts(groups))
    throw refuse(
      'has invalid as-groups: they must be a list of strings without control characters',
    );
  const isExtra = typeof extra === 'object' && Object.values(extra ?? {}).every(isTexts);
  if (extra && !isExtra)
    throw refuse(
      'has an invalid as-user-extra: it must be a map of lists of strings without control characters',
    );
  const more = Object.entries((extra ?? {}) as Record<string, readonly string[]>);
  const all: [string, readonly string[]][] = [
    ['impersonate-user', isText(as) && as ? [as] : []],
    ['impersonate-uid', isText(uid) && uid ? [uid] : []],
    ['impersonate-group', isTexts(groups) ? groups : []],
    ...more.map(([key, values]): [string, readonly string[]] => [nameOf(key), values]),
  ];
  const given = all.filter(([, values]) => values.length > 0);
  if (given.length > 0 && !as) {
    throw refuse(
      'has as-groups, as-uid or as-user-extra without as, which names the user to impersonate',
    );
  }
  return Object.fromEntries(given.map(([name, values]) => [name, values.map(bytesOf)]));
}
