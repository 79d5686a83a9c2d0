/** The informers of a pipe: their status, the end of their runs, and the rows that the operators over them refuse. */
import { type Observable, Subscription } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { Lineage } from './lineage.ts';

/** Whether the informer is at rest: stopped, or without a subscriber. */
export function isResting({ phase }: InformerStatus): boolean {
  return phase === 'stopped' || phase === 'idle';
}

type Status$ = Observable<InformerStatus>;

interface Followed {
  run: Subscription;
  latest?: InformerStatus;
  /** Whether it was stopped, and the reader has not subscribed to its next run. */
  isStopped: boolean;
  /** Whether it was removed from its factory, which completes its status. */
  isRemoved: boolean;
}

/** Follows the status of informers over any number of stops and starts, until it is unsubscribed. */
export class FollowedInformers extends Subscription {
  readonly #all = new Map<Status$, Followed>();
  #refused = Subscription.EMPTY;
  #isQuiet = false;
  readonly #onStatus: () => void;
  readonly #onRestart: () => void;

  constructor(onStatus: () => void, onRestart: () => void) {
    super(() => {
      for (const { run } of this.#all.values()) run.unsubscribe();
      this.#refused.unsubscribe();
    });
    this.#onStatus = onStatus;
    this.#onRestart = onRestart;
  }

  get statuses(): readonly InformerStatus[] {
    return [...this.#all.values()].flatMap(({ latest }) => latest ?? []);
  }

  /** Follows these informers, to which the reader subscribes now, in place of the former ones, which may be kept. */
  follow(
    { informers, refusedRows }: Pick<Lineage, 'informers' | 'refusedRows'>,
    keep: boolean,
  ): void {
    if (this.closed) return;
    this.#isQuiet = true;
    const former = this.#refused;
    this.#refused = new Subscription();
    for (const { rows$ } of refusedRows) this.#refused.add(rows$.subscribe(() => this.#changed()));
    former.unsubscribe();
    for (const status$ of informers) {
      if (this.#all.has(status$)) continue;
      const followed = { run: Subscription.EMPTY, isStopped: false, isRemoved: false };
      this.#all.set(status$, followed);
      this.#read(status$, followed);
      // The reader starts its next run.
      followed.isStopped = false;
    }
    for (const [status$, { run }] of this.#all) {
      if (keep || informers.has(status$)) continue;
      this.#all.delete(status$);
      run.unsubscribe();
    }
    this.#isQuiet = false;
  }

  /** The reader subscribes to its source now, which starts the next run of stopped informers, also of removed ones. */
  subscribed(): void {
    for (const [status$, followed] of this.#all) {
      if (followed.isRemoved) this.#read(status$, followed);
      followed.isStopped = false;
    }
  }

  #changed(): void {
    if (!this.#isQuiet) this.#onStatus();
  }

  #read(status$: Status$, followed: Followed): void {
    followed.isRemoved = false;
    const next = (status: InformerStatus) => {
      const { isStopped } = followed;
      followed.latest = status;
      followed.isStopped = status.phase === 'stopped';
      if (isStopped && !followed.isStopped) this.#onRestart();
      this.#changed();
    };
    const complete = () => {
      followed.isStopped = false;
      followed.isRemoved = true;
    };
    const run = new Subscription();
    followed.run = run;
    run.add(status$.subscribe({ next, complete }));
  }
}
