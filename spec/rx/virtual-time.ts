/** The virtual time of `rx-informer/testing`, as a scheduler, with clocks that move without promises or without timers. */
import { VirtualClock } from '../../lib/testing/create-virtual-time.ts';

export class VirtualTime extends VirtualClock {
  /** As `advance`, but synchronously, for code without promises. */
  elapse(ms: number): void {
    const until = this.frame + ms;
    while (this.runNext(until));
    this.frame = until;
  }

  /** Moves only the clock, as after a sleep: due actions run late. */
  jump(ms: number): void {
    this.frame += ms;
  }
}
