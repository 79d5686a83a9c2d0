/**
 * `reflect`, which follows a collection on the server and emits its deltas. It runs the state machine of
 * `transitions.ts`: it performs the effects and passes the responses in as inputs. This file makes no decisions about
 * the protocol. client-go: tools/cache/reflector.go.
 */
import { defer, EMPTY, merge, Observable, type SchedulerLike } from 'rxjs';
import { catchError, endWith, map } from 'rxjs/operators';
import type { HeldBack } from '../list-watch/buffering-proxy.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { ApiError } from '../meta/api-error.ts';
import { exponentialBackoff, reliableBackoff } from '../rx/backoff.ts';
import { type Demand, reliable, unlimited, untilOpen } from '../rx/demand.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type MachineEffect, machine } from '../rx/machine.ts';
import { reportingErrors, reportUnhandled } from '../rx/report-unhandled.ts';
import { timingOf } from '../rx/timing.ts';
import type { Delta } from './delta.ts';
import { limitsOf, type ReflectorLimits } from './limits.ts';
import type { ReflectOptions } from './reflect-options.ts';
import { createSending, type LateInput, type Sending } from './send-requests.ts';
import {
  initialState,
  type Moment,
  type ReflectorConfig,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorState,
} from './state.ts';
import { sameStatus, statusOf } from './status.ts';
import { nextReflector, reflectorTable, startReflector, stopReflector } from './transitions.ts';

type Arrived<T> = ReflectorInput<T> | LateInput<T> | undefined;

function configOf<T>(
  listerWatcher: ListerWatcher<T>,
  options: ReflectOptions<T>,
  { healthyMs, minWatchTimeoutMs, pageSize }: ReflectorLimits,
): ReflectorConfig {
  return {
    scope: listerWatcher.scope || undefined,
    initialList: options.initialList ?? 'auto',
    mayStream: () => {
      const { watchList = true } = listerWatcher;
      return watchList === 'when-told' ? options.initialList === 'stream' : watchList;
    },
    renewsEarly: (options.makeBeforeBreak ?? true) && 'mayOverlap' in listerWatcher,
    mayOverlap: () => listerWatcher.mayOverlap === true,
    ...{ healthyMs, minWatchTimeoutMs, pageSize },
    backoff: reliableBackoff(options.backoff ?? exponentialBackoff()),
  };
}

/** Returns the function that performs the effects of the machine. */
function performing<T>(
  listerWatcher: ListerWatcher<T>,
  scheduler: SchedulerLike,
  sending: Sending<T>,
  demand: Demand,
  notifyRefreshed: (error: ApiError | undefined) => void,
): (effect: ReflectorEffect<T>) => MachineEffect<Arrived<T>, readonly Delta<T>[]> {
  return (effect) => {
    switch (effect.type) {
      case 'emit':
        return { emit: effect.deltas };
      case 'list':
        return { slot: 'request', run: () => sending.list(effect) };
      case 'watch':
        return { slot: 'request', run: () => sending.watch(effect) };
      case 'renew-after': {
        const due = { type: 'renew' } as const;
        const wait = longTimer(effect.delayMs, scheduler).pipe(map(() => due));
        return { slot: 'renewal', run: () => wait };
      }
      case 'renew':
        return { slot: 'renewal', run: () => sending.renew(effect) };
      case 'take-over':
        sending.takeOver();
        return { slot: 'request', from: 'renewal' };
      case 'drop-renewal':
        return { slot: 'renewal', run: null };
      case 'wait': {
        const elapsed = { type: 'elapsed' } as const;
        const wait = longTimer(effect.delayMs, scheduler).pipe(map(() => elapsed));
        return { slot: 'request', run: () => wait };
      }
      case 'await-demand': {
        const resumed = { type: 'resumed' } as const;
        const demanded = defer(() => untilOpen(demand)() ?? EMPTY).pipe(endWith(resumed));
        return { slot: 'request', run: () => demanded };
      }
      case 'remember-no-watch-list':
        return { act: reportingErrors(() => listerWatcher.onWatchListUnsupported?.()) };
      case 'refreshed':
        return { act: () => notifyRefreshed(effect.error) };
      case 'complete':
        return { complete: true };
    }
  };
}

