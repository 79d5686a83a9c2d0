/**
 * Checks the arguments and options of public functions. Every error has the same form, with the function, the option, the value, and
 * what it takes: `createClient: qps is "5"; it must be a number`. Each kind of option stands here once, with its range and its words.
 */

/** A value as an error shows it: the first 60 characters of text, and of an object its names only, because its values may be secret. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  if (Object(value) !== value) return String(value);
  return `{${Object.keys(value as object).slice(0, 5)}}`;
}

/** The error of an invalid value. `name` begins with the function; `must` may say behind a semicolon what to do. */
export function refusal(name: string, value: unknown, must: string): TypeError {
  return new TypeError(`${name} is ${shownValue(value)}; it must be ${must}`);
}

/** Throws the error unless the value is valid. */
export function check(
  isValid: boolean,
  name: string,
  value: unknown,
  must: string,
): asserts isValid {
  if (!isValid) throw refusal(name, value, must);
}

/** Throws if an option is set that an earlier version had. `instead` says what replaces it. */
export function refuseRemoved(options: object, maker: string, name: string, instead: string): void {
  if ((options as Readonly<Record<string, unknown>>)[name] === undefined) return;
  throw new TypeError(`${maker}: the option ${name} was removed; ${instead}`);
}

/** Checks an option that may be left out and whose default stands elsewhere, where the option is used. */
export function ifGiven<V, A extends readonly unknown[]>(
  checked: (value: V, ...rest: A) => V,
  value: V | undefined,
  ...rest: A
): V | undefined {
  return value === undefined ? undefined : checked(value, ...rest);
}

/** A function. */
export function checkedFunction<F>(given: F, name: string, must = 'a function'): F {
  check(typeof given === 'function', name, given, must);
  return given;
}

/** The option `metrics`. A meter itself has none of the methods that are called. */
export function checkedMetered<M>(metrics: M, name: string): M {
  const isMetered = metrics === undefined || typeof metrics === 'function';
  check(isMetered, name, metrics, 'what metered(provider) returned');
  return metrics;
}

/** True or false: a text such as 'false' would count as true. */
export function checkedBoolean(given: boolean, name: string): boolean {
  check(typeof given === 'boolean', name, given, 'true or false');
  return given;
}

/** A list. */
export function checkedList<T>(list: readonly T[], name: string, must = 'a list'): readonly T[] {
  check(Array.isArray(list), name, list, must);
  return list;
}

/** Text of a form. */
export function checkedText(text: unknown, name: string, form: RegExp, must: string): string {
  check(typeof text === 'string' && form.test(text), name, text, must);
  return text;
}

/** Text that is not empty. */
export function checkedName(text: unknown, name: string, must = 'text that is not empty'): string {
  check(typeof text === 'string' && text !== '', name, text, must);
  return text;
}

/** One of some words. */
export function checkedWord<W extends string>(word: W, name: string, words: readonly W[]): W {
  const all = words.map((each) => `'${each}'`);
  const last = all.pop();
  check(words.includes(word), name, word, `${all.join(', ')} or ${last}`);
  return word;
}

function inRange(value: number, name: string, isValid: boolean, must: string): number {
  check(typeof value === 'number' && isValid, name, value, must);
  return value;
}

/** A duration of 0 or more milliseconds. `Infinity` means never. */
export function checkedDuration(durationMs: number, name: string): number {
  return inRange(durationMs, name, durationMs >= 0, '0 or more milliseconds');
}

/** A period of at least `leastMs` milliseconds. `Infinity` means never. `orElse` names what else is valid. */
export function checkedPeriod(
  periodMs: number,
  name: string,
  leastMs: number,
  orElse = '',
): number {
  return inRange(periodMs, name, periodMs >= leastMs, `${leastMs} or more milliseconds${orElse}`);
}

/** A timeout of more than 0 milliseconds. `Infinity` means no timeout. */
export function checkedTimeout(timeoutMs: number, name: string): number {
  return inRange(timeoutMs, name, timeoutMs > 0, 'more than 0 milliseconds');
}

/** A limit of 1 or more. `Infinity` means no limit. */
export function checkedLimit(limit: number, name: string): number {
  return inRange(limit, name, limit >= 1, '1 or more');
}

/** A number of times, 0 or more. `Infinity` means no limit. */
export function checkedTimes(times: number, name: string): number {
  return inRange(times, name, times >= 0, '0 or more');
}

/** A finite number of 0 or more. */
export function checkedNumber(value: number, name: string): number {
  return inRange(
    value,
    name,
    value >= 0 && value < Number.POSITIVE_INFINITY,
    'a finite number of 0 or more',
  );
}

/** A rate per second. 0 or less, and `Infinity`, mean no limit. */
export function checkedRate(rate: number, name: string): number {
  return inRange(rate, name, !Number.isNaN(rate), 'a number');
}

/** A wait in milliseconds that ends. 0 or less means none. */
export function checkedWait(waitMs: number, name: string): number {
  return inRange(waitMs, name, waitMs < Number.POSITIVE_INFINITY, 'a finite number');
}

/** An integer of at least `least`. */
export function checkedCount(count: number, name: string, least: number): number {
  const isValid = Number.isInteger(count) && count >= least;
  return inRange(count, name, isValid, `a whole number of ${least} or more`);
}

/** An integer limit of 1 or more. `Infinity` means no limit. */
export function checkedWholeLimit(limit: number, name: string): number {
  return limit === Number.POSITIVE_INFINITY ? limit : checkedCount(limit, name, 1);
}

/** An integer of at least `least` that survives as a JSON number, so that a server reads the same value. */
export function checkedSentCount(count: number, name: string, least: number): number {
  const isValid = Number.isSafeInteger(count) && count >= least;
  return inRange(count, name, isValid, `a whole number of ${least} or more`);
}

/** An integer from `least` to `most`. */
export function checkedWhole(count: number, name: string, least: number, most: number): number {
  const isValid = Number.isInteger(count) && count >= least && count <= most;
  return inRange(count, name, isValid, `a whole number from ${least} to ${most}`);
}

/** The longest period that is sent to a server: 31 years, because servers count nanoseconds in 64 bits. */
const LONGEST_SENT_MS = 1e12;

/** A period of at least `leastMs` milliseconds that a server can count, so not `Infinity`. */
export function checkedSentPeriod(periodMs: number, name: string, leastMs: number): number {
  const isValid = periodMs >= leastMs && periodMs <= LONGEST_SENT_MS;
  return inRange(periodMs, name, isValid, `from ${leastMs} to ${LONGEST_SENT_MS} milliseconds`);
}
