/// <reference types="node" />
/**
 * Reads the sections of a kubeconfig, and refuses what kubectl refuses in any entry: wrong types, data that is not
 * base64, and names that are given twice. Null counts as absent. clientcmd: api/v1/types.go, conversion.go.
 */
import { resolve } from 'node:path';
import type { Context } from '@kubernetes/client-node';
import { type Fields, isFields } from '../meta/json-fields.ts';
import { type FullCluster, withResolvedCommands } from './exec-plugin.ts';
import type { FullUser, ImpersonationFields } from './kube-config-fields.ts';

/** The sections of a kubeconfig, in the form of client-node. */
export interface Sections {
  readonly clusters: FullCluster[];
  readonly users: FullUser[];
  readonly contexts: Context[];
  readonly currentContext: string;
}

/** A field that kubectl would refuse. The message names the field, and not its value, which may be a key. */
export class InvalidField extends TypeError {}

interface Type {
  /** In words, for an error. */
  readonly what: string;
  readonly fits: (value: unknown) => boolean;
  /** The types of the fields of a map. */
  readonly fields?: Readonly<Record<string, Type>>;
}

const BASE64 = /^(?:[a-z0-9+/]{4})*(?:[a-z0-9+/]{2}==|[a-z0-9+/]{3}=)?$/i;
const isText = (value: unknown) => typeof value === 'string';
/** Kubectl takes null within a list for an empty text. */
const isTexts = (value: unknown) =>
  Array.isArray(value) && value.every((each) => each === null || isText(each));
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;
const isBase64 = (value: unknown) =>
  typeof value === 'string' && BASE64.test(value.replace(/[\r\n]/g, ''));

const text: Type = { what: 'a string', fits: isText };
const flag: Type = { what: 'true or false', fits: (value) => typeof value === 'boolean' };
const data: Type = { what: 'base64', fits: isBase64 };
const texts: Type = { what: 'a list of strings', fits: isTexts };
const lists: Type = {
  what: 'a map of lists of strings',
  fits: (value) =>
    isFields(value) && Object.values(value).every((each) => each === null || isTexts(each)),
};
const extensions: Type = {
  what: 'a list of { name, extension } with different names',
  fits: (value) => {
    const names = Array.isArray(value) ? value.map((each) => each?.name ?? '') : [5];
    const isListed = (each: unknown) => each === null || isFields(each);
    return (
      names.every(isText) && new Set(names).size === names.length && (value as []).every(isListed)
    );
  },
};

const variables: Type = {
  what: 'a list of { name, value } with strings',
  fits: (value) =>
    Array.isArray(value) &&
    value.every(
      (each) =>
        each === null || (isFields(each) && isTexts([each['name'] ?? null, each['value'] ?? null])),
    ),
};
const plugin: Type = {
  what: 'a map',
  fits: isFields,
  fields: {
    command: text,
    args: texts,
    env: variables,
    apiVersion: text,
    installHint: text,
    provideClusterInfo: flag,
    interactiveMode: text,
  },
};

const CONFIG = { apiVersion: text, kind: text, 'current-context': text, extensions };
const CLUSTER = {
  server: text,
  'certificate-authority': text,
  'certificate-authority-data': data,
  'insecure-skip-tls-verify': flag,
  'tls-server-name': text,
  'proxy-url': text,
  'disable-compression': flag,
  extensions,
};
const USER = {
  token: text,
  tokenFile: text,
  'client-certificate': text,
  'client-certificate-data': data,
  'client-key': text,
  'client-key-data': data,
  username: text,
  password: text,
  as: text,
  'as-uid': text,
  'as-groups': texts,
  'as-user-extra': lists,
  exec: plugin,
  extensions,
};
const CONTEXT = { cluster: text, user: text, namespace: text, extensions };

/** Returns the fields that are not null; kubectl also takes an empty list for no data. Throws an {@link InvalidField} if one has a wrong type. */
function checked(at: string, value: unknown, types: Readonly<Record<string, Type>>): Fields {
  if (value === undefined || value === null) return {};
  const prefix = at === '' ? '' : `${at}.`;
  if (!isFields(value)) throw new InvalidField(`${at || 'the file'} must be a map`);
  const fields = Object.entries(value).filter(
    ([name, each]) => each !== null && !(types[name] === data && isEmptyList(each)),
  );
  for (const [name, each] of fields) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type?.fits(each) === false) throw new InvalidField(`${prefix}${name} must be ${type.what}`);
    if (type?.fields !== undefined) checked(`${prefix}${name}`, each, type.fields);
  }
  return Object.fromEntries(fields);
}

