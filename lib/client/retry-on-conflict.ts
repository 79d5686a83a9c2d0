/**
 * Repeats a read-modify-write while it fails with a conflict. client-go: util/retry, RetryOnConflict with
 * DefaultRetry: five attempts, with waits of 10 ms and up to a tenth more.
 */
import { firstValueFrom } from 'rxjs';
import { checkedWholeLimit } from '../checks/checked-option.ts';
import { ApiError } from '../meta/api-error.ts';
import { type Backoff, exponentialBackoff } from '../rx/backoff.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import { abortedError, untilAborted } from './until-aborted.ts';

/** The options of {@link retryOnConflict}. */
export interface RetryOnConflictOptions extends Timing {
  /** The maximum number of attempts, including the first. Infinity means no limit. @defaultValue 5 */
  readonly attempts?: number | undefined;
  /** The wait before the next attempt, in milliseconds. @defaultValue 10 ms and up to a tenth more */
  readonly backoff?: Backoff | undefined;
  /** Aborts the waits. An attempt must pass the signal to its own calls. */
  readonly signal?: AbortSignal | undefined;
}

/** How often an attempt is made unless the caller sets another number. */
export const DEFAULT_ATTEMPTS = 5;

const defaultBackoff = /* @__PURE__ */ exponentialBackoff({ baseMs: 10, factor: 1, jitter: 0.1 });

/** Whether a write failed because the object was changed in the meantime: a 409 with reason Conflict. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409 && error.reason === 'Conflict';
}

/**
 * Calls `attempt` until it succeeds or fails with an error other than a conflict.
 *
 * Each attempt must read the object again. Rejects with the last conflict after `attempts` attempts, immediately with
 * any other error, and with reason `Aborted` if `signal` aborts before an attempt or during a wait. Rejects with a
 * `TypeError` if `attempts` is not an integer of at least 1.
 *
 * @example
 * ```ts
 * import { createClient, createResourceClient, retryOnConflict } from 'rx-informer';
 * import { configMaps } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
 * const shop = createResourceClient(client, configMaps).namespace('shop');
 * await shop.create({ metadata: { name: 'prices' }, data: { tea: '3' } });
 * const written = await retryOnConflict(async () => {
 *   const prices = await shop.get('prices');
 *   return shop.update({ ...prices, data: { ...prices.data, tea: '4' } });
 * });
 * written.data?.['tea']; // => '4'
 * ```
 */
export async function retryOnConflict<R>(
  attempt: () => R | Promise<R>,
  options: RetryOnConflictOptions = {},
): Promise<R> {
  const { attempts = DEFAULT_ATTEMPTS, backoff = defaultBackoff, signal } = options;
  const { scheduler, random } = timingOf(options);
  checkedWholeLimit(attempts, 'retryOnConflict: attempts');
  const where = 'retryOnConflict';
  for (let tried = 1; ; tried++) {
    if (signal?.aborted) throw abortedError(where);
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || tried >= attempts) throw error;
    }
    const wait = longTimer(backoff(tried - 1, random()), scheduler);
    await firstValueFrom(wait.pipe(untilAborted(signal, where)));
  }
}
