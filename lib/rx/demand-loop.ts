/**
 * Serves what waits whenever a demand is open: the loop that a queue and a slow consumer have in common.
 */
import { Subscription } from 'rxjs';
import { take } from 'rxjs/operators';
import type { Demand } from './demand.ts';

/** What {@link createDemandLoop} takes. */
export interface DemandLoopOptions {
  /** Asked before each serving. @defaultValue room always */
  readonly ready: Demand | undefined;
  /** Whether anything waits. */
  hasWork(): boolean;
  /** Serves what waits. What it causes to wait is served after it. */
  serve(): void;
  /** Nothing waits, or all that did was served. */
  onIdle(): void;
  /** The demand failed, or the serving did. */
  onError(error: unknown): void;
}

/** One server. */
export interface DemandLoop {
  /** Something waits, or the source has ended. */
  request(): void;
  /** Serves no more, asks no more, and lets go of a demand that is closed. */
  close(): void;
}

/** Makes a server. It never serves within a serving: the demand is asked again first. */
export function createDemandLoop(options: DemandLoopOptions): DemandLoop {
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
      let wait: ReturnType<Demand>;
      try {
        wait = options.ready?.() ?? null;
      } catch (error) {
        return options.onError(error);
      }
      if (wait === null) {
        serve();
        continue;
      }
      const held = new Subscription();
      waiting = held;
      held.add(
        wait.pipe(take(1)).subscribe({
          error: (error) => options.onError(error),
          complete: () => {
            waiting = undefined;
            serve();
            request();
          },
        }),
      );
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
