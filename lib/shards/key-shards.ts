/** Divides the keys of a controller: which keys may be queued, which reconciles may run, and what must end before a slot is released. */
import { type Observable, Subscription } from 'rxjs';
import { filter, map, take } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { shardSlot, shardSlotOf } from '../meta/shard-ranges/shard-filter.ts';
import { liveSignal } from '../rx/live-signal.ts';
import type { ChangeSet } from '../store/change-set.ts';
import { DeletedKeys, type NotedDeletion, OthersDeletions } from './deleted-keys.ts';
import type {
  KeyShards,
  ShardedObjects,
  ShardedRun,
  ShardMember,
  ShardStatus,
} from './shard-member.ts';

/** A member whose status can be followed through its stops and starts. */
export interface DividingMember extends ShardMember {
  /** As `status$`, but never completes. */
  readonly statuses$: Observable<ShardStatus>;
  /** How long a slot may have no owner that reconciles, in milliseconds. */
  readonly gapMs: number;
  /** A stopwatch, in milliseconds. */
  passedMs(): number;
}

interface Run {
  readonly slot: number;
  readonly controller: AbortController;
  /** The deletion for which the reconcile runs. */
  readonly deletion: NotedDeletion | undefined;
}

/** The implementation of `KeyShards`. */
export class DividedKeys implements KeyShards {
  readonly leading$: Observable<boolean>;
  readonly text$: Observable<string>;
  readonly #member: DividingMember;
  readonly #name: string;
  readonly #objects: ShardedObjects;
  #deleted = new DeletedKeys();
  readonly #others = new OthersDeletions();
  readonly #runs = new Map<ShardedRun, Run>();
  readonly #waiting = new Map<number, (() => void)[]>();
  #release: (() => Promise<void>) | undefined;
  #watching: Subscription | undefined;

  constructor(member: DividingMember, name: string, objects: ShardedObjects) {
    this.#member = member;
    this.#name = name;
    this.#objects = objects;
    this.leading$ = member.joined$;
    this.text$ = member.statuses$.pipe(map(({ text }) => text));
  }

  get lastError(): ApiError | undefined {
    return this.#member.lastError;
  }

  get text(): string {
    return this.#member.status.text;
  }

  /** The next owner reconciles all keys of a slot, so all of them wait, changed or not. Nothing is counted between two readings. */
  get waiting(): number {
    const { by, status } = this.#member;
    const vacant = new Set(status.vacant);
    if (vacant.size === 0) return 0;
    this.#others.age(this.#member.passedMs());
    let count = this.#deleted.countIn(vacant) + this.#others.countIn(vacant);
    const present$ = this.#objects.changes$.pipe(take(1));
    const next = ({ changes }: ChangeSet<KubernetesObject>) => {
      for (const { object } of changes)
        if (object !== undefined && vacant.has(shardSlot(object, by))) count += 1;
    };
    present$.subscribe({ next, error: () => undefined }).unsubscribe();
    return count;
  }

  get isLeading(): boolean {
    const [slot] = this.#member.status.owned;
    return slot === undefined || this.#member.ownsSlot(slot);
  }

  start(): void {
    this.#watching ??= this.#watchRuns();
    this.#release ??= this.#member.hold();
  }

  async stop(): Promise<void> {
    const release = this.#release;
    this.#release = undefined;
    this.#watching?.unsubscribe();
    this.#watching = undefined;
    await release?.();
  }

  /** Lets no slot be released while one of its reconciles runs, also if the controller is stopping and its term has been closed. */
  #watchRuns(): Subscription {
    const watching = new Subscription(this.#member.onRelease((slot) => this.#end(slot)));
    watching.add(
      this.#member.statuses$.subscribe(() => {
        // Slots are lost without a release if the membership is over, or if the work took too long.
        for (const { controller } of [...this.#runs.values()]) void controller.signal.aborted;
      }),
    );
    return watching;
  }

