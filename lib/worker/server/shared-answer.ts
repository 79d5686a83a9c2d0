/** The stream of a named query: computed once for all tabs that ask it, and kept for the linger after the last has left. */
import { defer, Observable, type SchedulerLike, Subscription } from 'rxjs';
import { tap } from 'rxjs/operators';
import { FollowedInformers } from '../../query/engine/informers.ts';
import type { Lineage } from '../../query/engine/lineage.ts';
import { liveShare } from '../../query/operators/live-share.ts';
import { afterLinger, Holders } from '../../rx/sharing/holders.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { SetSource } from '../../store/set-source.ts';
import { checkedSets } from './checked-sets.ts';

type Sets = Observable<AnyChangeSet<unknown>>;

/** The parts of a shared answer. */
export interface SharedAnswerParts {
  /** The beginning of errors, with the name of the query. */
  readonly where: string;
  readonly source: Sets;
  readonly lingerMs: number;
  readonly scheduler: SchedulerLike;
  /** The stream has failed, or what it emits is refused. */
  onError?(error: unknown): void;
  /** The first tab asks it. */
  onBegin(): void;
  /** No tab asks it, and its linger is over. */
  onEnd(): void;
}

export class SharedAnswer {
  readonly stream: Sets;
  readonly #parts: SharedAnswerParts;
  readonly #tabs = new Holders(
    () => this.end(),
    (end) => {
      const { lingerMs, scheduler } = this.#parts;
      return this.#kept.closed ? end() : afterLinger(end, lingerMs, scheduler);
    },
  );
  #shared: Sets;
  /** Keeps the rows while tabs ask for them, and for the linger. */
  #kept = Subscription.EMPTY;
  /** Whether an informer was stopped, so that what is shared has rows of an informer that does not follow the server. */
  #isOutdated = false;

  constructor(parts: SharedAnswerParts) {
    this.#parts = parts;
    this.#shared = this.#share();
    this.stream = new Observable((subscriber) => {
      if (this.#isOutdated) this.#renew();
      subscriber.add(this.#shared.subscribe(subscriber));
      if (!subscriber.closed) this.#keep();
    });
  }

  /**
   * A tab asks it, until the returned function is called, and may be hidden meanwhile. Its subscriptions end with a stop of the
   * informers, and begin again.
   */
  enter(): () => void {
    const leave = this.#tabs.hold();
    if (this.#tabs.count === 1) this.#parts.onBegin();
    this.#keep();
    return leave;
  }

  /** Ends the rows that are kept, for good if no tab asks for them. */
  end(): void {
    const kept = this.#kept;
    this.#kept = Subscription.EMPTY;
    this.#tabs.cancel();
    kept.unsubscribe();
    if (this.#tabs.count === 0) this.#parts.onEnd();
  }

  #share(): Sets {
    const { where, source } = this.#parts;
    const error = (thrown: unknown) => this.#parts.onError?.(thrown);
    // A check for each run, because it counts rows.
    const checked = defer(() => source.pipe(tap(checkedSets(where)), tap({ error })));
    return liveShare()(checked) as Sets;
  }

  #keep(): void {
    if (!this.#kept.closed) return;
    const kept = new Subscription();
    this.#kept = kept;
    // Tabs show refused rows and errors.
    const followed = new FollowedInformers(
      () => {
        const isStopped = followed.statuses.some(({ phase }) => phase === 'stopped');
        if (isStopped && !isSubscribing) this.#isOutdated = true;
      },
      () => undefined,
    );
    let isSubscribing = true;
    const sets = new SetSource<unknown>(() => followed.follow(sets.origin as Lineage, false));
    const end = () => kept.unsubscribe();
    kept.add(followed);
    kept.add(
      sets.read(this.#shared, {
        next: () => undefined,
        error: end,
        complete: end,
      }),
    );
    isSubscribing = false;
    // What is left of a run that ends while it lingers is outdated.
    kept.add(() => {
      if (this.#kept === kept && this.#tabs.count === 0) this.end();
    });
  }

  /** Begins another run for those who subscribe from now on, as the views of all tabs do when the informer runs again. */
  #renew(): void {
    const former = this.#kept;
    this.#isOutdated = false;
    this.#kept = Subscription.EMPTY;
    this.#shared = this.#share();
    this.#keep();
    // Afterwards, because it keeps the other informers running.
    former.unsubscribe();
  }
}
