/**
 * One open watch. It keeps a position in the log instead of a queue, so that a reader that does not read
 * costs nothing and one that reads gets all that happened since as one chunk.
 */
import type { SchedulerLike, Subscription } from 'rxjs';
import { Cut, EventOrder } from './faults/watch-tampering.ts';
import { type Body, BrokenConnection, concat } from './http/body.ts';
import type { EventRenderer } from './http/representation.ts';
import type { RequestRecord } from './http/request.ts';
import { expired } from './http/status.ts';
import type { Collection, LogEntry, ObjectLog } from './object-log.ts';
import type { Selection } from './selection.ts';
import { eventText, type StoredObject, store } from './stored-object.ts';

/** What a watch was asked to do. */
export interface WatchPlan {
  readonly selection: Selection;
  /** Sent as ADDED before everything else. */
  readonly initial: readonly StoredObject[];
  /** After the initial events a bookmark marks their end. */
  readonly endMark: boolean;
  /** Of the server when the watch was planned: what the initial events show. */
  readonly version: bigint;
  readonly bookmarks: boolean;
  /** Events up to this version are not sent. */
  readonly after: bigint;
  readonly position: number;
  readonly timeoutMs: number;
  /** How an object is written; left out: whole. */
  readonly render?: EventRenderer | undefined;
  /** A failure to report in the stream, instead of events. */
  readonly failure?: unknown;
}

/** What faults may do to a watch while it is open. */
export interface WatchFaults {
  silent(request: RequestRecord): boolean;
  /** Whether the event that is about to leave is lost. */
  loses(request: RequestRecord): boolean;
  allowsBookmark(request: RequestRecord, endMark: boolean): boolean;
}

/** What a stream needs of its server. */
export interface WatchContext {
  readonly collection: Collection;
  readonly log: ObjectLog;
  readonly scheduler: SchedulerLike;
  readonly bookmarkIntervalMs: number;
  readonly faults: WatchFaults;
  onClose(stream: WatchStream): void;
}

const encoder = /* @__PURE__ */ new TextEncoder();
const CHUNK = 65_536;
/** So long before its end a watch sends a last bookmark. */
const LAST_BOOKMARK_MS = 2000;

export class WatchStream implements Body {
  readonly request: RequestRecord;
  onReadable: (() => void) | undefined;
  /** How many events have been sent, bookmarks and errors included. */
  sent = 0;

  readonly #context: WatchContext;
  readonly #plan: WatchPlan;
  readonly #timers: Subscription[] = [];
  readonly #injected: Uint8Array[] = [];
  readonly #order: EventOrder = new EventOrder(() => this.#logged());
  #cut: Cut | undefined;
  #position: number;
  #initialAt = 0;
  #rendered = false;
  #endMarkDue: boolean;
  #bookmarkDue = false;
  /** Set: after what is due, this last event, if any, and the end. */
  #ending: { readonly event?: string } | undefined;
  #broken = false;
  #halfOpen = false;
  #closed = false;
  #wakeQueued = false;

  constructor(request: RequestRecord, plan: WatchPlan, context: WatchContext) {
    this.request = request;
    this.#plan = plan;
    this.#context = context;
    this.#position = plan.position;
    this.#endMarkDue = plan.endMark;
    if (plan.failure !== undefined) this.fail(plan.failure);
    else this.#open();
  }

