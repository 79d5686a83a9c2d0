/** `ReflectOptions`, the options of `reflect`. */
import type { Observable } from 'rxjs';
import {
  checkedDuration,
  checkedSentCount,
  checkedTimeout,
  ifGiven,
} from '../checks/checked-option.ts';
import type { Refusal } from '../decode/decoding.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { Backoff } from '../rx/backoff.ts';
import type { Demand } from '../rx/demand.ts';
import type { Timing } from '../rx/timing.ts';
import type { InitialList } from './state.ts';
import type { ReflectorStatus } from './status.ts';

/** The options of {@link reflect}. */
export interface ReflectOptions<T> extends Timing {
  /** The objects that the consumer already has. A decoder reuses them instead of creating equal objects. */
  readonly known?: KnownObjects<T> | undefined;
  /**
   * Checked before each read. While it is closed, the reflector reads nothing from the server.
   * @defaultValue always open; yields to the event loop every 8 ms
   */
  readonly demand?: Demand | undefined;
  /** Called at the start and after each change of the status. */
  readonly onStatus?: ((status: ReflectorStatus) => void) | undefined;
  /** Called at each failure. `'stop'` completes the stream; any other result lets the reflector retry. */
  readonly onError?: ((error: ApiError) => 'stop' | 'retry' | undefined) | undefined;
  /** Called for every refused object or item, with the reason. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
  /**
   * How the collection is listed.
   * @defaultValue 'auto': as a streaming list if the server supports it, otherwise in pages
   */
  readonly initialList?: InitialList | undefined;
  /**
   * The page size of every list that is not streamed.
   * @defaultValue 500 if the server supports pages for the requested version, otherwise no pages
   */
  readonly pageSize?: number | undefined;
  /**
   * Watches from this version without a list, because the consumer has received everything up to it. If the version
   * has expired, a list follows.
   */
  readonly resumeFrom?: string | undefined;
  /** The wait before each retry. @defaultValue 800 ms, doubled per failure up to 30 s, plus up to as much at random: at most 60 s */
  readonly backoff?: Backoff | undefined;
  /** The backoff starts over after this long without a failure, in milliseconds. @defaultValue 120000 */
  readonly healthyMs?: number | undefined;
  /**
   * The shortest timeout that is requested for a watch, in milliseconds. The timeout of each watch is random, between
   * this value and twice this value. @defaultValue 300000
   */
  readonly minWatchTimeoutMs?: number | undefined;
  /**
   * Whether the next watch is requested before the open one ends: 95 s before, or at half of its duration if that is
   * later. No event then waits for the response, and for a moment two watches are open. The reflector does not do this
   * if the ListerWatcher says that too few connections are free.
   * @defaultValue true
   */
  readonly makeBeforeBreak?: boolean | undefined;
  /**
   * A watch that receives nothing for this long, in milliseconds, is treated as dead. The API server sends a bookmark
   * about every minute, so with less than a minute a quiet collection reconnects again and again. @defaultValue 85000
   */
  readonly idleTimeoutMs?: number | undefined;
  /** How long a response, or the next part of a list, may take, in milliseconds. @defaultValue 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Each emission requests the newest state of the complete collection. While the reflector watches or waits, it lists
   * immediately, but not before the end of a Retry-After. Otherwise the list that is in progress or due serves the
   * request. If this observable errors, the error is reported and the reflector keeps running.
   */
  readonly refresh$?: Observable<RefreshOrder> | undefined;
  /** Called when such a list has been emitted completely, or with the error if it failed. Requests may share a list. */
  readonly onRefreshed?: ((error: ApiError | undefined) => void) | undefined;
  /**
   * If the demand stays closed for longer than this, in milliseconds, the watch is closed. It resumes from its last
   * version when the demand opens. @defaultValue 60000
   */
  readonly pauseLimitMs?: number | undefined;
}

/** A request for a list from outside the reflector. */
export interface RefreshOrder {
  /** Whether equal versions mean equal content. If `false`, the contents of the objects are compared. */
  readonly trustVersions: boolean;
}

type NumericOptions = Partial<Pick<ReflectOptions<unknown>, keyof ReflectorLimits>>;

/** The limits of a reflector. A limit whose name ends in `Ms` is in milliseconds. */
export interface ReflectorLimits {
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly pauseLimitMs: number;
  readonly healthyMs: number;
  readonly minWatchTimeoutMs: number;
  readonly pageSize: number | undefined;
}

/** Throws a `TypeError` that names the owner and the option if an option is out of its range. */
export function limitsOf(options: NumericOptions, owner: string): ReflectorLimits {
  const { requestTimeoutMs = 30_000, idleTimeoutMs = 85_000, pauseLimitMs = 60_000 } = options;
  const { healthyMs = 120_000, minWatchTimeoutMs = 300_000, pageSize } = options;
  return {
    requestTimeoutMs: checkedTimeout(requestTimeoutMs, `${owner}: requestTimeoutMs`),
    idleTimeoutMs: checkedTimeout(idleTimeoutMs, `${owner}: idleTimeoutMs`),
    pauseLimitMs: checkedDuration(pauseLimitMs, `${owner}: pauseLimitMs`),
    healthyMs: checkedDuration(healthyMs, `${owner}: healthyMs`),
    minWatchTimeoutMs: checkedTimeout(minWatchTimeoutMs, `${owner}: minWatchTimeoutMs`),
    pageSize: ifGiven(checkedSentCount, pageSize, `${owner}: pageSize`, 1),
  };
}
