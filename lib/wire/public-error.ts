/**
 * What another machine may learn of an error: a code and our own words. Messages of errors name addresses, files and objects, and
 * their stacks say how a program is built.
 */
import { ApiError } from '../meta/api-error.ts';
import type { CarriedError } from './carried-errors.ts';

/** The errors whose message is about what the other side has sent or reads, in our own words. */
const spoken = /* @__PURE__ */ new WeakSet<Error>();

/** Lets the other side read the message of an error. Only for errors whose message says nothing else than it has sent or reads. */
export function readable<E extends Error>(error: E): E {
  spoken.add(error);
  return error;
}

/** An error as data, without its stack and its causes. */
export function publicError(thrown: unknown): CarriedError {
  if (thrown instanceof ApiError) {
    const { code, reason, retryAfterMs } = thrown;
    const message =
      code === 0
        ? `the API server has not answered the process that serves this page (${reason}), which says more`
        : `the API server has answered ${code} ${reason}`;
    const said = spoken.has(thrown) ? thrown.message : message;
    return { name: 'ApiError', message: said, api: { code, reason, retryAfterMs } };
  }
  if (thrown instanceof Error && spoken.has(thrown)) {
    return { name: thrown.name, message: thrown.message };
  }
  return { name: 'Error', message: 'the query has failed' };
}
