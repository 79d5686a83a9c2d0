/**
 * Sends the reflector's requests and converts the responses to inputs of its state machine. Each request has its own
 * demand gate and its own watchdog, because two watches may be open at the same time.
 */
import { defer, type Observable, of, type SchedulerLike } from 'rxjs';
import { catchError, endWith, finalize, map, mergeMap, tap } from 'rxjs/operators';
import { listPages } from '../list-watch/list-pages.ts';
import type { ListerWatcher, WatchRequest } from '../list-watch/lister-watcher.ts';
import { validatedSignal } from '../list-watch/validate-response.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { allOf, type Demand, strict, timeSlice } from '../rx/demand.ts';
import { idleTimeout } from '../rx/idle-timeout.ts';
import { stopwatch } from '../rx/stopwatch.ts';
import type { ReflectorLimits } from './reflect-options.ts';
import type { ReflectorEffect, ReflectorInput } from './state.ts';
import { HEAD_LIMIT_MS } from './watch-renewal.ts';

type Request = WatchRequest<KubernetesObject>;

/** The options of {@link createSending}. */
export interface SendingOptions {
  readonly listerWatcher: ListerWatcher<KubernetesObject>;
  readonly scheduler: SchedulerLike;
  readonly limits: Pick<ReflectorLimits, 'requestTimeoutMs' | 'idleTimeoutMs' | 'pauseLimitMs'>;
  /** Checked before each read. */
  readonly demand: Demand;
  /** The fields that every request carries in addition. */
  readonly port: Pick<Request, 'known' | 'onRefused'>;
  /** Whether the current request is an answered watch, for which a longer silence is allowed. */
  isWatching(): boolean;
}

type Effect<Type> = Extract<ReflectorEffect, { type: Type }>;
type Inputs = Observable<ReflectorInput>;
/**
 * An input that is determined only when the machine processes it, because an earlier input may have made the next watch
 * the current one.
 */
export type LateInput = () => ReflectorInput;

/** Sends the requests of one run. */
export interface Sending {
  list(effect: Effect<'list'>): Inputs;
  watch(effect: Effect<'watch'>): Inputs;
  /** Sends the next watch while the current one is open. */
  renew(effect: Effect<'renew'>): Observable<LateInput>;
  /** Makes the next watch the current one. */
  takeOver(): void;
  /** Whether the consumer reads the response, so that nothing waits to be read. */
  isReading(): boolean;
  /** How long the server has been silent, in milliseconds. */
  silentMs(): number;
}

const SLICE_MS = 8;
/** How often the time that a server has for its answer doubles, after requests that it did not answer in time. */
const MOST_DOUBLINGS = 2;
/**
 * A request that fails without an answer after this time, in milliseconds, was not answered in time either: the limit of a
 * transport may end it before the reflector does. To open a connection takes less.
 */
const LATE_MS = 15_000;
class Paused extends Error {}

type Limit = 'idleTimeoutMs' | 'requestTimeoutMs';

/** The error for a request that the watchdog ends at the limit of this option. */
export function silence(
  reason: 'silence' | 'clock-jump' | 'pause',
  idleMs: number,
  limit: Limit = 'requestTimeoutMs',
): Error {
  if (reason === 'pause') return new Paused();
  const seconds = Math.round(idleMs / 1000);
  const why = reason === 'silence' ? ` (${limit})` : ' while the clock jumped';
  return ApiError.local(
    'Silent',
    `the server sent nothing for ${seconds} s${why}. Is it overloaded, or was the connection lost?`,
  );
}

function failedInput(error: unknown): ReflectorInput {
  if (error instanceof Paused) return { kind: 'paused' };
  const failure = ApiError.from(error, 'the ListerWatcher');
  return failure.reason === 'Yielded' ? { kind: 'yielded' } : { kind: 'failed', error: failure };
}

/** Converts an input of a watch for the time in which that watch is the next one and not yet the current one. */
function asNext(input: ReflectorInput): ReflectorInput {
  switch (input.kind) {
    case 'opened':
      return { kind: 'renewed' };
    case 'failed':
      return { kind: 'renewal-failed', error: input.error };
    case 'closed':
    case 'yielded':
    case 'paused': {
      const error = ApiError.local('Network', 'the next watch ended before the server answered it');
      return { kind: 'renewal-failed', error };
    }
    default:
      return { kind: 'alive' };
  }
}

/** How much longer than usual the answer of a server may take: it doubles with each request that was not answered in time. */
class Patience {
  readonly #passedMs: () => number;
  #unanswered = 0;

  constructor(passedMs: () => number) {
    this.#passedMs = passedMs;
  }