  #open(): void {
    const { collection, scheduler, bookmarkIntervalMs } = this.#context;
    const { bookmarks, timeoutMs } = this.#plan;
    collection.listeners.add(this.wake);
    this.#timers.push(scheduler.schedule(() => this.close(), timeoutMs));
    if (!bookmarks) return;
    const bookmark = () => {
      this.#bookmarkDue = true;
      this.wake();
    };
    const stream = this;
    this.#timers.push(
      scheduler.schedule(function () {
        bookmark();
        if (!stream.#closed) this.schedule(undefined, bookmarkIntervalMs);
      }, bookmarkIntervalMs),
    );
    if (timeoutMs > LAST_BOOKMARK_MS) {
      this.#timers.push(scheduler.schedule(bookmark, timeoutMs - LAST_BOOKMARK_MS));
    }
  }

  /** Lets the reader know, once however much happens before it gets to read. */
  readonly wake = (): void => {
    if (this.#wakeQueued) return;
    this.#wakeQueued = true;
    queueMicrotask(() => {
      this.#wakeQueued = false;
      this.onReadable?.();
    });
  };

  /** Ends the stream after what is due. */
  close(): void {
    this.#ending ??= {};
    this.wake();
  }

  /** Sends an ERROR event after what is due, and ends the stream unless it is to stay open. */
  fail(error: unknown, staysOpen = false): void {
    const event = errorLine(error);
    if (staysOpen) this.inject(encoder.encode(event));
    else this.#ending ??= { event };
    this.wake();
  }

  /** Breaks the connection. */
  break(): void {
    this.#broken = true;
    this.cancel();
    this.wake();
  }

  /** The connection stays, but nothing comes through it any more. */
  goHalfOpen(): void {
    this.#halfOpen = true;
  }

  inject(bytes: Uint8Array): void {
    this.#injected.push(bytes);
    this.wake();
  }

  /** Sends the last events once more. */
  repeat(count: number): void {
    this.#injected.push(...this.#order.last(count));
    this.wake();
  }

  /** Lets the next two events change places. */
  swap(): void {
    // Never across a cut: whoever has the later of two alone cannot know what it missed.
    if (this.#cut === undefined) this.#order.swap();
  }

  /** Swaps nothing any more. */
  settle(): void {
    this.#order.settle();
    this.wake();
  }

  /** Ends the body after so many more bytes. */
  cutAfter(bytes: number, clean: boolean): void {
    this.#cut = new Cut(bytes, clean);
    this.settle();
  }

  cancel(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#context.collection.listeners.delete(this.wake);
    for (const timer of this.#timers) timer.unsubscribe();
    this.#context.onClose(this);
  }

  read(): Uint8Array | null | undefined {
    if (this.#broken) {
      throw new BrokenConnection('the connection was closed');
    }
    if (this.#closed) return null;
    if (this.#halfOpen || this.#context.faults.silent(this.request)) return undefined;
    const lines = [...this.#injected.splice(0), ...this.#due()];
    const bytes = lines.length === 0 ? undefined : concat(lines);
    if (this.#cut !== undefined) return this.#severed(bytes ?? new Uint8Array(0), this.#cut);
    if (bytes !== undefined) return bytes;
    if (this.#ending === undefined) return undefined;
    this.cancel();
    return null;
  }

  /** Whole lines, about a chunk of them. */
  #due(): Uint8Array[] {
    const lines: Uint8Array[] = [];
    let size = 0;
    while (size < CHUNK || this.#order.owes) {
      const line = this.#next();
      if (line === undefined) break;
      lines.push(line);
      this.sent++;
      size += line.length;
    }
    return lines;
  }

  /** What goes out before the cut, and at the cut the end. */
  #severed(bytes: Uint8Array, cut: Cut): Uint8Array | null | undefined {
    const taken = cut.take(bytes);
    if (taken.ends) {
      if (cut.clean) this.cancel();
      else this.break();
    } else if (bytes.length === 0 && this.#ending !== undefined) this.cancel();
    if (taken.bytes.length > 0) return taken.bytes;
    if (this.#broken) throw new BrokenConnection('the connection was closed');
    return this.#closed ? null : undefined;
  }

  /** The next line that is due. */
  #next(): Uint8Array | undefined {
    const { initial, endMark } = this.#plan;
    const { collection, log, faults } = this.#context;
    if (this.#plan.failure === undefined) {
      const object = initial[this.#initialAt];
      if (object !== undefined) {
        this.#initialAt++;
        return this.#event('ADDED', object);
      }
      if (this.#endMarkDue && endMark) {
        this.#endMarkDue = false;
        if (faults.allowsBookmark(this.request, true)) return this.#bookmark(true);
      }
      if (!collection.reaches(this.#position)) {
        const version = collection.floor;
        const error = expired(`too old resource version: the watch fell behind ${version}`);
        // Whatever else it was to end with; and no bookmark over what was not sent.
        this.#ending = { event: errorLine(error) };
        this.#bookmarkDue = false;
        this.#position = collection.end;
      }
      const event = this.#order.next(!this.#bookmarkDue && this.#ending === undefined);
      if (event !== undefined) return event;
      if (this.#bookmarkDue) {
        this.#bookmarkDue = false;
        // A watch that waits for a version to come has nothing to bookmark.
        const caughtUp = log.version >= this.#plan.after;
        if (caughtUp && faults.allowsBookmark(this.request, false)) return this.#bookmark(false);
      }
    }
    const event = this.#ending?.event;
    if (event === undefined) return undefined;
    this.#ending = {};
    return encoder.encode(event);
  }

  /** The next event of the log. */
  #logged(): Uint8Array | undefined {
    for (let entry = this.#entry(); entry !== undefined; entry = this.#entry()) {
      const line = this.#line(entry);
      if (line !== undefined && !this.#context.faults.loses(this.request)) return line;
    }
    return undefined;
  }

  #entry(): LogEntry | undefined {
    const entry = this.#context.collection.entry(this.#position);
    if (entry !== undefined) this.#position++;
    return entry;
  }

  /** How an entry looks through the selection: an object that stops matching looks deleted. */
  #line(entry: LogEntry): Uint8Array | undefined {
    const { selection, after } = this.#plan;
    const { type, object, previous, silent, version } = entry;
    if (silent || version <= after) return undefined;
    if (!selection.selects) return selection.includes(object) ? this.#whole(entry) : undefined;
    const before = previous !== undefined && selection.includes(previous);
    const now = type !== 'DELETED' && selection.includes(object);
    if (before && now) return this.#whole(entry);
    if (now) return type === 'ADDED' ? this.#whole(entry) : this.#event('ADDED', object);
    if (!before || previous === undefined) return undefined;
    if (type === 'DELETED') return this.#whole(entry);
    const { resourceVersion } = object.metadata;
    const { served } = this.#context.collection;
    const last = store(served, previous, { ...previous.metadata, resourceVersion });
    return this.#event('DELETED', last);
  }

  #whole(entry: LogEntry): Uint8Array {
    const shared = this.#plan.render === undefined;
    return shared ? entry.bytes() : this.#event(entry.type, entry.object);
  }

  #event(type: string, object: StoredObject): Uint8Array {
    const { render } = this.#plan;
    if (render === undefined) return encoder.encode(eventText(type, object));
    return encoder.encode(`{"type":"${type}","object":${render(object, this.#first())}}\n`);
  }

  #first(): boolean {
    const first = !this.#rendered;
    this.#rendered = true;
    return first;
  }

  #bookmark(endMark: boolean): Uint8Array {
    const { log, collection } = this.#context;
    const { kind, apiVersion } = collection.served.resource;
    const metadata = {
      // What happened after the watch was planned comes behind the end mark.
      resourceVersion: String(endMark ? this.#plan.version : log.version),
      ...(endMark ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
    };
    const object = { kind, apiVersion, metadata };
    const { render = (plain) => JSON.stringify(plain) } = this.#plan;
    const text = render(object, this.#first());
    return encoder.encode(`{"type":"BOOKMARK","object":${text}}\n`);
  }
}

function errorLine(error: unknown): string {
  const status = (error as { status?: unknown }).status ?? error;
  return `{"type":"ERROR","object":${JSON.stringify(status)}}\n`;
}
