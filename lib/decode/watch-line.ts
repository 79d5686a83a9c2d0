/** Finds the type and the object of a watch event in the bytes of its line, if the line is written as servers do. */
import { CLOSE_OBJECT, isText, OPEN_OBJECT, QUOTE } from './json-scan.ts';

/** The types of events that have an object of the collection. */
export type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

const TYPES: readonly ObjectEventType[] = ['MODIFIED', 'ADDED', 'DELETED'];
const BEFORE_TYPE = '{"type":"';
const BEFORE_OBJECT = ',"object":';

function startsWith(bytes: Uint8Array, at: number, text: string): boolean {
  return isText(text, bytes, at, at + text.length);
}

/** Returns the type of the event; `undefined` if the line is of another form. */
export function typeOfLine(
  bytes: Uint8Array,
  from: number,
  to: number,
): ObjectEventType | undefined {
  if (bytes[to - 1] !== CLOSE_OBJECT || !startsWith(bytes, from, BEFORE_TYPE)) return undefined;
  for (const type of TYPES) {
    const end = from + BEFORE_TYPE.length + type.length;
    if (bytes[end] !== QUOTE || !startsWith(bytes, end - type.length, type)) continue;
    const object = end + 1 + BEFORE_OBJECT.length;
    return startsWith(bytes, end + 1, BEFORE_OBJECT) && bytes[object] === OPEN_OBJECT
      ? type
      : undefined;
  }
  return undefined;
}

/** Returns where the object of a line of this type begins. It ends before the last byte of the line. */
export function objectOfLine(from: number, type: ObjectEventType): number {
  return from + BEFORE_TYPE.length + type.length + 1 + BEFORE_OBJECT.length;
}
