/**
 * Detects a proxy that holds the events of a server's watches back until a watch ends. While events are held back,
 * watches are kept short, so that their events are released soon. They become long again when watches show that
 * events arrive promptly.
 */

import { Observable, type SchedulerLike, Subject } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { EpochMs } from '../rx/timing.ts';
import type { TransportEvent } from '../transport/transport.ts';
import { nextPromptness, type PromptnessInput, unknownPromptness } from './buffering-state.ts';
import { type ObservedWatch, PromptnessObserver } from './promptness-observer.ts';

/** Reports that a proxy holds events back, with a message that a page can show. */
export interface HeldBack {
  /** When this was detected. */
  readonly sinceMs: EpochMs;
  readonly message: string;
}

/**
 * The longest and the shortest watch while events are held back, in seconds. The durations differ, so that not all
 * informers send their requests at the same time.
 */
const SHORT_SECONDS = 20;
const SHORTEST_SECONDS = 15;
const MESSAGE =
  'a proxy between this client and the server holds events back until a watch ends. Watches end after 15 to 20 s, so changes are that late. Configure it to forward responses without buffering (docs/operations/proxies.md)';

/** The findings of a client about the proxies between it and its server. */
export interface Passage {
  /** Set while a proxy holds events back. */
  readonly heldBack: HeldBack | undefined;
  /** Whether a watch has proved that events are not held back, or a probe has tried to. */
  readonly isJudged: boolean;
  /** How long a watch may last, in seconds, if `asked` seconds were requested. */
  seconds(asked: number): number;
  /**
   * Observes how promptly the events of a watch arrive. If a proxy turns out to hold them back, the watch errors with
   * reason `HeldBack`, so that a shorter one replaces it.
   */
  watched(events: Observable<TransportEvent>, watch: ObservedWatch): Observable<TransportEvent>;
}

/** Observes the watches of one client together, because what one of them shows is valid for all. */
export function createPassage(firstScheduler: SchedulerLike): Passage {
  const passedMs = stopwatch(firstScheduler);
  const begins = new Subject<void>();
  let state = unknownPromptness;
  let heldBack: HeldBack | undefined;
  const enter = (input: PromptnessInput, nowMs: number) => {
    state = nextPromptness(state, input, { passedMs: passedMs(), nowMs });
    const sinceMs = state.heldSinceAtMs;
    if ((sinceMs === undefined) === (heldBack === undefined)) return;
    heldBack = sinceMs === undefined ? undefined : { sinceMs, message: MESSAGE };
    if (heldBack !== undefined) begins.next();
  };
  const watched: Passage['watched'] = (events, watch) =>
    new Observable<TransportEvent>((subscriber) => {
      const isShort = heldBack !== undefined;
      const observer = new PromptnessObserver(watch, isShort, subscriber, {
        passedMs,
        state: () => state,
        enter: (input) => enter(input, watch.scheduler.now()),
      });
      const end = () => subscriber.error(ApiError.local('HeldBack', `${watch.where}: ${MESSAGE}`));
      if (!isShort) subscriber.add(begins.subscribe(end));
      observer.begin();
      subscriber.add(
        events.pipe(stoppedWith(subscriber)).subscribe({
          next: (event) => {
            observer.notice(event);
            subscriber.next(event);
          },
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
    });

  return {
    get heldBack() {
      return heldBack;
    },
    get isJudged() {
      return state.provedMs !== undefined || state.fruitless > 0;
    },
    seconds: (asked) =>
      heldBack === undefined || asked <= SHORTEST_SECONDS
        ? asked
        : Math.min(asked, SHORTEST_SECONDS + (asked % (SHORT_SECONDS - SHORTEST_SECONDS + 1))),
    watched,
  };
}
