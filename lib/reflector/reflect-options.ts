/** The options of `reflect`. */
import type { Observable } from 'rxjs';
import type { Skipped } from '../decode/decoding.ts';
import type { ApiError } from '../meta/api-error.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { Backoff } from '../rx/backoff.ts';
import type { Demand } from '../rx/demand.ts';
import type { Timing } from '../rx/timing.ts';
import type { InitialList } from './state.ts';
import type { ReflectorStatus } from './status.ts';

/** What {@link reflect} takes beside the ListerWatcher. */
export interface ReflectOptions<T> extends Timing {
  /** What the consumer already has, for decoders that share with it. */
  readonly known?: KnownObjects<T> | undefined;
  /** Asked before each read. @defaultValue room always, with a turn of the event loop every 8 ms */
  readonly demand?: Demand | undefined;
  /** Told of each transition, and once at the start. */
  readonly onStatus?: ((status: ReflectorStatus) => void) | undefined;
  /** Asked at each failure; `'stop'` completes the stream, anything else tries again. */
  readonly onError?: ((error: ApiError) => 'stop' | 'retry' | undefined) | undefined;
  /** Told of every object that did not get through. */
  readonly onSkipped?: ((skipped: Skipped) => void) | undefined;
  /** @defaultValue 'auto': stream where the server can, else pages */
  readonly initialList?: InitialList | undefined;
  /** Always list in pages of this size. @defaultValue 500 where pages help */
  readonly pageSize?: number | undefined;
  /** The wait before each retry. @defaultValue 800 ms × 2 to 30 s, with jitter */
  readonly backoff?: Backoff | undefined;
  /** The backoff starts over after this long without a failure, in milliseconds. @defaultValue 120000 */
  readonly healthyMs?: number | undefined;
  /** The server ends a watch after this long to twice as long, in milliseconds. @defaultValue 300000 */
  readonly minWatchTimeoutMs?: number | undefined;
  /**
   * Whether the next watch is asked for 95 s before the one that is open ends, or at half of its time, so that no event
   * waits for its answer; for a moment two watches are open. Where connections are few it is not done.
   * @defaultValue true
   */
  readonly makeBeforeBreak?: boolean | undefined;
  /** A watch that receives nothing for this long, in milliseconds, is treated as dead. The API server sends a bookmark about every minute. @defaultValue 85000 */
  readonly idleTimeoutMs?: number | undefined;
  /** How long a response, or the next part of a list, may take, in milliseconds. @defaultValue 30000 */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * Each emission asks for the whole collection, the newest that the server has: at once while watching or waiting,
   * though not before a Retry-After, and otherwise by the list that is under way or due.
   */
  readonly refresh$?: Observable<RefreshOrder> | undefined;
  /** Told when such a list was emitted whole, or with the error of its try. Several orders may share one. */
  readonly onRefreshed?: ((error: ApiError | undefined) => void) | undefined;
  /** A pause longer than this, in milliseconds, closes the watch, which later resumes where it stopped. @defaultValue 60000 */
  readonly pauseLimitMs?: number | undefined;
}

/** What a list that is asked for from outside should be. */
export interface RefreshOrder {
  /** `false`: content decides what differs, also between objects of one version. */
  readonly trustVersions: boolean;
}
