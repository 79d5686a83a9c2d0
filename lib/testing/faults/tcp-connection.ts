/// <reference types="node" />
/** One connection through the proxy: what slows it down, cuts it or loses it. */
import type { Socket } from 'node:net';
import type { SchedulerLike, Subscription } from 'rxjs';

/** A throttled connection is served in slices this long. */
const SLICE_MS = 50;

/** What slows all connections of a proxy down; the worst counts. */
export interface Weather {
  readonly delays: Set<{ readonly ms: number }>;
  readonly rates: Set<{ readonly bytesPerSecond: number }>;
}

function delayOf({ delays }: Weather): number {
  return Math.max(0, ...[...delays].map(({ ms }) => ms));
}

function rateOf({ rates }: Weather): number {
  return Math.min(...[...rates].map(({ bytesPerSecond }) => bytesPerSecond));
}

/** One direction of one connection: chunks in order, each when its time has come. */
class Pipe {
  readonly #to: Socket;
  readonly #from: Socket;
  readonly #scheduler: SchedulerLike;
  readonly #weather: Weather;
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
    readonly weather: Weather;
    /** Only what goes to the client is throttled. */
    readonly throttled: boolean;
    onBytes(bytes: Buffer): Buffer;
  }) {
    this.#from = parts.from;
    this.#to = parts.to;
    this.#scheduler = parts.scheduler;
    this.#weather = parts.weather;
    this.#throttled = parts.throttled;
    this.#onBytes = (bytes) => parts.onBytes(bytes);
    this.#from.on('data', (bytes: Buffer) => {
      if (this.lost) return;
      this.#chunks.push({ bytes, dueMs: this.#scheduler.now() + delayOf(this.#weather) });
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
      const rate = this.#throttled ? rateOf(this.#weather) : Number.POSITIVE_INFINITY;
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

/** One connection: a client, the server it was meant for, and what is between them. */
export class Connection {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #pipes: readonly Pipe[];
  /** Bytes to the client that are left before the cut. */
  #leftBytes = Number.POSITIVE_INFINITY;

  constructor(parts: {
    readonly client: Socket;
    readonly upstream: Socket;
    readonly scheduler: SchedulerLike;
    readonly weather: Weather;
    onSent(bytes: number): void;
    onClose(connection: Connection): void;
  }) {
    const { client, upstream, scheduler, weather } = parts;
    this.#client = client;
    this.#upstream = upstream;
    client.setNoDelay(true);
    upstream.setNoDelay(true);
    const toClient = (bytes: Buffer) => {
      const passed = bytes.subarray(0, this.#leftBytes);
      this.#leftBytes -= passed.length;
      parts.onSent(passed.length);
      if (this.#leftBytes > 0) return passed;
      // What was let through leaves first: the cut is after it, not before.
      client.write(passed, () => this.reset());
      return passed.subarray(0, 0);
    };
    const shared = { scheduler, weather };
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
    // The server is gone for this client; what it still sends goes nowhere.
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
