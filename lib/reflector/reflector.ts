/**
 * `reflect`, which follows a collection on the server and emits its deltas. It runs the state machine of
 * `transitions.ts`: it performs the effects and passes the responses in as inputs. This file makes no decisions about
 * the protocol. client-go: tools/cache/reflector.go.
 */
import { defer, EMPTY, merge, Observable, type SchedulerLike } from 'rxjs';
import { catchError, endWith, map } from 'rxjs/operators';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { exponentialBackoff, reliableBackoff } from '../rx/backoff.ts';
import { type Demand, reliable, unlimited, untilOpen } from '../rx/demand.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type MachineEffect, machine } from '../rx/machine.ts';
import { reportingErrors, reportUnhandled } from '../rx/report-unhandled.ts';
import { timingOf } from '../rx/timing.ts';
import type { Delta } from './delta.ts';
import { limitsOf, type ReflectOptions, type ReflectorLimits } from './reflect-options.ts';
import { createSending, type LateInput, type Sending } from './send-requests.ts';
import {
  initialMemory,
  isLive,
  type Moment,
  type ReflectorConfig,
  type ReflectorEffect,
  type ReflectorInput,
  type ReflectorState,
} from './state.ts';
import { type ReflectorStatus, sameStatus, statusOf } from './status.ts';
import { nextReflector, startReflector, stopReflector } from './transitions.ts';

type Deltas = readonly Delta<KubernetesObject>[];
type Effect = MachineEffect<ReflectorInput | LateInput, Deltas>;

function configOf(
  listerWatcher: ListerWatcher<KubernetesObject>,
  options: ReflectOptions<KubernetesObject>,
  { healthyMs, minWatchTimeoutMs, pageSize }: ReflectorLimits,
): ReflectorConfig {
  return {
    scope: listerWatcher.scope || undefined,
    // Read when it is needed, because a warm start requests other lists than those after it.
    get initialList() {
      return options.initialList;
    },
    mayStream: () => {
      const { watchList = true } = listerWatcher;
      return watchList === 'when-told' ? options.initialList === 'stream' : watchList;
    },
    renewsEarly: options.makeBeforeBreak !== false && 'mayOverlap' in listerWatcher,
    isHeldBack: () => listerWatcher.heldBack !== undefined,
    mayOverlap: () => listerWatcher.mayOverlap === true,
    ...{ healthyMs, minWatchTimeoutMs, pageSize },
    backoff: reliableBackoff(options.backoff ?? exponentialBackoff()),
  };
}

/** Returns the function that performs the effects of the machine. */
function performing(
  listerWatcher: ListerWatcher<KubernetesObject>,
  scheduler: SchedulerLike,
  sending: Sending,
  demand: Demand,
  notifyRefreshed: (error: ApiError | undefined) => void,
): (effect: ReflectorEffect) => Effect {
  const after = (delayMs: number, kind: 'elapsed' | 'renew' | 'tick') => () =>
    longTimer(delayMs, scheduler).pipe(map(() => ({ kind })));
  return (effect) => {
    switch (effect.type) {
      case 'emit':
        return { emit: effect.deltas };
      case 'list':
        return { slot: 'request', run: () => sending.list(effect) };
      case 'watch':
        return { slot: 'request', run: () => sending.watch(effect) };
      case 'wait':
        return { slot: 'request', run: after(effect.delayMs, 'elapsed') };
      case 'await-demand': {
        const resumed = { kind: 'resumed' } as const;
        const demanded = () => untilOpen(demand)() ?? EMPTY;
        return { slot: 'request', run: () => defer(demanded).pipe(endWith(resumed)) };
      }
      case 'renew-after':
        return { slot: 'renewal', run: after(effect.delayMs, 'renew') };
      case 'tick-after':
        return { slot: 'tick', run: after(effect.delayMs, 'tick') };
      case 'renew':
        return { slot: 'renewal', run: () => sending.renew(effect) };
      case 'drop-renewal':
        return { slot: 'renewal', run: null };
      case 'take-over':
        sending.takeOver();
        return { slot: 'request', from: 'renewal' };
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
  // Nothing in between looks at an object, so only the two ends know their type.
  const deltas$ = reflectObjects(
    listerWatcher as unknown as ListerWatcher<KubernetesObject>,
    options as unknown as ReflectOptions<KubernetesObject>,
  );
  return deltas$ as Observable<readonly Delta<T>[]>;
}

function reflectObjects(
  listerWatcher: ListerWatcher<KubernetesObject>,
  options: ReflectOptions<KubernetesObject>,
): Observable<Deltas> {
  const { scheduler, random } = timingOf(options);
  const { known, onError, onRefused, refresh$ = EMPTY } = options;
  const notifyStatus = reportingErrors(options.onStatus);
  const notifyRefreshed = reportingErrors(options.onRefreshed);
  const limits = limitsOf(options, 'reflect');
  const config = configOf(listerWatcher, options, limits);
  // If one of the orders errors, the run continues without it, and with the other.
  const reliably = <V>(order$: Observable<V>): Observable<V> =>
    order$.pipe(
      catchError((error) => {
        reportUnhandled(error);
        return EMPTY;
      }),
    );
  const orders$ = merge(
    reliably(refresh$).pipe(map((order) => ({ kind: 'refresh', ...order }) as const)),
    reliably(listerWatcher.awake$ ?? EMPTY).pipe(map(() => ({ kind: 'awake' }) as const)),
  );
  const moment = (sending: Sending): Moment => ({
    nowMs: scheduler.now(),
    get random() {
      return random();
    },
    get silentMs() {
      return sending.silentMs();
    },
    get isReading() {
      return sending.isReading();
    },
    config,
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

  return new Observable<Deltas>((subscriber) => {
    let state: ReflectorState | undefined;
    let shown: ReflectorStatus | undefined;
    const sending = createSending({
      ...{ listerWatcher, scheduler, limits, demand },
      port: { known, onRefused: onRefused && reportingErrors(onRefused) },
      isWatching: () => state !== undefined && isLive(state),
    });
    return machine<ReflectorState, ReflectorInput | LateInput, ReflectorEffect, Deltas>({
      start: () =>
        startReflector(initialMemory(scheduler.now(), options.resumeFrom), moment(sending)),
      orders$,
      next: (now, arrived) => {
        const input = typeof arrived === 'function' ? arrived() : arrived;
        const step = nextReflector(now, input, moment(sending));
        const { error } = step[0].memory;
        // `onError` is also called for failures that are not a `failed` input: an ERROR event, a list that the server
        // closed early, a server that went back in time.
        const hasFailed =
          step[0] !== now && (input.kind === 'failed' || error !== now.memory.error);
        return hasFailed && error !== undefined && wantsStop(error)
          ? stopReflector(step, moment(sending))
          : step;
      },
      perform: performing(listerWatcher, scheduler, sending, demand, notifyRefreshed),
      onEnter: (entered) => {
        state = entered;
      },
      onSettled: (entered) => {
        const status = statusOf(entered, listerWatcher.heldBack);
        if (shown !== undefined && sameStatus(shown, status)) return;
        shown = status;
        notifyStatus(status);
      },
    }).subscribe(subscriber);
  });
}
