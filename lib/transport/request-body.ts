/** Converts the body that a caller passes to the body that is sent. */
import { defer, from, type Observable, of } from 'rxjs';

/** A body as it is sent, and its content type, if it implies one. Both are absent if there is no body. */
export interface SentBody {
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
}

const ACCEPTED = 'pass text, bytes, a Blob or plain data';

/** The original error is not attached, because it may quote the body. */
function unreadable(where: string, why: string): TypeError {
  return new TypeError(`${where}: the body ${why}; ${ACCEPTED}`);
}

function jsonBody(body: unknown, where: string): SentBody {
  const tag = Object.prototype.toString.call(body).slice(8, -1);
  const isOdd =
    typeof body === 'object' &&
    body !== null &&
    !['Object', 'Array'].includes(tag) &&
    typeof (body as { toJSON?: unknown }).toJSON !== 'function';
  // A map, a stream, a form or a promise would be sent as `{}`.
  if (isOdd) throw unreadable(where, `is a ${tag}, which cannot be sent as JSON`);
  let text: string | undefined;
  let lost = '';
  try {
    text = JSON.stringify(body, (name, value: unknown) => {
      // In Kubernetes null means the default, and a merge patch deletes the field.
      if (typeof value === 'number' && !Number.isFinite(value)) lost = `has ${value} in ${name}`;
      return value;
    });
  } catch {
    throw unreadable(where, 'cannot be converted to JSON');
  }
  if (lost !== '') throw unreadable(where, `${lost}, which JSON would send as null`);
  if (text === undefined)
    throw unreadable(where, `is a ${typeof body}, which cannot be sent as JSON`);
  return { body: text, contentType: 'application/json' };
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body instanceof Uint8Array) return body;
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  const tag = Object.prototype.toString.call(body);
  if (tag === '[object ArrayBuffer]') return new Uint8Array(body as ArrayBuffer);
  // `fetch` rejects bytes that another thread may change.
  if (tag === '[object SharedArrayBuffer]') return new Uint8Array(body as ArrayBuffer).slice();
  return undefined;
}

async function readBlob(blob: Blob, where: string): Promise<SentBody> {
  let buffer: ArrayBuffer;
  try {
    buffer = await blob.arrayBuffer();
  } catch {
    throw unreadable(where, 'could not be read');
  }
  return { body: new Uint8Array(buffer), ...(blob.type === '' ? {} : { contentType: blob.type }) };
}

/**
 * Converts a body: text and bytes are sent as they are, everything else as JSON. Emits synchronously, except for a
 * Blob. Errors with a `TypeError` if the body cannot be sent.
 */
export function sentBody(body: unknown, where: string): Observable<SentBody> {
  return defer(() => {
    if (body === undefined) return of({});
    if (typeof body === 'string') return of({ body });
    if (typeof Blob !== 'undefined' && body instanceof Blob) return from(readBlob(body, where));
    const bytes = bytesOf(body);
    return of(bytes === undefined ? jsonBody(body, where) : { body: bytes });
  });
}
