/**
 * Sends the reflector's requests and converts the responses to inputs of its state machine. Each request has its own
 * demand gate and its own watchdog, because two watches may be open at the same time.
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

/** The options of {@link createSending}. */
export interface SendingOptions<T> {
  readonly listerWatcher: ListerWatcher<T>;
  readonly scheduler: SchedulerLike;
  readonly limits: Pick<ReflectorLimits, 'requestTimeoutMs' | 'idleTimeoutMs' | 'pauseLimitMs'>;
  /** Checked before each read. */
  readonly demand: Demand;
  /** The fields that every request carries in addition. */
  readonly port: Pick<WatchRequest<T>, 'known' | 'onSkipped'>;
  /** Whether the current request is an answered watch, for which a longer silence is allowed. */
  isWatching(): boolean;
}

type Effect<T, Type> = Extract<ReflectorEffect<T>, { type: Type }>;
type Inputs<T> = Observable<ReflectorInput<T> | undefined>;
/**
 * An input that is determined only when the machine processes it, because an earlier input may have made the next watch
 * the current one.
 */
export type LateInput<T> = () => ReflectorInput<T> | undefined;

/** Sends the requests of one run. An emitted `undefined` is not an input. */
export interface Sending<T> {
  list(effect: Effect<T, 'list'>): Inputs<T>;
  watch(effect: Effect<T, 'watch'>): Inputs<T>;
  /** Sends the next watch while the current one is open. */
  renew(effect: Effect<T, 'renew'>): Observable<LateInput<T>>;
  /** Makes the next watch the current one. */
  takeOver(): void;
}

const SLICE_MS = 8;
const OPENED = { type: 'opened' } as const;

class Paused extends Error {}

/** The error for a request that the watchdog ends. */
export function silence(reason: 'silence' | 'clock-jump' | 'pause', idleMs: number): Error {
  if (reason === 'pause') return new Paused();
  const seconds = Math.round(idleMs / 1000);
  const why = reason === 'silence' ? '' : ' while the clock jumped';
  return ApiError.local(
    'Silent',
    `the server sent nothing for ${seconds} s${why}. Is it overloaded, or was the connection lost?`,
  );
}

function failedInput<T>(error: unknown): ReflectorInput<T> {
  if (error instanceof Paused) return { type: 'paused' };
  const failure = ApiError.from(error, 'the ListerWatcher');
  return failure.reason === 'Yielded' ? { type: 'yielded' } : { type: 'failed', error: failure };
}

/** Converts an input of a watch for the time in which that watch is the next one and not yet the current one. */
function asNext<T>(input: ReflectorInput<T> | undefined): ReflectorInput<T> | undefined {
  switch (input?.type) {
    case 'opened':
      return { type: 'renewed' };
    case 'failed':
      return { type: 'renewal-failed', error: input.error };
    case 'closed':
    case 'yielded':
    case 'paused': {
      const error = ApiError.local('Network', 'the next watch ended before the server answered it');
      return { type: 'renewal-failed', error };
    }
    default:
      return undefined;
  }
}

/** Creates the sender of one run. A request is sent when its observable is subscribed; unsubscribing aborts it. */
export function createSending<T>(options: SendingOptions<T>): Sending<T> {
  const { listerWatcher, scheduler, limits, port } = options;
  const demand = allOf(timeSlice({ budgetMs: SLICE_MS, scheduler }), options.demand);
  const gated = () => createTimedDemand(demand, scheduler);
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
        const { kind, reason } = signal;
        return kind === 'alive' ? undefined : { type: kind, reason };
      }),
      endWith<ReflectorInput<T> | undefined>({ type: 'closed' }),
      catchError((error) => of(failedInput<T>(error))),
    );

  let next: object | undefined;
  return {
    list: ({ resourceVersion, limit, reuse }) =>
      defer(() => {
        const gate = gated();
        const request: Omit<ListRequest<T>, 'onTurn'> = {
          resourceVersion,
          ...(limit === undefined ? {} : { limit }),
          ...port,
          ...(reuse ? { reuse } : {}),
          demand: gate.demand,
        };
        type Turn = { readonly kind: RequestTurn; readonly reason: string | undefined };
        return new Observable<ListProgress<T> | Turn>((pages) => {
          const onTurn = (kind: RequestTurn, reason?: string) => pages.next({ kind, reason });
          return listPages(listerWatcher, { ...request, onTurn }).subscribe(pages);
        }).pipe(watchdog(gate, () => limits.requestTimeoutMs));
      }).pipe(
        map((progress): ReflectorInput<T> => {
          if (progress.kind === 'listed') return { ...progress, type: 'listed' };
          if (progress.kind === 'part') return { ...progress, type: 'part' };
          if (progress.kind === 'restart') return { type: 'restart' };
          return { type: progress.kind, reason: progress.reason };
        }),
        catchError((error) => of(failedInput<T>(error))),
      ),
    watch: ({ resourceVersion, timeoutSeconds, initialEvents, reuse }) => {
      const initial = initialEvents
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const }
        : {};
      return watched(
        { resourceVersion, timeoutSeconds, ...initial, ...(reuse ? { reuse } : {}) },
        () => (options.isWatching() ? limits.idleTimeoutMs : limits.requestTimeoutMs),
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
            const hasEvents = input?.type === 'events' || input?.type === 'relisted';
            const inputs = hasEvents && !answered ? [OPENED, input] : [input];
            answered ||= hasEvents || input?.type === 'opened';
            return inputs.map((each) => () => (next === own ? asNext(each) : each));
          }),
        );
      }),
    takeOver: () => {
      next = undefined;
    },
  };
}
