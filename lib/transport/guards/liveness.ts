/**
 * Detects that the way to a server is dead, for all watches of a client together: runs the machine of
 * `liveness-state.ts`.
 */
import { defer, type Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { takeWhile } from 'rxjs/operators';
import type { ApiError } from '../../meta/api-error.ts';
import type { Drain } from '../../rx/drain.ts';
import type { sendSuccessful } from '../response.ts';
import type { Transport, TransportRequest } from '../transport.ts';
import { idle, type LivenessEffect, type LivenessInput, nextLiveness } from './liveness-state.ts';

/** What the guards use of the rest of the library. */
export interface GuardTools {
  readonly client: Pick<Transport, 'send' | 'connectionsLeft'>;
  readonly livenessMs: number;
  readonly scheduler: SchedulerLike;
  /** The drain of all inputs. */
  readonly drain: Drain;
  stopwatch(scheduler: SchedulerLike): () => number;
  longTimer(delayMs: number, scheduler: SchedulerLike): Observable<unknown>;
  readonly sendSuccessful: typeof sendSuccessful;
  /** Whether the page is hidden. */
  isHidden(): boolean;
}

/** An open watch. */
export interface OpenWatch {
  /** The request that shows whether its server lives. */
  ping(): TransportRequest;
  notify(signal: { readonly kind: 'doubted' | 'opened'; readonly silentMs?: number }): void;
  fail(reason: 'Network', why: string): void;
}

/** The watches of one client, and what was heard from its server. */
export interface ServerLife {
  /** Called when bytes have arrived from the server. */
  heard(): void;
  /**
   * Called when a watch was answered. It is notified of `doubted` when the server may be dead, and of `opened` when it is
   * not. If the server stays silent, the watch is lost, so that it is requested again.
   */
  opened(watch: OpenWatch): void;
  isOpen(watch: OpenWatch): boolean;
  closed(watch: OpenWatch): void;
}

/** Creates the life of the server of `client`. */
export function createServerLife(tools: GuardTools, passedMs: () => number): ServerLife {
  const { client, livenessMs, scheduler, drain, longTimer, sendSuccessful } = tools;
  const watches = new Set<OpenWatch>();
  let state = idle;
  let heardMs = 0;
  let tick: Subscription | undefined;
  let ping: Subscription | undefined;

  const fail = (why: string) => enter({ type: 'failed', why: `a ping failed: ${why}` });
  const failBy = (status: number) => fail(`a proxy answered ${status} in its place`);
  /** Sends a ping. An API server answers with a list, with an error below 500, or with a Status. */
  const ask = () => {
    const [watch] = watches;
    if (watch === undefined) return;
    ping = defer(() => sendSuccessful(client, watch.ping(), 'GET', scheduler))
      .pipe(takeWhile(({ kind }) => kind !== 'head', true))
      .subscribe({
        next: (event) => {
          if (event.kind === 'queued' || event.kind === 'sending') enter({ type: event.kind });
          else if (event.kind !== 'head') return;
          else if (/html/.test(event.header('content-type') ?? '')) failBy(event.status);
          else heard();
        },
        error: ({ code, reason, status, message }: ApiError) => {
          const isAnswer = (code >= 400 && code < 500) || status?.kind === 'Status';
          // Failed credentials show nothing about the way to the server.
          if (isAnswer || reason === 'Credentials') heard();
          else if (code > 0) failBy(code);
          else fail(message);
        },
      });
  };
  const perform = (effect: LivenessEffect) => {
    switch (effect.type) {
      case 'tick-after':
        tick?.unsubscribe();
        tick = longTimer(Math.max(1, effect.delayMs), scheduler).subscribe(() =>
          enter({ type: 'tick' }),
        );
        return;
      case 'ask':
        return ask();
      case 'rest':
        tick?.unsubscribe();
        return ping?.unsubscribe();
      default:
        for (const watch of [...watches]) {
          if (effect.type === 'trust') {
            watch.notify({ kind: 'opened' });
            continue;
          }
          watch.notify({ kind: 'doubted', silentMs: passedMs() - heardMs });
          if (effect.type === 'lose') {
            watch.fail('Network', `the connection to the server was lost: ${effect.why}`);
          }
        }
    }
  };
  const enter = (input: LivenessInput) =>
    drain.run(() => {
      // A ping of `fetch` would wait for a connection without a sign.
      const mayAsk = !tools.isHidden() && client.connectionsLeft !== 0;
      const moment = { nowMs: passedMs(), heardMs, random: Math.random(), mayAsk };
      const [next, effects] = nextLiveness(state, input, moment, livenessMs);
      state = next;
      for (const effect of effects) perform(effect);
    });
  const heard = () => {
    if (state.phase === 'idle') return;
    heardMs = passedMs();
    if (state.phase !== 'listening') enter({ type: 'life' });
  };

  return {
    heard,
    isOpen: (watch) => watches.has(watch),
    opened: (watch) => {
      if (livenessMs === Number.POSITIVE_INFINITY) return;
      heard();
      watches.add(watch);
      heardMs = passedMs();
      enter({ type: 'opened' });
    },
    closed: (watch) => {
      if (watches.delete(watch) && watches.size === 0) enter({ type: 'closed' });
    },
  };
}
