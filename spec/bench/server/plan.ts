/** Which object the next event concerns, and how. The same seed gives the same events. */
import { seededRandom } from 'rx-informer/testing';
import type { Aspect } from '../corpus/fields.ts';

/**
 * `spread`: all objects in turn, 80 % MODIFIED. `hot`: 90 % of the changes concern a twentieth of the objects, 95 %
 * MODIFIED. `steady`: all objects in turn, all MODIFIED, for latencies.
 */
export type Mode = 'spread' | 'hot' | 'steady';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One event. `aspect` says what a MODIFIED event changes. */
export interface PlannedEvent {
  readonly type: EventType;
  readonly index: number;
  readonly aspect: Aspect;
}

const modified = { spread: 0.8, hot: 0.95, steady: 1 } as const;

/** At most this many objects are deleted and not yet created again. */
const mostAbsent = 32;

/** Chooses events. ADDED and DELETED alternate roughly, so the number of objects stays about the same. */
export class Plan {
  readonly #objects: number;
  readonly #random: () => number;
  /** Objects that are deleted now, the oldest first. */
  readonly #absent: number[];
  readonly #isAbsent: Uint8Array;
  #turn = 0;

  /** `absent` are the objects that an earlier plan left deleted. */
  constructor(objects: number, seed: number, absent: number[]) {
    this.#objects = objects;
    this.#random = seededRandom(seed);
    this.#absent = absent;
    this.#isAbsent = new Uint8Array(objects);
    for (const index of absent) if (index < objects) this.#isAbsent[index] = 1;
  }

  next(mode: Mode, last: boolean): PlannedEvent {
    // The last event is a MODIFIED one, so that a client that combines changes of an object still passes its version.
    const replaces = !last && this.#random() >= modified[mode];
    if (replaces && this.#absent.length > 0) {
      const oldest = this.#absent[0] ?? 0;
      if (this.#absent.length >= mostAbsent || this.#random() < 0.5) {
        this.#absent.shift();
        if (oldest < this.#objects) this.#isAbsent[oldest] = 0;
        return { type: 'ADDED', index: oldest, aspect: 'spec' };
      }
    }
    const index = this.#present(mode);
    if (replaces && this.#absent.length < this.#objects >> 1) {
      this.#absent.push(index);
      this.#isAbsent[index] = 1;
      return { type: 'DELETED', index, aspect: 'spec' };
    }
    const share = this.#random();
    const aspect = share < 0.8 ? 'status' : share < 0.9 ? 'labels' : 'spec';
    return { type: 'MODIFIED', index, aspect };
  }

  #present(mode: Mode): number {
    for (;;) {
      const index = mode === 'hot' ? this.#hot() : this.#inTurn();
      if (this.#isAbsent[index] === 0) return index;
    }
  }

  /** All objects in turn, in a scattered order. */
  #inTurn(): number {
    return (this.#turn++ * 7919) % this.#objects;
  }

  /** The hot objects are a scattered twentieth, so that they are of all sizes. */
  #hot(): number {
    const hot = Math.max(1, Math.floor(this.#objects / 20));
    return this.#random() < 0.9
      ? (Math.floor(this.#random() * hot) * 7919) % this.#objects
      : Math.floor(this.#random() * this.#objects);
  }
}
