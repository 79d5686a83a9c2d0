/// <reference types="node" />
/**
 * Finds and reads a kubeconfig with client-node, which is imported lazily because that takes half a second and 84 MB. In a pod
 * without a kubeconfig client-node is not needed.
 * No error message quotes the file, because it contains keys.
 */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { checkedBoolean } from '../checks/checked-option.ts';
import { type Fields, isFields } from '../meta/json-fields.ts';
import {
  checkFields,
  checkUntrusted,
  effective,
  isPlain,
  withImpersonation,
  withoutCredentials,
} from './kube-config-fields.ts';
import { InvalidField, type Sections, sectionsOf } from './kube-config-sections.ts';
import type { KubeConfigSource } from './kube-config-source.ts';
import { notLoaded } from './optional-package.ts';
import { noServiceAccount, ServiceAccount, serviceAccount } from './service-account.ts';

type ClientNode = typeof import('@kubernetes/client-node');

/** A kubeconfig that was read, or the service account of a pod. */
export type LoadedConfig = KubeConfig | ServiceAccount;

async function clientNode(): Promise<ClientNode> {
  try {
    return await import('@kubernetes/client-node');
  } catch (error) {
    throw notLoaded('clientFromKubeConfig', '@kubernetes/client-node', error);
  }
}

const refused = (text: string) => new TypeError(`clientFromKubeConfig: ${text}`);

/**
 * Parses the YAML. The error names only the line, because the parser's own message quotes the lines around the error.
 */
function parseYaml(library: ClientNode, text: string, what: string): unknown {
  try {
    return text.trim() === '' ? undefined : library.loadYaml(text);
  } catch (error) {
    const line = (error as { mark?: { line?: unknown } } | null)?.mark?.line;
    const where = typeof line === 'number' ? ` (line ${line + 1})` : '';
    throw refused(`${what} is not a valid kubeconfig: the YAML cannot be parsed${where}`);
  }
}

function checkedFields(raw: unknown, what: string): Fields {
  const fields = isFields(raw) ? raw : {};
  const isConfig = ['clusters', 'contexts', 'users', 'current-context'].some(
    (name) => name in fields,
  );
  if (!isConfig && fields['kind'] !== 'Config') {
    throw refused(`${what} is not a kubeconfig: it has no clusters, contexts and users`);
  }
  return fields;
}

/** Whether YAML has nothing but comments. */
function isEmpty(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(#.*|---\s*)?$/.test(line));
}

/** Parses a kubeconfig: a file of a folder, or a given text. */
function parse(library: ClientNode, text: string, what: string, folder?: string): KubeConfig {
  const config = new library.KubeConfig();
  // As in kubectl, which adds entries to such a file. clientcmd: loader.go, Load.
  if (folder !== undefined && isEmpty(text)) return config;
  const raw = checkedFields(parseYaml(library, text, what), what);
  try {
    config.loadFromOptions(sectionsOf(raw, folder));
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw refused(`${what} is not a valid kubeconfig: ${error.message}`);
  }
  return config;
}

async function read(library: ClientNode, file: string): Promise<KubeConfig> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'no access' } = error as NodeJS.ErrnoException;
    throw refused(`the kubeconfig ${file} cannot be read (${code})`);
  }
  return parse(library, text, file, dirname(resolve(file)));
}

/** Adds entries that do not exist yet. As with kubectl, the first file that contains a name takes precedence. */
function merge(into: KubeConfig, from: KubeConfig): void {
  const missing = <T extends { name: string }>(have: readonly T[], more: readonly T[]) =>
    more.filter(({ name }) => have.every((known) => known.name !== name));
  into.clusters = [...into.clusters, ...missing(into.clusters, from.clusters)];
  into.users = [...into.users, ...missing(into.users, from.users)];
  into.contexts = [...into.contexts, ...missing(into.contexts, from.contexts)];
  into.currentContext ||= from.currentContext;
}

/** What to install, if a kubeconfig that is given could not be read either. */
async function whatToInstall(): Promise<string> {
  return clientNode().then(
    () => '',
    ({ message }: Error) => ` (${message.replace('clientFromKubeConfig', 'which')})`,
  );
}

