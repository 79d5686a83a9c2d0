/**
 * `refresh()` of one informer: requests a list of every scope, and resolves when the lists are in the store. Calls made
 * while a refresh is in progress share it.
 */
import type { Subscription } from 'rxjs';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { InformerPart, InformerPort } from './part.ts';

/** The shortest time from the beginning of one refresh to the beginning of the next. */
const MIN_INTERVAL_MS = 1_000;

/** One refresh, from the call to the commit. */
interface Refresh {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: ApiError) => void;
  /** Whether the drain has run its task, so that it belongs to the current run. */
  begun: boolean;
  /**
   * The reflectors whose list is not in the store yet. The value says which list of the reflector it is, by the number
   * of its emission; `undefined` until the list is emitted.
   */
  readonly missing: Map<number, number | undefined>;
}

function newRefresh(): Refresh {
  let settle: Pick<Refresh, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return {
    ...(settle as Pick<Refresh, 'resolve' | 'reject'>),
    promise,
    begun: false,
    missing: new Map(),
  };
}

/** One ListerWatcher of the run. Its lists are committed in the order of their emission. */
interface Source {
  readonly scope: string;
  /** How many lists were emitted, and how many are in the store. */
  emitted: number;
  committed: number;
  /** Whether it no longer lists, because `onError` returned `stop`. */
  ended: boolean;
}

/** Requests lists from the reflectors of the current run. */
export class Refresher<T extends KubernetesObject> implements InformerPart<T> {
  readonly #port: InformerPort<T>;
  readonly #elapsedMs: () => number;
  #sources: Source[] | undefined;
  #current: Refresh | undefined;
  #timer: Subscription | undefined;
  #beganMs = Number.NEGATIVE_INFINITY;

  constructor(port: InformerPort<T>) {
    this.#port = port;
    this.#elapsedMs = stopwatch(port.timing.scheduler);
  }

  /** Resolves when every scope has been listed again and the lists are in the store. */
  refresh(): Promise<void> {
    const current = this.#current ?? newRefresh();
    if (this.#current === undefined) {
      this.#current = current;
      // In the drain, so that a start or a stop that was called before takes effect first.
      this.#port.drain.run(() => this.#begin(current));
    }
    return current.promise;
  }

  sources(of: readonly ListerWatcher<T>[]): void {
    this.#sources = of.map(({ scope = '' }) => ({ scope, emitted: 0, committed: 0, ended: false }));
    if (this.#current?.begun !== true || this.#timer?.closed === false) return;
    const { missing } = this.#current;
    // These namespaces are followed from now on. Their first lists are newer than the call.
    missing.clear();
    for (const at of of.keys()) missing.set(at, 1);
  }

  received(at: number, deltas: readonly Delta<T>[]): void {
    const source = this.#sources?.[at];
    if (source === undefined) return;
    for (const { type } of deltas) if (type === 'replaced') source.emitted++;
  }

  answered(at: number, error: ApiError | undefined): void {
    const current = this.#current;
    if (current?.missing.has(at) !== true) return;
    if (error !== undefined) return this.#settle(current, error);
    current.missing.set(at, this.#sources?.[at]?.emitted);
    this.#check();
  }

  ended(at: number): void {
    const source = this.#sources?.[at];
    if (source === undefined) return;
    source.ended = true;
    if (this.#current?.missing.has(at) === true)
      this.#settle(this.#current, this.#hasEnded(source));
  }

  committed(deltas: readonly Delta<T>[]): void {
    for (const delta of deltas) {
      if (delta.type !== 'replaced') continue;
      const source = this.#sources?.find(({ scope }) => scope === (delta.scope ?? ''));
      if (source !== undefined) source.committed++;
    }
    this.#check();
  }

  end(): void {
    this.#sources = undefined;
    this.#timer?.unsubscribe();
    if (this.#current?.begun === true) this.#settle(this.#current, this.#notRunning());
  }

  #begin(current: Refresh): void {
    current.begun = true;
    if (this.#sources === undefined) {
      // A run whose namespaces are not known yet has its first lists before it.
      if (!this.#port.active) this.#settle(current, this.#notRunning());
      return;
    }
    const waitMs = this.#beganMs + MIN_INTERVAL_MS - this.#elapsedMs();
    if (waitMs <= 0) return this.#order(current);
    this.#timer = longTimer(waitMs, this.#port.timing.scheduler).subscribe(() =>
      this.#port.drain.run(() => {
        if (this.#current === current) this.#order(current);
      }),
    );
  }

  #order(current: Refresh): void {
    this.#beganMs = this.#elapsedMs();
    const sources = this.#sources ?? [];
    for (const at of sources.keys()) current.missing.set(at, undefined);
    for (const at of sources.keys()) this.#port.order(at, { trustVersions: true });
    const ended = sources.find((source) => source.ended);
    if (ended !== undefined && this.#current === current)
      this.#settle(current, this.#hasEnded(ended));
  }

  #check(): void {
    const current = this.#current;
    if (current === undefined) return;
    for (const [at, list] of current.missing) {
      if (list !== undefined && (this.#sources?.[at]?.committed ?? 0) >= list) {
        current.missing.delete(at);
        if (current.missing.size === 0) this.#settle(current);
      }
    }
  }

  #settle(current: Refresh, error?: ApiError): void {
    this.#current = undefined;
    if (error === undefined) current.resolve();
    else current.reject(error);
  }

  #hasEnded({ scope }: Source): ApiError {
    const message = `${this.#port.name} no longer lists ${scope || 'its collection'}, because onError returned 'stop': stop and start the informer`;
    return ApiError.local('Stopped', message);
  }

  #notRunning(): ApiError {
    const message = `${this.#port.name} is not running, so it cannot list: start it, or subscribe to one of its data streams`;
    return ApiError.local('Stopped', message);
  }
}
