/** Virtual time for code with promises in it: between two actions the microtasks run dry. */
import { VirtualAction, VirtualTimeScheduler } from 'rxjs';

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

export class VirtualTime extends VirtualTimeScheduler {
  constructor() {
    super(VirtualAction, Number.POSITIVE_INFINITY);
  }

  /** Actions that would still run. */
  get pending(): number {
    return this.actions.filter((action) => !action.closed).length;
  }

  /** Lets `ms` pass, action by action. */
  async advance(ms: number): Promise<void> {
    const until = this.frame + ms;
    for (;;) {
      await settle();
      const next = this.actions[0];
      if (next === undefined || next.delay > until) break;
      this.actions.shift();
      this.frame = Math.max(this.frame, next.delay);
      if (!next.closed) next.execute(next.state, next.delay);
    }
    this.frame = until;
  }

  /** As `advance`, for code without promises: at once. */
  elapse(ms: number): void {
    const until = this.frame + ms;
    for (let next = this.actions[0]; next !== undefined && next.delay <= until; ) {
      this.actions.shift();
      this.frame = Math.max(this.frame, next.delay);
      if (!next.closed) next.execute(next.state, next.delay);
      next = this.actions[0];
    }
    this.frame = until;
  }

  /** The clock alone moves on, as after a sleep: what was due fires late. */
  jump(ms: number): void {
    this.frame += ms;
  }
}