async function loadDefault(): Promise<LoadedConfig> {
  const listed = (process.env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  const files = listed.filter((file) => existsSync(file));
  if (listed.length > 0 && files.length === 0) {
    throw refused(`KUBECONFIG names no file that exists (${listed})`);
  }
  const home = join(homedir(), '.kube', 'config');
  if (files.length === 0 && existsSync(home)) files.push(home);
  if (files.length === 0) {
    const missing = noServiceAccount();
    if (missing === undefined) return serviceAccount();
    throw refused(
      `no kubeconfig: KUBECONFIG is not set, ~/.kube/config does not exist, and ${missing}; give file or text${await whatToInstall()}`,
    );
  }
  const library = await clientNode();
  const config = new library.KubeConfig();
  for (const file of files) merge(config, await read(library, file));
  return config;
}

async function load(source: KubeConfigSource): Promise<LoadedConfig> {
  if (source.config !== undefined) return source.config as KubeConfig;
  if (source.text !== undefined) {
    return parse(await clientNode(), source.text, 'the text');
  }
  if (source.file !== undefined) return read(await clientNode(), source.file);
  return loadDefault();
}

const quoted = (names: readonly { name: string }[]) =>
  names.length === 0 ? 'none' : names.map(({ name }) => `'${name}'`).join(', ');

/** Returns the chosen context with its cluster and user. Throws a `TypeError` if one of them does not exist. */
function chosen(config: LoadedConfig, name: string | undefined) {
  const context = config.contexts?.find((known) => known.name === name);
  if (context === undefined) {
    const contexts = config.contexts ?? [];
    if (contexts.length === 0) {
      throw refused('the kubeconfig has no contexts; add one with kubectl config set-context');
    }
    const what = name
      ? `the kubeconfig has no context '${name}'`
      : 'no context is chosen: the kubeconfig has no current-context, and the option context is not set';
    throw refused(`${what}; there are: ${quoted(contexts)}`);
  }
  const cluster = config.clusters.find((known) => known.name === context.cluster);
  if (cluster === undefined) {
    throw refused(
      `context '${name}' names cluster '${context.cluster}'; there are: ${quoted(config.clusters)}`,
    );
  }
  const user = config.users.find((known) => known.name === context.user);
  if (user === undefined && context.user) {
    throw refused(
      `context '${name}' names user '${context.user}'; there are: ${quoted(config.users)}`,
    );
  }
  if (!cluster.server)
    throw refused(`cluster '${cluster.name}' of context '${name}' has no server`);
  // client-node ignores the cluster's CA if there is no user.
  return { context, cluster, user: withImpersonation(user ?? { name: 'anonymous' }) };
}

/**
 * Loads the kubeconfig and copies it with the chosen context, so that later changes of a given instance do not
 * redirect a client. Over http the copy has no credentials, unless they are allowed. Rejects with a `TypeError` if no
 * kubeconfig is found, if it cannot be read or is invalid, or if the context does not exist.
 */
export async function loadKubeConfig(
  source: KubeConfigSource,
  credentialsOverHttp: boolean,
): Promise<LoadedConfig> {
  const config = await load(source);
  const { context, cluster, user } = chosen(config, source.context ?? config.currentContext);
  const { untrusted = false } = source;
  // A text such as 'true' of an environment variable must not switch the check off.
  checkedBoolean(untrusted, 'clientFromKubeConfig: untrusted');
  if (untrusted) checkUntrusted(user, cluster);
  const added = addedTo(config);
  checkFields(user, cluster, added.length > 0);
  const plain = isPlain(cluster);
  const withheld = plain && !credentialsOverHttp;
  const sent = withheld ? withoutCredentials(user) : user;
  if (sent !== user) {
    console.warn(
      `clientFromKubeConfig: context '${context.name}' uses http, so the credentials of user '${user.name}' are not sent; use https, or allow it with credentialsOverHttp: true`,
    );
  }
  const own = await effective(sent, cluster);
  const sections: Sections = {
    // client-node refuses http:// (`kubectl proxy`) otherwise.
    clusters: [plain ? { ...own.cluster, skipTLSVerify: true } : own.cluster],
    users: [own.user],
    contexts: [{ ...context, user: own.user.name }],
    currentContext: context.name,
  };
  return copy(config, sections, withheld ? [] : added);
}

/** Copies a kubeconfig without cached credentials, with the same sections and authenticators unless others are given. */
export function copy(
  config: LoadedConfig,
  sections: Sections = config as Sections,
  authenticators: ReturnType<typeof addedTo> = addedTo(config),
): LoadedConfig {
  if (config instanceof ServiceAccount) return new ServiceAccount(sections);
  const fresh: KubeConfig = Reflect.construct(config.constructor, []);
  fresh.loadFromOptions(sections);
  for (const authenticator of authenticators) fresh.addAuthenticator(authenticator);
  return fresh;
}

/** Returns the authenticators that the caller added. client-node has no getter for them. */
export function addedTo(
  config: LoadedConfig,
): readonly Parameters<KubeConfig['addAuthenticator']>[0][] {
  const { custom_authenticators: added } = config as unknown as {
    custom_authenticators?: ReturnType<typeof addedTo>;
  };
  return added ?? [];
}
