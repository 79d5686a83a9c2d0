/** A simulated server: jobs share its cores, its network and a bounded number of places. */
import type { EventClock } from './events.ts';

/** The size of a simulated server. */
export interface ServerSize {
  readonly cores: number;
  /** What the network of the server carries, in bytes per millisecond. */
  readonly bytesPerMs: number;
  /** How many requests may be in progress; others are refused with a 429. */
  readonly places: number;
}

/** What a server has done. */
export interface ServerTotals {
  requests: number;
  answered: number;
  /** Answered with a 429. */
  refused: number;
  /** Refused connections, while the server is down. */
  unreachable: number;
  bytes: number;
  cpuMs: number;
  /** The most requests that arrived within one second. */
  peakPerSecond: number;
}

export type Reply = 'done' | 'busy' | 'down';

/** First come, first served: each job takes the core that is free first, and then its bytes leave in order. */
export class SimulatedServer {
  readonly totals: ServerTotals = {
    requests: 0,
    answered: 0,
    refused: 0,
    unreachable: 0,
    bytes: 0,
    cpuMs: 0,
    peakPerSecond: 0,
  };
  readonly #clock: EventClock;
  readonly #size: ServerSize;
  readonly #freeAtMs: number[];
  #networkFreeAtMs = 0;
  #second = -1;
  #inSecond = 0;
  inProgress = 0;
  isUp = true;

  constructor(clock: EventClock, size: ServerSize) {
    this.#clock = clock;
    this.#size = size;
    this.#freeAtMs = Array.from({ length: size.cores }, () => 0);
  }

  /** A request that takes CPU time and sends bytes. Calls back when the last byte has left, or when it is refused. */
  request(cpuMs: number, bytes: number, reply: (how: Reply) => void): void {
    const { totals } = this;
    this.#count();
    if (!this.isUp) {
      totals.unreachable += 1;
      return this.#clock.after(0, () => reply('down'));
    }
    if (this.inProgress >= this.#size.places) {
      totals.refused += 1;
      // A refusal is cheap, but not free.
      totals.cpuMs += 0.05;
      return this.#clock.after(0, () => reply('busy'));
    }
    this.inProgress += 1;
    this.#clock.after(this.work(cpuMs, bytes), () => {
      this.inProgress -= 1;
      totals.answered += 1;
      reply('done');
    });
  }

  /** Work that is no request, such as a delivery to open watches. Returns the time until its last byte has left. */
  work(cpuMs: number, bytes: number): number {
    const { nowMs } = this.#clock;
    this.totals.cpuMs += cpuMs;
    this.totals.bytes += bytes;
    let core = 0;
    for (let at = 1; at < this.#freeAtMs.length; at++) {
      if ((this.#freeAtMs[at] as number) < (this.#freeAtMs[core] as number)) core = at;
    }
    const computedMs = Math.max(nowMs, this.#freeAtMs[core] as number) + cpuMs;
    this.#freeAtMs[core] = computedMs;
    const sentMs = Math.max(computedMs, this.#networkFreeAtMs + bytes / this.#size.bytesPerMs);
    this.#networkFreeAtMs = sentMs;
    return sentMs - nowMs;
  }

  /** Work that all cores share, such as the delivery of one change to all watches. */
  spread(cpuMs: number, bytes: number): number {
    let longest = 0;
    const { cores } = this.#size;
    for (let at = 0; at < cores; at++) {
      longest = Math.max(longest, this.work(cpuMs / cores, bytes / cores));
    }
    return longest;
  }

  #count(): void {
    this.totals.requests += 1;
    const second = Math.floor(this.#clock.nowMs / 1000);
    if (second !== this.#second) [this.#second, this.#inSecond] = [second, 0];
    this.#inSecond += 1;
    this.totals.peakPerSecond = Math.max(this.totals.peakPerSecond, this.#inSecond);
  }
}
