/** Makes texts that nobody else has. */

/** A text that differs from that of every other call. Not `randomUUID`, which pages of plain HTTP do not have. */
export function uniqueText(random: () => number): string {
  return Array.from({ length: 4 }, () => random().toString(36).slice(2)).join('');
}
