/** Label selectors, as text and as objects, and field selectors. */
import { type LabelSelectorObject, parseFieldSelector, parseLabelSelector } from 'rx-informer';
import type { Dice } from '../dice.ts';
import { perhapsHostile, several } from './hostile-texts.ts';
import { type Difference, type Outcome, outcomeOf, type Subject } from './subject.ts';

const LONG = 'x'.repeat(63);
const KEYS = [
  ...['app', 'app', 'app', 'tier', 'tier', 'in', 'notin', 'a', 'A_b.c', '0', LONG],
  ...['example.com/app', 'b.c/d', `${'p'.repeat(253)}/a`],
];
const BAD_KEYS = [
  `${LONG}x`,
  `${'p'.repeat(254)}/a`,
  'B.C/d',
  'a/b/c',
  '/a',
  'a/',
  '-a',
  'constructor',
];
const VALUES = [
  ...['web', 'web', 'db', '', '1', '5', '5', '10', '007', '0', 'in', 'notin', 'a.b_c-d', LONG],
  ...['9223372036854775807', '9223372036854775808'],
];
const BAD_VALUES = [`${LONG}x`, '-1', '+5', 'a b', 'ü', '_', 'x.'];
/** Values that only an object can have, because a server refuses them. */
const FOREIGN_VALUES = ['-1', '-9223372036854775809', '+5', '5.0', ' 5', '0x5', '５'];

type Labels = Readonly<Record<string, string>>;

interface Terms {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

interface SelectorAnswer {
  readonly error?: string;
  readonly requirements: readonly Terms[];
  readonly matches: readonly boolean[] | null;
  readonly ours: readonly boolean[] | null;
}

/** A value that lists `requirements` and `matches`. */
interface Parsed {
  readonly normal: string;
  readonly matches: readonly boolean[];
  /** The matches of the normal form, as the other side reads it. */
  readonly normalMatches: readonly boolean[];
}

interface LabelCase {
  readonly text: string;
  readonly object?: LabelSelectorObject;
  readonly sets: readonly Labels[];
}

const keyOf = (dice: Dice) => dice.pick(dice.chance(0.03) ? BAD_KEYS : KEYS);
const labelValue = (dice: Dice) => dice.pick(dice.chance(0.03) ? BAD_VALUES : VALUES);
const space = (dice: Dice) => dice.pick(['', '', '', ' ', '  ', '\t']);

function labelTerm(dice: Dice): string {
  const key = keyOf(dice);
  const gap = () => space(dice);
  const list = () => several(dice, 3, `${gap()},${gap()}`, () => labelValue(dice));
  switch (dice.weighed({ exists: 2, absent: 2, equal: 4, set: 4, bound: 3 })) {
    case 'exists':
      return key;
    case 'absent':
      return `!${gap()}${key}`;
    case 'equal':
      return `${key}${gap()}${dice.pick(['=', '==', '!='])}${gap()}${labelValue(dice)}`;
    case 'set':
      return `${key} ${gap()}${dice.pick(['in', 'notin'])}${gap()}(${gap()}${list()}${gap()})`;
    case 'bound':
      return `${key}${gap()}${dice.pick(['<', '>'])}${gap()}${dice.pick(['5', '007', '0', labelValue(dice)])}`;
  }
}

/** A `metav1.LabelSelector`, which may be invalid. */
function labelObject(dice: Dice): LabelSelectorObject {
  const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'];
  const expression = () => {
    const operator = dice.pick(dice.chance(0.03) ? ['in', 'Gt', ''] : operators);
    const fits = operator.endsWith('In') === dice.chance(0.97);
    const values = Array.from({ length: fits ? 1 + dice.below(2) : 0 }, () => labelValue(dice));
    const listed = values.length > 0 || dice.chance(0.5) ? { values } : {};
    return { key: keyOf(dice), operator, ...(dice.chance(0.02) ? { values: null } : listed) };
  };
  const labels = Array.from({ length: dice.below(3) }, () => [keyOf(dice), labelValue(dice)]);
  const expressions = Array.from({ length: dice.below(3) }, expression);
  const without = dice.chance(0.01) ? null : undefined;
  return {
    ...(dice.chance(0.7) ? { matchLabels: without ?? Object.fromEntries(labels) } : {}),
    ...(dice.chance(0.7) ? { matchExpressions: without ?? expressions } : {}),
    ...(dice.chance(0.01) ? { app: 'web' } : {}),
  } as LabelSelectorObject;
}

/** Labels that often have a key and a value of the selector. */
function labelsLike(dice: Dice, text: string): Labels {
  const keys = KEYS.filter((key) => text.includes(key));
  const entries = [...keys, dice.pick(KEYS)]
    .filter(() => dice.chance(0.7))
    .map((key) => {
      const known = VALUES.filter((value) => text.includes(value));
      return [key, dice.pick(dice.chance(0.6) ? known : [...VALUES, ...FOREIGN_VALUES])];
    });
  return Object.fromEntries(entries);
}

/** The normal form of a requirement, written down here once more, so that ours is not its own judge. */
function normalLabel({ key, operator, values }: Terms): string {
  const sorted = [...new Set(values)].sort();
  const isNegated = operator === 'notin' || operator === '!=';
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'gt':
    case 'lt':
      return `${key}${operator === 'gt' ? '>' : '<'}${sorted[0]}`;
    default:
      return sorted.length === 1
        ? `${key}${isNegated ? '!=' : '='}${sorted[0]}`
        : `${key} ${isNegated ? 'notin' : 'in'} (${sorted})`;
  }
}

