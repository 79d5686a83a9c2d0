/** Converts bytes to text and to JSON values, with errors that do not quote the text, because it may be a Secret. */
import { ApiError } from '../meta/api-error.ts';

// A decoder keeps no state between calls that are not streaming.
let decoder: TextDecoder | undefined;

/** Decodes UTF-8. Throws an {@link ApiError} if the bytes are not UTF-8. */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  decoder ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes.subarray(from, to));
  } catch {
    throw ApiError.local('Malformed', 'the stream is not UTF-8');
  }
}

/** Parses JSON. Throws an {@link ApiError} that names `what` and its length. */
export function parseText(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw ApiError.local(
      'Malformed',
      `${what} of ${text.length} characters is not JSON${hintOf(text)}`,
    );
  }
}

/** What the beginning of a text that is not JSON shows, for its error. */
export function hintOf(text: string): string {
  if (text.startsWith('\ufeff')) {
    return ': it begins with a byte order mark (BOM), which JSON must not have; look at the proxy';
  }
  if (!/^\s*</.test(text)) return '';
  return ': it is a page (HTML or XML). Is the address that of an API server, and is a proxy signed in?';
}
