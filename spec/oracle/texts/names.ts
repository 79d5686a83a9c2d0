/** Names of objects, keys and values of labels, and keys of stores. */
import { joinMetaNamespaceKey, metaNamespaceKeyFunc, splitMetaNamespaceKey } from 'rx-informer';
import type { ServedResource } from '../../../lib/testing/served-resource.ts';
import { metadataCauses, nameCauses } from '../../../lib/testing/writes/metadata-rules.ts';
import type { Dice } from '../dice.ts';
import { perhapsHostile, several } from './hostile-texts.ts';
import { outcomeOf, type Subject } from './subject.ts';

interface NameCase {
  readonly rule: 'subdomain' | 'label' | 'segment' | 'generated' | 'label key' | 'label value';
  readonly text: string;
}

/** The trait of a resource that decides the rule of its names. */
const served = (plural: string, group = ''): ServedResource =>
  ({ resource: { group, plural }, custom: false }) as unknown as ServedResource;

/** The reasons of the fake server, without the value that they repeat. */
function reasonsOf({ rule, text }: NameCase): readonly string[] {
  const causes =
    rule === 'label key'
      ? metadataCauses(served('pods'), { labels: Object.fromEntries([[text, '']]) })
      : rule === 'label value'
        ? metadataCauses(served('pods'), { labels: { a: text } })
        : rule === 'generated'
          ? nameCauses(served('pods'), text, 'a')
          : nameCauses(
              served({ subdomain: 'pods', label: 'namespaces', segment: 'events' }[rule]),
              undefined,
              text,
            );
  const prefix = `Invalid value: ${JSON.stringify(text)}: `;
  return causes.map(({ message }) => {
    if (!message.startsWith(prefix)) throw new Error(`${message} does not name ${text}`);
    return message.slice(prefix.length);
  });
}

function nameText(dice: Dice): string {
  const word = () => dice.pick(['a', 'web', 'web-0', '0', 'x-y', 'xn--a', 'A', 'a_b', 'é']);
  switch (dice.weighed({ words: 6, long: 2, path: 2, odd: 1 })) {
    case 'words':
      return several(dice, 3, dice.pick(['.', '.', '-', '_', '..']), () =>
        dice.chance(0.8) ? dice.pick(['a', 'web', 'web-0', '0']) : word(),
      );
    case 'long': {
      const unit = dice.pick(['x', 'x', 'a.', 'é', '😀']);
      const bytes = dice.pick([63, 64, 253, 254, 62]);
      return unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit))).slice(0, bytes);
    }
    case 'path':
      return `${several(dice, 2, '.', word)}/${word()}`;
    case 'odd':
      return dice.pick([
        '',
        '.',
        '..',
        '/',
        '%',
        'a%2fb',
        'a-',
        'web-',
        '-',
        'constructor',
        'a/',
        '/a',
      ]);
  }
}

export const names: Subject<NameCase, readonly string[]> = {
  name: 'name',
  caseOf: (dice) => ({
    rule: dice.pick(['subdomain', 'label', 'segment', 'generated', 'label key', 'label value']),
    // A name that is not generated has no prefix to check.
    text: perhapsHostile(dice, nameText(dice), 0.2) || 'a',
  }),
  // The reasons are compared word by word, because a caller of the fake server sees them.
  ours: (given) => {
    const reasons = reasonsOf(given);
    return reasons.length === 0 ? { value: 'valid' } : { refused: reasons.join('; ') };
  },
  theirs: (reasons) =>
    reasons.length === 0 ? { value: 'valid' } : { refused: reasons.join('; ') },
  sameReasons: true,
  differences: [],
};

interface KeyCase {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}

interface KeyAnswer {
  readonly error?: string;
  readonly namespace: string;
  readonly name: string;
  readonly joined: string;
  readonly ofObject: string;
}

export const keys: Subject<KeyCase, KeyAnswer> = {
  name: 'key',
  caseOf: (dice) => {
    const part = () => perhapsHostile(dice, dice.pick(['', 'a', 'shop', 'web-0', 'a.b', '0']), 0.2);
    return {
      key: perhapsHostile(dice, several(dice, 3, '/', part), 0.1),
      namespace: part(),
      // An object without a name has no key here (M2).
      name: part() || 'x',
    };
  },
  ours: ({ key, namespace, name }) =>
    outcomeOf(/^unexpected key format/, () => {
      const joined = joinMetaNamespaceKey({ namespace, name });
      const ofObject = metaNamespaceKeyFunc({ metadata: { namespace, name } });
      return { ...splitMetaNamespaceKey(key), joined, ofObject };
    }),
  theirs: ({ error, ...value }) => (error === undefined ? { value } : { refused: error }),
  differences: [],
};
