/**
 * Writes events, one request at a time and at a limited rate. A failed write waits for its retry separately, so the others
 * continue. client-go: tools/events/event_broadcaster.go, attemptRecording.
 */
import type { SchedulerLike, Subscription } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import { resourcePath } from '../../meta/resource.ts';
import { longTimer } from '../../rx/long-timer.ts';
import type { KubeRequest } from '../../transport/call.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import { EVENTS, type Series } from './event-series.ts';

const TRIES = 12;
const RETRY_MS = 10_000;
/** A request without a response in this time is aborted and retried later. */
const PATIENCE_MS = 10_000;

/** Options of a writer. */
export interface EventWriterOptions {
  readonly client: Pick<KubeClient, 'request'>;
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  /** Takes a token and returns how long to wait for it, in milliseconds. */
  reserve(): number;
  /** Called if events were recorded while the series was being written. */
  behind(series: Series): void;
  /** Called if a series will not be written. */
  dropped(series: Series, error: unknown): void;
}

interface Retry {
  readonly timer: Subscription;
  readonly error: unknown;
}

/** The series that wait to be written. */
export class EventWriter {
  readonly #options: EventWriterOptions;
  readonly #ready = new Set<Series>();
  readonly #retries = new Map<Series, Retry>();
  readonly #closing = new AbortController();
  #current: Series | undefined;
  #isBusy = false;
  #waiting: (() => void)[] = [];

  constructor(options: EventWriterOptions) {
    this.#options = options;
  }

  /** The number of series that are not completely written. */
  get size(): number {
    return this.#ready.size + this.#retries.size + (this.#current === undefined ? 0 : 1);
  }

  /** Whether the series waits to be written, or for a retry. */
  has(series: Series): boolean {
    return this.#ready.has(series) || this.#retries.has(series);
  }

  /** Queues the series. A series that has failed waits for its retry. */
  write(series: Series): void {
    if (this.#retries.has(series)) return;
    this.#ready.add(series);
    if (!this.#isBusy) void this.#writeAll();
  }

  /** Resolves when no series waits. */
  whenIdle(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Drops the series that wait. */
  close(): void {
    this.#closing.abort();
    const closed = ApiError.local('Stopped', 'the event recorder was closed first');
    for (const [series, { timer, error }] of [...this.#retries]) {
      timer.unsubscribe();
      this.#drop(series, error);
    }
    for (const series of [...this.#ready]) this.#drop(series, closed);
    this.#checkIdle();
  }

  async #writeAll(): Promise<void> {
    this.#isBusy = true;
    for (const series of this.#ready) {
      this.#current = series;
      this.#ready.delete(series);
      await this.#writeOne(series);
      this.#current = undefined;
      if (series.isBehind && !this.has(series)) this.#options.behind(series);
    }
    this.#isBusy = false;
    this.#checkIdle();
  }

  #checkIdle(): void {
    if (this.size > 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async #writeOne(series: Series): Promise<void> {
    try {
      await this.#wait(this.#options.reserve());
      await this.#send(series);
    } catch (error) {
      series.tries++;
      const again = ApiError.from(error, 'event').retryable && series.tries < TRIES;
      if (this.#closing.signal.aborted || !again) this.#drop(series, error);
      else this.#later(series, error);
    }
  }

  #later(series: Series, error: unknown): void {
    const { scheduler, random } = this.#options;
    const timer = longTimer(RETRY_MS * (1 + random() / 4), scheduler).subscribe(() => {
      this.#retries.delete(series);
      this.write(series);
    });
    this.#ready.delete(series);
    this.#retries.set(series, { timer, error });
  }

  #drop(series: Series, error: unknown): void {
    series.giveUp();
    this.#ready.delete(series);
    this.#retries.delete(series);
    this.#options.dropped(series, error);
  }

  /** Writes the events of the series so far. */
  async #send(series: Series): Promise<void> {
    const { count } = series;
    if (!series.isCreated && (await this.#create(series))) return series.written(count);
    if (count === 1) return series.written(count);
    const { namespace, name } = series;
    const path = resourcePath(EVENTS, { namespace, name });
    const headers = { 'content-type': 'application/merge-patch+json' };
    try {
      await this.#request({ method: 'PATCH', path, headers, body: series.patch() });
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isNotFound) throw error;
      // The API server deletes Events after an hour. Then the series starts another Event.
      series.startAnother();
      return this.#send(series);
    }
    return series.written(count);
  }

  /** Returns whether the Event was created. Otherwise it exists, because the response of an earlier attempt was lost. */
  async #create(series: Series): Promise<boolean> {
    const { random } = this.#options;
    const { namespace } = series;
    const isFirstTry = series.name === '';
    try {
      const body = series.body(random);
      await this.#request({ method: 'POST', path: resourcePath(EVENTS, { namespace }), body });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409) throw error;
      if (!isFirstTry) return false;
      series.startAnother();
      throw ApiError.local('Unexpected', `${error.message}; the next attempt uses another name`);
    }
  }

  async #request(request: KubeRequest): Promise<void> {
    const { client, scheduler } = this.#options;
    const { signal: closing } = this.#closing;
    const limited = new AbortController();
    const abort = () => limited.abort();
    if (closing.aborted) abort();
    closing.addEventListener('abort', abort);
    const limit = longTimer(PATIENCE_MS, scheduler).subscribe(abort);
    try {
      const answer = await client.request<{ readonly kind?: unknown } | undefined>({
        ...request,
        signal: limited.signal,
      });
      if (answer?.kind === EVENTS.kind) return;
      const { method, path } = request;
      const message = `${method} ${path}: the response is no Event; does a proxy answer in place of the API server?`;
      throw ApiError.local('Unexpected', message);
    } catch (error) {
      if (!limited.signal.aborted || closing.aborted) throw error;
      const { method, path } = request;
      const message = `${method} ${path}: no response within ${PATIENCE_MS} ms`;
      throw ApiError.local('Silent', message, { cause: error });
    } finally {
      limit.unsubscribe();
      closing.removeEventListener('abort', abort);
    }
  }

  /** Waits for this time, or until the writer is closed. */
  #wait(ms: number): Promise<void> {
    const { signal } = this.#closing;
    if (ms === 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        timer.unsubscribe();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = longTimer(ms, this.#options.scheduler).subscribe(end);
      signal.addEventListener('abort', end);
    });
  }
}
