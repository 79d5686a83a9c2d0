/** The body of a watch: the events of the log as lines, and the faults of an open watch. */
import { utf8 } from '../../decode/utf8.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Collection } from '../../object-log/collection.ts';
import {
  errorEvent,
  type LogEvent,
  LogWatch,
  type WatchTimes,
} from '../../object-log/log-watch.ts';
import { eventText } from '../../object-log/stored-object.ts';
import type { WatchPlan } from '../../object-log/watch-plan.ts';
import { Cut, EventOrder, type Line } from '../faults/watch-tampering.ts';
import { type Body, BrokenConnection, concat } from './body.ts';
import type { EventRenderer } from './representation.ts';
import type { RequestRecord } from './request.ts';

/** The standing faults, as an open watch uses them. */
export interface WatchFaults {
  silent(request: RequestRecord): boolean;
  /** Whether the next event is lost. */
  loses(request: RequestRecord): boolean;
  allowsBookmark(request: RequestRecord, endMark: boolean): boolean;
}

/** The dependencies of a watch. */
export interface WatchContext extends WatchTimes {
  readonly faults: WatchFaults;
  onClose(stream: WatchStream): void;
}

const CHUNK = 65_536;

export class WatchStream implements Body {
  readonly request: RequestRecord;
  onReadable: (() => void) | undefined;
  /** The number of events sent, including bookmarks and errors. */
  sent = 0;

  readonly #context: WatchContext;
  readonly #watch: LogWatch;
  readonly #render: EventRenderer | undefined;
  readonly #injected: Uint8Array[] = [];
  readonly #order: EventOrder = new EventOrder(() => this.#line());
  #cut: Cut | undefined;
  #rendered = false;
  #broken = false;
  #halfOpen = false;
  #closed = false;

  /** `render` renders the objects of the events. `undefined` means that they are sent as they are. */
  constructor(
    request: RequestRecord,
    collection: Collection,
    plan: WatchPlan,
    render: EventRenderer | undefined,
    context: WatchContext,
  ) {
    this.request = request;
    this.#render = render;
    this.#context = context;
    this.#watch = new LogWatch(collection, plan, context);
    this.#watch.onReadable = () => this.onReadable?.();
  }

  /** Notifies the reader, once until it reads. */
  wake(): void {
    this.#watch.wake();
  }

  /** Ends the stream after the pending events. */
  close(): void {
    this.#watch.close();
  }

  /** Sends an ERROR event after the pending events. Ends the stream unless `staysOpen` is set. */
  fail(error: unknown, staysOpen = false): void {
    if (staysOpen) this.inject(this.#bytes(errorEvent(error)));
    else this.#watch.fail(error);
  }

  /** Breaks the connection. */
  break(): void {
    this.#broken = true;
    this.cancel();
    this.wake();
  }

  /** Keeps the connection open, but sends nothing more. */
  goHalfOpen(): void {
    this.#halfOpen = true;
  }

  inject(bytes: Uint8Array): void {
    this.#injected.push(bytes);
    this.wake();
  }

  /** Sends the last events a second time. */
  repeat(count: number): void {
    this.#injected.push(...this.#order.last(count));
    this.wake();
  }

  /** Swaps the next two events. */
  swap(): void {
    // Not before a cut, because a client with only the later of two events could not know that it missed the other.
    if (this.#cut === undefined) this.#order.swap();
  }

  /** Cancels a swap that has not happened yet. */
  stopSwapping(): void {
    this.#order.stopSwapping();
    this.wake();
  }

  /** Cuts the body after this many more bytes. */
  cutAfter(bytes: number, clean: boolean): void {
    this.#cut = new Cut(bytes, clean);
    this.stopSwapping();
  }

  cancel(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watch.cancel();
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
    if (!this.#watch.ended) return undefined;
    this.cancel();
    return null;
  }

  /** Returns about one chunk of complete lines. */
  #due(): Uint8Array[] {
    const lines: Uint8Array[] = [];
    let size = 0;
    while (size < CHUNK || this.#order.mustContinue) {
      const line = this.#order.next();
      if (line === undefined) break;
      lines.push(line);
      this.sent++;
      size += line.length;
    }
    return lines;
  }

  /** Returns the bytes before the cut, and ends the body at the cut. */
  #severed(bytes: Uint8Array, cut: Cut): Uint8Array | null | undefined {
    const taken = cut.take(bytes);
    if (taken.done) {
      if (cut.clean) this.cancel();
      else this.break();
    } else if (bytes.length === 0 && this.#watch.ended) this.cancel();
    if (taken.bytes.length > 0) return taken.bytes;
    if (this.#broken) throw new BrokenConnection('the connection was closed');
    return this.#closed ? null : undefined;
  }

  /** Returns the next line that no fault withholds. */
  #line(): Line | null | undefined {
    for (;;) {
      const event = this.#watch.next();
      if (event === null || event === undefined) return event;
      if (!this.#passes(event.kind)) continue;
      return { movable: event.kind === 'change', bytes: this.#bytes(event) };
    }
  }

  #passes(kind: LogEvent['kind']): boolean {
    const { faults } = this.#context;
    if (kind === 'change') return !faults.loses(this.request);
    if (kind !== 'bookmark' && kind !== 'end-mark') return true;
    return faults.allowsBookmark(this.request, kind === 'end-mark');
  }

  #bytes(event: LogEvent): Uint8Array {
    const text = event.kind === 'error' ? undefined : this.#text(event.object);
    if (text !== undefined) return lineOf(event.type, text);
    if (event.kind === 'initial' || event.kind === 'change') {
      return event.bytes?.() ?? utf8(eventText(event.type, event.object));
    }
    return lineOf(event.type, JSON.stringify(event.object));
  }

  /** The object of an event, as the client asked for it. `undefined` means that it is sent as it is. */
  #text(object: KubernetesObject): string | undefined {
    if (this.#render === undefined) return undefined;
    const first = !this.#rendered;
    this.#rendered = true;
    return this.#render(object, first);
  }
}

function lineOf(type: string, objectText: string): Uint8Array {
  return utf8(`{"type":"${type}","object":${objectText}}\n`);
}
