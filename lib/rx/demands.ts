/**
 * Ready-made demands: `animationFrames` serves its consumer once a frame, `atMostEvery` limits how often it is served,
 * and `whenDrained` waits for a stream to which it writes.
 */
import { asyncScheduler, defer, Observable, type SchedulerLike } from 'rxjs';
import { tap } from 'rxjs/operators';
import { checkedPeriod } from '../checks/checked-option.ts';
import type { Demand } from './demand.ts';
import { longTimer } from './long-timer.ts';
import { stopwatch } from './stopwatch.ts';

/**
 * Creates a demand that is open once every `periodMs` milliseconds: the first time immediately, after an idle period
 * immediately, too. Each consumer needs a demand of its own, because it counts when it was open. Throws a `TypeError`
 * if the period is not a number of 0 or more.
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { atMostEvery, conflateByKey } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * let delivered = 0;
 * const painted$ = of(changeSet({ added: [web] })).pipe(conflateByKey({ ready: atMostEvery(200) }));
 * painted$.subscribe(() => delivered++);
 * delivered; // => 1
 * ```
 */
export function atMostEvery(
  periodMs: number,
  options: { readonly scheduler?: SchedulerLike | undefined } = {},
): Demand {
  checkedPeriod(periodMs, 'atMostEvery: periodMs', 0);
  const { scheduler = asyncScheduler } = options;
  const passedMs = stopwatch(scheduler);
  let openedMs: number | undefined;
  return () => {
    const nowMs = passedMs();
    const leftMs = openedMs === undefined ? 0 : openedMs + periodMs - nowMs;
    if (leftMs <= 0) {
      openedMs = nowMs;
      return null;
    }
    // A timer may be a fraction of a millisecond early, and must not be asked again for that.
    const isDue = () => {
      openedMs = undefined;
    };
    return longTimer(leftMs, scheduler).pipe(tap(isDue));
  };
}

/** The length of a frame where nothing is painted, in milliseconds. */
const FRAME_MS = 16;

/** How long to wait for a frame, in milliseconds. The browser paints no frames for a hidden tab. */
const LONGEST_FRAME_MS = 250;

interface Frames {
  requestAnimationFrame?(callback: () => void): number;
  cancelAnimationFrame?(handle: number): void;
}

/**
 * Creates a demand that is open once in each animation frame, so that a page changes at most once per frame. In a
 * hidden tab, for which the browser paints no frames, it opens every 250 ms, or as often as the browser lets timers
 * fire. Where there are no frames, as in Node, it opens every 16 ms. With a `scheduler` it does the same in that
 * scheduler's time.
 *
 * @example
 * ```ts
 * import { NEVER } from 'rxjs';
 * import { animationFrames, conflateByKey, toView } from 'rx-informer';
 *
 * const frames$ = NEVER.pipe(conflateByKey({ ready: animationFrames() })); // informer.changes$ in place of NEVER
 * const view = toView(frames$);
 * view.getSnapshot().rows.length; // => 0
 * ```
 */
export function animationFrames(
  options: { readonly scheduler?: SchedulerLike | undefined } = {},
): Demand {
  const { scheduler = asyncScheduler } = options;
  return () =>
    new Observable<void>((subscriber) => {
      // Looked up now, because importing this module must not need a browser.
      const frames: Frames = scheduler === asyncScheduler ? (globalThis as Frames) : {};
      const isPainted = frames.requestAnimationFrame !== undefined;
      const open = () => {
        subscriber.next();
        subscriber.complete();
      };
      subscriber.add(scheduler.schedule(open, isPainted ? LONGEST_FRAME_MS : FRAME_MS));
      const frame = frames.requestAnimationFrame?.(open);
      if (frame !== undefined) subscriber.add(() => frames.cancelAnimationFrame?.(frame));
    });
}

/** The part of Node's `Writable` that is used, such as of a response or a socket. */
export interface DrainableStream {
  /** Whether the buffer is full, and `drain` will be emitted. */
  readonly writableNeedDrain: boolean;
  once(event: 'drain', listener: () => void): unknown;
  removeListener?(event: 'drain', listener: () => void): unknown;
}

/** The part of a `WritableStreamDefaultWriter` that is used. */
export interface DrainableWriter {
  /** How much more may be written without delay; 0 or less if the buffer is full, `null` if the stream has failed. */
  readonly desiredSize: number | null;
  /** Resolves when more may be written. */
  readonly ready: Promise<unknown>;
}

function streamDrained(stream: DrainableStream): Observable<void> {
  return new Observable<void>((subscriber) => {
    const listen = () => stream.once('drain', drained);
    const drained = () => {
      // A listener that was called before this one may have filled the buffer again.
      if (stream.writableNeedDrain) return void listen();
      subscriber.next();
      subscriber.complete();
    };
    listen();
    return () => stream.removeListener?.('drain', drained);
  });
}

/**
 * Creates a demand that is open while a stream accepts more data without buffering beyond its limit: a stream of Node,
 * by `writableNeedDrain` and its event `drain`, or a writer of a web stream, by `desiredSize` and `ready`. It errors if
 * `ready` rejects. A stream of Node that is destroyed emits no `drain`, so unsubscribe when it closes.
 *
 * @example
 * ```ts
 * import { whenDrained } from 'rx-informer';
 *
 * const writer = new WritableStream({ write: () => undefined }).getWriter();
 * const ready = whenDrained(writer); // or of a response of Node: whenDrained(response)
 * ready(); // => null
 * ```
 */
export function whenDrained(writable: DrainableStream | DrainableWriter): Demand {
  if ('writableNeedDrain' in writable) {
    return () => (writable.writableNeedDrain ? streamDrained(writable) : null);
  }
  // A closed writer has no capacity, and its `ready` has resolved: it must not be awaited again and again.
  let resolved: Promise<unknown> | undefined;
  return () => {
    const { desiredSize, ready } = writable;
    if ((desiredSize ?? 0) > 0 || ready === resolved) return null;
    return defer(() => ready).pipe(
      tap(() => {
        resolved = ready;
      }),
    );
  };
}
