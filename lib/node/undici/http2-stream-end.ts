/// <reference types="node" />
/**
 * Whether an HTTP/2 stream came to its end, or was reset in the middle. Node ends one that a server resets with
 * NO_ERROR or CANCEL as if it were whole, and undici passes that on; only Node's own channels tell.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

const CREATED = 'http2.client.stream.created';
const CLOSE = 'http2.client.stream.close';

/** The end of one request's stream. */
export interface StreamEnd {
  /** Called when undici begins the request: the stream that it opens in the same turn is this request's. */
  begin(): void;
  /** Whether there is a stream; known from when the request was begun. */
  readonly isHttp2: boolean;
  /** Whether the stream was closed before its last byte came. */
  readonly wasCut: boolean;
  /** The request is over: nothing is listened to any more. */
  release(): void;
}

/** Node says so when the last byte came, also when nobody has read it yet; it has no public name. */
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

/** Over HTTP/1.1, and where Node has no such channels, no stream is ever cut. */
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
