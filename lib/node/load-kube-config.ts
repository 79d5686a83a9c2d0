/// <reference types="node" />
/**
 * Finds and reads a kubeconfig. It needs the YAML parser of client-node, and a user with an `auth-provider` needs its class `KubeConfig`. All of
 * client-node takes half a second and 75 MB to load, most of them for the classes of Kubernetes objects, so the parser is loaded alone.
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
import { OwnKubeConfig } from './own-kube-config.ts';
import { noServiceAccount, serviceAccount } from './service-account.ts';

/** A `KubeConfig` that was given or that an `auth-provider` needs, or what is obeyed without client-node. */
export type LoadedConfig = KubeConfig | OwnKubeConfig;

async function clientNode(): Promise<typeof import('@kubernetes/client-node')> {
  try {
    return await import('@kubernetes/client-node');
  } catch (error) {
    throw notLoaded('clientFromKubeConfig', '@kubernetes/client-node', error);
  }
}

/** Returns the function that parses YAML. A bundle, which has no folder of packages, loads all of client-node. */
async function yamlParser(): Promise<(text: string) => unknown> {
  try {
    return (await import('./yaml-parser.ts')).yamlParserAlone();
  } catch {
    return (await clientNode()).loadYaml;
  }
}

const refused = (text: string) => new TypeError(`clientFromKubeConfig: ${text}`);

/**
 * Parses the YAML. The error names only the line, because the parser's own message quotes the lines around the error.
 */
async function parsed(text: string, what: string): Promise<unknown> {
  if (text.trim() === '') return undefined;
  const parseYaml = await yamlParser();
  try {
    return parseYaml(text);
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

const NOTHING: Sections = { clusters: [], users: [], contexts: [], currentContext: '' };

/** Parses a kubeconfig: a file of a folder, or a given text. */
async function parse(text: string, what: string, folder?: string): Promise<Sections> {
  // As in kubectl, which adds entries to such a file. clientcmd: loader.go, Load.
  if (folder !== undefined && isEmpty(text)) return NOTHING;
  const raw = await parsed(text, what);
  if (folder !== undefined && raw === null) return NOTHING;
  const fields = checkedFields(raw, what);
  try {
    return sectionsOf(fields, folder);
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    throw refused(`${what} is not a valid kubeconfig: ${error.message}`);
  }
}

async function read(file: string): Promise<Sections> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'no access' } = error as NodeJS.ErrnoException;
    throw refused(`the kubeconfig ${file} cannot be read (${code})`);
  }
  return parse(text, file, dirname(resolve(file)));
}

/** Adds entries that do not exist yet. As with kubectl, the first file that contains a name takes precedence. */
function merged(into: Sections, from: Sections): Sections {
  const all = <T extends { name: string }>(have: readonly T[], more: readonly T[]) => [
    ...have,
    ...more.filter(({ name }) => have.every((known) => known.name !== name)),
  ];
  return {
    clusters: all(into.clusters, from.clusters),
    users: all(into.users, from.users),
    contexts: all(into.contexts, from.contexts),
    currentContext: into.currentContext || from.currentContext,
  };
}

/** What to install, if a kubeconfig that is given could not be read either. */
async function whatToInstall(): Promise<string> {
  return yamlParser().then(
    () => '',
    ({ message }: Error) => ` (${message.replace('clientFromKubeConfig', 'which')})`,
  );
}

async function loadDefault(): Promise<Sections> {
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
  let sections = NOTHING;
  for (const file of files) sections = merged(sections, await read(file));
  return sections;
}

async function load({ text, file }: KubeConfigSource): Promise<Sections> {
  if (text !== undefined) return parse(text, 'the text');
  return file === undefined ? loadDefault() : read(file);
}

const quoted = (names: readonly { name: string }[]) =>
  names.length === 0 ? 'none' : names.map(({ name }) => `'${name}'`).join(', ');

/** Returns the chosen context with its cluster and user. Throws a `TypeError` if one of them does not exist. */
function chosen(config: Sections | KubeConfig, name: string | undefined) {
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
  const given = source.config as KubeConfig | undefined;
  const config = given ?? (await load(source));
  const { context, cluster, user } = chosen(config, source.context ?? config.currentContext);
  const { untrusted = false } = source;
  // A text such as 'true' of an environment variable must not switch the check off.
  checkedBoolean(untrusted, 'clientFromKubeConfig: untrusted');
  if (untrusted) checkUntrusted(user, cluster);
  const added = given === undefined ? [] : addedTo(given);
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
  if (given !== undefined) return copy(given, sections, withheld ? [] : added);
  return own.user.authProvider ? withProvider(sections) : new OwnKubeConfig(sections);
}

/** Returns a `KubeConfig`, whose authenticators know the `auth-provider`s. */
async function withProvider(sections: Sections): Promise<KubeConfig> {
  const { KubeConfig } = await clientNode();
  const config = new KubeConfig();
  config.loadFromOptions(sections);
  return config;
}

/** Copies a kubeconfig without cached credentials, with the same sections and authenticators unless others are given. */
export function copy(
  config: LoadedConfig,
  sections: Sections = config as Sections,
  authenticators: ReturnType<typeof addedTo> = addedTo(config),
): LoadedConfig {
  if (config instanceof OwnKubeConfig) return new OwnKubeConfig(sections);
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
