/**
 * The head of one collection, which needs the UID of its cluster. Until the UID is known nothing is shown and nothing is
 * written, but no list waits for it.
 */
import type { SchedulerLike } from 'rxjs';
import type { ReadCollection } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import { looseTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { clusterUid, snapshotHead } from './snapshot-head.ts';
import type { CheckedSnapshotOptions } from './snapshot-options.ts';

/** How long a warm start waits for the UID after a list was answered, and the end of a run before it writes, in milliseconds. */
const UID_MS = 5_000;
/** The shortest time between two requests for the UID after one that failed, in milliseconds. */
const ASK_AGAIN_MS = 60_000;

export class KnownHead {
  /** '' until the UID is known. */
  head = '';
  readonly #collection: ReadCollection;
  readonly #options: CheckedSnapshotOptions;
  readonly #scheduler: SchedulerLike;
  readonly #passedMs: () => number;
  readonly #onKnown: () => void;
  #asking: Promise<string> | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;
  #hasWarned = false;

  constructor(
    collection: ReadCollection,
    options: CheckedSnapshotOptions,
    { scheduler }: { readonly scheduler: SchedulerLike },
    onKnown: () => void,
  ) {
    this.#collection = collection;
    this.#options = options;
    this.#scheduler = scheduler;
    this.#passedMs = stopwatch(scheduler);
    this.#onKnown = onKnown;
  }

  /** The head if the cluster has this UID. */
  headIn(cluster: string): string {
    return snapshotHead(this.#collection, this.#options, cluster);
  }

  /** Requests the UID. Rejects if that fails. */
  ask(): Promise<string> {
    this.#asking ??= clusterUid(this.#collection.client)
      .then((cluster) => {
        this.head = this.headIn(cluster);
        this.#onKnown();
        return this.head;
      })
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  /** Returns the head; '' if the server answers lists and not the request for the UID. Rejects if it answers neither. */
  within(listed: Promise<unknown>): string | Promise<string> {
    if (this.head !== '') return this.head;
    const waits = new Promise<string>((resolve) => {
      void listed.then(
        () => looseTimer(UID_MS, this.#scheduler, () => resolve('')),
        () => undefined,
      );
    });
    const known = this.ask().catch(async () => {
      await listed;
      return '';
    });
    return Promise.race([known, waits, listed.then(() => known)]);
  }

  /** Requests the UID of a server that answers lists. If it still does not tell it, `warn` is called once. */
  askAgain(warn: (why: string) => void): void {
    const passedMs = this.#passedMs();
    if (this.#asking !== undefined || passedMs - this.#askedMs < ASK_AGAIN_MS) return;
    this.#askedMs = passedMs;
    this.ask().catch((error: unknown) => {
      const { message } = ApiError.from(error, 'GET namespace kube-system');
      if (!this.#hasWarned) warn(`the UID of the cluster is not known: ${message}`);
      this.#hasWarned = true;
    });
  }
}
