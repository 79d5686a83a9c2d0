/** Validates the numeric options of a reflector and fills in their defaults. */
import { checkedDuration, checkedSentCount, checkedTimeout } from '../rx/checked-option.ts';
import type { ReflectOptions } from './reflect-options.ts';

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

/** Throws a `TypeError` that names the option if an option is out of its range. */
export function limitsOf(options: NumericOptions): ReflectorLimits {
  const { requestTimeoutMs = 30_000, idleTimeoutMs = 85_000, pauseLimitMs = 60_000 } = options;
  const { healthyMs = 120_000, minWatchTimeoutMs = 300_000, pageSize } = options;
  return {
    requestTimeoutMs: checkedTimeout(requestTimeoutMs, 'requestTimeoutMs'),
    idleTimeoutMs: checkedTimeout(idleTimeoutMs, 'idleTimeoutMs'),
    pauseLimitMs: checkedDuration(pauseLimitMs, 'pauseLimitMs'),
    healthyMs: checkedDuration(healthyMs, 'healthyMs'),
    minWatchTimeoutMs: checkedTimeout(minWatchTimeoutMs, 'minWatchTimeoutMs'),
    pageSize: pageSize === undefined ? undefined : checkedSentCount(pageSize, 'pageSize', 1),
  };
}
