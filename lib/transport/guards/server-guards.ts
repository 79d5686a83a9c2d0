/**
 * The guards of a client's watches, which find out that a proxy holds events back, and that the server can no longer be
 * reached. Loaded by `import()`, so it imports nothing that other modules import, too: a bundler would put shared code
 * into one more file that every page loads.
 */
import type { Subscriber } from 'rxjs';
import type { TransportEvent } from '../transport.ts';
import { createPassage, type ObservedWatch, type Passage } from './buffering-proxy.ts';
import { createServerLife, type GuardTools, type OpenWatch } from './liveness.ts';

/** A watch under guard. */
export interface GuardedWatch extends ObservedWatch, OpenWatch {
  /** Ends the watch, so that it is requested again. */
  fail(reason: 'HeldBack' | 'Network', why: string): void;
}

/** What the watches of one client have shown about its server, and the proxies before it. */
export interface ServerGuards extends Pick<Passage, 'heldBack' | 'isJudged' | 'seconds'> {
  /** Called when bytes have arrived from the server. */
  heard(): void;
  /** Guards a watch until its subscriber unsubscribes. Returns what to call for each event of its response. */
  guard(watch: GuardedWatch, subscriber: Subscriber<unknown>): (event: TransportEvent) => void;
}

/** Creates the guards of one client. */
export function createGuards(tools: GuardTools): ServerGuards {
  const passedMs = tools.stopwatch(tools.scheduler);
  const passage = createPassage(passedMs);
  const life = createServerLife(tools, passedMs);
  return Object.assign(passage, {
    heard: life.heard,
    guard: (watch: GuardedWatch, subscriber: Subscriber<unknown>) => {
      const end = (why: string) => watch.fail('HeldBack', why);
      const observe = passage.observed(watch, subscriber, end);
      subscriber.add(() => life.closed(watch));
      return (event: TransportEvent) => {
        if (event.kind === 'head' && event.status < 300) life.opened(watch);
        else if (event.kind === 'chunk' && life.isOpen(watch)) life.heard();
        observe(event);
      };
    },
  });
}
