/**
 * Sends the reflector's requests and says what comes of them, as inputs of its machine. Each request has a gate and a
 * watchdog of its own, because two watches may be open at once.
 */
import { defer, Observable, of, type SchedulerLike } from 'rxjs';
import { catchError, endWith, map, mergeMap } from 'rxjs/operators';
import { type ListProgress, listPages } from '../list-watch/list-pages.ts';
import type {
  ListerWatcher,
  ListRequest,
  RequestTurn,
  WatchRequest,
  WatchSignal,
} from '../list-watch/lister-watcher.ts';
import { validatedSignal } from '../list-watch/validate-answer.ts';
import { ApiError } from '../meta/api-error.ts';
import { allOf, type Demand, timeSlice } from '../rx/demand.ts';
import { idleTimeout } from '../rx/idle-timeout.ts';
import type { ReflectorLimits } from './limits.ts';
import type { ReflectorEffect, ReflectorInput } from './state.ts';
import { createTimedDemand, type TimedDemand } from './timed-demand.ts';
import { HEAD_LIMIT_MS } from './watch-renewal.ts';

/** What requests are sent with. */
export interface SendingOptions<T> {
  readonly listerWatcher: ListerWatcher<T>;
  readonly scheduler: SchedulerLike;
  readonly limits: Pick<ReflectorLimits, 'requestTimeoutMs' | 'idleTimeoutMs' | 'pauseLimitMs'>;
  /** Asked before each read. */
  readonly demand: Demand;
  /** What else every request is given. */
  readonly port: Pick<WatchRequest<T>, 'known' | 'onSkipped'>;
  /** Whether the request of the machine is a watch that was answered: then it may be quiet for longer. */
  isWatching(): boolean;
}

type Effect<T, Type> = Extract<ReflectorEffect<T>, { type: Type }>;
type Inputs<T> = Observable<ReflectorInput<T> | undefined>;
/** What an input is shows in its turn: what comes before it may make the next watch the one of the machine. */
export type LateInput<T> = () => ReflectorInput<T> | undefined;

/** The requests of one run. `undefined` is no input. */
export interface Sending<T> {
  list(effect: Effect<T, 'list'>): Inputs<T>;
  watch(effect: Effect<T, 'watch'>): Inputs<T>;
  /** The watch beside the one that is open. */
  renew(effect: Effect<T, 'renew'>): Observable<LateInput<T>>;
  /** That watch is the one of the machine from now on. */
  takeOver(): void;
}

const SLICE_MS = 8;
const OPENED = { type: 'opened' } as const;

class Paused extends Error {}

/** The error of a watchdog. */
export function silence(reason: 'silence' | 'clock-jump' | 'pause', idleMs: number): Error {
  if (reason === 'pause') return new Paused();
  const seconds = Math.round(idleMs / 1000);
  const why = reason === 'silence' ? '' : ' while the clock jumped';
  return ApiError.local(
    'Silent',
    `nothing came from the server for ${seconds} s${why}. Is it overloaded, or was the connection lost?`,
  );
}

function failedInput<T>(error: unknown): ReflectorInput<T> {
  if (error instanceof Paused) return { type: 'paused' };
  return { type: 'failed', error: ApiError.from(error, 'the ListerWatcher') };
}

/** What a watch says is that of the next one as long as it `isNext`. */
function asNext<T>(input: ReflectorInput<T> | undefined): ReflectorInput<T> | undefined {
  switch (input?.type) {
    case 'opened':
      return { type: 'renewed' };
    case 'failed':
      return { type: 'renewal-failed', error: input.error };
    case 'closed':
    case 'paused': {
      const error = ApiError.local('Network', 'the next watch ended before its answer');
      return { type: 'renewal-failed', error };
    }
    default:
      return undefined;
  }
}

/** Nothing is sent before what is returned is subscribed; unsubscribing aborts. */
export function createSending<T>(options: SendingOptions<T>): Sending<T> {
  const { listerWatcher, scheduler, limits, port } = options;
  const room = allOf(timeSlice({ budgetMs: SLICE_MS, scheduler }), options.demand);
  const gated = () => createTimedDemand(room, scheduler);
  const watchdog = <Signal extends { readonly kind: string }>(
    gate: TimedDemand,
    limitMs: () => number,
  ) =>
    idleTimeout<Signal>({
      scheduler,
      limitMs,
      pauseLimitMs: limits.pauseLimitMs,
      waitingMs: gate.closedMs,
      isQueued: ({ kind }) => kind === 'queued',
      error: silence,
    });
  const watched = (request: WatchRequest<T>, limitMs: () => number): Inputs<T> =>
    defer(() => {
      const gate = gated();
      return defer(() => listerWatcher.watch({ ...request, ...port, demand: gate.demand })).pipe(
        map(validatedSignal),
        watchdog<WatchSignal<T>>(gate, limitMs),
      );
    }).pipe(
      map((signal): ReflectorInput<T> | undefined => {
        if (signal.kind === 'events') return { type: 'events', events: signal.events };
        if (signal.kind === 'listed') return { ...signal, type: 'relisted' };
        return signal.kind === 'alive' ? undefined : { type: signal.kind };
      }),
      endWith<ReflectorInput<T> | undefined>({ type: 'closed' }),
      catchError((error) => of(failedInput<T>(error))),
    );

  let next: object | undefined;
  return {
    list: ({ resourceVersion, limit }) =>
      defer(() => {
        const gate = gated();
        const request: Omit<ListRequest<T>, 'onTurn'> = {
          resourceVersion,
          ...(limit === undefined ? {} : { limit }),
          ...port,
          demand: gate.demand,
        };
        return new Observable<ListProgress<T> | { readonly kind: RequestTurn }>((pages) => {
          const onTurn = (kind: RequestTurn) => pages.next({ kind });
          return listPages(listerWatcher, { ...request, onTurn }).subscribe(pages);
        }).pipe(watchdog(gate, () => limits.requestTimeoutMs));
      }).pipe(
        map((progress): ReflectorInput<T> => {
          if (progress.kind === 'listed') return { ...progress, type: 'listed' };
          if (progress.kind === 'part') return { ...progress, type: 'part' };
          return { type: progress.kind };
        }),
        catchError((error) => of(failedInput<T>(error))),
      ),
    watch: ({ resourceVersion, timeoutSeconds, initialEvents }) => {
      const initial = initialEvents
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const }
        : {};
      return watched({ resourceVersion, timeoutSeconds, ...initial }, () =>
        options.isWatching() ? limits.idleTimeoutMs : limits.requestTimeoutMs,
      );
    },
    renew: ({ resourceVersion, timeoutSeconds }) =>
      defer(() => {
        const own = {};
        let answered = false;
        next = own;
        const headLimitMs = Math.max(HEAD_LIMIT_MS, limits.requestTimeoutMs);
        const limitMs = () => (answered ? limits.idleTimeoutMs : headLimitMs);
        return watched({ resourceVersion, timeoutSeconds }, limitMs).pipe(
          mergeMap((input) => {
            const brings = input?.type === 'events' || input?.type === 'relisted';
            const inputs = brings && !answered ? [OPENED, input] : [input];
            answered ||= brings || input?.type === 'opened';
            return inputs.map((each) => () => (next === own ? asNext(each) : each));
          }),
        );
      }),
    takeOver: () => {
      next = undefined;
    },
  };
}
