/**
 * Keeps the objects of one ListerWatcher in a store: says what a warm start loads, and writes what each commit changed. At
 * most one write of a collection is in progress; changes that arrive meanwhile are written together, with the newest state
 * of each key.
 */
import { Observable, type Subscription } from 'rxjs';
import { concerns, isEmptyScope } from '../delta/relist.ts';
import type { InformerPort } from '../informer/part.ts';
import type { ListerWatcher, ReadCollection } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import { inScope } from '../meta/key.ts';
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import { isOlder } from '../meta/resource-version.ts';
import type { Delta } from '../reflector/delta.ts';
import type { ReflectOptions } from '../reflector/reflect-options.ts';
import { reflect } from '../reflector/reflector.ts';
import { looseTimer } from '../rx/long-timer.ts';
import { KnownHead } from './known-head.ts';
import type { CollectionKeeper, SharedStore } from './shared-store.ts';
import { clusterIn, hasKnownFormat, isUsable, snapshotId } from './snapshot-head.ts';
import type { SnapshotChange } from './snapshot-store.ts';
import { StoreReport } from './store-report.ts';
import { readParts, storedStates } from './stored-json.ts';
import { type LoadedSnapshot, type WarmSource, warmListWatch } from './warm-list-watch.ts';

type Deltas<T> = readonly Delta<T>[];

/** How long changes are collected before they are written, in milliseconds. */
const COLLECT_MS = 1_000;

/** Keeps the objects of one ListerWatcher during one run. */
export class Keeper<T extends KubernetesObject> implements WarmSource<T>, CollectionKeeper {
  ending: Promise<void> | undefined;
  readonly #port: InformerPort<T>;
  readonly #shared: SharedStore;
  readonly #scope: string | undefined;
  readonly #id: string;
  readonly #known: KnownHead;
  readonly #report: StoreReport;
  /** `loading`: a warm start is possible or in progress. `off`: nothing is written any more. */
  #phase: 'loading' | 'listing' | 'following' | 'off' = 'loading';
  mayStream: () => boolean = () => true;
  #emit: (deltas: Deltas<T>) => void = () => undefined;
  /** The time of the stored objects that are shown; absent if none are. */
  #shownMs: number | undefined;
  /** The version at which a warm start was confirmed. */
  #confirmed: string | undefined;
  /** The keys that differ from the store on disk. */
  #dirty = new Set<string>();
  /** The keys that events of the warm start have changed. */
  #changed = new Set<string>();
  /** `yes`: the store on disk has the collection, so the dirty keys are all that differs. `asks`: it wants a complete one. */
  #stored: 'no' | 'yes' | 'asks' = 'no';
  #version = '';
  /** Whether something has changed that is not written yet. */
  #isDue = false;
  /** Whether the server has refused the objects, and no request has succeeded since then. */
  #isRefused = false;
  #timer: Subscription | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  readonly #before: Promise<void>;
  /** Whether the collection is this keeper's. Otherwise another informer stores it, which may never end, so this one lists. */
  #isOwner: boolean;
  /** Whether the informer had no object of the scope when the run began. */
  readonly #wasEmpty: boolean;

