/** The socket of a page to its server, as a host of queries. It is opened when somebody signs in, with new credentials each time. */
import { JoinedParts } from '../../wire/joined-parts.ts';
import {
  type AskedDifference,
  type Credentials,
  type FromTab,
  type FromWorker,
  isMessage,
} from '../../worker/messages.ts';
import type { StartHost } from '../../worker/page/hosts.ts';
import type { UserPort } from '../socket-port.ts';

/** The parts of a socket host. */
export interface SocketHostParts {
  open(): UserPort;
  credentials(): Credentials | Promise<Credentials>;
  /** What the last server has said with the rows. The next one shows none that are older. */
  position?: string | undefined;
}

type Hello = Extract<FromTab, { type: 'hello' }>;

/** An incarnation that no server has. */
const NO_SERVER = '';

class SocketHost {
  readonly #parts: SocketHostParts;
  readonly #failed: (error: Error, hasEnded?: boolean) => void;
  #listener: ((message: unknown) => void) | undefined;
  #unread: (() => void) | undefined;
  #port: UserPort | undefined;
  /** The first message, until the server has answered it. */
  #hello: Hello | undefined;
  /** The parts of large differences, by query. */
  #parted = new Map<number, JoinedParts>();

  constructor(parts: SocketHostParts, failed: (error: Error, hasEnded?: boolean) => void) {
    this.#parts = parts;
    this.#failed = failed;
  }

  listen(listener: (message: unknown) => void, onUnread?: () => void): void {
    this.#listener = listener;
    this.#unread = onUnread;
  }

  post(message: FromTab): void {
    if (message.type === 'hello') return this.#greet(message);
    const isIdentity = message.type === 'identity';
    // The server may have the former credentials, or not know the page yet.
    if (this.#hello && (isIdentity || message.type === 'hidden'))
      return this.#greet({ ...this.#hello, ...message, type: 'hello' });
    this.#port?.post(message);
    if (isIdentity && message.identity === undefined) this.#rest();
    else if (message.type === 'ping' && this.#port === undefined) this.#answer({ type: 'pong' });
  }

  close(): void {
    const port = this.#port;
    this.#port = undefined;
    this.#hello = undefined;
    port?.close();
  }

  /** Connects for a user, or for nobody not at all. */
  #greet(hello: Hello): void {
    this.close();
    if (hello.identity === undefined) return this.#rest();
    let port: UserPort;
    try {
      port = this.#parts.open();
    } catch (error) {
      return this.#failed(error as Error);
    }
    this.#port = port;
    this.#hello = hello;
    this.#parted = new Map();
    port.onEnd?.(({ code, reason }) => {
      if (this.#port !== port) return;
      this.#port = undefined;
      this.#failed(new Error(`${reason || 'the connection has ended'} (${code})`), true);
    });
    port.listen(
      (message) => {
        if (this.#port === port && isMessage(message)) this.#take(message as FromWorker);
      },
      () => this.#unread?.(),
    );
    void this.#signIn(port, hello);
  }

  async #signIn(port: UserPort, hello: Hello): Promise<void> {
    try {
      const [credentials] = await Promise.all([this.#parts.credentials(), port.opened]);
      if (this.#port !== port) return;
      port.post({ ...hello, credentials, position: this.#parts.position });
    } catch (error) {
      if (this.#port !== port) return;
      this.close();
      this.#failed(new Error(`credentials: ${(error as Error | undefined)?.message ?? error}`));
    }
  }

  /** Nobody is signed in: the tab is told so as by a server. */
  #rest(): void {
    this.close();
    this.#answer({ type: 'welcome', incarnation: NO_SERVER, epoch: 0 });
  }

  #answer(message: FromWorker): void {
    // As a message arrives: not while one is sent.
    queueMicrotask(() => this.#listener?.(message));
  }

  #take(message: FromWorker): void {
    if (message.type === 'welcome') this.#hello = undefined;
    if (message.type === 'signed-out') {
      // The server ends the socket. First, because somebody who is told may sign in, which connects again.
      this.#rest();
      return this.#listener?.({ ...message, ofHello: true });
    }
    if (message.type !== 'rows' || message.differences.length === 0)
      return this.#listener?.(message);
    this.#parts.position = message.position;
    const differences = message.differences.flatMap((part): AskedDifference[] => {
      const parts = this.#parted.get(part.id) ?? new JoinedParts();
      this.#parted.set(part.id, parts);
      const all = parts.join(part);
      return all ? [all] : [];
    });
    if (differences.length > 0) return this.#listener?.({ ...message, differences });
    // Nothing is shown of it, so no frame is waited for.
    const { set, incarnation, epoch } = message;
    this.#port?.post({ type: 'ack', set, incarnation, epoch });
  }
}

/** Makes hosts that ask a server. */
export function socketHost(parts: SocketHostParts): StartHost {
  return (failed) => ({ kind: 'server', port: new SocketHost(parts, failed) });
}
