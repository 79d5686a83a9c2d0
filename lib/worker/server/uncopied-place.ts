/** Finds the part of rows that a message cannot carry. */
import type { RowDifference } from '../messages.ts';

/** The place of the first part that cannot be copied, such as `open of row "u1": `; empty if it is in no row. */
export function uncopiedPlace({ rows = [] }: RowDifference): string {
  for (const [id, , row] of rows) {
    const path = uncopiedPath(row, []);
    if (path !== undefined) return `${path.slice(1) || 'all'} of row ${JSON.stringify(id)}: `;
  }
  return '';
}

/** The path of the first part that cannot be copied; `undefined` if there is none. */
function uncopiedPath(value: unknown, within: readonly unknown[]): string | undefined {
  // A part that contains itself is searched once.
  if (isCopied(value) || within.includes(value)) return undefined;
  if (typeof value !== 'object' || value === null) return '';
  for (const name of Object.keys(value)) {
    const path = pathBelow(value, name, within);
    if (path !== undefined) return `.${name}${path}`;
  }
  return '';
}

function pathBelow(value: object, name: string, within: readonly unknown[]): string | undefined {
  try {
    return uncopiedPath(Reflect.get(value, name), [...within, value]);
  } catch {
    // A getter that throws.
    return '';
  }
}

function isCopied(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
