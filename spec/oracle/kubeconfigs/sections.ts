/** Generates the clusters, users and contexts of kubeconfigs, of which most are valid. */
import {
  testOnlyCa,
  testOnlyClientCert,
  testOnlyClientKey,
  testOnlySelfSigned,
} from '../../node/test-only-certificates.ts';
import type { Dice } from '../dice.ts';

/** Where the servers listen. */
export interface Addresses {
  readonly tls: number;
  readonly plain: number;
  readonly proxy: number;
}

export type Fields = Record<string, unknown>;
export interface Config extends Fields {
  clusters: { name: unknown; cluster: Fields }[];
  users: { name: unknown; user: Fields }[];
  contexts: { name: unknown; context: Fields }[];
}

export const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The files beside each kubeconfig, and their contents. */
export const PKI: Readonly<Record<string, string>> = {
  'ca.crt': testOnlyCa,
  'other-ca.crt': testOnlySelfSigned.cert,
  'client.crt': testOnlyClientCert,
  'client.key': testOnlyClientKey,
  'other.crt': testOnlySelfSigned.cert,
  'other.key': testOnlySelfSigned.key,
  token: 'from-file\n',
  'token-spaces': ' \t spaced out \r\n\n',
  empty: '',
  garbage: 'no certificate',
};

/** A value, or sometimes null or '', which count as absent. */
const perhapsVoid = (dice: Dice, value: unknown) =>
  dice.chance(0.04) ? dice.pick([null, '']) : value;

/** A path of a file: relative to the kubeconfig, or absolute. */
function pathOf(dice: Dice, folder: string, file: string): string {
  return dice.pick([
    file,
    `./${file}`,
    `../${folder.split('/').at(-1)}/${file}`,
    `${folder}/${file}`,
  ]);
}

export function clusterOf(dice: Dice, at: Addresses, folder: string): Fields {
  const isTls = dice.chance(0.72);
  const host = dice.pick(['127.0.0.1', '127.0.0.1', 'localhost']);
  const path = dice.pick(['', '', '', '/', '/prefix', '/prefix/', '/a/b']);
  const fields: Fields = {
    server: isTls ? `https://${host}:${at.tls}${path}` : `http://${host}:${at.plain}${path}`,
  };
  if (isTls || dice.chance(0.2)) {
    switch (dice.weighed({ data: 5, file: 5, insecure: 3, none: 1, both: 1, other: 0.5 })) {
      case 'data':
        fields['certificate-authority-data'] = base64(testOnlyCa);
        break;
      case 'file':
        fields['certificate-authority'] = pathOf(dice, folder, 'ca.crt');
        break;
      case 'insecure':
        fields['insecure-skip-tls-verify'] = true;
        break;
      case 'both':
        fields['certificate-authority-data'] = base64(testOnlyCa);
        fields['certificate-authority'] = pathOf(
          dice,
          folder,
          dice.pick(['ca.crt', 'garbage', 'nowhere']),
        );
        break;
      case 'other':
        fields['certificate-authority'] = pathOf(
          dice,
          folder,
          dice.pick(['other-ca.crt', 'garbage', 'empty', 'nowhere']),
        );
        break;
      case 'none':
        break;
    }
  }
  if (dice.chance(0.05)) fields['insecure-skip-tls-verify'] = dice.pick([true, false, null]);
  if (dice.chance(0.2)) {
    fields['tls-server-name'] = dice.pick([
      'api.test',
      'api.test',
      'localhost',
      'wrong.test',
      '127.0.0.1',
      '',
    ]);
  }
  if (dice.chance(0.15)) {
    const proxy = `127.0.0.1:${at.proxy}`;
    fields['proxy-url'] = dice.pick([
      `http://${proxy}`,
      `http://${proxy}`,
      `http://me:p%40ss@${proxy}`,
      '',
      null,
    ]);
  }
  if (dice.chance(0.1)) fields['disable-compression'] = dice.pick([true, false, null]);
  if (dice.chance(0.1))
    fields.extensions = dice.pick([[], null, [{ name: 'x', extension: { a: 1 } }]]);
  return fields;
}

