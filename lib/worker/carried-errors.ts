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

/** An error as data, with its causes. */
export function carryError(thrown: unknown, depth: number = DEPTH): CarriedError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) };
  const { name, message, stack, cause } = thrown;
  const carried = { name, message, stack };
  const inner = cause === undefined || depth === 0 ? undefined : carryError(cause, depth - 1);
  if (!(thrown instanceof ApiError)) return { ...carried, cause: inner };
  const { code, reason, retryAfterMs, status } = thrown;
  return { ...carried, cause: inner, api: { code, reason, retryAfterMs, status } };
}

/** The error that was carried: an `ApiError` again if it was one, with the stack of the worker. */
export function readError({ name, message, stack, cause, api }: CarriedError): Error {
  const inner = cause === undefined ? undefined : readError(cause);
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
  // What a function of the caller threw may be anything, also what cannot be copied.
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
