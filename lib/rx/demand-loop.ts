/**
 * Processes waiting work whenever a demand is open. A queue and a slow consumer share this loop.
 */
import { Subscription } from 'rxjs';
import { type Demand, untilOpen } from './demand.ts';

/** The options of {@link createDemandLoop}. */
export interface DemandLoopOptions {
  /** Asked before each call of `serve`. @defaultValue always open */
  readonly ready: Demand | undefined;
  /** Whether work is waiting. */
  hasWork(): boolean;
  /** Processes the waiting work. Work that is added meanwhile is processed by the next call. */
  serve(): void;
  /** Called when no work is waiting. */
  onIdle(): void;
  /** Called if the demand fails or `serve` throws. */
  onError(error: unknown): void;
}

/** The controls of a demand loop. */
export interface DemandLoop {
  /** Call when work was added or the source has ended. */
  request(): void;
  /** Stops processing, and unsubscribes from a closed demand. */
  close(): void;
}

/** Creates a demand loop. It never calls `serve` within `serve`: the demand is asked again first. */
export function createDemandLoop(options: DemandLoopOptions): DemandLoop {
  const capacity = untilOpen(options.ready);
  let waiting: Subscription | undefined;
  let serving = false;
  let closed = false;
  const serve = () => {
    serving = true;
    try {
      options.serve();
    } catch (error) {
      options.onError(error);
    } finally {
      serving = false;
    }
  };
  const request = () => {
    while (!closed && !serving && waiting === undefined && options.hasWork()) {
      let wait: ReturnType<typeof capacity>;
      try {
        wait = capacity();
      } catch (error) {
        return options.onError(error);
      }
      if (wait === null) {
        serve();
        continue;
      }
      const held = new Subscription();
      waiting = held;
      let isSubscribing = true;
      held.add(
        wait.subscribe({
          error: (error) => options.onError(error),
          complete: () => {
            waiting = undefined;
            serve();
            // Otherwise this loop continues. A call would nest as deep as there is work.
            if (!isSubscribing) request();
          },
        }),
      );
      isSubscribing = false;
    }
    if (!closed && !serving && waiting === undefined) options.onIdle();
  };
  return {
    request,
    close: () => {
      closed = true;
      waiting?.unsubscribe();
    },
  };
}