  get factor(): number {
    return 2 ** Math.min(this.#unanswered, MOST_DOUBLINGS);
  }

  /** What a request carries. */
  get given(): Pick<Request, 'patience'> {
    return this.#unanswered > 0 ? { patience: this.factor } : {};
  }

  answered(): void {
    this.#unanswered = 0;
  }

  late(): void {
    this.#unanswered++;
  }

  /** Notes an error without an answer, of a request that was sent at `sentMs`. */
  failed(error: unknown, sentMs: number): void {
    const hasStatus = error instanceof ApiError && error.code !== 0;
    if (!hasStatus && this.#passedMs() - sentMs >= LATE_MS) this.late();
  }
}

/** Creates the sender of one run. A request is sent when its observable is subscribed; unsubscribing aborts it. */
export function createSending(options: SendingOptions): Sending {
  const { listerWatcher, scheduler, limits, port } = options;
  const demand = allOf(timeSlice({ budgetMs: SLICE_MS, scheduler }), options.demand);
  let gate: TimedDemand | undefined;
  const passedMs = stopwatch(scheduler);
  let heardMs = 0;
  const patience = new Patience(passedMs);
  /** Sends a request with its own gate and its own watchdog. Its signals are inputs, and so is its failure. */
  const guarded = (
    isOpen: () => boolean,
    send: (common: Pick<Request, 'demand' | 'patience'>) => Inputs,
    headMs: () => number = () => limits.requestTimeoutMs * patience.factor,
  ): Inputs =>
    defer(() => {
      gate = createTimedDemand(demand, scheduler);
      const { closedMs } = gate;
      let isAnswered = false;
      let sentMs = passedMs();
      return send({ ...port, ...patience.given, demand: gate.demand }).pipe(
        tap({
          next: ({ kind }) => {
            heardMs = passedMs();
            isAnswered ||= kind !== 'queued' && kind !== 'sending';
            if (isAnswered) patience.answered();
            else sentMs = heardMs;
          },
          error: (error) => isAnswered || patience.failed(error, sentMs),
        }),
        idleTimeout<ReflectorInput>({
          scheduler,
          limitMs: () => {
            if (isOpen()) return limits.idleTimeoutMs;
            return isAnswered ? limits.requestTimeoutMs : headMs();
          },
          pauseLimitMs: limits.pauseLimitMs,
          waitingMs: closedMs,
          isQueued: ({ kind }) => kind === 'queued',
          error: (reason, idleMs) => {
            if (reason === 'silence' && !isAnswered) patience.late();
            return silence(reason, idleMs, isOpen() ? 'idleTimeoutMs' : 'requestTimeoutMs');
          },
        }),
      );
    }).pipe(catchError((error) => of(failedInput(error))));
  const watched = (request: Request, isOpen: () => boolean, headMs?: () => number): Inputs =>
    guarded(
      isOpen,
      (common) =>
        defer(() => listerWatcher.watch({ ...request, ...common })).pipe(
          map((signal): ReflectorInput => validatedSignal(signal)),
          endWith<ReflectorInput>({ kind: 'closed' }),
        ),
      headMs,
    );

  let next: object | undefined;
  return {
    list: ({ resourceVersion, limit, reuse }) =>
      guarded(
        () => false,
        (common) => listPages(listerWatcher, { resourceVersion, limit, reuse, ...common }),
      ),
    watch: ({ resourceVersion, timeoutSeconds, initialEvents, reuse }) => {
      const initial = initialEvents
        ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' as const }
        : {};
      const request = { resourceVersion, timeoutSeconds, reuse, ...initial };
      return watched(request, () => options.isWatching());
    },
    renew: ({ resourceVersion, timeoutSeconds }) =>
      defer(() => {
        const own = {};
        let answered = false;
        next = own;
        const headLimitMs = Math.max(HEAD_LIMIT_MS, limits.requestTimeoutMs);
        const isOpen = () => answered;
        return watched({ resourceVersion, timeoutSeconds }, isOpen, () => headLimitMs).pipe(
          mergeMap((input) => {
            const hasEvents = input.kind === 'events' || input.kind === 'listed';
            const inputs: ReflectorInput[] =
              hasEvents && !answered ? [{ kind: 'opened' }, input] : [input];
            answered ||= hasEvents || input.kind === 'opened';
            return inputs.map((each) => () => (next === own ? asNext(each) : each));
          }),
        );
      }),
    takeOver: () => {
      next = undefined;
    },
    isReading: () => gate?.closedMs() === undefined,
    silentMs: () => passedMs() - heardMs,
  };
}

/** A demand that knows how long it has been closed. */
export interface TimedDemand {
  readonly demand: Demand;
  /** How long the demand has been closed, in milliseconds; `undefined` while it is open. */
  closedMs(): number | undefined;
}

/**
 * Wraps a demand and remembers when it closed. The watchdog needs this, because time in which nothing is read is not silence
 * of the server.
 */
function createTimedDemand(demand: Demand, scheduler: SchedulerLike): TimedDemand {
  const passedMs = stopwatch(scheduler);
  const combined = allOf(demand);
  let since: number | undefined;
  /** The value of `since` before a signal, after which the demand may turn out to be closed still. */
  let before: number | undefined;
  const open = () => {
    since = undefined;
    before = undefined;
  };
  return {
    closedMs: () => (since === undefined ? undefined : passedMs() - since),
    demand: strict(() => {
      const wait = combined();
      if (wait === null) {
        open();
        return null;
      }
      since ??= before ?? passedMs();
      let waits = true;
      return wait.pipe(
        tap(() => {
          waits = false;
          before = since;
          since = undefined;
        }),
        // The request may end first; then no read waits for the demand any more.
        finalize(() => waits && open()),
      );
    }),
  };
}