function ordered(texts: readonly (readonly [key: string, text: string])[]): string {
  const unique = new Map(texts.map(([key, text]) => [text, key]));
  const byKey = ([textA, a]: [string, string], [textB, b]: [string, string]) =>
    a === b ? (textA < textB ? -1 : 1) : a < b ? -1 : 1;
  return [...unique]
    .sort(byKey)
    .map(([text]) => text)
    .join(',');
}

function parsedBy(answer: SelectorAnswer, normal: string): Outcome {
  if (answer.error !== undefined) return { refused: answer.error };
  const matches = answer.matches ?? [];
  const value: Parsed = { normal, matches, normalMatches: answer.ours ?? [] };
  return { value };
}

const matchesIn = (value: unknown) => (value as Parsed).matches;

const texts = (given: LabelCase) => (given.object === undefined ? given.text : given.object);

const labelDifferences: readonly Difference<LabelCase>[] = [
  {
    name: 'a NUL ends the text',
    reason:
      "client-go's scanner takes a NUL for the end of the text. Ours refuses it, because the rest of the selector would be lost.",
    explains: ({ given, ours }) => ours.refused !== undefined && given.text.includes('\0'),
  },
  {
    name: 'null in a selector object',
    reason:
      'Go takes null for an empty map or list, which selects everything. Ours refuses it, because a field that is missing by mistake must not select everything.',
    explains: ({ given, ours }) =>
      /are null|is null/.test(ours.refused ?? '') && JSON.stringify(given.object).includes('null'),
  },
  {
    name: 'an unknown field of a selector object',
    reason: 'Go ignores it, so that { app: "web" } selects everything. Ours refuses it.',
    explains: ({ given, ours }) =>
      ours.refused?.includes('"app" is not a field of a selector') === true &&
      Object.hasOwn(given.object ?? {}, 'app'),
  },
];

export const labelSelectors: Subject<LabelCase, SelectorAnswer> = {
  name: 'label selector',
  caseOf: (dice) => {
    const object = dice.chance(0.25) ? labelObject(dice) : undefined;
    const text = perhapsHostile(
      dice,
      several(dice, 4, ',', () => `${space(dice)}${labelTerm(dice)}`),
    );
    const sets = Array.from({ length: 6 }, () =>
      labelsLike(dice, object === undefined ? text : JSON.stringify(object)),
    );
    return object === undefined ? { text, sets } : { text: '', object, sets };
  },
  ours: (given) =>
    outcomeOf(/^label selector/, (): Parsed => {
      const selector = parseLabelSelector(texts(given));
      const matches = given.sets.map((labels) => selector.matches(labels));
      return { normal: selector.toString(), matches, normalMatches: matches };
    }),
  question: (given, ours) => ({ ...given, ours: (ours as { value?: Parsed }).value?.normal }),
  theirs: (answer) =>
    parsedBy(answer, ordered(answer.requirements.map((each) => [each.key, normalLabel(each)]))),
  balance: matchesIn,
  differences: labelDifferences,
};

interface FieldCase {
  readonly text: string;
  readonly sets: readonly Labels[];
}

const FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'status.phase',
  'spec.nodeName',
  'type',
  'ü',
];
const FIELD_VALUES = [
  '',
  'web-0',
  'Running',
  'a,b',
  'a=b',
  'a\\b',
  '\\',
  ',',
  '=',
  ' x ',
  '😀',
  '1',
];

function objectOf(fields: Labels): object {
  const object: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(fields)) {
    const names = path.split('.');
    const last = names.pop() ?? '';
    let at = object;
    for (const name of names) {
      at[name] ??= {};
      at = at[name] as Record<string, unknown>;
    }
    at[last] = value;
  }
  return object;
}

const escaped = (value: string) => value.replace(/[\\,=]/g, '\\$&');

export const fieldSelectors: Subject<FieldCase, SelectorAnswer> = {
  name: 'field selector',
  caseOf: (dice) => {
    const term = () => {
      const value = dice.pick(FIELD_VALUES);
      const operator = dice.pick(['=', '==', '!=']);
      return `${dice.pick(FIELDS)}${operator}${dice.chance(0.95) ? escaped(value) : value}`;
    };
    const text = perhapsHostile(dice, several(dice, 3, dice.pick([',', ',', ',,']), term));
    const sets = Array.from({ length: 6 }, () => {
      const some = FIELDS.filter(() => dice.chance(0.6));
      const known = FIELD_VALUES.filter((value) => text.includes(escaped(value)));
      return Object.fromEntries(some.map((field) => [field, dice.pick([...known, 'other'])]));
    });
    return { text, sets };
  },
  ours: ({ text, sets }) =>
    outcomeOf(/^field selector/, (): Parsed => {
      const selector = parseFieldSelector(text);
      const matches = sets.map((fields) => selector.matches(objectOf(fields)));
      return { normal: selector.toString(), matches, normalMatches: matches };
    }),
  question: (given, ours) => ({ ...given, ours: (ours as { value?: Parsed }).value?.normal }),
  theirs: (answer) =>
    parsedBy(
      answer,
      ordered(
        answer.requirements.map(({ key, operator, values: [value = ''] }) => [
          '',
          `${key}${operator === '!=' ? '!=' : '='}${escaped(value)}`,
        ]),
      ),
    ),
  balance: matchesIn,
  differences: [
    {
      name: 'a term without a field',
      reason:
        'Go compares the value of the field with the empty name. Ours refuses the term, because it cannot mean a field of an object.',
      explains: ({ ours }) => ours.refused?.includes('expected the path of a field') === true,
    },
  ],
};