interface Entry {
  readonly name: string;
  readonly fields: Fields;
}

/** The entries of a section, such as `users` with a `user` in each. */
function entries(raw: Fields, body: string, types: Readonly<Record<string, Type>>): Entry[] {
  const section = `${body}s`;
  const list = raw[section] ?? [];
  if (!Array.isArray(list)) throw new InvalidField(`${section} must be a list`);
  const found = list.map((each, index): Entry => {
    const at = `${section}[${index}]`;
    const entry = checked(at, each, { name: text });
    return {
      name: String(entry['name'] ?? ''),
      fields: checked(`${at}.${body}`, entry[body], types),
    };
  });
  const names = found.map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice !== -1) {
    throw new InvalidField(`${section}[${twice}].name is the name of an earlier entry`);
  }
  return found;
}

/** Renames fields. Empty texts count as absent. */
function renamed(fields: Fields, names: Readonly<Record<string, string>>): Fields {
  const given = Object.entries(names).map(([from, to]) => [to, fields[from]]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== ''));
}

/** Resolves the paths in some fields. */
function resolved(fields: Fields, names: readonly string[], folder: string): Fields {
  const paths = names.filter((name) => name in fields);
  return {
    ...fields,
    ...Object.fromEntries(paths.map((name) => [name, resolve(folder, String(fields[name]))])),
  };
}

function clusterOf({ name, fields }: Entry, folder: string): FullCluster {
  const own = renamed(fields, {
    'certificate-authority': 'caFile',
    'certificate-authority-data': 'caData',
    'tls-server-name': 'tlsServerName',
    'proxy-url': 'proxyUrl',
  });
  const listed = (fields['extensions'] ?? []) as readonly (Fields | null)[];
  const exec = listed.find((each) => each?.['name'] === 'client.authentication.k8s.io/exec');
  return {
    name,
    server: String(fields['server'] ?? ''),
    skipTLSVerify: fields['insecure-skip-tls-verify'] === true,
    ...resolved(own, ['caFile'], folder),
    ...(fields['disable-compression'] === true ? { disableCompression: true } : {}),
    ...(exec === undefined ? {} : { execConfig: exec?.['extension'] }),
  };
}

function userOf({ name, fields }: Entry, folder: string | undefined): FullUser {
  const own = renamed(fields, {
    token: 'token',
    tokenFile: 'tokenFile',
    'client-certificate': 'certFile',
    'client-certificate-data': 'certData',
    'client-key': 'keyFile',
    'client-key-data': 'keyData',
    username: 'username',
    password: 'password',
    exec: 'exec',
    'auth-provider': 'authProvider',
  });
  const user = {
    name,
    ...resolved(own, ['tokenFile', 'certFile', 'keyFile'], folder ?? process.cwd()),
  };
  return {
    ...(folder === undefined ? user : withResolvedCommands(user, folder)),
    impersonated: fields as ImpersonationFields,
  };
}

/**
 * Reads a parsed kubeconfig. Paths are relative to the folder, or to the working directory. Throws an
 * {@link InvalidField} if kubectl would refuse a field of any entry.
 */
export function sectionsOf(raw: Fields, folder: string | undefined): Sections {
  const { apiVersion, kind, 'current-context': current } = checked('', raw, CONFIG);
  if (apiVersion && apiVersion !== 'v1') throw new InvalidField('apiVersion must be v1');
  if (kind && kind !== 'Config') throw new InvalidField('kind must be Config');
  return {
    clusters: entries(raw, 'cluster', CLUSTER).map((each) =>
      clusterOf(each, folder ?? process.cwd()),
    ),
    users: entries(raw, 'user', USER).map((each) => userOf(each, folder)),
    contexts: entries(raw, 'context', CONTEXT).map(({ name, fields }) => ({
      name,
      cluster: String(fields['cluster'] ?? ''),
      user: String(fields['user'] ?? ''),
      ...renamed(fields, { namespace: 'namespace' }),
    })),
    currentContext: String(current ?? ''),
  };
}
