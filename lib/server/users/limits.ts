/** What one user and all users together may ask of a server. */
import type { SchedulerLike } from 'rxjs';
import { checkedCount } from '../../checks/checked-option.ts';
import { ApiError } from '../../meta/api-error.ts';
import { isFields } from '../../meta/json-fields.ts';
import { tokenReservations } from '../../rx/token-bucket.ts';
import { readable } from '../../wire/public-error.ts';
import { Budget } from '../turns/budget.ts';

/** The limits of {@link serveUsers}. */
export interface ServeUsersLimits {
  /** How many connections there are at one time. @defaultValue 10000 */
  readonly connections?: number | undefined;
  /** How many connections one user has. @defaultValue 50 */
  readonly connectionsOfUser?: number | undefined;
  /** How many connections have not signed in yet. @defaultValue 200 */
  readonly signingIn?: number | undefined;
  /** How many of them come from one address. @defaultValue 20 */
  readonly signingInOfAddress?: number | undefined;
  /** How many queries one connection has open. @defaultValue 100 */
  readonly queries?: number | undefined;
  /** How many different queries run for one user, also those that linger. @defaultValue 200 */
  readonly pipelines?: number | undefined;
  /** How many messages one connection sends in a second. Ten times as many may come at once. @defaultValue 200 */
  readonly messagesPerSecond?: number | undefined;
  /** The same, of all connections of one user. @defaultValue 500 */
  readonly messagesPerSecondOfUser?: number | undefined;
  /** The same, of all users, of whom those are limited who have sent more than a tenth of what one user may. @defaultValue 20000 */
  readonly messagesPerSecondOfAll?: number | undefined;
  /**
   * How many milliseconds the first answers of one user take in a minute. A query over the limit is refused,
   * with the time after which it may be asked again. @defaultValue 10000
   */
  readonly answerMsPerMinuteOfUser?: number | undefined;
  /** The same, of all users, of whom those are limited who have used more than a tenth of what one user may. @defaultValue 30000 */
  readonly answerMsPerMinuteOfAll?: number | undefined;
  /** How many characters the connections of one user carry in a minute, in both directions, over a `socketPort`. @defaultValue 268435456 */
  readonly charactersPerMinuteOfUser?: number | undefined;
  /** The same, of all users, of whom those are limited who have used more than a tenth of what one user may. @defaultValue 8589934592 */
  readonly charactersPerMinuteOfAll?: number | undefined;
  /**
   * The most messages about changed rows that one connection is sent in a second. First answers do not wait. @defaultValue 10
   */
  readonly framesPerSecond?: number | undefined;
}

export type Limits = { readonly [Name in keyof ServeUsersLimits]-?: number };

const DEFAULTS: Limits = {
  connections: 10_000,
  connectionsOfUser: 50,
  signingIn: 200,
  signingInOfAddress: 20,
  queries: 100,
  pipelines: 200,
  messagesPerSecond: 200,
  messagesPerSecondOfUser: 500,
  messagesPerSecondOfAll: 20_000,
  answerMsPerMinuteOfUser: 10_000,
  answerMsPerMinuteOfAll: 30_000,
  charactersPerMinuteOfUser: 268_435_456,
  charactersPerMinuteOfAll: 8_589_934_592,
  framesPerSecond: 10,
};

/** The limits with their defaults. Throws a `TypeError` on one that is no whole number of at least 1, and on an unknown name. */
export function limitsOf(given: ServeUsersLimits = {}): Limits {
  const limits: Record<string, number> = { ...DEFAULTS };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(DEFAULTS, name)) {
      throw new TypeError(
        `serveUsers: limits: ${name} is no limit; there are ${Object.keys(DEFAULTS).join(', ')}`,
      );
    }
    limits[name] = checkedCount(value, `serveUsers: limits: ${name}`, 1);
  }
  return limits as Limits;
}

/** The most objects, lists and list members of a query. */
const MOST_NODES = 200;
const MOST_DEPTH = 16;
/** The most values of an `in`, which are texts and numbers. */
const MOST_VALUES = 1_000;

/** Throws a readable `RangeError` if a query is larger than one that a person writes. It is measured before anything walks through it. */
export function checkQuerySize(query: unknown): void {
  let nodes = 0;
  const refuse = (what: string) => {
    throw readable(new RangeError(`the query has ${what}; ask a smaller one`));
  };
  const walk = (value: unknown, name: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    if (depth > MOST_DEPTH) refuse(`more than ${MOST_DEPTH} levels`);
    if (++nodes > MOST_NODES) refuse(`more than ${MOST_NODES} parts`);
    const isValues =
      name === 'in' &&
      Array.isArray(value) &&
      value.every((each) => !isFields(each) && !Array.isArray(each));
    if (isValues) {
      if (value.length > MOST_VALUES) refuse(`more than ${MOST_VALUES} values of an in`);
      return;
    }
    const parts = Object.entries(value);
    if (parts.length > MOST_NODES) refuse(`more than ${MOST_NODES} parts`);
    for (const [each, part] of parts) walk(part, each, depth + 1);
  };
  walk(query, '', 1);
}

/** What users spend of the server, each and all together. */
export interface Spending {
  readonly messages: Budget;
  readonly answers: Budget;
  readonly bytes: Budget;
}

/** How much at once, in seconds of what may be sent in each. */
const AT_ONCE_S = 10;

/** What nobody has spent yet. */
export function spendingOf(limits: Limits, scheduler: SchedulerLike): Spending {
  const { messagesPerSecondOfUser: ofUser, messagesPerSecondOfAll: ofAll } = limits;
  const minute = { scheduler, perMs: 60_000 };
  return {
    messages: new Budget({
      ...{ scheduler, ofUser: ofUser * AT_ONCE_S, ofAll: ofAll * AT_ONCE_S },
      perMs: AT_ONCE_S * 1_000,
    }),
    answers: new Budget({
      ...{ ...minute, ofUser: limits.answerMsPerMinuteOfUser },
      ofAll: limits.answerMsPerMinuteOfAll,
    }),
    bytes: new Budget({
      ...{ ...minute, ofUser: limits.charactersPerMinuteOfUser },
      ofAll: limits.charactersPerMinuteOfAll,
    }),
  };
}

/** The error of what is over a limit. */
export function tooMany(message: string, retryAfterMs?: number): ApiError {
  return readable(new ApiError({ code: 429, reason: 'TooManyRequests', message, retryAfterMs }));
}

/** Whether another message may come now: up to ten times as many at once as in a second. */
export function messageRate(perSecond: number, scheduler: SchedulerLike): () => boolean {
  const reserve = tokenReservations({ qps: perSecond, burst: perSecond * AT_ONCE_S, scheduler });
  return () => reserve() === 0;
}
