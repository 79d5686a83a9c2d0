/** From what a caller gives as a body to what is sent. */
import { defer, from, type Observable, of } from 'rxjs';

/** A body as it leaves, and the type it has of itself; both absent where there is none. */
export interface SentBody {
  readonly body?: string | Uint8Array;
  readonly contentType?: string;
}

const WANTED = 'give text, bytes, a Blob or plain data';

/** What is said of an error that is not attached: it may quote the body. */
function unreadable(where: string, why: string): TypeError {
  return new TypeError(`${where}: the body ${why}; ${WANTED}`);
}

function jsonBody(body: unknown, where: string): SentBody {
  const tag = Object.prototype.toString.call(body).slice(8, -1);
  const isOdd =
    typeof body === 'object' &&
    body !== null &&
    !['Object', 'Array'].includes(tag) &&
    typeof (body as { toJSON?: unknown }).toJSON !== 'function';
  // A map, a stream, a form or a promise would be sent as `{}`.
  if (isOdd) throw unreadable(where, `is a ${tag}, which JSON cannot carry`);
  let text: string | undefined;
  try {
    text = JSON.stringify(body);
  } catch {
    throw unreadable(where, 'cannot be made JSON: it holds itself or a bigint, or a toJSON throws');
  }
  if (text === undefined) throw unreadable(where, `is a ${typeof body}, which JSON cannot carry`);
  return { body: text, contentType: 'application/json' };
}

function bytesOf(body: object): Uint8Array | undefined {
  if (body instanceof Uint8Array) return body;
  if (ArrayBuffer.isView(body)) {
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  }
  const tag = Object.prototype.toString.call(body);
  if (tag === '[object ArrayBuffer]') return new Uint8Array(body as ArrayBuffer);
  // `fetch` takes no bytes that another thread may change.
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
 * Reads a body once: text and bytes as they are, all else as JSON, at once but for a Blob. Errors with a `TypeError`
 * where it can be neither.
 */
export function sentBody(body: unknown, where: string): Observable<SentBody> {
  return defer(() => {
    if (body === undefined) return of({});
    if (typeof body === 'string') return of({ body });
    if (typeof body !== 'object' || body === null) return of(jsonBody(body, where));
    if (typeof Blob !== 'undefined' && body instanceof Blob) return from(readBlob(body, where));
    const bytes = bytesOf(body);
    return of(bytes === undefined ? jsonBody(body, where) : { body: bytes });
  });
}
