/**
 * The lists and watches of one client in a page: they end while the page is hidden or left, and take turns where the
 * browser has few connections. Few pages need the code of the turns, so it is loaded before the first stream that does.
 */
import { defer, EMPTY, Observable, type SchedulerLike, Subject, Subscription } from 'rxjs';
import {
  catchError,
  filter,
  finalize,
  map,
  share,
  startWith,
  switchMap,
  takeUntil,
  tap,
} from 'rxjs/operators';
import { ApiError } from '../../meta/api-error.ts';
import { Drain } from '../../rx/drain.ts';
import { stoppedWith } from '../../rx/stopped-with.ts';
import { stopwatch } from '../../rx/stopwatch.ts';
import { missingCode } from '../missing-code.ts';
import type { TransportEvent, TransportRequest } from '../transport.ts';
import { type Away, type PageEvent, pageLife } from './page-life.ts';
import type { StreamKind } from './stream-turns.ts';
import type { StreamTurns, Turn } from './taking-turns.ts';

/** The options of {@link PageStreams}. */
export interface PageStreamsOptions {
  /** The origin of the server; `undefined` outside of a page. */
  readonly origin: string | undefined;
  readonly scheduler: SchedulerLike;
  /** How long a hidden page counts as shown, in milliseconds. */
  readonly graceMs: number;
  /** How many streams may be open now. */
  most(): number;
}

const HIDDEN =
  'The tab is hidden: lists and watches are closed until it is shown (docs/guide/browsers.md)';

// Kept, because a promise is never synchronous, and later streams need not wait.
let loaded: typeof StreamTurns | undefined;

/** Loads the code of the turns. If that fails, the next call requests it again. */
export async function loadTurns(): Promise<typeof StreamTurns> {
  loaded = (await import('./taking-turns.ts')).StreamTurns;
  return loaded;
}

function kindOf({ use, query = {} }: TransportRequest): StreamKind {
  if (query['continue'] !== undefined) return 'page';
  // A streaming list becomes a watch at its end mark.
  return use === 'list' || query['sendInitialEvents'] === 'true' ? 'list' : 'watch';
}

/** A stream that waits or is open. */
interface PageStream {
  readonly precedence: number;
  /** Begins, ends or holds the stream, as the page demands. */
  look(): void;
}

/** The streams of one client. Listens to the page only while a stream or a subscriber of `awake$` exists. */
export class PageStreams {
  readonly #options: PageStreamsOptions;
  readonly #streams = new Set<PageStream>();
  readonly #life$: Observable<PageEvent>;
  readonly #closing = new Subject<never>();
  #away: Away | undefined;
  #turns: StreamTurns | undefined;
  /** How many streams wait for the code of the turns. */
  #loading = 0;
  /** Emits when requests that wait before a retry are worth another try. */
  readonly awake$: Observable<void>;

  constructor(options: PageStreamsOptions) {
    this.#options = options;
    this.#life$ = pageLife(options).pipe(
      tap((event) => {
        if ('away' in event) this.#enter(event.away);
      }),
      finalize(() => {
        this.#away = undefined;
      }),
      share(),
    );
    this.awake$ = this.#life$.pipe(
      filter((event) => 'awake' in event),
      map(() => undefined),
    );
  }

  /**
   * Sends a stream when the page is shown and when it is its turn. It errors with reason `Yielded` when it has to end,
   * to be requested again.
   */
  take(
    request: TransportRequest,
    send: () => Observable<TransportEvent>,
  ): Observable<TransportEvent> {
    return new Observable<TransportEvent>((subscriber) => {
      let kind = kindOf(request);
      let isSent = false;
      let isQueued = false;
      let run: Subscription | undefined;
      const next = (event: TransportEvent) => {
        isQueued = event.kind === 'queued';
        subscriber.next(event);
        const isStreamed = kind === 'list' && request.use === 'watch' && event.kind === 'chunk';
        if (!isStreamed || request.mayYield?.() === false) return;
        kind = 'watch';
        look();
      };
      const turn: Turn = {
        request,
        get kind() {
          return kind;
        },
        send: () => {
          if (isQueued) next({ kind: 'sending' });
          if (subscriber.closed) return EMPTY;
          isSent = true;
          return send();
        },
        yielded: (why) => {
          const message = `${request.method} ${request.path}: the client ended the request and sends it again later. ${why}`;
          return ApiError.local('Yielded', message);
        },
      };
      const begin = () => {
        run = new Subscription();
        subscriber.add(run);
        run.add(
          this.#inTurn(turn)
            .pipe(stoppedWith(subscriber))
            .subscribe({
              next,
              error: (error) => subscriber.error(error),
              complete: () => subscriber.complete(),
            }),
        );
      };
      const look = () => {
        if (subscriber.closed) return;
        const away = this.#away;
        // In a hidden tab a list may finish, so that it is not sent again from its beginning.
        const mayRun =
          away === undefined ||
          (away === 'hidden' && (kind === 'page' || (kind === 'list' && isSent)));
        if (isSent) {
          if (!mayRun) subscriber.error(turn.yielded(HIDDEN));
          return;
        }
        // It leaves its turn, because a page of a list waits for none in a hidden tab, and the others are not sent.
        if (away !== undefined) run?.unsubscribe();
        if (!mayRun) next({ kind: 'queued', reason: HIDDEN });
        else if (run?.closed !== false) begin();
      };
      const stream: PageStream = { precedence: ['page', 'list', 'watch'].indexOf(kind), look };
      this.#streams.add(stream);
      subscriber.add(() => this.#streams.delete(stream));
      subscriber.add(this.#life$.subscribe());
      look();
    }).pipe(takeUntil(this.#closing));
  }

  /** Ends all streams with this error. */
  close(error: ApiError): void {
    this.#closing.error(error);
  }

  #enter(away: Away | undefined): void {
    this.#away = away;
    // In the order of their turns.
    const streams = [...this.#streams].sort((a, b) => a.precedence - b.precedence);
    for (const stream of streams) stream.look();
    if (away === 'gone') this.#turns?.endClosing();
  }

  /** Lets a stream take turns, unless it need not wait. */
  #inTurn(turn: Turn): Observable<TransportEvent> {
    // In a hidden tab only the later pages of a list are sent. They need no slot, because its watches have ended.
    const isFree =
      this.#away !== undefined ||
      (this.#turns === undefined && this.#options.most() === Number.POSITIVE_INFINITY);
    if (isFree) return defer(turn.send);
    // A stream does not overtake those that wait for the code.
    if (loaded !== undefined && this.#loading === 0) return this.#join(loaded, turn);
    return defer(() => {
      this.#loading++;
      return loadTurns();
    }).pipe(
      finalize(() => this.#loading--),
      catchError((error: unknown) => {
        const { method, path } = turn.request;
        throw ApiError.local('Network', `${method} ${path}: ${missingCode('turns', error)}`);
      }),
      // Unlike `mergeMap`, it delivers the completion before it leaves the slot: the next page of a list takes that slot.
      switchMap((Turns) => this.#join(Turns, turn)),
      startWith({ kind: 'queued' } as const),
    );
  }

  #join(Turns: typeof StreamTurns, turn: Turn): Observable<TransportEvent> {
    this.#turns ??= new Turns({ ...this.#options, stopwatch, drain: new Drain() });
    const turns = this.#turns;
    return new Observable<TransportEvent>((subscriber) => turns.join(turn, subscriber));
  }
}
