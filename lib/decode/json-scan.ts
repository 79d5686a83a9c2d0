/**
 * Finds the ends of JSON values in bytes without parsing them. The text is expected to be valid. In other text the end
 * that is found is arbitrary, so a caller must parse what it uses.
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_ARRAY = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
export const SPACE = 0x20;
/** The last ASCII character. */
export const DELETE = 0x7f;

/** The bit in which a brace differs from the square bracket of the same direction. */
const BRACE_BIT = 0x20;

/** Longer strings are searched natively. For shorter ones the call costs more than the loop. */
const SHORT = 48;

/** Returns the position after the string that begins at `at`, with its quote; -1 if it does not end before `to`. */
export function endOfString(bytes: Uint8Array, at: number, to: number): number {
  const near = Math.min(at + SHORT, to);
  let next = at + 1;
  while (next < near) {
    const byte = bytes[next++];
    if (byte === QUOTE) return next;
    if (byte === BACKSLASH) next++;
  }
  // A quote is part of the string if an odd number of backslashes precedes it.
  for (let from = next; from < to; ) {
    const quote = bytes.indexOf(QUOTE, from);
    if (quote < 0 || quote >= to) return -1;
    let before = quote;
    while (before > from && bytes[before - 1] === BACKSLASH) before--;
    if ((quote - before) % 2 === 0) return quote + 1;
    from = quote + 1;
  }
  return -1;
}

/** Returns the position after the value that begins at `at`; -1 if it does not end before `to`. */
export function endOfValue(bytes: Uint8Array, at: number, to: number): number {
  const first = bytes[at];
  if (first === QUOTE) return endOfString(bytes, at, to);
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return endOfScalar(bytes, at, to);
  let depth = 0;
  for (let next = at; next < to; ) {
    const byte = bytes[next++] as number;
    if (byte === QUOTE) {
      const near = next + SHORT;
      // Most bytes are in strings, so this loop is written out for two of them.
      for (;;) {
        const one = bytes[next++];
        if (one === QUOTE) break;
        if (one === BACKSLASH) next++;
        else {
          const other = bytes[next++];
          if (other === QUOTE) break;
          if (other === BACKSLASH) next++;
        }
        if (next < near) continue;
        next = endOfString(bytes, near - SHORT - 1, to);
        if (next < 0) return -1;
        break;
      }
    } else if (byte >= OPEN_ARRAY) {
      // Both brackets of one direction differ in one bit. Digits, commas and colons are below.
      const bracket = byte | BRACE_BIT;
      if (bracket === OPEN_OBJECT) depth++;
      else if (bracket === CLOSE_OBJECT && --depth === 0) return next;
    }
  }
  return -1;
}

/** Whether the bytes between `from` and `to` are this ASCII text. */
export function isText(text: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== bytes[from + at] || code > DELETE) return false;
  }
  return true;
}

/** Returns the end of a number or a word. */
function endOfScalar(bytes: Uint8Array, at: number, to: number): number {
  let next = at;
  while (next < to) {
    const byte = bytes[next] ?? SPACE;
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || byte <= SPACE) break;
    next++;
  }
  return next === at ? -1 : next;
}
