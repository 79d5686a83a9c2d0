/** Makes nearly valid and hostile texts of valid ones. */
import type { Dice } from '../dice.ts';

/** Characters that separate, quote or escape somewhere, and characters that only look like others. */
const HOSTILE = [
  ...' \t\n\r\v\f\0\u0085\u00a0\u2028\ufeff,,==!!()<>\\\\//..--__::*%@?#+"\'[]{}|~^$;&',
  ...'aAzZ019eEmkKiüßİıＡ１٣é😀\u0301\u212a',
] as const;

/** One edit of a list of characters. */
function edited(dice: Dice, chars: readonly string[]): readonly string[] {
  const at = dice.below(chars.length + 1);
  const before = chars.slice(0, at);
  switch (dice.weighed({ insert: 3, remove: 3, replace: 3, repeat: 1, swap: 1, cut: 1 })) {
    case 'insert':
      return [...before, dice.pick(HOSTILE), ...chars.slice(at)];
    case 'remove':
      return [...before, ...chars.slice(at + 1)];
    case 'replace':
      return [...before, dice.pick(HOSTILE), ...chars.slice(at + 1)];
    case 'repeat':
      return [...before, ...chars.slice(Math.max(0, at - 3), at), ...chars.slice(at)];
    case 'swap':
      return [...before.slice(0, -1), ...chars.slice(at, at + 1), ...before.slice(-1)].concat(
        chars.slice(at + 1),
      );
    case 'cut':
      return before;
  }
}

/** Returns the text, or with this probability the text after one to three edits. */
export function perhapsHostile(dice: Dice, text: string, probability = 0.35): string {
  if (!dice.chance(probability)) return text;
  // By code points, because JSON cannot carry half of a surrogate pair to Go.
  let chars: readonly string[] = [...text];
  for (let left = 1 + dice.below(3); left > 0; left--) chars = edited(dice, chars);
  return chars.join('');
}

/** Joins parts that are made one after the other. */
export function several(dice: Dice, most: number, separator: string, part: () => string): string {
  return Array.from({ length: 1 + dice.below(most) }, part).join(separator);
}
