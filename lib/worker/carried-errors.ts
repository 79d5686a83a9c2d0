/** Errors and statuses as messages carry them. A structured clone would lose the class and the fields of an `ApiError`. */
import { ApiError, type ApiErrorInit } from '../meta/api-error.ts';
import type { ViewStatus } from '../query/view/view.ts';

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

/** The error that was carried: an `ApiError` again if it was one, with the stack of the worker. */
export function readError({ name, message, stack, cause, api }: CarriedError): Error {
  // A tab may send anything.
  const inner = cause ? readError(cause) : undefined;
  const error =
    api === undefined
      ? Object.assign(new Error(message, inner && { cause: inner }), { name })
      : new ApiError({ ...api, message, cause: inner });
  if (stack !== undefined) error.stack = stack;
  return error;
}

function mapped(value: unknown, of: (value: object) => unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value;
  const replaced = of(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((each) => mapped(each, of, depth - 1));
  const entries = Object.entries(value).map(([name, each]) => [name, mapped(each, of, depth - 1)]);
  return Object.fromEntries(entries);
}

/** A status as data. */
export function carryStatus(status: ViewStatus): CarriedStatus {
  const carried = (value: object) =>
    value instanceof Error ? { [ERROR]: carryError(value) } : undefined;
  const refusedRows = status.refusedRows.map((row) => ({
    ...row,
    error: { [ERROR]: carryError(row.error) },
  }));
  const rest = mapped({ ...status, refusedRows: undefined }, carried, DEPTH);
  return { ...(rest as CarriedStatus), refusedRows };
}

/** The status that was carried. */
export function readStatus(carried: CarriedStatus): ViewStatus {
  const read = (value: object) =>
    Object.hasOwn(value, ERROR)
      ? readError((value as Record<string, CarriedError>)[ERROR] as CarriedError)
      : undefined;
  return Object.freeze(mapped(carried, read, DEPTH) as ViewStatus);
}
