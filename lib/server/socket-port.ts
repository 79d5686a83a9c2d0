/** `socketPort`, a port of messages over a WebSocket: of the package `ws`, of Bun, of Deno, or of a browser. */
import { check } from '../checks/checked-option.ts';
import type { Port } from '../worker/messages.ts';

/** The part of a WebSocket that is used. */
export interface SocketLike {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** 0 while it connects, 1 while it is open. */
  readonly readyState: number;
  /** How many bytes wait to be sent. */
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}

/** Why a socket has ended. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
}

/** A port of a user: any that keeps the order of messages. What a `MessagePort` cannot say may be absent; a `socketPort` has all of it. */
export interface UserPort extends Port {
  /** Resolves when the port can send. */
  readonly opened?: Promise<void>;
  /** Called once, when the other side or the network has ended the connection. */
  onEnd?(listener: (end: SocketEnd) => void): void;
  /** Ends the connection, with a code of WebSockets. */
  end?(code: number, reason: string): void;
  /** How many bytes wait to be sent. */
  readonly waiting?: number;
  /** How many characters it has carried, in both directions. */
  readonly carried?: number;
}

const OPEN = 1;
/** No code. */
const ABNORMAL: SocketEnd = { code: 1006, reason: '' };

function endOf(event: unknown): SocketEnd {
  const { code, reason } = event as { readonly code?: unknown; readonly reason?: unknown };
  return { code: Number(code) || ABNORMAL.code, reason: typeof reason === 'string' ? reason : '' };
}

/**
 * Makes a port of a WebSocket, for `serveUsers(…).connect(port, …)`. Messages are texts of JSON. What is posted after the end is
 * dropped, and what is no JSON is reported to the other side of the port as unread.
 *
 * Throws a `TypeError` if it is no WebSocket.
 *
 * @example
 * ```ts
 * import { socketPort } from 'rx-informer/server';
 *
 * const port = socketPort(new WebSocket('ws://127.0.0.1:1'));
 * port.post({ type: 'ping' });
 * port.close();
 * ```
 */
export function socketPort(socket: SocketLike): Required<UserPort> {
  const isSocket = typeof socket?.send === 'function' && typeof socket.close === 'function';
  check(isSocket, 'socketPort: the socket', socket, 'a WebSocket');
  let hasEnded = false;
  let ended: ((end: SocketEnd) => void) | undefined;
  const end = (event: unknown) => {
    if (hasEnded) return;
    hasEnded = true;
    ended?.(endOf(event));
  };
  socket.onclose = end;
  const opened = new Promise<void>((resolve) => {
    if (socket.readyState === OPEN) resolve();
    else socket.onopen = () => resolve();
  });
  // An error is followed by a close, which says why.
  socket.onerror = () => undefined;
  const port = {
    carried: 0,
    opened,
    post: (message: unknown) => {
      if (socket.readyState !== OPEN || hasEnded) return;
      const text = JSON.stringify(message);
      port.carried += text.length;
      socket.send(text);
    },
    listen: (listener: (message: unknown) => void, onUnread?: () => void) => {
      socket.onmessage = ({ data }: { readonly data: unknown }) => {
        if (hasEnded) return;
        if (typeof data !== 'string') return onUnread?.();
        port.carried += data.length;
        let message: unknown;
        try {
          message = JSON.parse(data);
        } catch {
          return onUnread?.();
        }
        listener(message);
      };
    },
    onEnd: (listener: (end: SocketEnd) => void) => {
      ended = listener;
      if (hasEnded) listener(ABNORMAL);
    },
    end: (code: number, reason: string) => {
      socket.close(code, reason);
      end({ code, reason });
    },
    close: () => {
      // First, because a socket that connects may end within the call.
      hasEnded = true;
      socket.close(1000, '');
    },
    get waiting() {
      return socket.bufferedAmount;
    },
  };
  return port;
}
