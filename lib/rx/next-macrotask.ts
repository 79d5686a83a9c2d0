/**
 * `nextMacrotask`, which waits for one turn of the event loop. Batching and yielding both need a macrotask that costs
 * microseconds; a timer costs a millisecond (four in a browser).
 */
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';

interface Loop {
  setImmediate?: (task: () => void) => unknown;
  clearImmediate?: (handle: unknown) => void;
}
const loop = globalThis as Loop;

/** Runs `task` after the event loop has turned. The returned function cancels it. */
type Post = (task: () => void) => () => void;

function overMessageChannel(): Post {
  const queue = new Map<number, () => void>();
  const channel = new MessageChannel();
  let last = 0;
  channel.port1.onmessage = ({ data }: MessageEvent<number>) => {
    const task = queue.get(data);
    queue.delete(data);
    task?.();
  };
  return (task) => {
    const id = ++last;
    queue.set(id, task);
    channel.port2.postMessage(id);
    return () => queue.delete(id);
  };
}

// Created on first use, because importing this module must not open a channel.
let post: Post | undefined;
function poster(): Post {
  const { setImmediate, clearImmediate } = loop;
  if (setImmediate !== undefined && clearImmediate !== undefined) {
    return (task) => {
      const handle = setImmediate(task);
      return () => clearImmediate(handle);
    };
  }
  return overMessageChannel();
}

/**
 * Emits once and completes when the event loop has turned. Unsubscribing cancels it. With a scheduler other than the
 * default it is an action of that scheduler, so that virtual time drives it.
 */
export function nextMacrotask(scheduler: SchedulerLike = asyncScheduler): Observable<void> {
  return new Observable<void>((subscriber) => {
    const fire = () => {
      subscriber.next();
      subscriber.complete();
    };
    if (scheduler !== asyncScheduler) return scheduler.schedule(fire);
    post ??= poster();
    return post(fire);
  });
}
