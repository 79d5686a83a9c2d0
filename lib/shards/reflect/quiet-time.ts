/**
 * The time in which the server wants no request, because it has answered one with a Retry-After. A follower that takes over from
 * another one knows nothing of that answer, so all of them ask here.
 */
import { concat, defer, EMPTY, type Observable, type SchedulerLike } from 'rxjs';
import { ignoreElements } from 'rxjs/operators';
import type { ApiError } from '../../meta/api-error.ts';
import { longTimer } from '../../rx/long-timer.ts';
import { stopwatch } from '../../rx/stopwatch.ts';

export class QuietTime {
  readonly #scheduler: SchedulerLike;
  readonly #passedMs: () => number;
  #untilMs = 0;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#passedMs = stopwatch(scheduler);
  }

  note({ retryAfterMs }: ApiError): void {
    if (retryAfterMs === undefined) return;
    this.#untilMs = Math.max(this.#untilMs, this.#passedMs() + retryAfterMs);
  }

  /** Sends a request when the time is over. `queued` and `sending` are what is emitted before and after a wait. */
  after<V>(
    request: () => Observable<V>,
    queued: () => Observable<V>,
    sending: () => Observable<V>,
  ): Observable<V> {
    return defer(() => {
      if (this.#leftMs <= 0) return request();
      return concat(defer(queued), this.#over(), defer(sending), defer(request));
    });
  }

  get #leftMs(): number {
    return this.#untilMs - this.#passedMs();
  }

  /** Completes when the time is over, which another answer may have prolonged in the meantime. */
  #over(): Observable<never> {
    return defer(() =>
      this.#leftMs <= 0
        ? EMPTY
        : concat(longTimer(this.#leftMs, this.#scheduler).pipe(ignoreElements()), this.#over()),
    );
  }
}
