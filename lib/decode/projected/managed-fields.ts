/** Finds `managedFields` in the bytes of the metadata of an object. */
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  endOfValue,
  isText,
  OPEN_ARRAY,
  QUOTE,
} from '../json-scan.ts';

const NAME = 'managedFields';

/** The place of `managedFields` in the metadata that was read last. */
export class ManagedFields {
  isFound = false;
  /** The complete member, with one of the commas beside it. */
  from = 0;
  to = 0;

  /**
   * Reads the metadata that begins at `start`. Returns the position after it; -1 if it is not written as servers do.
   * With `guesses` the end may be wrong, which the end of the object shows: it is not at the last byte then.
   */
  read(bytes: Uint8Array, start: number, to: number, guesses: boolean): number {
    this.isFound = false;
    if (bytes[start + 1] === CLOSE_OBJECT) return start + 2;
    for (let at = start + 1; ; at++) {
      const end = bytes[at] === QUOTE ? endOfString(bytes, at, to) : -1;
      if (end < 0 || bytes[end] !== COLON) return -1;
      const isManaged = isText(NAME, bytes, at + 1, end - 1);
      const guessed = isManaged && guesses ? guessedEnd(bytes, end + 1) : -1;
      const after = guessed < 0 ? endOfValue(bytes, end + 1, to) : guessed;
      if (after < 0) return -1;
      const isLast = bytes[after] === CLOSE_OBJECT;
      if (!isLast && bytes[after] !== COMMA) return -1;
      if (isManaged) {
        this.isFound = true;
        // With the comma behind the member, or with the one before it if it is the last.
        this.from = isLast && at > start + 1 ? at - 1 : at;
        this.to = isLast ? after : after + 1;
      }
      if (isLast) return after + 1;
      at = after;
    }
  }
}

/**
 * Guesses where `managedFields` end. They are usually the last member of the metadata and contain no other array. After
 * a wrong guess, more brackets are closed than were opened, or a string does not end.
 */
function guessedEnd(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== OPEN_ARRAY) return -1;
  const end = bytes.indexOf(CLOSE_ARRAY, start);
  return end > 0 && bytes[end - 1] === CLOSE_OBJECT && bytes[end + 1] === CLOSE_OBJECT
    ? end + 1
    : -1;
}