/**
 * Lists a collection, watches it, and lists it again if necessary, for ever. Writes to no store.
 *
 * Emits the deltas batch by batch. The observable never errors: a failure is reported to `onStatus` and retried. It
 * completes only if `onError` returns `'stop'`. Unsubscribing aborts the current request. Each subscription is a
 * separate run with its own requests. Throws a `TypeError` if a numeric option is out of its range.
 * client-go: tools/cache/reflector.go, ListAndWatch.
 *
 * ```
 * list        --(l|)
 * watch         -m-#            connection lost
 * watch              1.2s -e    410: the version has expired
 * list                       2.4s -(l|)
 * result      --r-m----------------r
 * ```
 *
 * @example
 * ```ts
 * import { of, NEVER, firstValueFrom } from 'rxjs';
 * import { reflect } from 'rx-informer';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const deltas = await firstValueFrom(reflect({
 *   watchList: false,
 *   list: () => of({ items: [web], metadata: { resourceVersion: '7' } }),
 *   watch: () => NEVER,
 * }));
 * deltas[0]?.type; // => 'replacing'
 * ```
 */
export function reflect<T>(
  listerWatcher: ListerWatcher<T>,
  options: ReflectOptions<T> = {},
): Observable<readonly Delta<T>[]> {
  const { scheduler, random } = timingOf(options);
  const { known, onError } = options;
  const notifyStatus = reportingErrors(options.onStatus);
  const notifyRefreshed = reportingErrors(options.onRefreshed);
  const limits = limitsOf(options);
  const config = configOf(listerWatcher, options, limits);
  const orders$ = merge(
    options.refresh$?.pipe(map((order) => ({ type: 'refresh', ...order }) as const)) ?? EMPTY,
    listerWatcher.awake$?.pipe(map(() => ({ type: 'awake' }) as const)) ?? EMPTY,
  ).pipe(
    // If one of them errors, the run continues without them.
    catchError((error) => {
      reportUnhandled(error);
      return EMPTY;
    }),
  );
  const table = reflectorTable<T>();
  const moment = (): Moment => ({
    nowMs: scheduler.now(),
    get random() {
      return random();
    },
  });
  const demand = reliable(options.demand ?? unlimited, reportUnhandled);

  const wantsStop = (error: ApiError): boolean => {
    try {
      return onError?.(error) === 'stop';
    } catch (thrown) {
      reportUnhandled(thrown);
      return false;
    }
  };

  return new Observable<readonly Delta<T>[]>((subscriber) => {
    let state = initialState(scheduler.now(), options.resumeFrom);
    let shown: ReflectorState | undefined;
    let heldBack: HeldBack | undefined;
    const sending = createSending<T>({
      listerWatcher,
      scheduler,
      limits,
      demand,
      port: {
        ...(known === undefined ? {} : { known }),
        ...(options.onSkipped === undefined
          ? {}
          : { onSkipped: reportingErrors(options.onSkipped) }),
      },
      isWatching: () => state.opened && state.phase === 'watching',
    });

    const perform = performing<T>(listerWatcher, scheduler, sending, demand, notifyRefreshed);

    return machine<ReflectorState, Arrived<T>, ReflectorEffect<T>, readonly Delta<T>[]>({
      start: () => startReflector(state, moment(), config),
      orders$,
      next: (now, arrived) => {
        const input = typeof arrived === 'function' ? arrived() : arrived;
        if (input === undefined) return [now, []];
        const step = nextReflector(table, now, input, moment(), config);
        const [{ error }] = step;
        // `onError` is also called for failures that are not a `failed` input: an ERROR event, a list that the server
        // closed early, a server that went back in time.
        const hasFailed = step[0] !== now && (input.type === 'failed' || error !== now.error);
        return hasFailed && error !== undefined && wantsStop(error)
          ? stopReflector(step, moment())
          : step;
      },
      perform,
      onEnter: (entered) => {
        state = entered;
      },
      onSettled: (entered) => {
        const held = listerWatcher.heldBack;
        if (shown !== undefined && sameStatus(shown, entered) && held === heldBack) return;
        shown = entered;
        heldBack = held;
        notifyStatus(statusOf(entered, held));
      },
    }).subscribe(subscriber);
  });
}
