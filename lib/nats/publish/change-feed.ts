/** The changes of an informer that wait to be published, folded by key. */
import { merge, Subscription } from 'rxjs';
import { filter, take } from 'rxjs/operators';
import type { SharedInformer } from '../../informer/shared-informer.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import { type Wanted, wantedOf } from './contents.ts';

export class ChangeFeed<T extends KubernetesObject> {
  readonly #informer: SharedInformer<T>;
  readonly #onChange: () => void;
  readonly #work = new Subscription();
  #pending = new Map<string, Wanted>();
  /** Whether the waiting changes are not all: the store must be compared with the bucket. */
  mustCompare = true;

  constructor(informer: SharedInformer<T>, onChange: () => void) {
    this.#informer = informer;
    this.#onChange = onChange;
  }

  /** Whether the store is complete, and the informer runs. */
  get isSynced(): boolean {
    return this.#informer.hasSynced;
  }

  /** Whether the store follows the API server, perhaps with the delay of a proxy that holds events back. */
  get isFollowing(): boolean {
    const { live, heldBack } = this.#informer.status;
    return live || heldBack !== undefined;
  }

  /** The number of keys that wait. */
  get waiting(): number {
    return this.#pending.size;
  }

  /** Takes all waiting changes. */
  take(): Wanted[] {
    const changes = [...this.#pending.values()];
    this.#pending = new Map();
    return changes;
  }

  /** Starts the informer, and follows its runs until unsubscribed. */
  start(): Subscription {
    this.#follow();
    // Neither a list without objects nor a lost watch causes a change set.
    const { synced$, status$ } = this.#informer;
    this.#work.add(merge(synced$, status$).subscribe(() => this.#onChange()));
    return this.#work;
  }

  /** A stopped informer is not started: its next run is followed when it begins. */
  #follow(): void {
    const changes = this.#informer.changes$.subscribe({
      next: (set) => this.#take(set),
      complete: () => {
        this.mustCompare = true;
        this.#onChange();
        if (this.#work.closed) return;
        const running$ = this.#informer.status$.pipe(
          filter(({ phase }) => phase !== 'stopped' && phase !== 'idle'),
          take(1),
        );
        this.#work.add(running$.subscribe(() => this.#follow()));
      },
    });
    this.#work.add(changes);
  }

  #take(set: ChangeSet<T>): void {
    if (set.reset || !set.synced) {
      this.mustCompare = true;
      this.#pending.clear();
    }
    for (const change of set.changes) {
      if (!this.mustCompare) this.#pending.set(change.key, wantedOf(change));
    }
    this.#onChange();
  }
}
