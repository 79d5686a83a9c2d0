/**
 * Read, change, write, and again when somebody else was faster. client-go: util/retry, RetryOnConflict with
 * DefaultRetry: five tries, 10 ms apart with a tenth more at random.
 */
import { firstValueFrom } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import { type Backoff, exponentialBackoff } from '../rx/backoff.ts';
import { checkedWholeLimit } from '../rx/checked-option.ts';
import { longTimer } from '../rx/long-timer.ts';
import { type Timing, timingOf } from '../rx/timing.ts';
import { abortedError, untilAborted } from './until-aborted.ts';

/** What {@link retryOnConflict} takes. */
export interface RetryOnConflictOptions extends Timing {
  /** How often to try at most, the first time included; Infinity: until it works. @defaultValue 5 */
  readonly attempts?: number | undefined;
  /** The wait before the next try, in milliseconds. @defaultValue 10 ms and up to a tenth more */
  readonly backoff?: Backoff | undefined;
  /** Ends the waits; the attempt itself has to be given it by its writer. */
  readonly signal?: AbortSignal | undefined;
}

const defaultBackoff = /* @__PURE__ */ exponentialBackoff({ baseMs: 10, factor: 1, jitter: 0.1 });

/** Whether a write failed because the object was changed meanwhile: 409 Conflict, and no other 409. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409 && error.reason === 'Conflict';
}

/**
 * Calls `attempt` until it does not fail with a conflict.
 *
 * The attempt must read the object anew each time. Rejects with the last conflict after `attempts` tries, with any
 * other error at once, and with `Aborted` when `signal` aborts during a wait. Throws a `TypeError` (as a rejection)
 * when `attempts` is no whole number of at least 1.
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
  const { attempts = 5, backoff = defaultBackoff, signal } = options;
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
