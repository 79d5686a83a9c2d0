/// <reference types="node" />
/** One connection through the proxy, with its delay, throttling, cut and loss. */
import type { Socket } from 'node:net';
import type { SchedulerLike, Subscription } from 'rxjs';

/** The interval at which a throttled connection sends, in milliseconds. */
const SLICE_MS = 50;

/** The delays and rates of all connections of a proxy. The highest delay and the lowest rate apply. */
export interface Conditions {
  readonly delays: Set<{ readonly ms: number }>;
  readonly rates: Set<{ readonly bytesPerSecond: number }>;
}

function delayOf({ delays }: Conditions): number {
  return Math.max(0, ...[...delays].map(({ ms }) => ms));
}

function rateOf({ rates }: Conditions): number {
  return Math.min(...[...rates].map(({ bytesPerSecond }) => bytesPerSecond));
}

/** One direction of one connection. It forwards chunks in order, each when it is due. */
class Pipe {
  readonly #to: Socket;
  readonly #from: Socket;
  readonly #scheduler: SchedulerLike;
  readonly #conditions: Conditions;
  readonly #throttled: boolean;
  readonly #onBytes: (bytes: Buffer) => Buffer;
  #chunks: { bytes: Buffer; readonly dueMs: number }[] = [];
  #timer: Subscription | undefined;
  #ended = false;
  lost = false;

  constructor(parts: {
    readonly from: Socket;
    readonly to: Socket;
    readonly scheduler: SchedulerLike;
    readonly conditions: Conditions;
    /** Whether the rate limit applies, which is only in the direction of the client. */
    readonly throttled: boolean;
    onBytes(bytes: Buffer): Buffer;
  }) {
    this.#from = parts.from;
    this.#to = parts.to;
    this.#scheduler = parts.scheduler;
    this.#conditions = parts.conditions;
    this.#throttled = parts.throttled;
    this.#onBytes = (bytes) => parts.onBytes(bytes);
    this.#from.on('data', (bytes: Buffer) => {
      if (this.lost) return;
      this.#chunks.push({ bytes, dueMs: this.#scheduler.now() + delayOf(this.#conditions) });
      this.#from.pause();
      this.#flow();
    });
    this.#from.on('end', () => {
      this.#ended = true;
      this.#flow();
    });
  }

  stop(): void {
    this.#timer?.unsubscribe();
    this.#chunks = [];
  }

  #flow(): void {
    if (this.#timer !== undefined && !this.#timer.closed) return;
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      const waitMs = chunk.dueMs - this.#scheduler.now();
      if (waitMs > 0) return this.#later(waitMs);
      const rate = this.#throttled ? rateOf(this.#conditions) : Number.POSITIVE_INFINITY;
      const most = Math.max(1, Math.floor((rate * SLICE_MS) / 1000));
      const { bytes } = chunk;
      if (bytes.length <= most) this.#chunks.shift();
      else chunk.bytes = bytes.subarray(most);
      this.#write(bytes.subarray(0, most));
      if (Number.isFinite(rate)) return this.#later(SLICE_MS);
    }
    if (this.lost) return undefined;
    if (this.#ended) this.#to.end();
    else this.#from.resume();
    return undefined;
  }

  #later(ms: number): void {
    this.#timer = this.#scheduler.schedule(() => {
      this.#timer = undefined;
      this.#flow();
    }, ms);
  }

  #write(bytes: Buffer): void {
    if (this.lost || this.#to.destroyed) return;
    const passed = this.#onBytes(bytes);
    if (passed.length > 0) this.#to.write(passed);
  }
}

/** One connection between a client and the server. */
export class Connection {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #pipes: readonly Pipe[];
  /** The number of bytes that may still be sent to the client before the cut. */
  #leftBytes = Number.POSITIVE_INFINITY;

  constructor(parts: {
    readonly client: Socket;
    readonly upstream: Socket;
    readonly scheduler: SchedulerLike;
    readonly conditions: Conditions;
    onSent(bytes: number): void;
    onClose(connection: Connection): void;
  }) {
    const { client, upstream, scheduler, conditions } = parts;
    this.#client = client;
    this.#upstream = upstream;
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    const toClient = (bytes: Buffer) => {
      const passed = bytes.subarray(0, this.#leftBytes);
      this.#leftBytes -= passed.length;
      parts.onSent(passed.length);
      if (this.#leftBytes > 0) return passed;
      // The connection is reset only after these bytes have been sent.
      client.write(passed, () => this.reset());
      return passed.subarray(0, 0);
    };
    const shared = { scheduler, conditions };
    this.#pipes = [
      new Pipe({
        ...shared,
        from: client,
        to: upstream,
        throttled: false,
        onBytes: (bytes) => bytes,
      }),
      new Pipe({ ...shared, from: upstream, to: client, throttled: true, onBytes: toClient }),
    ];
    for (const socket of [client, upstream]) {
      socket.on('error', () => this.reset());
      socket.on('close', () => {
        if (!this.lost) this.#close();
        else if (socket === client) this.reset();
        if (client.destroyed) parts.onClose(this);
      });
    }
  }

  get lost(): boolean {
    return this.#pipes.some(({ lost }) => lost);
  }

  lose(): void {
    for (const pipe of this.#pipes) {
      pipe.lost = true;
      pipe.stop();
    }
    // The upstream data of a lost connection is read and dropped.
    this.#upstream.resume();
    this.#client.resume();
  }

  cutAfter(bytes: number): void {
    this.#leftBytes = bytes;
    if (bytes <= 0) this.reset();
  }

  reset(): void {
    for (const pipe of this.#pipes) pipe.stop();
    for (const socket of [this.#client, this.#upstream]) {
      if (!socket.destroyed) socket.resetAndDestroy();
    }
  }

  #close(): void {
    for (const pipe of this.#pipes) pipe.stop();
    this.#client.destroy();
    this.#upstream.destroy();
  }
}
