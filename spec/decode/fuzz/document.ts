/**
 * Random JSON texts of objects, as trees of texts: a tree can have what `JSON.stringify` never writes, such as escapes in
 * names, repeated names and numbers of any form.
 */
import type { Random } from './random.ts';

/** A member with the JSON text of its name. */
export interface Member {
  name: string;
  value: Tree;
}

/** A JSON value. A scalar is its text. */
export type Tree = string | { members: Member[] } | { items: Tree[] };

export const quoted = (text: string): string => JSON.stringify(text);

/**
 * The names lack a single quotation mark and a single backslash: with them, `JSON.parse` of Node 24 itself sometimes
 * returns another name, which depends on the texts that were parsed before.
 */
export const NAMES: readonly string[] = [
  ...['"a"', '"b"', '"c"', '"0"', '"1"', '"10"', '"-1"', '"01"', '"é"', '"😀"', '"\\u0061"', '","'],
  ...[
    '"a,b"',
    '"\\",\\""',
    '""',
    '"a\\\\b"',
    '"\\\\u0061"',
    '"__proto__"',
    '"__proto__"',
    '"__pr\\u006fto__"',
    '"length"',
  ],
  ...[
    '"constructor"',
    '"toString"',
    '"managedFields"',
    '"metadata"',
    '"uid"',
    '"\\ud800"',
    '"a b"',
  ],
];

const NUMBERS: readonly string[] = [
  ...[
    '0',
    '-0',
    '-0.0',
    '-0e1',
    '1',
    '12',
    '123',
    '-1',
    '0.1',
    '1e308',
    '1e400',
    '-1e400',
    '5e-324',
  ],
  ...['1e-400', '9007199254740993', '1E+2', '1e2', '100', '-12.5e3', '-12.5', '4294967296', '1.0'],
  // Longer than a number is exact.
  ...['90071992547409931', '99999999999999999', '9223372036854775807', '28823037615171174401'],
];

const STRINGS: readonly string[] = [
  ...[
    '""',
    '"a"',
    '"b"',
    '"ab"',
    '"\\""',
    '"\\\\"',
    '"x\\\\"',
    '"\\\\\\""',
    '"]"',
    '"}"',
    '"{[,:"',
  ],
  ...[
    '"é"',
    '"è"',
    '"ß€😀"',
    '"ß€😁"',
    '"\\ud800"',
    '"\\udc00"',
    '"\\ud83d\\ude00"',
    '"\\u0000"',
    '"\\n\\t"',
  ],
  ...['"\u007f\u2028"', '"\\/"', '"managedFields"', '"\\"managedFields\\":["', '"\ufeff"'],
];

function string(random: Random): string {
  if (random.chance(0.8)) return random.of(STRINGS);
  const part = random.of(['x', 'é', '\\n', '\\"', 'text ', '\\\\', '😀']);
  return `"${part.repeat(random.below(60))}"`;
}

export function scalar(random: Random): string {
  const kind = random.below(5);
  if (kind === 0) return random.of(['true', 'false', 'null']);
  return kind <= 2 ? random.of(NUMBERS) : string(random);
}

/** A random value; a deep one in a few cases. */
export function value(random: Random, depth = 0): Tree {
  if (random.chance(0.004)) return deep(random);
  const kind = random.below(depth > 4 ? 4 : 8);
  if (kind < 4) return scalar(random);
  const length = random.chance(0.01) ? 250 + random.below(20) : random.below(5);
  const wide = length > 10;
  if (kind < 6) {
    return {
      items: Array.from({ length }, () => (wide ? scalar(random) : value(random, depth + 1))),
    };
  }
  return {
    members: Array.from({ length }, (_, index) => ({
      name: wide ? `"m${index}"` : random.of(NAMES),
      value: wide ? scalar(random) : value(random, depth + 1),
    })),
  };
}

/** A value around the depth below which members are parsed whole. */
function deep(random: Random): Tree {
  let tree: Tree = scalar(random);
  for (let depth = 18 + random.below(14); depth > 0; depth--) {
    tree = random.chance(0.5) ? { items: [tree] } : { members: [{ name: '"d"', value: tree }] };
  }
  return tree;
}

const MANAGED: Tree = {
  items: [
    {
      members: [
        { name: '"manager"', value: '"kubelet \\"]}"' },
        { name: '"time"', value: '"2026-01-01T00:00:00Z"' },
        {
          name: '"fieldsV1"',
          value: { members: [{ name: '"k:{\\"uid\\":\\"a\\"}"', value: { members: [] } }] },
        },
      ],
    },
    { members: [{ name: '"manager"', value: '"x"' }] },
  ],
};

/** The identity of an object. Two of the UIDs have the same hash. */
export interface Identity {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly uid: string;
}

export const IDENTITIES: readonly Identity[] = [
  { name: 'one', namespace: 'd', uid: 'uid-Aa' },
  { name: 'two', namespace: 'd', uid: 'uid-BB' },
  { name: 'three', namespace: 'e', uid: 'uid-3' },
  { name: 'four', namespace: undefined, uid: 'uid-4' },
  { name: 'fünf', namespace: 'd', uid: '' },
];

/** A random object of this identity and kind. */
export function object(
  random: Random,
  identity: Identity,
  kind: string,
): Tree & { members: Member[] } {
  const member = (name: string, of: Tree): Member => ({ name: quoted(name), value: of });
  const metadata = [
    member('name', quoted(identity.name)),
    ...(identity.namespace === undefined ? [] : [member('namespace', quoted(identity.namespace))]),
    member('uid', quoted(identity.uid)),
    member('resourceVersion', '"1"'),
    ...(random.chance(0.6) ? [member('labels', value(random, 3))] : []),
  ];
  if (random.chance(0.7)) {
    metadata.push(
      member('managedFields', random.chance(0.8) ? structuredClone(MANAGED) : value(random)),
    );
  }
  const members = [
    member('metadata', { members: random.chance(0.4) ? random.shuffled(metadata) : metadata }),
    member('spec', value(random)),
    member('status', value(random)),
  ];
  if (random.chance(0.7))
    members.unshift(member('kind', quoted(kind)), member('apiVersion', '"v1"'));
  if (random.chance(0.2)) members.push(member('data', value(random)));
  return { members: random.chance(0.3) ? random.shuffled(members) : members };
}

const SPACES: readonly string[] = ['', ' ', '\t', '\r', '  '];

/** Writes a tree. `spaces` is the share of places with white space. */
export function textOf(tree: Tree, random: Random, spaces = 0): string {
  const gap = () => (spaces > 0 && random.chance(spaces) ? random.of(SPACES) : '');
  const written = (each: Tree): string => {
    if (typeof each === 'string') return each;
    const parts =
      'items' in each
        ? each.items.map((item) => `${gap()}${written(item)}${gap()}`)
        : each.members.map(
            ({ name, value: own }) => `${gap()}${name}${gap()}:${gap()}${written(own)}${gap()}`,
          );
    return 'items' in each ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
  };
  return written(tree);
}

/** Sets a member of `metadata`, in the last one if there are several. */
export function setVersion(tree: { members: Member[] }, version: number): void {
  for (const { name, value: own } of tree.members) {
    if (name !== '"metadata"' || typeof own === 'string' || 'items' in own) continue;
    for (const each of own.members) {
      if (each.name === '"resourceVersion"') each.value = quoted(String(version));
    }
  }
}