  constructor(
    port: InformerPort<T>,
    shared: SharedStore,
    scope: string | undefined,
    collection: ReadCollection,
  ) {
    this.#port = port;
    this.#shared = shared;
    this.#scope = scope;
    this.#wasEmpty = isEmptyScope(port.store, scope);
    this.#id = snapshotId(collection, shared.options);
    this.#known = new KnownHead(collection, shared.options, port.timing, () => this.#schedule());
    this.#report = new StoreReport(port, collection, shared.options.metrics);
    const before = shared.claim(this.#id, this, port.timing.scheduler);
    this.#before = before ?? Promise.resolve();
    this.#isOwner = before !== undefined;
    if (!this.#isOwner) this.#phase = 'listing';
  }

  granted(): void {
    this.#isOwner = true;
    this.#isDue = true;
    this.#schedule();
  }

  /** Follows the ListerWatcher like `reflect`, after a warm start if possible. */
  reflect(listerWatcher: ListerWatcher<T>, options: ReflectOptions<T>): Observable<Deltas<T>> {
    const { initialList = 'auto', onStatus } = options;
    this.mayStream = () =>
      initialList !== 'pages' &&
      (listerWatcher.watchList === 'when-told'
        ? initialList === 'stream'
        : listerWatcher.watchList !== false);
    const isWarm = () => this.isWarm;
    return new Observable<Deltas<T>>((subscriber) => {
      this.#emit = (deltas) => subscriber.next(deltas);
      return reflect(warmListWatch(listerWatcher, this), {
        ...options,
        // A warm start that fails is retried as one.
        get initialList() {
          return isWarm() ? 'stream' : initialList;
        },
        onStatus: (status) => {
          const staleSinceMs = status.synced ? undefined : this.#shownMs;
          onStatus?.(
            staleSinceMs === undefined ? status : { ...status, staleSinceMs, stale: true },
          );
        },
      }).subscribe(subscriber);
    });
  }

  get isWarm(): boolean {
    return this.#phase === 'loading';
  }

  async open(): Promise<LoadedSnapshot<T> | undefined> {
    this.#changed = new Set();
    // In parallel with the store. Whether it fails matters only where something is stored.
    this.#known.ask().catch(() => undefined);
    const { scheduler } = this.#port.timing;
    const stored = await this.#shared
      .read(this.#id, this.#before, scheduler)
      .catch((error: unknown) => {
        this.#phase = 'off';
        this.#report.notStored('read-failed', ApiError.from(error, 'read').message);
      });
    // A store of the user may also read null.
    if (!stored || !this.isWarm) return undefined;
    const { options } = this.#shared;
    // Only the server can say whether its cluster is this one.
    const head = this.#known.headIn(clusterIn(stored.head));
    if (!isUsable(stored, head, { maxAgeMs: options.maxAgeMs, nowMs: scheduler.now() })) {
      if (!hasKnownFormat(stored.head)) this.#report.notStored('other-version');
      return undefined;
    }
    const isSame = async (listed: Promise<unknown>) => head === (await this.#known.within(listed));
    const parts = readParts<T>(stored.parts, {
      onPart: () => {
        this.#shownMs = stored.savedAtMs;
      },
      onDamage: (why) => this.#report.notStored('damaged', why),
    });
    return { resourceVersion: stored.resourceVersion, isSame, parts };
  }

  changed(key: string): void {
    this.#changed.add(key);
  }

  end(how: 'confirmed' | 'unusable' | 'refused', resourceVersion?: string): void {
    if (!this.isWarm) return;
    this.#phase = 'listing';
    this.#confirmed = resourceVersion;
    if (how !== 'confirmed') this.#delete();
    if (how === 'refused') this.#hide();
  }

  /** The server refuses to show the objects, so they are neither kept nor, before they are confirmed, shown. */
  refused(): void {
    if (this.#phase === 'off' || this.#isRefused) return;
    this.#isRefused = true;
    this.end('refused');
    // Also if the store has asked for a complete collection, which makes it count as not stored.
    this.#delete();
  }

  /** A request has succeeded. A watch that is answered again brings no list that would be stored. */
  succeeded(): void {
    if (!this.#isRefused) return;
    this.#isRefused = false;
    this.#isDue = true;
    this.#schedule();
  }

  /** Removes the objects from the informer that were shown and not confirmed. */
  #hide(): void {
    const isShown = this.#shownMs !== undefined;
    this.#shownMs = undefined;
    // What an earlier run of the informer has left stays, as without a store.
    if (!isShown || !this.#wasEmpty) return;
    const how = { type: 'deleted', finalStateUnknown: true } as const;
    this.#emit(this.#keys().map((key) => ({ ...how, key })));
  }

  #keys(): string[] {
    return [...this.#port.store.keys()].filter((key) => inScope(key, this.#scope));
  }

  /** A commit has changed these keys. */
  touched(keys: Iterable<string>): void {
    // Without a stored collection, the next write contains every object, whether it is dirty or not.
    if (this.#phase === 'off' || this.#stored !== 'yes') return;
    for (const key of keys) if (inScope(key, this.#scope)) this.#dirty.add(key);
  }

  /** These deltas are in the store of the informer. */
  committed(deltas: Deltas<T>): void {
    if (this.#phase === 'off') return;
    for (const delta of deltas) {
      // Another scope says nothing about the age of this one.
      if (!concerns(delta, this.#scope)) continue;
      this.#moved(delta);
      this.#isDue = true;
    }
    this.#schedule();
  }

  #moved(delta: Delta<T>): void {
    const move = (version: string) => {
      if (version !== '' && !isOlder(version, this.#version)) this.#version = version;
    };
    switch (delta.type) {
      case 'replaced':
        this.#version = delta.resourceVersion;
        if (this.#confirmed === delta.resourceVersion && this.#phase === 'listing') {
          this.#stored = 'yes';
          this.#dirty = this.#changed;
        }
        this.#shownMs = undefined;
        this.#confirmed = undefined;
        this.#phase = 'following';
        return;
      case 'replacing':
        // The parts of a list come without its version, so nothing is written before the list is complete.
        if (this.#phase === 'following') this.#phase = 'listing';
        return;
      case 'bookmark':
        return move(delta.resourceVersion);
      case 'added':
      case 'updated':
      case 'deleted':
        return move(versionOf(delta.object));
      default:
        return undefined;
    }
  }

  #mayWrite(): boolean {
    return this.#phase === 'following' && this.#isDue && !this.#isRefused;
  }

  #schedule(): void {
    if (!this.#mayWrite() || this.#timer !== undefined || this.#isWriting) return;
    if (this.#known.head === '')
      return this.#known.askAgain(
        (why) => this.#phase !== 'off' && this.#report.notStored('unknown-cluster', why),
      );
    this.#timer = looseTimer(COLLECT_MS, this.#port.timing.scheduler, () => this.#write());
  }

  /** Writes what is due. The changes are taken synchronously, so they are the state of the informer at one version. */
  #write(): void {
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    // A refused object has no state that could be stored. The version on disk stays, so that its event arrives again.
    if (!this.#mayWrite() || this.#port.store.refused.size > 0) return;
    if (!this.#isOwner) {
      if (!this.#report.hasWarned) this.#report.notStored('other-informer');
      return;
    }
    // Only the end of a run does not wait for the write before, which may still ask for everything.
    const whole = this.#isWriting ? this.#change(true) : undefined;
    const change = this.#change(this.#stored !== 'yes');
    this.#dirty = new Set();
    this.#isDue = false;
    this.#stored = 'yes';
    this.#isWriting = true;
    this.#writing = this.#shared
      .run(async (store) => {
        // The stored collection may have been deleted since this write was queued.
        if (this.#stored === 'no') return undefined;
        // Only the end of a run writes before the head is known.
        const head = await this.#known.within(Promise.resolve());
        if (head === '') return undefined;
        const due = (this.#stored === 'asks' && whole) || change;
        const result = await store.write(this.#id, { ...due, head });
        this.#report.written();
        return result;
      })
      .then(
        (result) => {
          if (result === 'rewrite') this.#stored = 'asks';
        },
        (error: unknown) => {
          this.#phase = 'off';
          this.#report.notStored('write-failed', ApiError.from(error, 'write').message);
          this.#delete();
        },
      )
      .then(() => {
        this.#isWriting = false;
        this.#schedule();
      });
  }

  /** Everything, or what has changed since the last write. */
  #change(replaces: boolean): Omit<SnapshotChange, 'head'> {
    const { store, timing } = this.#port;
    const { env } = this.#shared.options;
    return {
      ...{ replaces, resourceVersion: this.#version },
      savedAtMs: timing.scheduler.now(),
      ...storedStates(replaces ? this.#keys() : this.#dirty, (key) => store.getByKey(key), env),
    };
  }

  /** Deletes what is stored. The next write stores the complete collection. */
  #delete(): void {
    this.#stored = 'no';
    if (!this.#isOwner) return;
    this.#shared.run((store) => store.delete(this.#id)).catch(() => undefined);
  }

  /** Deletes what is stored, and stores nothing more in this run. */
  forget(): void {
    this.#phase = 'off';
    this.#delete();
  }

  /** Writes what is due, and nothing more. Resolves when it is written, or cannot be. */
  stop(): Promise<void> {
    if (this.ending === undefined) {
      // Synchronously, because the informer may empty its store after its run.
      if (this.#isOwner) this.#write();
      this.#phase = 'off';
      this.ending = this.#writing.then(() => this.#shared.release(this.#id, this));
    }
    return this.ending;
  }
}
