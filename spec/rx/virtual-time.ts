/** Virtual time for code with promises: all microtasks run between two actions. */
import { VirtualAction, VirtualTimeScheduler } from 'rxjs';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

export class VirtualTime extends VirtualTimeScheduler {
  constructor() {
    super(VirtualAction, Number.POSITIVE_INFINITY);
  }

  /** How many actions are still scheduled. */
  get pending(): number {
    return this.actions.filter((action) => !action.closed).length;
  }

  /** Advances by `ms`, action by action. */
  async advance(ms: number): Promise<void> {
    const until = this.frame + ms;
    for (;;) {
      await settle();
      const next = this.actions[0];
      if (next === undefined || next.delay > until) break;
      this.actions.shift();
      this.frame = Math.max(this.frame, next.delay);
      this.#run(next);
    }
    this.frame = until;
  }

  /** As `advance`, but synchronously, for code without promises. */
  elapse(ms: number): void {
    const until = this.frame + ms;
    for (let next = this.actions[0]; next !== undefined && next.delay <= until; ) {
      this.actions.shift();
      this.frame = Math.max(this.frame, next.delay);
      this.#run(next);
      next = this.actions[0];
    }
    this.frame = until;
  }

  /** rxjs returns the error that an action throws. With a real timer it would be an uncaught exception. */
  #run(action: (typeof this.actions)[number]): void {
    if (action.closed) return;
    const error = action.execute(action.state, action.delay);
    if (error) throw error;
  }

  /** Moves only the clock, as after a sleep: due actions run late. */
  jump(ms: number): void {
    this.frame += ms;
  }
}
