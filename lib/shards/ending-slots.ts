/** Ends the work on slots that must be released, and says when no work on them runs any more. */
import { type SchedulerLike, Subscription } from 'rxjs';
import { SHARD_SLOTS } from '../meta/shard-ranges/ranges.ts';
import { longTimer } from '../rx/long-timer.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';

/** Ends the work on a slot. */
export type EndWork = (slot: number) => Promise<unknown>;

/** Resolves when no work on any slot runs any more, also on slots that have been released. */
export async function allEnded(work: Iterable<EndWork>): Promise<void> {
  const slots = [...Array(SHARD_SLOTS).keys()];
  await Promise.allSettled([...work].flatMap((end) => slots.map(async (slot) => await end(slot))));
}

/** The parts of {@link EndingSlots}. */
export interface EndingSlotsParts {
  readonly scheduler: SchedulerLike;
  /** How long the work on a slot is waited for, in milliseconds. */
  readonly drainMs: number;
  /** All work. */
  readonly work: ReadonlySet<EndWork>;
  /** Called with the slots whose work ended in one turn of the event loop, so that they are released with one change of the ring. */
  ended(slots: readonly number[]): void;
}

/** The slots of one membership that are being released. */
export class EndingSlots {
  readonly #parts: EndingSlotsParts;
  readonly #ending = new Set<number>();
  readonly #ended = new Set<number>();
  readonly #timers = new Subscription();

  constructor(parts: EndingSlotsParts) {
    this.#parts = parts;
  }

  /** Ends the work on these slots, each on its own. Has no effect on slots whose work is being ended. */
  end(slots: Iterable<number>): void {
    const { scheduler, drainMs, work } = this.#parts;
    for (const slot of slots) {
      if (this.#ending.has(slot)) continue;
      this.#ending.add(slot);
      let isDone = false;
      const done = () => {
        limit.unsubscribe();
        if (isDone || this.#timers.closed) return;
        isDone = true;
        this.#end(slot);
      };
      const limit = longTimer(drainMs, scheduler).subscribe(done);
      this.#timers.add(limit);
      const ends = [...work].map(async (end) => {
        await end(slot);
      });
      Promise.all(ends).then(done, (error: unknown) => {
        reportUnhandled(error);
        done();
      });
    }
  }

  /** The membership is over, so nothing is released. */
  stop(): void {
    this.#timers.unsubscribe();
  }

  #end(slot: number): void {
    const isFirst = this.#ended.size === 0;
    this.#ended.add(slot);
    if (!isFirst) return;
    const turn = longTimer(0, this.#parts.scheduler).subscribe(() => {
      const slots = [...this.#ended];
      this.#ended.clear();
      for (const each of slots) this.#ending.delete(each);
      this.#parts.ended(slots);
    });
    this.#timers.add(turn);
  }
}
