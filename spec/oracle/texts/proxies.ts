/** The proxy of the environment for the address of a server: HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
import { environmentProxy } from '../../../lib/node/environment-proxy.ts';
import { checkProxy } from '../../../lib/node/undici/pool-options.ts';
import type { Dice } from '../dice.ts';
import { perhapsHostile, several } from './hostile-texts.ts';
import { outcomeOf, type Subject } from './subject.ts';

interface ProxyCase {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
}

interface ProxyAnswer {
  readonly error?: string;
  readonly host: string;
  readonly proxy: string;
  readonly scheme: string;
  readonly proxyHost: string;
  readonly ignored: boolean;
}

const HOSTS = [
  ...['acme.test', 'api.acme.test', 'xacme.test', 'acme.test.', 'API.Acme.test', 'test', 'a.b.c.d'],
  ...['10.0.0.1', '10.9.8.7', '11.0.0.1', '127.0.0.1', '127.9.9.9', '0.0.0.0', '192.168.0.1'],
  ...[
    '[fd00::1]',
    '[fd00:0:0::1]',
    '[::1]',
    '[::]',
    '[::ffff:10.0.0.1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a00:1]',
  ],
  ...['localhost', 'localhost.', 'api.localhost', 'xn--bcher-kva.example', 'bücher.example'],
];
const ENTRIES = [
  ...[
    'acme.test',
    '.acme.test',
    '*.acme.test',
    '*acme.test',
    'cme.test',
    'ACME.test',
    'test',
    '.test',
  ],
  ...[
    'acme.test.',
    'acme.test:443',
    'acme.test:6443',
    '.acme.test:6443',
    '*.acme.test:6443',
    '*',
    '*:443',
  ],
  ...[
    '10.0.0.1',
    '10.0.0.1:6443',
    '10.0.0.0/8',
    '10.0.0.0/0',
    '10.0.0.0/33',
    '10.0.0.1/32',
    '010.0.0.1',
  ],
  ...[
    'fd00::1',
    '[fd00::1]',
    '[fd00::1]:6443',
    'fd00::/8',
    '[fd00::]/8',
    '::/0',
    '::ffff:10.0.0.0/104',
  ],
  ...[
    '::ffff:10.0.0.1',
    '::1',
    'fd00::1%eth0',
    'localhost',
    '',
    ' ',
    ':6443',
    ':',
    '.',
    '..',
    '*.',
    'a:b:c',
  ],
  ...[
    'bücher.example',
    'BÜCHER.example',
    'xn--bcher-kva.example',
    '0.0.0.0/0',
    '10.0.0.0/08',
    '10/8',
  ],
];
const PROXIES = [
  ...[
    'http://proxy.test:3128',
    'http://proxy.test',
    'proxy.test:3128',
    'proxy.test',
    'https://proxy.test',
  ],
  ...['socks5://proxy.test:1080', 'socks5h://proxy.test', 'http://me:pass%40word@proxy.test:3128'],
  ...[
    '10.1.1.1:3128',
    '[fd00::2]:3128',
    'http://[fd00::2]:3128',
    'HTTP://Proxy.test',
    'me:pass@proxy.test:1',
  ],
];
const ODD_PROXIES = [
  '',
  'ftp://proxy.test',
  'proxy test',
  'http://',
  '//proxy.test',
  'http:proxy.test',
  ':3128',
  'http://proxy.test:99999',
  'localhost',
];

/** Addresses and networks that differ in few bits. */
const address = (dice: Dice) =>
  dice.chance(0.5)
    ? `10.${dice.below(2)}.0.${dice.below(4)}`
    : dice.pick(['fd00::', 'fd00::1:', '::ffff:10.0.0.', '::ffff:a00:', '::']) + dice.below(4);

const network = (dice: Dice) =>
  `${address(dice)}/${dice.pick([0, 7, 8, 24, 30, 31, 32, 96, 104, 126, 128])}`;

function entry(dice: Dice): string {
  return dice.weighed({ known: 6, network: 2, address: 1 }) === 'known'
    ? dice.pick(ENTRIES)
    : dice.chance(0.7)
      ? network(dice)
      : address(dice);
}

function hostOf(dice: Dice): string {
  if (dice.chance(0.6)) return dice.pick(HOSTS);
  const ip = address(dice);
  return ip.includes(':') ? `[${ip}]` : ip;
}

