/** Encodes text as UTF-8. */

// Created at the first use, so that the library can be imported where a test environment, such as jsdom, has no TextEncoder.
let encoder: TextEncoder | undefined;

/** Returns the bytes of a text. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  encoder ??= new TextEncoder();
  return encoder.encode(text);
}
