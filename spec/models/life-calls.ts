/**
 * The model of an informer's lifecycle: calls take effect one after another, in the order in which they were made, whether they
 * were made in a callback or not.
 */

export type Phase = 'idle' | 'running' | 'stopped';

/** One subscription of a data stream. */
export interface ModelHolder {
  /** Completed by a `stop()` that was called while the subscription existed. */
  completed: boolean;
  left: boolean;
  /** Whether it holds the current run. */
  holds: boolean;
  /** Whether it is a view's, which subscribes again when the informer runs again after a stop. */
  readonly follows: boolean;
}

export class LifeModel {
  phase: Phase = 'idle';
  pinned = false;
  holders: ModelHolder[] = [];
  lingersUntilMs: number | undefined;
  stops = 0;
  /** The number of runs so far. */
  generation = 0;
  readonly #lingerMs: number;

  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  start(): void {
    this.#run();
    this.pinned = true;
  }

  subscribe(follows = false): ModelHolder {
    this.#run();
    const holder = { completed: false, left: false, holds: true, follows };
    this.holders.push(holder);
    return holder;
  }

  leave(holder: ModelHolder, nowMs: number): void {
    // A subscriber that leaves after a call of stop(), but before it takes effect, is not completed.
    holder.left = true;
    if (!holder.holds) return;
    holder.holds = false;
    if (this.phase !== 'running' || this.#held) return;
    if (this.#lingerMs === 0) this.#end('idle');
    else this.lingersUntilMs = nowMs + this.#lingerMs;
  }

  stop(): void {
    this.stops++;
    for (const holder of this.holders) if (!holder.left) holder.completed = true;
    this.#end('stopped');
  }

  /** Called when time has passed. */
  tick(nowMs: number): void {
    if (this.lingersUntilMs !== undefined && this.lingersUntilMs <= nowMs) this.#end('idle');
  }

  get #held(): boolean {
    return this.pinned || this.holders.some(({ holds }) => holds);
  }

  #run(): void {
    if (this.phase !== 'running') this.generation++;
    this.phase = 'running';
    this.lingersUntilMs = undefined;
    for (const holder of this.holders) {
      if (!holder.follows || holder.left || !holder.completed) continue;
      holder.completed = false;
      holder.holds = true;
    }
  }

  #end(phase: 'idle' | 'stopped'): void {
    this.phase = phase;
    this.pinned = false;
    this.lingersUntilMs = undefined;
    for (const holder of this.holders) holder.holds = false;
  }
}
