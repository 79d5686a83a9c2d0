/** Errors and statuses as messages carry them, as data of JSON. */
import { ApiError, type ApiErrorInit } from '../meta/api-error.ts';
import type { ViewStatus } from '../query/view/view.ts';
import type { EpochMs } from '../rx/timing.ts';

/** An error, as data. */
export interface CarriedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: CarriedError | undefined;
  /** The fields of an `ApiError`. */
  readonly api?: Omit<ApiErrorInit, 'message' | 'cause'> | undefined;
}

/** A status in which each error stands under {@link ERROR}. */
export type CarriedStatus = Readonly<Record<string, unknown>>;

/** The only member of an object that stands for an error. */
const ERROR = 'rx-informer error';

/** How deep errors and statuses are followed. */
const DEPTH = 6;

/** An error as data, with its causes. What a function throws may be anything, also what has no text or cannot be copied. */
export function carryError(thrown: unknown, depth: number = DEPTH): CarriedError {
  try {
    return carried(thrown, depth);
  } catch {
    return { name: 'Error', message: 'an error without a text' };
  }
}

function carried(thrown: unknown, depth: number): CarriedError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) };
  const { stack, cause } = thrown;
  const texts = {
    name: String(thrown.name),
    message: String(thrown.message),
    stack: stack === undefined ? undefined : String(stack),
  };
  const inner = cause === undefined || depth === 0 ? undefined : carryError(cause, depth - 1);
  if (!(thrown instanceof ApiError)) return { ...texts, cause: inner };
  const { code, reason, retryAfterMs, status } = thrown;
  return { ...texts, cause: inner, api: { code, reason, retryAfterMs, status } };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** The error that was carried: an `ApiError` again if it was one, with the stack of the other side. */
export function readError(carried: CarriedError, depth: number = DEPTH): Error {
  const { stack, cause, api } = carried;
  // The other side may send anything.
  const [name, message] = [textOf(carried.name), textOf(carried.message)];
  const inner = cause && depth > 0 ? readError(cause, depth - 1) : undefined;
  const error =
    api === undefined
      ? Object.assign(new Error(message, inner && { cause: inner }), { name })
      : new ApiError({ ...api, message, cause: inner });
  if (typeof stack === 'string') error.stack = stack;
  return error;
}

/** Makes an error data. */
export type ErrorCarrier = (thrown: unknown) => CarriedError;

/**
 * The fields of a status that are points in time: `sinceMs`, `staleSinceMs`, `nextRetryAtMs`, `lastAt`. They travel as milliseconds from
 * now, because two machines have two clocks.
 */
const TIME = /(ince|At)(Ms)?$/;

interface Mapping {
  /** What takes the place of an object; `undefined` if it is mapped part by part. */
  replaced(value: object): unknown;
  /** What is added to each point in time. */
  readonly addedMs: number;
}

function mapped(value: unknown, by: Mapping, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  const replaced = by.replaced(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((each) => mapped(each, by, depth - 1));
  const entries = Object.entries(value).map(([name, each]) => {
    const isTime = typeof each === 'number' && TIME.test(name);
    return [name, isTime ? each + by.addedMs : mapped(each, by, depth - 1)];
  });
  return Object.fromEntries(entries);
}

/** A status as data. */
export function carryStatus(
  status: ViewStatus,
  nowMs: EpochMs,
  carry: ErrorCarrier = carryError,
): CarriedStatus {
  const replaced = (value: object) =>
    value instanceof Error ? { [ERROR]: carry(value) } : undefined;
  const refusedRows = status.refusedRows.map((row) => ({
    ...row,
    error: { [ERROR]: carry(row.error) },
  }));
  const rest = mapped({ ...status, refusedRows: undefined }, { replaced, addedMs: -nowMs }, DEPTH);
  return { ...(rest as CarriedStatus), refusedRows };
}

/** The status that was carried. */
export function readStatus(carried: CarriedStatus, nowMs: EpochMs): ViewStatus {
  const replaced = (value: object) =>
    Object.hasOwn(value, ERROR)
      ? readError((value as Record<string, CarriedError>)[ERROR] as CarriedError)
      : undefined;
  return Object.freeze(mapped(carried, { replaced, addedMs: nowMs }, DEPTH) as ViewStatus);
}
