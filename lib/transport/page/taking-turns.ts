/**
 * Lets the streams of one client take turns: runs the machine of `stream-turns.ts`. Loaded by `import()`, so it imports
 * nothing that other modules import, too: a bundler would put shared code into one more file that every page loads.
 */
import type { Observable, SchedulerLike, Subscriber, Subscription } from 'rxjs';
import type { ApiError } from '../../meta/api-error.ts';
import type { Drain } from '../../rx/drain.ts';
import type { TransportEvent, TransportRequest } from '../transport.ts';
import { pagePool, poolOf, type Slot, type SlotPool } from './slot-pool.ts';
import {
  nextTurn,
  noStreams,
  type StreamKind,
  type TurnEffect,
  type TurnInput,
  type TurnState,
} from './stream-turns.ts';

/** The options of {@link StreamTurns}. */
export interface TurnsOptions {
  /** The origin of the server; `undefined` outside of a page. */
  readonly origin: string | undefined;
  readonly scheduler: SchedulerLike;
  /** The drain of all inputs. */
  readonly drain: Drain;
  /** Returns a clock that never goes back, in milliseconds. */
  stopwatch(scheduler: SchedulerLike): () => number;
  /** @defaultValue the slots of the origin, which all tabs share; outside of a page those of the client */
  readonly pool?: SlotPool | undefined;
  /** How many streams may be open now. */
  most(): number;
}

/** A stream that takes turns. */
export interface Turn {
  readonly request: TransportRequest;
  /** A streaming list becomes a watch when it is complete. */
  readonly kind: StreamKind;
  send(): Observable<TransportEvent>;
  /** Creates the error of a stream that has to end, to be requested again. */
  yielded(why: string): ApiError;
}

/** A stream that waits or is open. */
interface Port {
  begin(): void;
  /** Returns whether the stream has ended. */
  end(force: boolean): boolean;
  /** Reports why the stream waits, if it still does after a moment, or if the client has more streams than slots. */
  wait(): void;
  /** Whether a request is open, which is aborted if nobody subscribes to it. */
  readonly isSent: boolean;
}

/** How long the slot of an aborted request is kept, in milliseconds, because its connection is still being closed. */
const CLOSING_MS = 100;

/**
 * How long a stream waits before it says why, in milliseconds. A lock of the browser is granted asynchronously, also if
 * nobody competes for it.
 */
const NOTICE_MS = 100;

/** The turns of the streams of one client. */
export class StreamTurns {
  readonly #options: TurnsOptions;
  readonly #pool: SlotPool;
  readonly #passedMs: () => number;
  readonly #ports = new Map<number, Port>();
  #state: TurnState = noStreams();
  #lastId = 0;
  #timer: Subscription | undefined;
  #withdraw: (() => void) | undefined;
  /** Ends the streams whose connections are being closed. */
  readonly #closing = new Set<() => void>();

  constructor(options: TurnsOptions) {
    this.#options = options;
    const { origin } = options;
    this.#pool = options.pool ?? (origin === undefined ? pagePool() : poolOf(origin));
    this.#passedMs = options.stopwatch(options.scheduler);
  }

  /**
   * Sends a stream to `subscriber` when it is its turn. It errors with reason `Yielded` when its turn is over, and leaves
   * when the subscriber is unsubscribed.
   */
  join(turn: Turn, subscriber: Subscriber<TransportEvent>): void {
    const id = ++this.#lastId;
    const port = this.#port(id, turn, subscriber);
    this.#ports.set(id, port);
    subscriber.add(() => {
      this.#ports.delete(id);
      this.#afterClosing(port.isSent && this.#hasSlot(id), () => this.#enter({ type: 'end', id }));
    });
    let unused = false;
    let isRequested = false;
    subscriber.add(
      turn.request.inUse$?.subscribe((inUse) => {
        unused = !inUse;
        if (isRequested) this.#enter({ type: 'use', id, unused });
      }),
    );
    isRequested = true;
    this.#enter({ type: 'request', id, kind: turn.kind, unused });
    if (!subscriber.closed) port.wait();
  }

