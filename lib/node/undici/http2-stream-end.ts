/// <reference types="node" />
/**
 * Detects whether an HTTP/2 stream ended or was reset within its body. Node ends a stream that a server resets with
 * NO_ERROR or CANCEL like a complete stream, and so does undici. Only Node's diagnostics channels show the
 * difference.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const CREATED = 'http2.client.stream.created';
const CLOSE = 'http2.client.stream.close';

/** The end of one request's stream. */
export interface StreamEnd {
  /**
   * Call this when undici begins the request. The stream that undici opens in the same turn belongs to this request.
   */
  begin(): void;
  /** Whether the request has an HTTP/2 stream. Known after `begin()`. */
  readonly isHttp2: boolean;
  /** Whether the stream was closed before its last byte arrived. */
  readonly wasCut: boolean;
  /** Stops listening, because the request has ended. */
  release(): void;
}

/**
 * `ended` is set when the last byte has arrived, even if it has not been read. Node has no public property for this.
 */
interface Ending {
  readonly _readableState?: { readonly ended?: boolean };
}

let beginning: ((stream: object) => void) | undefined;
let listeners = 0;
const cut = new WeakSet<object>();

const onCreated = (message: unknown) => {
  beginning?.((message as { stream: object }).stream);
  beginning = undefined;
};
const onClose = (message: unknown) => {
  const { stream } = message as { stream: Ending };
  if (stream._readableState?.ended === false) cut.add(stream);
};

/**
 * Returns the observer of one request's stream. Over HTTP/1.1, and if Node lacks these channels, `wasCut` stays
 * false.
 */
export function streamEnd(): StreamEnd {
  let stream: object | undefined;
  let listens = false;
  return {
    begin() {
      if (!listens && listeners++ === 0) {
        subscribe(CREATED, onCreated);
        subscribe(CLOSE, onClose);
      }
      listens = true;
      const claim = (created: object) => {
        stream = created;
      };
      beginning = claim;
      queueMicrotask(() => {
        if (beginning === claim) beginning = undefined;
      });
    },
    get isHttp2() {
      return stream !== undefined;
    },
    get wasCut() {
      return stream !== undefined && cut.has(stream);
    },
    release() {
      if (!listens) return;
      listens = false;
      if (--listeners > 0) return;
      unsubscribe(CREATED, onCreated);
      unsubscribe(CLOSE, onClose);
    },
  };
}
