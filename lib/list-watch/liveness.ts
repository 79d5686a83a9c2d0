/**
 * Detects that the way to a server is dead, for all watches of a client together: runs the machine of
 * `liveness-state.ts`.
 */
import { defer, Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { tap } from 'rxjs/operators';
import { ApiError } from '../meta/api-error.ts';
import { Drain } from '../rx/drain.ts';
import { longTimer } from '../rx/long-timer.ts';
import { stoppedWith } from '../rx/stopped-with.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import { timingOf } from '../rx/timing.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { isHidden } from '../transport/page/page-life.ts';
import type { TransportRequest } from '../transport/transport.ts';
import type { WatchSignal } from './lister-watcher.ts';
import { probeSigns } from './liveness-probe.ts';
import { idle, type LivenessEffect, type LivenessInput, nextLiveness } from './liveness-state.ts';

/** An open watch. */
interface OpenWatch {
  /** The request that shows whether its server lives. */
  probe(): TransportRequest;
  notify(kind: 'doubted' | 'opened'): void;
  lose(why: string): void;
}

/** The watches of one client, and what was heard from its server. */
export interface ServerLife {
  /** Called when bytes have arrived from the server. */
  heard(): void;
  /**
   * Follows a watch. Its signals get a `doubted` when the server may be dead, and an `opened` when it is not. If the
   * server stays silent, the watch errors, so that it is requested again.
   */
  followed<T>(
    signals: Observable<WatchSignal<T>>,
    where: string,
    probe: OpenWatch['probe'],
  ): Observable<WatchSignal<T>>;
}

const unwatched: ServerLife = { heard: () => undefined, followed: (signals) => signals };

/** Creates the life of the server of `client`. */
export function createServerLife(client: KubeClient, scheduler: SchedulerLike): ServerLife {
  const { livenessMs = Number.POSITIVE_INFINITY } = client;
  if (livenessMs === Number.POSITIVE_INFINITY) return unwatched;
  const passedMs = stopwatch(scheduler);
  const { random } = timingOf({});
  const drain = new Drain();
  const watches = new Set<OpenWatch>();
  let state = idle;
  let heardMs = 0;
  let tick: Subscription | undefined;
  let probe: Subscription | undefined;

  const ask = () => {
    const [watch] = watches;
    if (watch === undefined) return;
    const sent = defer(() => client.send(watch.probe()));
    probe = probeSigns(sent).subscribe({
      next: (sign) => (sign === 'life' ? heard() : enter({ type: sign })),
      error: (error: ApiError) =>
        // Failed credentials show nothing about the way to the server.
        error.reason === 'Credentials'
          ? heard()
          : enter({ type: 'failed', why: `a probe failed: ${error.message}` }),
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
        return probe?.unsubscribe();
      default:
        for (const watch of [...watches]) {
          if (effect.type === 'lose') watch.lose(effect.why);
          else watch.notify(effect.type === 'doubt' ? 'doubted' : 'opened');
        }
    }
  };
  const enter = (input: LivenessInput) =>
    drain.run(() => {
      // A probe of `fetch` would wait for a connection without a sign.
      const mayAsk = !isHidden() && client.connectionsLeft !== 0;
      const moment = { nowMs: passedMs(), heardMs, random: random(), mayAsk };
      const [next, effects] = nextLiveness(state, input, moment, livenessMs);
      state = next;
      for (const effect of effects) perform(effect);
    });
  const heard = () => {
    if (state.phase === 'idle') return;
    heardMs = passedMs();
    if (state.phase !== 'listening') enter({ type: 'life' });
  };

  const followed: ServerLife['followed'] = (signals, where, probe) =>
    new Observable((subscriber) => {
      const watch: OpenWatch = {
        probe,
        notify: (kind) => subscriber.next({ kind }),
        lose: (why) =>
          subscriber.error(
            ApiError.local('Network', `${where}: the connection to the server was lost: ${why}`),
          ),
      };
      subscriber.add(() => {
        if (watches.delete(watch) && watches.size === 0) enter({ type: 'closed' });
      });
      subscriber.add(
        signals
          .pipe(
            stoppedWith(subscriber),
            tap(({ kind }) => {
              if (kind !== 'queued' && kind !== 'sending') heard();
              if (kind !== 'opened') return;
              heardMs = passedMs();
              watches.add(watch);
              enter({ type: 'opened' });
            }),
          )
          .subscribe(subscriber),
      );
    });
  return { heard, followed };
}
