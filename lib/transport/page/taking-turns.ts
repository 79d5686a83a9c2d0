/** Lets the streams of one client in a page take turns: runs the machine of `stream-turns.ts`. */
import { Observable, type SchedulerLike, Subject, type Subscriber, type Subscription } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import { Drain } from '../../rx/drain.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import type { TransportEvent, TransportRequest } from '../transport.ts';
import type { PageEvent } from './page-life.ts';
import type { Slot, SlotPool } from './slot-pool.ts';
import {
  nextTurn,
  noStreams,
  type StreamKind,
  type TurnEffect,
  type TurnInput,
  type TurnState,
} from './stream-turns.ts';

/** The options of {@link takingTurns}. */
export interface TurnsOptions {
  /** The address of the server, for messages. */
  readonly origin: string;
  readonly scheduler: SchedulerLike;
  readonly pool: SlotPool;
  readonly life$: Observable<PageEvent>;
  /** How many streams may be open now. */
  most(): number;
}

/** A stream that waits or is open. */
interface Port {
  begin(): void;
  /** Returns whether the stream has ended. */
  end(force: boolean): boolean;
  /** Reports why the stream waits, if it does. */
  wait(): void;
  fail(error: ApiError): void;
  /** Whether a request is open, which is aborted if nobody subscribes to it. */
  readonly isSent: boolean;
}

const HIDDEN =
  'The tab is hidden, so its lists and watches are closed until it is shown again (docs/browsers.md)';

/** How long the slot of an aborted request is kept, in milliseconds, because its connection is still being closed. */
const CLOSING_MS = 100;

function kindOf({ use, query = {} }: TransportRequest): StreamKind {
  if (query['continue'] !== undefined) return 'page';
  // A streaming list becomes a watch at its end mark.
  return use === 'list' || query['sendInitialEvents'] === 'true' ? 'list' : 'watch';
}

/** The turns of one client. Listens to the page only while a stream or a subscriber of `awake$` exists. */
export class StreamTurns {
  readonly #options: TurnsOptions;
  readonly #passedMs: () => number;
  readonly #drain = new Drain();
  readonly #ports = new Map<number, Port>();
  readonly #awake = new Subject<void>();
  #state: TurnState = noStreams();
  #lastId = 0;
  #users = 0;
  #life: Subscription | undefined;
  #timer: Subscription | undefined;
  #withdraw: (() => void) | undefined;
  /** Ends the streams whose connections are being closed. */
  readonly #closing = new Set<() => void>();

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#passedMs = stopwatch(options.scheduler);
  }

  /** Emits when requests that wait before a retry are worth another try. */
  readonly awake$: Observable<void> = new Observable<void>((subscriber) => {
    subscriber.add(this.#awake.subscribe(subscriber));
    this.#use();
    subscriber.add(() => this.#leave());
  });

  /** Sends a stream when it is its turn. The stream errors with reason `Yielded` when its turn is over. */
  take(
    request: TransportRequest,
    send: () => Observable<TransportEvent>,
  ): Observable<TransportEvent> {
    return new Observable<TransportEvent>((subscriber) => {
      const id = ++this.#lastId;
      const kind = kindOf(request);
      const port = this.#port(id, request, send, subscriber);
      this.#use();
      this.#ports.set(id, port);
      subscriber.add(() => {
        this.#ports.delete(id);
        this.#afterClosing(port.isSent && this.#hasSlot(id), () => {
          this.#enter({ type: 'end', id });
          this.#leave();
        });
      });
      let unused = false;
      let isRequested = false;
      subscriber.add(
        request.inUse$?.subscribe((inUse) => {
          unused = !inUse;
          if (isRequested) this.#enter({ type: 'use', id, unused });
        }),
      );
      isRequested = true;
      this.#enter({ type: 'request', id, kind, unused });
      if (!subscriber.closed) port.wait();
    });
  }

  /** Ends all streams with this error. */
  close(error: ApiError): void {
    for (const port of [...this.#ports.values()]) port.fail(error);
  }

  #port(
    id: number,
    request: TransportRequest,
    send: () => Observable<TransportEvent>,
    subscriber: Subscriber<TransportEvent>,
  ): Port {
    const mayYield = () => request.mayYield?.() ?? true;
    let waits = true;
    let queued = false;
    let sent = false;
    let isList = request.use === 'watch' && kindOf(request) === 'list';
    const next = (event: TransportEvent) => {
      if (event.kind === 'head') this.#enter({ type: 'answered', id });
      subscriber.next(event);
      if (!isList || event.kind !== 'chunk' || !mayYield()) return;
      isList = false;
      this.#enter({ type: 'listed', id });
    };
    return {
      begin: () => {
        waits = false;
        if (queued) subscriber.next({ kind: 'sending' });
        if (subscriber.closed) return;
        sent = true;
        subscriber.add(
          send().subscribe({
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
        if (!force && !mayYield()) return false;
        const message = `${request.method} ${request.path}: the client ended the request and sends it again later. ${this.#reason()}`;
        subscriber.error(ApiError.local('Yielded', message));
        return true;
      },
      wait: () => {
        if (!waits) return;
        queued = true;
        subscriber.next({ kind: 'queued', reason: this.#reason() });
      },
      fail: (error) => subscriber.error(error),
      get isSent() {
        return sent;
      },
    };
  }

  #reason(): string {
    const { origin, most } = this.#options;
    if (this.#state.away !== undefined) return HIDDEN;
    return `At most ${most()} lists and watches of ${origin} are open at the same time, in all tabs together, and take turns, because a browser has six connections to a server over HTTP/1.1. HTTP/2 lifts this limit (docs/browsers.md)`;
  }

  #enter(input: TurnInput): void {
    this.#drain.run(() => {
      this.#timer?.unsubscribe();
      const { away } = this.#state;
      const moment = { nowMs: this.#passedMs(), most: this.#options.most() };
      const [next, effects] = nextTurn(this.#state, input, moment);
      this.#state = next;
      for (const effect of effects) this.#perform(effect);
      if (away === next.away) return;
      // No timer of a frozen page fires.
      if (next.away === 'gone') for (const end of [...this.#closing]) end();
      // After the streams that can be sent now.
      this.#drain.run(() => {
        for (const port of [...this.#ports.values()]) port.wait();
      });
    });
  }

  #perform(effect: TurnEffect): void {
    const { pool, most, scheduler } = this.#options;
    switch (effect.type) {
      case 'acquire':
        this.#withdraw = pool.acquire(
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
    this.#options.pool.contended().then(seen, () => seen(false));
  }

  #hasSlot(id: number): boolean {
    return this.#state.streams.some((each) => each.id === id && each.slot !== undefined);
  }

  /** Runs `end` once: now, or when the connection of an aborted request should be closed. */
  #afterClosing(isClosing: boolean, end: () => void): void {
    if (!isClosing || this.#state.away === 'gone') return end();
    const closed = () => {
      timer.unsubscribe();
      if (this.#closing.delete(closed)) end();
    };
    this.#closing.add(closed);
    const timer = this.#options.scheduler.schedule(closed, CLOSING_MS);
  }

  /** Listens to the page until the last user has left. */
  #use(): void {
    this.#users++;
    if (this.#users > 1) return;
    this.#life = this.#options.life$.subscribe((event) => {
      if ('awake' in event) this.#awake.next();
      else this.#enter({ type: 'away', away: event.away });
    });
  }

  #leave(): void {
    this.#users--;
    if (this.#users > 0) return;
    this.#life?.unsubscribe();
    this.#enter({ type: 'away', away: undefined });
  }
}
