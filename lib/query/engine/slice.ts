/**
 * The slices of time that answers are computed in: one at a time for all of them, so that many answers that are asked together do
 * not stop the event loop together. The first that waits goes on first, and what a computation causes goes on before those behind it.
 */
import {
  asyncScheduler,
  Observable,
  type SchedulerLike,
  type Subscriber,
  Subscription,
} from 'rxjs';
import { nextMacrotask } from '../../rx/next-macrotask.ts';
import { stopwatch } from '../../rx/stopwatch.ts';

/** How long a slice takes, in milliseconds. */
const SLICE_MS = 8;

/** How many rows a step of a computation takes. The clock is read between steps. */
export const ROWS_A_STEP = 64;

/** A computation. */
interface Computed {
  readonly steps: Iterator<void, void>;
  /** Whether nobody waits for the result. */
  isOver(): boolean;
  /** Runs a task that is not caused by what runs now. */
  enter(task: () => void): void;
  done(): void;
}

/** The slices of one scheduler. */
export class Slices {
  readonly #scheduler: SchedulerLike;
  readonly #passedMs: () => number;
  /** Not virtual time. */
  readonly #isReal: boolean;
  /** When the present slice has begun. */
  #sinceMs: number | undefined;
  #waiting: Subscriber<never>[] = [];
  /** Where those wait that go on now, or that are caused by these. */
  #place: number | undefined;
  #posted: Subscription | undefined;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#passedMs = stopwatch(scheduler);
    this.#isReal = scheduler === asyncScheduler;
  }

  /** Call before a computation begins. In virtual time the event loop does not turn, so one that begins alone begins a slice. */
  begin(): this {
    const isAlone = this.#waiting.length === 0 && this.#place === undefined;
    if (isAlone && !this.#isReal) this.#sinceMs = undefined;
    return this;
  }

  /** Takes the steps: at once as many as the slice allows, but at least one, and the rest in later slices. Unsubscribing ends it. */
  advance({ steps, isOver, enter, done }: Computed): Subscription {
    const waits = new Subscription();
    const goOn = () => {
      while (!isOver()) {
        // Before the time is read, so that a few rows never wait.
        if (steps.next().done === true) return done();
        if (this.#isOpen()) continue;
        waits.add(this.#turn.subscribe({ complete: () => enter(goOn) }));
        return;
      }
    };
    goOn();
    return waits;
  }

  #isOpen(): boolean {
    const nowMs = this.#passedMs();
    if (this.#sinceMs === undefined) {
      this.#sinceMs = nowMs;
      // The slice ends with the turn of the event loop, whoever waits.
      if (this.#isReal) this.#post();
    }
    return nowMs - this.#sinceMs < SLICE_MS;
  }

  readonly #turn = new Observable<never>((subscriber) => {
    if (this.#place === undefined) this.#waiting.push(subscriber);
    else this.#waiting.splice(this.#place++, 0, subscriber);
    this.#post();
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== subscriber);
      if (this.#waiting.length > 0 || this.#isReal) return;
      this.#posted?.unsubscribe();
      this.#posted = undefined;
    };
  });

  #post(): void {
    this.#posted ??= nextMacrotask(this.#scheduler).subscribe(() => this.#run());
  }

  #run(): void {
    this.#posted = undefined;
    this.#sinceMs = undefined;
    do {
      this.#place = 0;
      this.#waiting.shift()?.complete();
      this.#place = undefined;
    } while (this.#waiting.length > 0 && this.#isOpen());
    if (this.#waiting.length > 0) this.#post();
  }
}

const known = /* @__PURE__ */ new WeakMap<SchedulerLike, Slices>();

/** The slices that all computations on a scheduler share. */
export function slicesOn(scheduler: SchedulerLike): Slices {
  const slices = known.get(scheduler) ?? new Slices(scheduler);
  known.set(scheduler, slices);
  return slices.begin();
}
