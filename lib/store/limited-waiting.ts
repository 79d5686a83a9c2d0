/** Change sets that wait as they are up to a limit. When more wait, they are folded, or the reading pauses, or the reader starts over. */
import type { AnyChangeSet, ChangeSet } from './change-set.ts';
import { Waiting } from './waiting.ts';

/** How change sets wait. */
export interface WaitingLimits<T> {
  /** How many sets wait as they are. A set that waits alone always does. @defaultValue 0 */
  readonly limit?: number | undefined;
  /** When more wait, stops the reading in place of the fold, until the returned function is called. */
  readonly pause?: (() => () => void) | undefined;
  /** When more wait, they are dropped in place of the fold. This makes the set that the reader takes next. */
  readonly startOver?: (() => ChangeSet<T>) | undefined;
}

export class LimitedWaiting<T> extends Waiting<T> {
  readonly #limits: WaitingLimits<T>;
  #startsOver = false;
  #resume: (() => void) | undefined;
  /** How many sets were pushed. */
  protected pushed = 0;

  constructor(limits: WaitingLimits<T> = {}) {
    super();
    this.#limits = limits;
  }

  override get size(): number {
    return this.#startsOver ? 1 : super.size;
  }

  override get isEmpty(): boolean {
    return !this.#startsOver && super.isEmpty;
  }

  override push(set: AnyChangeSet<T>): void {
    // A pause stops the reading, but not the resyncs of a handler, which would wait without a limit.
    if (this.#startsOver || (set.cause === 'resync' && this.#resume !== undefined)) return;
    this.pushed++;
    super.push(set);
  }

  override take(): ChangeSet<T> | undefined {
    const { startOver } = this.#limits;
    if (this.#startsOver && startOver !== undefined) super.push(startOver());
    this.#startsOver = false;
    const set = super.take();
    if (this.sets.length === 0) this.release();
    return set;
  }

  override clear(): void {
    super.clear();
    this.release();
  }

  /** Ends the pause. */
  release(): void {
    this.#resume?.();
    this.#resume = undefined;
  }

  /** How many sets wait of which nothing was taken. */
  protected get wholeSets(): number {
    return this.sets.length;
  }

  protected override wait(set: AnyChangeSet<T>): void {
    const { limit = 0, pause, startOver } = this.#limits;
    this.sets.push(set);
    if (this.sets.length === 1 || this.wholeSets <= limit) return;
    if (pause !== undefined) this.#resume ??= pause();
    else if (startOver === undefined) this.foldAll();
    else {
      this.clear();
      this.#startsOver = true;
    }
  }
}
