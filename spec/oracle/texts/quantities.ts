/** Quantities, compared by their exact amount. */
import { parseQuantity } from 'rx-informer';
import type { Dice } from '../dice.ts';
import { perhapsHostile } from './hostile-texts.ts';
import { outcomeOf, type Subject } from './subject.ts';

interface QuantityCase {
  readonly text: string;
}

/** The amount is `unscaled` × 10^-`scale`. */
interface QuantityAnswer {
  readonly error?: string;
  readonly unscaled: string;
  readonly scale: number;
  readonly float: number;
  readonly infinite: boolean;
  readonly milli: string;
}

const SUFFIXES = [
  ...['', '', '', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'],
  ...['e3', 'E3', 'e-3', 'e+3', 'E-12', 'e0', 'e18', 'e20', 'e-30'],
];
const BAD_SUFFIXES = [
  'K',
  'ki',
  'i',
  'KI',
  'e',
  'E+',
  'mm',
  'Kie3',
  'e1.5',
  'e500',
  'e-500',
  'e999',
  '%',
];

function digits(dice: Dice, most: number): string {
  return Array.from({ length: dice.below(most + 1) }, () => dice.pick([...'0012345678999'])).join(
    '',
  );
}

function quantityText(dice: Dice): string {
  const sign = dice.pick(['', '', '', '+', '-']);
  const whole = digits(dice, dice.pick([1, 3, 3, 19, 25])) || dice.pick(['0', '1', '1', '']);
  const fraction = dice.chance(0.4) ? `.${digits(dice, dice.pick([1, 3, 9, 12, 30]))}` : '';
  const suffix = dice.pick(dice.chance(0.05) ? BAD_SUFFIXES : SUFFIXES);
  return `${sign}${whole}${fraction}${suffix}`;
}

interface Amount {
  readonly nanos: string;
  readonly value: number;
  readonly milli: number;
}

/** The amount in units of 1e-9; `undefined` if it is no integer of them or has more than 1,000 digits. */
function nanosOf({ unscaled, scale }: QuantityAnswer): string | undefined {
  const power = 9 - scale;
  if (power > 1_000 || power < -1_000) return unscaled === '0' ? '0' : undefined;
  const amount = BigInt(unscaled);
  if (power >= 0) return String(amount * 10n ** BigInt(power));
  const divisor = 10n ** BigInt(-power);
  return amount % divisor === 0n ? String(amount / divisor) : undefined;
}

/** The thousandths of an amount. Go's overflow beyond an int64, and ours are a `number`. */
function comparableMilli(nanos: string | undefined, milli: number): number | string {
  const most = BigInt(Number.MAX_SAFE_INTEGER) * 1_000_000n;
  const amount = BigInt(nanos ?? most);
  return amount < most && amount > -most ? milli : 'too large';
}

export const quantities: Subject<QuantityCase, QuantityAnswer> = {
  name: 'quantity',
  // Go computes a power of ten of any size, which takes minutes for an exponent of nine digits.
  caseOf: (dice) => ({
    text: perhapsHostile(dice, quantityText(dice), 0.25).replace(/(\d{4})\d+$/, '$1'),
  }),
  ours: ({ text }) =>
    outcomeOf(/^quantity: /, () => {
      const { nanos, value, milli } = parseQuantity(text);
      return { nanos: String(nanos), value, milli: comparableMilli(String(nanos), milli) };
    }),
  theirs: (answer) => {
    if (answer.error !== undefined) return { refused: answer.error };
    const { float, infinite, milli } = answer;
    const value = infinite ? (answer.unscaled.startsWith('-') ? -Infinity : Infinity) : float;
    const nanos = nanosOf(answer);
    return { value: { nanos, value, milli: comparableMilli(nanos, Number(milli)) } };
  },
  differences: [
    {
      name: 'thousandths of a negative amount',
      reason:
        'Go rounds negative amounts that it keeps as a decimal up, and once more up: -0.34 is -338 thousandths. Ours rounds them away from 0, as Go does with the negative amounts that it keeps as an integer.',
      explains: ({ ours, theirs }) => {
        if (ours.refused !== undefined || theirs.refused !== undefined) return false;
        const [own, other] = [ours.value, theirs.value] as Amount[];
        if (own === undefined || other?.nanos !== own.nanos || other.value !== own.value)
          return false;
        const nanos = BigInt(own.nanos);
        return nanos < 0n && BigInt(own.milli) === -((-nanos + 999_999n) / 1_000_000n);
      },
    },
    {
      name: 'no digits',
      reason: "Go takes an amount without digits, such as 'm' or '.', for 0. Ours refuses it.",
      explains: ({ ours }) => ours.refused?.includes('it has no digits') === true,
    },
    {
      name: 'too large for a number',
      reason:
        'Ours refuses more than 309 digits before the decimal point, because no number has as many and a short text must not need much memory.',
      explains: ({ ours }) => ours.refused?.includes('it is too large') === true,
    },
  ],
};
