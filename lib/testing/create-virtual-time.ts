/** Virtual time for code with promises: between two timers, every promise runs that waits for no timer. */
import {
  firstValueFrom,
  type SchedulerLike,
  type Subscription,
  VirtualAction,
  VirtualTimeScheduler,
} from 'rxjs';
import { checkedNumber } from '../checks/checked-option.ts';
import { nextMacrotask } from '../rx/next-macrotask.ts';

/** Time that a test advances. */
export interface VirtualTime {
  /**
   * The scheduler to pass to everything under test. Its clock shows milliseconds since the start, and 0 is 1970: an object that
   * the fake API server creates first has the `creationTimestamp` `1970-01-01T00:00:00Z`.
   */
  readonly scheduler: SchedulerLike;
  /** The time of the scheduler, in milliseconds. It is 0 at the start. */
  now(): number;
  /** The number of timers that are still scheduled. After everything was stopped it is 0, or something has been left running. */
  readonly pending: number;
  /**
   * Advances the time by `ms` milliseconds: runs each timer at its time, and before each one and at the end the promises that wait
   * for no timer. Resolves when the time has passed; await it before the next call. Calls that overlap, such as one within a timer,
   * advance the time together, up to the latest of their ends. Rejects with the error that a timer throws, and with a
   * `TypeError` if `ms` is not a finite number of 0 or more.
   */
  advance(ms: number): Promise<void>;
}

/**
 * An action that is scheduled again as itself, as with a real scheduler. That of rxjs adds another action to itself each time, so that
 * the end of a period that has run for ten thousand times would overflow the stack.
 */
class ClockAction<T> extends VirtualAction<T> {
  override schedule(state?: T, delay = 0): Subscription {
    if (!this.closed && this.id !== undefined && Number.isFinite(delay)) {
      const { scheduler } = this;
      const at = scheduler.actions.indexOf(this);
      if (at !== -1) scheduler.actions.splice(at, 1);
      this.id = undefined;
      // After all actions that were scheduled for the same time before.
      this.index = ++scheduler.index;
    }
    return super.schedule(state, delay);
  }
}

/** The scheduler: rxjs's own, which runs all its actions without a pause, and here with one before each action. */
export class VirtualClock extends VirtualTimeScheduler {
  #pause: Promise<void> = Promise.resolve();

  constructor() {
    super(ClockAction as never, Number.POSITIVE_INFINITY);
  }

  get pending(): number {
    return this.actions.filter((action) => !action.closed).length;
  }

  async advance(ms: number): Promise<void> {
    const until = this.frame + ms;
    do await this.#paused();
    while (this.runNext(until));
    this.frame = Math.max(this.frame, until);
  }

  /** One pause after another, so that each action of overlapping calls has its own. */
  #paused(): Promise<void> {
    this.#pause = this.#pause.then(() => firstValueFrom(nextMacrotask()));
    return this.#pause;
  }

  /** Runs the next action, unless it is due later than `until`. Returns whether there was one. */
  protected runNext(until: number): boolean {
    const next = this.actions[0];
    if (next === undefined || next.delay > until) return false;
    this.actions.shift();
    this.frame = Math.max(this.frame, next.delay);
    if (next.closed) return true;
    // rxjs returns the error that an action throws. With a real timer it would be an uncaught exception.
    const error = next.execute(next.state, next.delay);
    if (error) throw error;
    return true;
  }
}

/**
 * Creates virtual time for a test of a controller, a client or a complete program on the fake API server. No
 * test waits in real time, and every run has the same timers in the same order. Pass its `scheduler` to everything that takes one: the server, the
 * client, `createListWatch`, informers or their factory, resource clients, controllers, electors and event recorders. Where it is left out, the
 * code waits in real time, and `advance` does not wait for it.
 *
 * A promise that needs timers settles only while the time advances. So call the function first, then advance, then await its
 * promise. Unlike in `marbles()`, code after an `await` runs, and the fake API server answers.
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer, createVirtualTime } from 'rx-informer/testing';
 *
 * const time = createVirtualTime();
 * const { scheduler } = time;
 * const server = createFakeApiServer({ scheduler });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler });
 * const informer = createSharedInformer(createListWatch(client, pods, { scheduler }), { scheduler });
 * const outage = server.faults.refuse();
 * informer.start();
 * await time.advance(3_600_000);
 * informer.status.phase; // => 'backoff'
 * outage.heal();
 * await time.advance(60_000);
 * informer.status.phase; // => 'watching'
 * const stopped = informer.stop();
 * await time.advance(0);
 * await stopped;
 * time.now(); // => 3_660_000
 * ```
 */
export function createVirtualTime(): VirtualTime {
  const clock = new VirtualClock();
  return {
    scheduler: clock,
    now: () => clock.frame,
    get pending() {
      return clock.pending;
    },
    advance: async (ms) => clock.advance(checkedNumber(ms, 'advance: ms')),
  };
}