function certificateOf(dice: Dice, folder: string): Fields {
  const [cert, key] = dice.pick([
    ['client.crt', 'client.key'],
    ['client.crt', 'client.key'],
    ['client.crt', 'client.key'],
    ['other.crt', 'other.key'],
    ['other.crt', 'client.key'],
    ['client.crt', 'nowhere'],
    ['nowhere', 'client.key'],
    ['garbage', 'client.key'],
  ]);
  const data = (name = '') => base64(PKI[name] ?? 'nowhere');
  const own: Fields = {};
  if (dice.chance(0.5)) own['client-certificate-data'] = data(cert);
  else own['client-certificate'] = pathOf(dice, folder, cert ?? '');
  if (dice.chance(0.5)) own['client-key-data'] = data(key);
  else own['client-key'] = pathOf(dice, folder, key ?? '');
  // Both forms, a certificate without a key, and a key without a certificate.
  if (dice.chance(0.05)) own['client-certificate-data'] = data('client.crt');
  if (dice.chance(0.05)) own['client-key'] = pathOf(dice, folder, 'client.key');
  const [part] = dice.chance(0.08) ? [dice.pick(['certificate', 'key'])] : [];
  if (part !== undefined) {
    delete own[`client-${part}`];
    delete own[`client-${part}-data`];
  }
  return own;
}

function impersonationOf(dice: Dice): Fields {
  const name = dice.pick(['jane', 'jürgen', 'system:serviceaccount:a:b', 'x y', 'a,b', '中']);
  return {
    ...(dice.chance(0.92) ? { as: name } : {}),
    ...(dice.chance(0.3) ? { 'as-uid': perhapsVoid(dice, 'u-1') } : {}),
    ...(dice.chance(0.4)
      ? { 'as-groups': dice.pick([['a'], ['a', 'b'], ['b, c', ''], [], ['a', 'a'], null]) }
      : {}),
    ...(dice.chance(0.4)
      ? {
          'as-user-extra': dice.pick([
            { scope: ['x'] },
            { scopes: ['x', 'y'], 'acme.com/Project%': ['shop'] },
            { 'ü b/c': ['é'], Upper: ['1'] },
            { none: [] },
            {},
            null,
          ]),
        }
      : {}),
  };
}

function userOf(dice: Dice, folder: string): Fields {
  const fields: Fields = {};
  if (dice.chance(0.35)) {
    fields.token = perhapsVoid(
      dice,
      dice.pick(['t0ken', 't0ken', 'a.b-c_d', 'pä', 'two words', 't\n']),
    );
  }
  if (dice.chance(0.2)) {
    const file = dice.pick(['token', 'token', 'token', 'token-spaces', 'empty', 'nowhere']);
    fields.tokenFile = perhapsVoid(dice, pathOf(dice, folder, file));
  }
  if (dice.chance(0.3)) Object.assign(fields, certificateOf(dice, folder));
  if (dice.chance(0.15)) {
    const [name, password] = dice.pick([
      ['joe', 'secret'],
      ['joe', 'p:ä'],
      ['joe', ''],
      ['', 'secret'],
    ]);
    fields.username = perhapsVoid(dice, name);
    if (dice.chance(0.9)) fields.password = perhapsVoid(dice, password);
  }
  if (dice.chance(0.3)) Object.assign(fields, impersonationOf(dice));
  if (dice.chance(0.03)) fields.exec = null;
  if (dice.chance(0.03)) fields['auth-provider'] = null;
  if (dice.chance(0.05)) fields.extensions = [];
  return fields;
}

export function configOf(dice: Dice, at: Addresses, folder: string): Config {
  const count = () => 1 + dice.below(2);
  const names = ['dev', 'prod'];
  const clusters = names
    .slice(0, count())
    .map((name) => ({ name, cluster: clusterOf(dice, at, folder) }));
  const users = names.slice(0, count()).map((name) => ({ name, user: userOf(dice, folder) }));
  const contexts = names.slice(0, count()).map((name) => ({
    name,
    context: {
      cluster: dice.pick(clusters).name,
      ...(dice.chance(0.92) ? { user: dice.pick(users).name } : {}),
      ...(dice.chance(0.2) ? { namespace: dice.pick(['shop', '', null, 'Not Valid']) } : {}),
    } as Fields,
  }));
  return {
    ...(dice.chance(0.9) ? { apiVersion: 'v1' } : {}),
    ...(dice.chance(0.9) ? { kind: 'Config' } : {}),
    ...(dice.chance(0.3) ? { preferences: dice.pick([{}, { colors: true }, null]) } : {}),
    ...(dice.chance(0.1)
      ? { extensions: dice.pick([[], null, [{ name: 'a', extension: {} }]]) }
      : {}),
    clusters,
    users,
    contexts,
    'current-context': dice.pick(contexts).name,
  };
}
