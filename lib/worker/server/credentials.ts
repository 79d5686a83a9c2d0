/** Asks the tabs of a session for the headers of its requests. */
import type { SchedulerLike, Subscription } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import { isFields } from '../../meta/json-fields.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import type { Credentials } from '../messages.ts';
import type { ServedTab } from './served-tab.ts';

interface Limit {
  readonly scheduler: SchedulerLike;
  /** How long one tab may take to give credentials, in milliseconds. */
  readonly credentialsTimeoutMs: number;
}

/** Throws if `fetch` would refuse the headers, because its error contains the value, which is secret. */
function checkedHeaders(headers: Credentials): Credentials {
  if (!isFields(headers)) {
    throw ApiError.local('Credentials', 'the credentials are not an object of headers');
  }
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue;
    const message = `the credential ${JSON.stringify(name)} is not the value of a header: it must be text without line breaks, in Latin-1`;
    throw ApiError.local('Credentials', message);
  }
  return headers;
}

/** Which tab is asked before another one: the lower number. */
function placeOf(tab: ServedTab): number {
  // Each would cost the time that a tab has to answer.
  if (tab.isSilent) return 3;
  // Those of the other tabs may be of before.
  if (tab.isNewest) return 0;
  return tab.isHidden ? 2 : 1;
}

/**
 * Asks one tab after the other, until one gives headers: that in which the user has signed in last, then the visible ones, and last
 * those that have not answered. `undefined` if none of them has any. Rejects with the last failure as cause, and when the signal aborts
 * before the next tab is asked.
 */
export async function askForCredentials(
  tabs: ReadonlySet<ServedTab>,
  signal: AbortSignal,
  limit: Limit,
): Promise<Credentials | undefined> {
  const asked = new Set<ServedTab>();
  let failure: unknown;
  while (!signal.aborted) {
    const able = [...tabs].filter((tab) => tab.hasCredentials);
    const left = able.filter((tab) => !asked.has(tab));
    const [tab] = left.sort((one, other) => placeOf(one) - placeOf(other));
    if (tab === undefined) {
      if (asked.size === 0) return undefined;
      const message = `none of ${asked.size} tabs has given credentials for the requests of the worker`;
      throw ApiError.local('Credentials', message, { cause: failure });
    }
    asked.add(tab);
    try {
      return await askOne(tab, limit);
    } catch (error) {
      failure = error;
    }
  }
  throw signal.reason;
}

async function askOne(
  tab: ServedTab,
  { credentialsTimeoutMs, scheduler }: Limit,
): Promise<Credentials> {
  const { answer, cancel } = tab.ask();
  let timer: Subscription | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = looseTimer(credentialsTimeoutMs, scheduler, () => {
      cancel();
      tab.isSilent = true;
      const message = `a tab has not given credentials within ${credentialsTimeoutMs} ms`;
      reject(ApiError.local('Credentials', message));
    });
  });
  try {
    return checkedHeaders(await Promise.race([answer, late]));
  } finally {
    timer?.unsubscribe();
  }
}
