/// <reference types="node" />
/**
 * Fields of a kubeconfig that kubectl obeys and client-node does not read, or reads otherwise: obeyed here, or refused
 * by name. client-go: tools/clientcmd.
 */
import { resolve } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import {
  checkPlugin,
  type FullCluster,
  withExecInfo,
  withResolvedCommands,
} from './exec-plugin.ts';
import { type ImpersonationFields, impersonation, type RepeatedHeaders } from './impersonation.ts';

/** A user, with the headers of whom it acts as. */
export interface FullUser extends User {
  readonly impersonation?: RepeatedHeaders;
}

interface RawUser extends ImpersonationFields {
  readonly tokenFile?: unknown;
}
interface RawCluster {
  readonly 'disable-compression'?: unknown;
  readonly extensions?: readonly { name?: unknown; extension?: unknown }[] | null;
}
/** A kubeconfig as it is written. */
export interface RawKubeConfig {
  readonly users?: readonly { readonly user?: RawUser | null }[] | null;
  readonly clusters?: readonly { readonly cluster?: RawCluster | null }[] | null;
}

/** client-node ignores `tokenFile`, which for kubectl goes before `token`. */
function withTokenFile(user: User, file: unknown, folder: string): User {
  if (typeof file !== 'string' || file === '') return user;
  const { token, ...rest } = user;
  const config = { tokenFile: resolve(folder, file) };
  return { ...rest, authProvider: { name: 'tokenFile', config } };
}

/** A user that was read from a folder's kubeconfig; throws a `TypeError` on a field that is none. */
export function fullUser(user: User, raw: RawUser, folder: string | undefined): FullUser {
  const own = folder === undefined ? user : withResolvedCommands(user, folder);
  return {
    ...withTokenFile(own, raw.tokenFile, folder ?? process.cwd()),
    impersonation: impersonation(user.name, raw),
  };
}

/** A cluster, with what its plugins are told. */
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

/** What client-node can serve; what a caller has added to it is not known by name. */
const PROVIDERS: readonly unknown[] = ['azure', 'gcp', 'oidc', 'exec', 'tokenFile'];

function checkWays(user: User, hasOwn: boolean): void {
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
  const provider = authProvider?.name;
  const config = authProvider?.config;
  if (!authProvider || hasOwn || PROVIDERS.includes(provider)) return;
  if (config?.exec || config?.tokenFile) return;
  throw refuse(
    `has the auth-provider '${provider}', which is not known here: use exec, or a KubeConfig with an authenticator of your own`,
  );
}

/**
 * The chosen user and cluster as client-node is to have them. Throws a `TypeError` on what would be sent otherwise than
 * kubectl does.
 */
export async function effective(
  user: FullUser,
  cluster: FullCluster,
  hasOwn: boolean,
): Promise<{ readonly user: FullUser; readonly cluster: FullCluster }> {
  checkWays(user, hasOwn);
  checkPlugin(user);
  const { caFile, ...withoutCaFile } = cluster;
  const { certFile, keyFile, ...withoutFiles } = user;
  // client-node takes the file where there are both, kubectl the data.
  const own: FullUser = {
    ...withoutFiles,
    ...(certFile && !user.certData ? { certFile } : {}),
    ...(keyFile && !user.keyData ? { keyFile } : {}),
  };
  return {
    user: await withExecInfo(own, cluster),
    cluster: caFile && !cluster.caData ? cluster : withoutCaFile,
  };
}