  /**
   * Follows the objects during a term. `wake` is called with the keys of the slots that this member gains, also with those that were
   * deleted while the slot had no owner. The first slots have only such keys, because a term begins with all objects.
   */
  follow(wake: (key: string) => void): Subscription {
    const member = this.#member;
    this.#deleted = new DeletedKeys();
    const following = this.#objects.changes$.subscribe({
      next: ({ changes }) => {
        this.#deleted.beginSet();
        this.#others.age(member.passedMs());
        for (const { key, object, previous, last, left } of changes) {
          const gone = left === true ? undefined : (last ?? previous);
          if (object !== undefined || gone === undefined) this.#forget(key);
          else this.#noteDeletion(key, shardSlot(gone, member.by));
        }
      },
      error: () => undefined,
    });
    let before: ReadonlySet<number> = new Set(member.status.owned);
    this.#wakeDeleted(before, wake);
    following.add(
      member.slots$.subscribe((slots) => {
        const gained = new Set([...slots].filter((slot) => !before.has(slot)));
        before = slots;
        for (const lost of this.#deleted.keep((slot) => member.ownsSlot(slot)))
          this.#leave(...lost);
        if (gained.size === 0) return;
        following.add(this.#wakeAll(gained, wake));
        this.#wakeDeleted(gained, wake);
      }),
    );
    return following;
  }

  #noteDeletion(key: string, slot: number): void {
    this.#forget(key);
    if (this.#member.admitsSlot(slot)) this.#deleted.note(key, slot);
    else this.#leave(key, slot);
  }

  /** Leaves a deletion to the owner of its slot, unless this member is the next one. */
  #leave(key: string, slot: number): void {
    this.#others.note(key, slot, this.#member.passedMs() + this.#member.gapMs);
  }

  #forget(key: string): void {
    this.#deleted.forget(key);
    this.#others.forget(key);
  }

  #wakeDeleted(slots: ReadonlySet<number>, wake: (key: string) => void): void {
    this.#others.age(this.#member.passedMs());
    for (const [key, slot] of this.#others.take(slots)) {
      this.#deleted.note(key, slot);
      wake(key);
    }
  }

  #wakeAll(slots: ReadonlySet<number>, wake: (key: string) => void): Subscription {
    return this.#objects.changes$
      .pipe(
        filter(({ synced }) => synced),
        take(1),
      )
      .subscribe({
        next: ({ changes }) => {
          for (const { key, object } of changes) {
            if (object !== undefined && slots.has(shardSlot(object, this.#member.by))) wake(key);
          }
        },
        error: () => undefined,
      });
  }

  #slotOf(key: string): number | undefined {
    if (this.#member.by === 'namespace') {
      const name = key.slice(this.#objects.prefixOf?.(key).length ?? 0);
      // Not refused if it has more parts: the owner of the slot reports that.
      return shardSlotOf(name.slice(0, Math.max(0, name.indexOf('/'))));
    }
    const object = this.#objects.indexer.getByKey(key);
    return object === undefined ? this.#deleted.get(key)?.slot : shardSlot(object, 'uid');
  }

  /** Whether a key may be queued and its reconcile begin. */
  admits(key: string): boolean {
    const slot = this.#slotOf(key);
    return slot !== undefined && this.#member.admitsSlot(slot);
  }

  /** Begins a reconcile. Its signal aborts when its slot is lost. */
  begin(run: ShardedRun): void {
    const { key, controller } = run;
    const slot = this.#slotOf(key) ?? -1;
    const object = this.#objects.indexer.getByKey(key);
    const deletion = object === undefined ? this.#deleted.get(key) : undefined;
    this.#runs.set(run, { slot, controller, deletion });
    liveSignal(controller, () => {
      if (this.#member.ownsSlot(slot)) return undefined;
      const message = `${this.#name}: this replica does not own ${key} any more (slot ${slot})`;
      return ApiError.local('Aborted', message);
    });
  }

  /** A reconcile has returned. `isDone`: its key needs no further one. */
  end(run: ShardedRun, isDone: boolean): void {
    const { slot, deletion } = this.#runs.get(run) ?? {};
    this.#runs.delete(run);
    if (isDone && deletion !== undefined && this.#deleted.get(run.key) === deletion) {
      this.#deleted.forget(run.key);
    }
    if (slot === undefined || this.#isBusy(slot)) return;
    for (const resolve of this.#waiting.get(slot) ?? []) resolve();
    this.#waiting.delete(slot);
  }

  #isBusy(slot: number): boolean {
    return [...this.#runs.values()].some((run) => run.slot === slot);
  }

  /** Resolves when no reconcile of the slot runs. No other begins, because the slot is not admitted any more. */
  #end(slot: number): Promise<void> {
    if (!this.#isBusy(slot)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.set(slot, [...(this.#waiting.get(slot) ?? []), resolve]);
    });
  }
}
