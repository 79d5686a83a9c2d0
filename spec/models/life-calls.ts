/**
 * What the calls of an informer's life amount to, in a few slow lines: calls take effect one after the other, in the
 * order in which they were made, whether they were made in a callback or not.
 */

export type Phase = 'idle' | 'running' | 'stopped';

/** One subscription of a data stream. */
export interface ModelHolder {
  /** `stop()` completes those who were there when it was called. */
  completed: boolean;
  left: boolean;
  /** Holds the run that is alive. */
  holds: boolean;
}

export class LifeModel {
  phase: Phase = 'idle';
  pinned = false;
  holders: ModelHolder[] = [];
  lingersUntilMs: number | undefined;
  stops = 0;
  /** How many runs there were. */
  generation = 0;
  readonly #lingerMs: number;

  constructor(lingerMs: number) {
    this.#lingerMs = lingerMs;
  }

  start(): void {
    this.#run();
    this.pinned = true;
  }

  subscribe(): ModelHolder {
    this.#run();
    const holder = { completed: false, left: false, holds: true };
    this.holders.push(holder);
    return holder;
  }

  leave(holder: ModelHolder, nowMs: number): void {
    // One who leaves after a stop was called, and before it takes effect, is not completed.
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

  /** Time has passed. */
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
  }

  #end(phase: 'idle' | 'stopped'): void {
    this.phase = phase;
    this.pinned = false;
    this.lingersUntilMs = undefined;
    for (const holder of this.holders) holder.holds = false;
  }
}
