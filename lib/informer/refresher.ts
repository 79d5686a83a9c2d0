/**
 * Refreshes of one informer: a list of every scope that somebody asks for, shared by all who ask meanwhile, and the
 * promise that it is in the store.
 */
import { type Observable, type SchedulerLike, Subject, type Subscription } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import type { Delta } from '../reflector/delta.ts';
import type { RefreshOrder } from '../reflector/reflect-options.ts';
import type { Drain } from '../rx/drain.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';

/** From the beginning of one refresh to that of the next. */
const LEAST_MS = 1_000;

/** What a {@link Refresher} needs of its informer. */
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
  /** Its turn has come: it belongs to the run under way. */
  begun: boolean;
  /** What each scope that has not answered waits for: its n-th list; `undefined` until that was emitted. */
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

/** How many lists of one scope were emitted and committed: they are committed in the order of their emission. */
interface Count {
  emitted: number;
  committed: number;
}

/** Asks the reflectors of the run under way for lists. */
export class Refresher {
  readonly #host: RefresherHost;
  readonly #orders = new Subject<RefreshOrder>();
  readonly #passedMs: () => number;
  #counts: Map<string, Count> | undefined;
  /** Scopes of the run under way that are listed no more, because `onError` wanted it so. */
  readonly #ended = new Set<string>();
  #under: Refresh | undefined;
  #timer: Subscription | undefined;
  #beganMs = Number.NEGATIVE_INFINITY;

  constructor(host: RefresherHost) {
    this.#host = host;
    this.#passedMs = stopwatch(host.scheduler);
  }

  /** What every reflector of the run is asked for. */
  get orders$(): Observable<RefreshOrder> {
    return this.#orders;
  }

  /** Resolves when every scope has been listed anew and the lists are in the store. */
  refresh(): Promise<void> {
    const under = this.#under ?? newRefresh();
    if (this.#under === undefined) {
      this.#under = under;
      // In its turn: after a start or a stop that was called before it.
      this.#host.drain.run(() => this.#begin(under));
    }
    return under.promise;
  }

  /** A run begins, over these scopes. */
  begin(scopes: Iterable<string>): void {
    this.#counts = new Map();
    this.#ended.clear();
    for (const scope of scopes) this.#counts.set(scope, { emitted: 0, committed: 0 });
  }

  /** A reflector has emitted. */
  emitted<T>(scope: string, deltas: readonly Delta<T>[]): void {
    const count = this.#counts?.get(scope);
    if (count !== undefined) count.emitted += listsIn(deltas);
  }

  /** A reflector was through with the list, or its try has failed. */
  answered(scope: string, error: ApiError | undefined): void {
    const under = this.#under;
    if (under?.missing.has(scope) !== true) return;
    if (error !== undefined) return this.#settle(under, error);
    under.missing.set(scope, this.#counts?.get(scope)?.emitted);
    this.#check();
  }

  /** A reflector has completed. */
  ended(scope: string): void {
    this.#ended.add(scope);
    if (this.#under?.missing.has(scope) === true) this.#settle(this.#under, this.#hasEnded(scope));
  }

  /** These deltas are in the store. */
  committed<T>(
    scopeOf: (delta: { readonly scope?: string }) => string,
    deltas: readonly Delta<T>[],
  ): void {
    for (const delta of deltas) {
      if (delta.type !== 'replaced') continue;
      const count = this.#counts?.get(scopeOf(delta));
      if (count !== undefined) count.committed++;
    }
    this.#check();
  }

  /** The run is over. */
  end(): void {
    this.#counts = undefined;
    this.#timer?.unsubscribe();
    if (this.#under?.begun === true) this.#settle(this.#under, this.#notRunning());
  }

  #begin(under: Refresh): void {
    under.begun = true;
    if (this.#counts === undefined) return this.#settle(under, this.#notRunning());
    const waitMs = this.#beganMs + LEAST_MS - this.#passedMs();
    const order = () => {
      this.#beganMs = this.#passedMs();
      for (const scope of this.#counts?.keys() ?? []) under.missing.set(scope, undefined);
      this.#orders.next({ trustVersions: true });
      for (const scope of this.#ended) {
        if (this.#under === under) this.#settle(under, this.#hasEnded(scope));
      }
    };
    if (waitMs <= 0) return order();
    this.#timer = longTimer(waitMs, this.#host.scheduler).subscribe(() =>
      this.#host.drain.run(() => {
        if (this.#under === under) order();
      }),
    );
  }

  #check(): void {
    const under = this.#under;
    if (under === undefined) return;
    for (const [scope, list] of under.missing) {
      if (list !== undefined && (this.#counts?.get(scope)?.committed ?? 0) >= list) {
        under.missing.delete(scope);
        if (under.missing.size === 0) this.#settle(under);
      }
    }
  }

  #settle(under: Refresh, error?: ApiError): void {
    this.#under = undefined;
    if (error === undefined) under.resolve();
    else under.reject(error);
  }

  #hasEnded(scope: string): ApiError {
    const message = `${this.#host.name} lists ${scope || 'its collection'} no longer, because onError returned 'stop': stop and start it`;
    return ApiError.local('Stopped', message);
  }

  #notRunning(): ApiError {
    const message = `${this.#host.name} is not running, so it lists nothing: start it, or subscribe to one of its streams`;
    return ApiError.local('Stopped', message);
  }
}
