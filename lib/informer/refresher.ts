/**
 * `refresh()` of one informer: requests a list of every scope, and resolves when the lists are in the store. Calls made
 * while a refresh is in progress share it.
 */
import { type Observable, type SchedulerLike, Subject, type Subscription } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import type { Delta } from '../reflector/delta.ts';
import type { RefreshOrder } from '../reflector/reflect-options.ts';
import type { Drain } from '../rx/drain.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';

/** The shortest time from the beginning of one refresh to the beginning of the next. */
const MIN_INTERVAL_MS = 1_000;

/** The parts of its informer that a {@link Refresher} needs. */
export interface RefresherHost {
  readonly name: string;
  readonly scheduler: SchedulerLike;
  readonly drain: Drain;
}

/** One refresh, from the call to the commit. */
interface Refresh {
  readonly promise: Promise<void>;
  resolve(): void;
  reject(error: ApiError): void;
  /** Whether the drain has run its task, so that it belongs to the current run. */
  begun: boolean;
  /**
   * The scopes whose list is not in the store yet. The value says which list of the scope it is, by the number of its
   * emission; `undefined` until the list is emitted.
   */
  readonly missing: Map<string, number | undefined>;
}

function newRefresh(): Refresh {
  const settle: { resolve?: () => void; reject?: (error: ApiError) => void } = {};
  const promise = new Promise<void>((resolve, reject) =>
    Object.assign(settle, { resolve, reject }),
  );
  return {
    promise,
    resolve: () => settle.resolve?.(),
    reject: (error) => settle.reject?.(error),
    begun: false,
    missing: new Map(),
  };
}

function listsIn<T>(deltas: readonly Delta<T>[]): number {
  let lists = 0;
  for (const { type } of deltas) if (type === 'replaced') lists++;
  return lists;
}

/** How many lists of one scope were emitted and committed. Lists are committed in the order of their emission. */
interface Count {
  emitted: number;
  committed: number;
}

/** Requests lists from the reflectors of the current run. */
export class Refresher {
  readonly #host: RefresherHost;
  readonly #orders = new Subject<RefreshOrder>();
  readonly #elapsedMs: () => number;
  #counts: Map<string, Count> | undefined;
  /** The scopes of the current run that are no longer listed, because `onError` returned `stop`. */
  readonly #ended = new Set<string>();
  #current: Refresh | undefined;
  #timer: Subscription | undefined;
  #beganMs = Number.NEGATIVE_INFINITY;

  constructor(host: RefresherHost) {
    this.#host = host;
    this.#elapsedMs = stopwatch(host.scheduler);
  }

  /** The lists that every reflector of the run must make. */
  get orders$(): Observable<RefreshOrder> {
    return this.#orders;
  }

  /** Resolves when every scope has been listed again and the lists are in the store. */
  refresh(): Promise<void> {
    const current = this.#current ?? newRefresh();
    if (this.#current === undefined) {
      this.#current = current;
      // In the drain, so that a start or a stop that was called before takes effect first.
      this.#host.drain.run(() => this.#begin(current));
    }
    return current.promise;
  }

  /** Called when a run over these scopes begins. */
  begin(scopes: Iterable<string>): void {
    this.#counts = new Map();
    this.#ended.clear();
    for (const scope of scopes) this.#counts.set(scope, { emitted: 0, committed: 0 });
  }

  /** Called with each emission of a reflector. */
  emitted<T>(scope: string, deltas: readonly Delta<T>[]): void {
    const count = this.#counts?.get(scope);
    if (count !== undefined) count.emitted += listsIn(deltas);
  }

  /** Called when a reflector has emitted the requested list completely, or when the request has failed. */
  answered(scope: string, error: ApiError | undefined): void {
    const current = this.#current;
    if (current?.missing.has(scope) !== true) return;
    if (error !== undefined) return this.#settle(current, error);
    current.missing.set(scope, this.#counts?.get(scope)?.emitted);
    this.#check();
  }

  /** Called when a reflector has completed. */
  ended(scope: string): void {
    this.#ended.add(scope);
    if (this.#current?.missing.has(scope) === true)
      this.#settle(this.#current, this.#hasEnded(scope));
  }

  /** Called when these deltas are in the store. */
  committed<T>(
    scopeOf: (delta: { readonly scope?: string | undefined }) => string,
    deltas: readonly Delta<T>[],
  ): void {
    for (const delta of deltas) {
      if (delta.type !== 'replaced') continue;
      const count = this.#counts?.get(scopeOf(delta));
      if (count !== undefined) count.committed++;
    }
    this.#check();
  }

  /** Called when the run has ended. */
  end(): void {
    this.#counts = undefined;
    this.#timer?.unsubscribe();
    if (this.#current?.begun === true) this.#settle(this.#current, this.#notRunning());
  }

  #begin(current: Refresh): void {
    current.begun = true;
    if (this.#counts === undefined) return this.#settle(current, this.#notRunning());
    const waitMs = this.#beganMs + MIN_INTERVAL_MS - this.#elapsedMs();
    const order = () => {
      this.#beganMs = this.#elapsedMs();
      for (const scope of this.#counts?.keys() ?? []) current.missing.set(scope, undefined);
      this.#orders.next({ trustVersions: true });
      for (const scope of this.#ended) {
        if (this.#current === current) this.#settle(current, this.#hasEnded(scope));
      }
    };
    if (waitMs <= 0) return order();
    this.#timer = longTimer(waitMs, this.#host.scheduler).subscribe(() =>
      this.#host.drain.run(() => {
        if (this.#current === current) order();
      }),
    );
  }

  #check(): void {
    const current = this.#current;
    if (current === undefined) return;
    for (const [scope, list] of current.missing) {
      if (list !== undefined && (this.#counts?.get(scope)?.committed ?? 0) >= list) {
        current.missing.delete(scope);
        if (current.missing.size === 0) this.#settle(current);
      }
    }
  }

  #settle(current: Refresh, error?: ApiError): void {
    this.#current = undefined;
    if (error === undefined) current.resolve();
    else current.reject(error);
  }

  #hasEnded(scope: string): ApiError {
    const message = `${this.#host.name} no longer lists ${scope || 'its collection'}, because onError returned 'stop': stop and start the informer`;
    return ApiError.local('Stopped', message);
  }

  #notRunning(): ApiError {
    const message = `${this.#host.name} is not running, so it cannot list: start it, or subscribe to one of its data streams`;
    return ApiError.local('Stopped', message);
  }
}