function environment(dice: Dice): Record<string, string> {
  const proxy = () =>
    perhapsHostile(dice, dice.pick(dice.chance(0.08) ? ODD_PROXIES : PROXIES), 0.04);
  const exceptions = () =>
    perhapsHostile(
      dice,
      several(dice, 3, dice.pick([',', ', ', ' ,', ' ']), () => entry(dice)),
      0.25,
    );
  const env: Record<string, string> = {};
  for (const name of ['HTTPS_PROXY', 'HTTP_PROXY']) {
    if (dice.chance(0.9)) env[dice.chance(0.8) ? name : name.toLowerCase()] = proxy();
    if (dice.chance(0.05)) env[name.toLowerCase()] = proxy();
  }
  if (dice.chance(0.9)) env[dice.chance(0.8) ? 'NO_PROXY' : 'no_proxy'] = exceptions();
  if (dice.chance(0.05)) env.no_proxy = exceptions();
  if (dice.chance(0.1)) env.REQUEST_METHOD = dice.pick(['GET', '']);
  for (const [name, value] of Object.entries(env)) {
    // The environment of a process cannot contain a NUL.
    env[name] = value.replaceAll('\0', '');
  }
  return env;
}

/** The text that a part of a URL stands for; the part itself if its escapes are invalid. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Go and the WHATWG write one URL in different ways, so the parts of a proxy are compared. */
function partsOf(proxy: string): unknown {
  if (proxy === '') return 'none';
  const { protocol, hostname, port, username, password } = new URL(proxy);
  const [user, word] = [username, password].map(decoded);
  return { protocol, hostname, port, user, word };
}

/** Go's value for a variable that it cannot parse. */
const IGNORED = 'ignored';
const USABLE = ['http', 'https', 'socks', 'socks5', 'socks5h'];

export const proxies: Subject<ProxyCase, ProxyAnswer> = {
  name: 'proxy',
  caseOf: (dice) => {
    const scheme = dice.pick(['https', 'https', 'http']);
    const port = dice.pick(['', ':6443', ':443', ':80', ':8443']);
    return { url: `${scheme}://${hostOf(dice)}${port}`, env: environment(dice) };
  },
  ours: ({ url, env }) =>
    outcomeOf(/^the proxy must be|: HTTP_PROXY is refused/, () => {
      const proxy = environmentProxy(url, env) ?? '';
      if (proxy !== '') checkProxy(proxy);
      return partsOf(proxy);
    }),
  theirs: ({ error, proxy, scheme, proxyHost, ignored }) => {
    if (error !== undefined) return { refused: error };
    if (ignored) return { value: IGNORED };
    if (proxy !== '' && proxyHost === '') return { refused: `${proxy} has no host` };
    if (proxy !== '' && !USABLE.includes(scheme)) return { refused: `${scheme} is no proxy` };
    if (proxy !== '' && !URL.canParse(proxy)) return { refused: `${proxy} is no URL` };
    return { value: partsOf(proxy) };
  },
  balance: (value) => [value !== 'none'],
  differences: [
    {
      name: 'a proxy that Go cannot parse',
      reason:
        'Go ignores the variable and sends requests past the proxy. Ours refuses it, or uses it if the WHATWG knows how to read it.',
      explains: ({ theirs }) => theirs.refused === undefined && theirs.value === IGNORED,
    },
    {
      name: 'slashes without a scheme',
      reason:
        "Go finds no host in '//proxy.test', and every request fails. Ours reads it as 'http://proxy.test'.",
      explains: ({ ours, theirs }) =>
        ours.refused === undefined && theirs.refused?.endsWith('has no host') === true,
    },
    {
      name: 'a scheme that Go takes for the host',
      reason:
        "Go reads a URL that it cannot parse once more with 'http://' before it, so that 'http://' names the host 'http'. Ours refuses the URL, or reads it as the WHATWG does.",
      explains: ({ given, theirs }) => {
        const { hostname = '' } = (theirs as { value?: { hostname?: string } }).value ?? {};
        const starts = (proxy: string) => proxy.trim().toLowerCase().startsWith(`${hostname}:`);
        return hostname !== '' && Object.values(given.env).some(starts);
      },
    },
  ],
};
