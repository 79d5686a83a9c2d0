/**
 * One open watch of a collection. The watch has a position in the log instead of a queue, so that a slow reader costs
 * no memory and reads all changes since its last read together.
 */
import type { SchedulerLike, Subscription } from 'rxjs';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { longInterval, longTimer } from '../rx/long-timer.ts';
import type { Collection, LogEntry } from './collection.ts';
import { expired } from './failures.ts';
import { type StoredObject, store } from './stored-object.ts';
import type { WatchPlan } from './watch-plan.ts';

/** An event of a watch, before it is serialized. */
export type LogEvent =
  | {
      /** `initial`: the object existed when the watch began. */
      readonly kind: 'initial' | 'change';
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      readonly object: StoredObject;
      /** The line of the event, if all watches share it. */
      bytes?(): Uint8Array;
    }
  | {
      /** `end-mark`: the bookmark after the initial events. */
      readonly kind: 'bookmark' | 'end-mark';
      readonly type: 'BOOKMARK';
      readonly object: KubernetesObject;
    }
  | { readonly kind: 'error'; readonly type: 'ERROR'; readonly object: unknown };

/** When a watch sends bookmarks. */
export interface WatchTimes {
  readonly scheduler: SchedulerLike;
  readonly bookmarkIntervalMs: number;
}

/** How long before the end of the watch its last bookmark is sent. */
const LAST_BOOKMARK_MS = 2000;

/** Produces the events of a watch, which its reader takes one by one. */
export class LogWatch {
  /** Called after a change, a bookmark or the end; once for everything that happens before the reader runs. */
  onReadable: (() => void) | undefined;

  readonly #collection: Collection;
  readonly #plan: WatchPlan;
  readonly #timers: Subscription[] = [];
  #position: number;
  #initialAt = 0;
  #endMarkDue: boolean;
  #bookmarkDue = false;
  /** If set, the watch ends after the events that are due, with `error` if it has one. */
  #ending: { readonly error?: unknown } | undefined;
  #ended = false;
  #wakeQueued = false;

  constructor(collection: Collection, plan: WatchPlan, times: WatchTimes) {
    this.#collection = collection;
    this.#plan = plan;
    this.#position = plan.position;
    this.#endMarkDue = plan.endMark;
    if (plan.failure !== undefined) this.fail(plan.failure);
    else this.#open(times);
  }

  #open({ scheduler, bookmarkIntervalMs }: WatchTimes): void {
    const { bookmarks, timeoutMs } = this.#plan;
    this.#collection.listeners.add(this.wake);
    this.#timers.push(longTimer(timeoutMs, scheduler).subscribe(() => this.close()));
    if (!bookmarks) return;
    const bookmark = () => {
      this.#bookmarkDue = true;
      this.wake();
    };
    this.#timers.push(longInterval(bookmarkIntervalMs, scheduler).subscribe(bookmark));
    if (timeoutMs > LAST_BOOKMARK_MS) {
      const lastMs = timeoutMs - LAST_BOOKMARK_MS;
      this.#timers.push(longTimer(lastMs, scheduler).subscribe(bookmark));
    }
  }

  /** Calls `onReadable` in a microtask. */
  readonly wake = (): void => {
    if (this.#wakeQueued) return;
    this.#wakeQueued = true;
    queueMicrotask(() => {
      this.#wakeQueued = false;
      this.onReadable?.();
    });
  };

  /** Whether the last event has been read, or the watch was cancelled. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Ends the watch after the events that are due. */
  close(): void {
    this.#ending ??= {};
    this.wake();
  }

  /** Ends the watch after the events that are due, with an ERROR event. */
  fail(error: unknown): void {
    this.#ending ??= { error };
    this.wake();
  }

  /** Ends the watch immediately. Idempotent. */
  cancel(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#collection.listeners.delete(this.wake);
    for (const timer of this.#timers) timer.unsubscribe();
  }

  /** Returns the next event; `undefined` if no event is due, `null` at the end. */
  next(): LogEvent | null | undefined {
    if (this.#ended) return null;
    const event = this.#plan.failure === undefined ? this.#due() : undefined;
    if (event !== undefined || this.#ending === undefined) return event;
    const { error } = this.#ending;
    if (error !== undefined) {
      this.#ending = {};
      return errorEvent(error);
    }
    this.cancel();
    return null;
  }

  #due(): LogEvent | undefined {
    const object = this.#plan.initial[this.#initialAt];
    if (object !== undefined) {
      this.#initialAt++;
      return { kind: 'initial', type: 'ADDED', object };
    }
    if (this.#endMarkDue) {
      this.#endMarkDue = false;
      return this.#bookmark('end-mark');
    }
    if (!this.#collection.reaches(this.#position)) this.#fallBehind();
    const change = this.#change();
    if (change !== undefined || !this.#bookmarkDue) return change;
    this.#bookmarkDue = false;
    // A watch from a future version gets no bookmark before the log has reached that version.
    return this.#collection.version >= this.#plan.after ? this.#bookmark('bookmark') : undefined;
  }

  /** Ends with a 410, also if the watch is closing without an error, because a bookmark would hide the lost events. */
  #fallBehind(): void {
    const { floor, end } = this.#collection;
    this.#ending = { error: expired(`too old resource version: the watch fell behind ${floor}`) };
    this.#bookmarkDue = false;
    this.#position = end;
  }

  /** The next change that the selection includes. */
  #change(): LogEvent | undefined {
    for (;;) {
      const entry = this.#collection.entry(this.#position);
      if (entry === undefined) return undefined;
      this.#position++;
      const event = this.#eventOf(entry);
      if (event !== undefined) return event;
    }
  }

  /** Converts an entry for the selection: an object that no longer matches is sent as deleted. */
  #eventOf(entry: LogEntry): LogEvent | undefined {
    const { selection, after } = this.#plan;
    const { type, object, previous, silent, version } = entry;
    if (silent || version <= after) return undefined;
    if (!selection.selects) return selection.includes(object) ? entry : undefined;
    const before = previous !== undefined && selection.includes(previous);
    const now = type !== 'DELETED' && selection.includes(object);
    if (before && now) return entry;
    if (now) return type === 'ADDED' ? entry : { kind: 'change', type: 'ADDED', object };
    if (!before || previous === undefined) return undefined;
    if (type === 'DELETED') return entry;
    const { resourceVersion } = object.metadata;
    const metadata = { ...previous.metadata, resourceVersion };
    const last = store(this.#collection.served, previous, metadata);
    return { kind: 'change', type: 'DELETED', object: last };
  }

  #bookmark(kind: 'bookmark' | 'end-mark'): LogEvent {
    const { version, served } = this.#collection;
    const { kind: objectKind, apiVersion } = served.resource;
    const isEnd = kind === 'end-mark';
    const metadata = {
      // The end mark has the version of the plan, because later changes are sent after it.
      resourceVersion: String(isEnd ? this.#plan.version : version),
      ...(isEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    return { kind, type: 'BOOKMARK', object: { kind: objectKind, apiVersion, metadata } };
  }
}

/** The ERROR event of a failure: its `Status`, if it has one. */
export function errorEvent(error: unknown): LogEvent {
  const object = (error as { status?: unknown }).status ?? error;
  return { kind: 'error', type: 'ERROR', object };
}
