/** Changes that make a valid kubeconfig invalid, contradictory or merely unusual. */
import {
  testOnlyCa,
  testOnlyClientCert,
  testOnlyClientKey,
} from '../../node/test-only-certificates.ts';
import type { Dice } from '../dice.ts';
import { type Addresses, base64, type Config, clusterOf, type Fields } from './sections.ts';

/** Where an oddity is put. */
interface Spot {
  readonly dice: Dice;
  readonly at: Addresses;
  readonly config: Config;
  readonly cluster: Fields;
  readonly user: Fields;
  readonly context: Fields;
}

const CREDENTIALS = [
  'token',
  'tokenFile',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'username',
  'password',
  'as',
  'as-uid',
  'as-groups',
  'as-user-extra',
];
const CLUSTER_FIELDS = [
  'server',
  'certificate-authority',
  'certificate-authority-data',
  'insecure-skip-tls-verify',
  'tls-server-name',
  'proxy-url',
  'disable-compression',
  'extensions',
];
const WRONG = [5, true, 'text', {}, [], ['a'], [5], [null], { a: 'b' }, { a: [5] }, 1.5, 0, false];

/** Changes that make a valid kubeconfig invalid, contradictory or merely unusual. */
const ODDITIES: Readonly<Record<string, (spot: Spot) => void>> = {
  'a cluster field of a wrong type': ({ dice, cluster }) => {
    cluster[dice.pick(CLUSTER_FIELDS)] = dice.pick(WRONG);
  },
  'a user field of a wrong type': ({ dice, user }) => {
    user[dice.pick(CREDENTIALS)] = dice.pick(WRONG);
  },
  'a context field of a wrong type': ({ dice, context }) => {
    context[dice.pick(['cluster', 'user', 'namespace'])] = dice.pick(WRONG);
  },
  'a section of a wrong type': ({ dice, config }) => {
    const wrong = dice.pick([null, {}, 'text', 5, [], [null], ['a'], [{}]]);
    (config as Fields)[dice.pick(['clusters', 'users', 'contexts'])] = wrong;
  },
  'a field of null': ({ dice, cluster, user }) => {
    if (dice.chance(0.5)) cluster[dice.pick(CLUSTER_FIELDS)] = null;
    else user[dice.pick(CREDENTIALS)] = null;
  },
  'an empty field': ({ dice, cluster, user }) => {
    if (dice.chance(0.5)) cluster[dice.pick(CLUSTER_FIELDS.slice(0, 6))] = '';
    else user[dice.pick(CREDENTIALS.slice(0, 10))] = '';
  },
  'a missing section': ({ dice, config }) => {
    delete (config as Fields)[dice.pick(['clusters', 'users', 'contexts', 'current-context'])];
  },
  'an empty entry': ({ dice, config }) => {
    const entry = dice.pick([{}, null, { name: 'other' }, { name: '' }]);
    dice.pick<unknown[]>([config.clusters, config.users, config.contexts])?.push(entry);
  },
  'an entry without its body': ({ dice, config }) => {
    const kind = dice.pick(['cluster', 'user', 'context']);
    const list = (config as Fields)[`${kind}s`] as Fields[];
    const entry = dice.pick(list);
    if (dice.chance(0.5)) delete entry[kind];
    else entry[kind] = null;
  },
  'an unused entry that is invalid': ({ dice, config }) => {
    const cluster = dice.pick<Fields>([
      {},
      { server: '' },
      { server: 'https://127.0.0.1:1', 'certificate-authority': 'nowhere' },
    ]);
    config.clusters.push({ name: 'unused', cluster });
    config.users.push({ name: 'unused', user: { token: 'a', username: 'b', 'as-uid': 'x' } });
    config.contexts.push({
      name: 'unused',
      context: dice.pick<Fields>([{}, { cluster: 'gone', user: 'gone' }]),
    });
  },
  'a name twice': ({ dice, at, config }) => {
    const list = dice.pick<{ name: unknown }[]>([config.clusters, config.users, config.contexts]);
    const first = list[0];
    if (first === undefined) return;
    if ('cluster' in first) list.push({ ...first, ...{ cluster: clusterOf(dice, at, '/') } });
    else if ('user' in first) list.push({ ...first, ...{ user: { token: 'second' } } });
    else list.push({ ...first });
  },
  'a name of a wrong type': ({ dice, config }) => {
    const list = dice.pick<{ name: unknown }[]>([config.clusters, config.users, config.contexts]);
    dice.pick(list).name = dice.pick([null, '', 5, true, 'Other']);
  },
  'a wrong reference': ({ dice, context }) => {
    context[dice.pick(['cluster', 'user'])] = dice.pick(['gone', '', null, 'DEV', ' dev']);
  },
  'another current context': ({ dice, config }) => {
    config['current-context'] = dice.pick(['gone', '', null, 5, 'prod']);
  },
  'another version or kind': ({ dice, config }) => {
    config[dice.pick(['apiVersion', 'kind'])] = dice.pick([
      'v2',
      'Pod',
      '',
      null,
      'apps/v1',
      5,
      'config',
    ]);
  },
  'an unknown field': ({ dice, config, cluster, user, context }) => {
    const fields = dice.pick([config as Fields, cluster, user, context]);
    fields[dice.pick(['token-file', 'Token', 'SERVER', 'unknown', 'as-group', 'extra'])] =
      dice.pick(['x', null, [], 5]);
  },
  'an unusual server': ({ dice, at, cluster }) => {
    const { tls, plain } = at;
    cluster.server = dice.pick([
      ...[
        `HTTPS://127.0.0.1:${tls}`,
        `https://127.0.0.1:${tls}//`,
        `https://127.0.0.1:${tls}/a//b`,
      ],
      ...[
        `127.0.0.1:${tls}`,
        `127.0.0.1:${plain}`,
        `localhost:${plain}/prefix`,
        `//127.0.0.1:${plain}`,
      ],
      ...[
        `https://127.0.0.1:${tls}?a=b`,
        `https://127.0.0.1:${tls}/p?a=b`,
        `https://127.0.0.1:${tls}/p#f`,
      ],
      ...[
        `https://me:pw@127.0.0.1:${tls}`,
        ` https://127.0.0.1:${tls}`,
        `https://127.0.0.1:${tls} `,
        'https://',
        'nowhere',
      ],
      ...[
        `https://127.0.0.1:${tls}/a%20b`,
        `https://127.0.0.1:${tls}/a b`,
        `https://127.0.0.1:${tls}/ü`,
        `ftp://127.0.0.1:${plain}`,
      ],
      ...[
        `https://127.0.0.1:${tls}/../x`,
        `https://127.0.0.1:${plain}`,
        `http://127.0.0.1:${tls}`,
        `https://LOCALHOST:${tls}`,
      ],
    ]);
  },
  'an unusual proxy': ({ dice, at, cluster }) => {
    cluster['proxy-url'] = dice.pick([
      `127.0.0.1:${at.proxy}`,
      'ftp://127.0.0.1:1',
      'http://',
      'socks://127.0.0.1:1',
      `HTTP://127.0.0.1:${at.proxy}`,
      `http://127.0.0.1:${at.proxy}/path`,
      'http://127.0.0.1:1',
      ' ',
      `http://me@127.0.0.1:${at.proxy}`,
      'socks5h://127.0.0.1:1',
      'http://%zz',
    ]);
  },
  'unusual data': ({ dice, cluster, user }) => {
    const odd = (text: string) =>
      dice.pick([
        `${base64(text).replace(/=+$/, '')}\n`,
        base64(text).replace(/(.{64})/g, '$1\n'),
        `${base64(text)}!`,
        text,
        base64(`${text}\nmore`),
        base64(''),
        ` ${base64(text)}`,
        base64(text).replaceAll('+', '-').replaceAll('/', '_'),
      ]);
    if (dice.chance(0.5)) {
      delete cluster['insecure-skip-tls-verify'];
      delete cluster['certificate-authority'];
      cluster['certificate-authority-data'] = odd(testOnlyCa);
    } else {
      user['client-certificate-data'] = odd(testOnlyClientCert);
      user['client-key-data'] = odd(testOnlyClientKey);
      delete user['client-certificate'];
      delete user['client-key'];
    }
  },
  'control characters': ({ dice, user }) => {
    user[dice.pick(['token', 'as', 'username', 'as-uid'])] = dice.pick([
      'a\nb',
      'a\u0000b',
      'a\r\nx: y',
      'tab\tbed',
      'del\u007f',
    ]);
  },
};

