/** The informers of a view's pipe: their status, and the end of their runs. */
import { type Observable, Subscription } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';

/** Whether the informer is at rest: stopped, or without a subscriber. */
export function isResting({ phase }: InformerStatus): boolean {
  return phase === 'stopped' || phase === 'idle';
}

/** Follows the status of informers over any number of stops and starts, until it is unsubscribed. */
export class FollowedInformers extends Subscription {
  readonly #latest: (InformerStatus | undefined)[];
  /** The informers that were stopped, and whose next run the view has not subscribed to. */
  readonly #stopped = new Set<number>();
  /** Follow an informer again that was removed from its factory, which completes its status. */
  readonly #again: (() => void)[] = [];
  readonly #onStatus: () => void;
  readonly #onRestart: () => void;

  constructor(
    informers: readonly Observable<InformerStatus>[],
    onStatus: () => void,
    onRestart: () => void,
  ) {
    super();
    this.#latest = informers.map(() => undefined);
    this.#onStatus = onStatus;
    this.#onRestart = onRestart;
    for (const [at, status$] of informers.entries()) this.#follow(at, status$);
  }

  get statuses(): readonly InformerStatus[] {
    return this.#latest.filter((status) => status !== undefined);
  }

  /** The view subscribes to its source now, which starts the next run of stopped informers, also of removed ones. */
  subscribed(): void {
    for (const follow of this.#again.splice(0)) follow();
    this.#stopped.clear();
  }

  #follow(at: number, status$: Observable<InformerStatus>): void {
    const next = (status: InformerStatus) => {
      this.#latest[at] = status;
      if (status.phase === 'stopped') this.#stopped.add(at);
      else if (this.#stopped.delete(at)) this.#onRestart();
      this.#onStatus();
    };
    const complete = () => {
      this.#stopped.delete(at);
      this.#again.push(() => this.#follow(at, status$));
    };
    this.add(status$.subscribe({ next, complete }));
  }
}