  /** Returns the slots of aborted requests now, because no timer of a frozen page fires. */
  endClosing(): void {
    for (const end of [...this.#closing]) end();
  }

  #port(id: number, turn: Turn, subscriber: Subscriber<TransportEvent>): Port {
    let waits = true;
    let sent = false;
    let { kind } = turn;
    let notice: Subscription | undefined;
    const report = () => subscriber.next({ kind: 'queued', reason: this.#reason() });
    const next = (event: TransportEvent) => {
      if (event.kind === 'head') this.#enter({ type: 'answered', id });
      subscriber.next(event);
      if (kind === turn.kind) return;
      kind = turn.kind;
      this.#enter({ type: 'listed', id });
    };
    return {
      begin: () => {
        waits = false;
        notice?.unsubscribe();
        const sent$ = turn.send();
        sent = !subscriber.closed;
        subscriber.add(
          sent$.subscribe({
            next,
            error: (error) => {
              sent = false;
              subscriber.error(error);
            },
            complete: () => {
              sent = false;
              subscriber.complete();
            },
          }),
        );
      },
      end: (force) => {
        if (!force && turn.request.mayYield?.() === false) return false;
        subscriber.error(turn.yielded(this.#reason()));
        return true;
      },
      wait: () => {
        if (!waits) return;
        if (this.#isFull) return report();
        notice = this.#options.scheduler.schedule(report, NOTICE_MS);
        subscriber.add(notice);
      },
      get isSent() {
        return sent;
      },
    };
  }

  #reason(): string {
    const { origin = 'the server', most } = this.#options;
    return `At most ${most()} lists and watches of ${origin} are open at the same time, in all tabs together, and take turns, because a browser has six connections to a server over HTTP/1.1. HTTP/2 lifts this limit (docs/guide/browsers.md)`;
  }

  #enter(input: TurnInput): void {
    this.#options.drain.run(() => {
      this.#timer?.unsubscribe();
      const moment = { nowMs: this.#passedMs(), most: this.#options.most() };
      const [next, effects] = nextTurn(this.#state, input, moment);
      this.#state = next;
      for (const effect of effects) this.#perform(effect);
    });
  }

  #perform(effect: TurnEffect): void {
    const { most, scheduler } = this.#options;
    switch (effect.type) {
      case 'acquire':
        this.#withdraw = this.#pool.acquire(
          most(),
          (slot) => this.#enter({ type: 'granted', slot }),
          (slot) => this.#enter({ type: 'lost', slot }),
        );
        break;
      case 'cancel':
        this.#withdraw?.();
        break;
      case 'release':
        (effect.slot as Slot).release();
        break;
      case 'send':
        this.#ports.get(effect.id)?.begin();
        break;
      case 'yield': {
        const { id, force } = effect;
        if (this.#ports.get(id)?.end(force) === false) this.#enter({ type: 'refused', id });
        break;
      }
      case 'tick-after': {
        const delayMs = Math.ceil(effect.delayMs);
        this.#timer = scheduler.schedule(() => this.#enter({ type: 'tick' }), delayMs);
        break;
      }
      case 'look-after':
        this.#timer = scheduler.schedule(() => this.#look(), effect.delayMs);
        break;
    }
  }

  #look(): void {
    const seen = (contended: boolean) => this.#enter({ type: 'contended', contended });
    this.#pool.contended().then(seen, () => seen(false));
  }

  /** Whether the streams of this client alone are more than may be open. */
  get #isFull(): boolean {
    return this.#state.streams.length > this.#options.most();
  }

  #hasSlot(id: number): boolean {
    return this.#state.streams.some((each) => each.id === id && each.slot !== undefined);
  }

  /** Runs `end` once: now, or when the connection of an aborted request should be closed. */
  #afterClosing(isClosing: boolean, end: () => void): void {
    if (!isClosing) return end();
    const closed = () => {
      timer.unsubscribe();
      if (this.#closing.delete(closed)) end();
    };
    this.#closing.add(closed);
    const timer = this.#options.scheduler.schedule(closed, CLOSING_MS);
  }
}