/** Changes of the text. YAML 1.1, which Go reads, and YAML 1.2 differ in some words. */
export const TEXT_ODDITIES: Readonly<Record<string, (dice: Dice, text: string) => string>> = {
  'an empty file': (dice) =>
    dice.pick(['', '\n', '# nothing\n', '---\n', ' ', 'null', '{}', '[]', '~', 'text']),
  'a broken line': (dice, text) => {
    const lines = text.split('\n');
    const at = dice.below(lines.length);
    lines[at] = dice.pick([
      `\t${lines[at]}`,
      `${lines[at]}: x: y`,
      `  ${lines[at]}`,
      '',
      '}',
      `${lines[at]} # comment`,
      `- ${lines[at]}`,
    ]);
    return lines.join('\n');
  },
  'words of YAML 1.1': (dice, text) =>
    text
      .replace(
        /(insecure-skip-tls-verify"?: *)\w+/,
        `$1${dice.pick(['yes', 'on', 'True', 'TRUE', 'y', '"true"', 'no'])}`,
      )
      .replace(
        /(token"?: *)[\w."-]+/,
        `$1${dice.pick(['yes', '0123', '1e3', '2024-01-01', '0x1F', '1_000', '12:30', '!!binary aGk=', '~', '.5', '123'])}`,
      ),
  'two documents': (_, text) => `${text}\n---\n${text}`,
  'a document mark': (_, text) => `---\n${text}`,
  'a byte order mark': (_, text) => `\ufeff${text}`,
  'line ends of Windows': (_, text) => text.replaceAll('\n', '\r\n'),
  'a key twice': (_, text) => `${text}\ncurrent-context: other\n`,
  'an anchor': (_, text) =>
    text
      .replace(/^(\s*)cluster: dev$/m, '$1cluster: &name dev')
      .replace(/^(\s*)user: dev$/m, '$1user: *name'),
};

/** Applies some oddities to a kubeconfig, and notes their names. */
export function oddly(dice: Dice, at: Addresses, config: Config, noted: string[]): void {
  for (let left = dice.pick([0, 0, 0, 0, 1, 1, 1, 2]); left > 0; left--) {
    const name = dice.pick(Object.keys(ODDITIES));
    const chosen = Array.isArray(config.contexts) ? config.contexts[0] : undefined;
    const spot = {
      dice,
      at,
      config,
      cluster:
        config.clusters?.find?.((each) => each?.name === chosen?.context?.cluster)?.cluster ?? {},
      user: config.users?.find?.((each) => each?.name === chosen?.context?.user)?.user ?? {},
      context: chosen?.context ?? {},
    };
    try {
      ODDITIES[name]?.(spot);
      noted.push(name);
    } catch {
      // An earlier oddity has removed the place of this one.
    }
  }
}
