/** Validates numeric options. Each function returns the number, or throws a `TypeError` that names the option. */

function refused(value: number, name: string, must: string): never {
  throw new TypeError(`${name} is ${value}; it must be ${must}`);
}

/** A duration of 0 or more milliseconds. `Infinity` means never. */
export function checkedDuration(durationMs: number, name: string): number {
  if (typeof durationMs === 'number' && durationMs >= 0) return durationMs;
  return refused(durationMs, name, '0 or more milliseconds');
}

/** A period of at least `leastMs` milliseconds. `Infinity` means never. */
export function checkedPeriod(periodMs: number, name: string, leastMs: number): number {
  if (typeof periodMs === 'number' && periodMs >= leastMs) return periodMs;
  return refused(periodMs, name, `${leastMs} or more milliseconds`);
}

/** A timeout of more than 0 milliseconds. `Infinity` means no timeout. */
export function checkedTimeout(timeoutMs: number, name: string): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0) return timeoutMs;
  return refused(timeoutMs, name, 'more than 0 milliseconds');
}

/** An integer of at least `least`. */
export function checkedCount(count: number, name: string, least: number): number {
  if (Number.isInteger(count) && count >= least) return count;
  return refused(count, name, `a whole number of ${least} or more`);
}

/** A limit of 1 or more. `Infinity` means no limit. */
export function checkedLimit(limit: number, name: string): number {
  if (typeof limit === 'number' && limit >= 1) return limit;
  return refused(limit, name, '1 or more');
}

/** A number of times, 0 or more. `Infinity` means no limit. */
export function checkedTimes(times: number, name: string): number {
  if (typeof times === 'number' && times >= 0) return times;
  return refused(times, name, '0 or more');
}

/** A finite number of 0 or more. */
export function checkedNumber(value: number, name: string): number {
  if (Number.isFinite(value) && value >= 0) return value;
  return refused(value, name, 'a finite number of 0 or more');
}

/** An integer limit of 1 or more. `Infinity` means no limit. */
export function checkedWholeLimit(limit: number, name: string): number {
  if (limit === Number.POSITIVE_INFINITY) return limit;
  return checkedCount(limit, name, 1);
}

/** A rate per second. 0 or less, and `Infinity`, mean no limit. */
export function checkedRate(rate: number, name: string): number {
  if (typeof rate === 'number' && !Number.isNaN(rate)) return rate;
  return refused(rate, name, 'a number');
}

/** A wait in milliseconds that ends. 0 or less means none. */
export function checkedWait(waitMs: number, name: string): number {
  if (typeof waitMs === 'number' && waitMs < Number.POSITIVE_INFINITY) return waitMs;
  return refused(waitMs, name, 'a finite number');
}

/** An integer of at least `least` that survives as a JSON number, so that a server reads the same value. */
export function checkedSentCount(count: number, name: string, least: number): number {
  if (Number.isSafeInteger(count) && count >= least) return count;
  return refused(count, name, `a whole number of ${least} or more`);
}

/** The longest period that is sent to a server: 31 years, because servers count nanoseconds in 64 bits. */
const LONGEST_SENT_MS = 1e12;

/** A period of at least `leastMs` milliseconds that a server can count, so not `Infinity`. */
export function checkedSentPeriod(periodMs: number, name: string, leastMs: number): number {
  if (typeof periodMs === 'number' && periodMs >= leastMs && periodMs <= LONGEST_SENT_MS)
    return periodMs;
  return refused(periodMs, name, `from ${leastMs} to ${LONGEST_SENT_MS} milliseconds`);
}
