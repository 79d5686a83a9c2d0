/** Converts errors of the NATS client to `ApiError`s, whose messages say what was tried and what to look at. */
import { ApiError } from '../meta/api-error.ts';
import { shownCause, shownError } from '../meta/shown-text.ts';

/** The code of JetStream for a stream that does not exist, and for a write that expected another last sequence. */
const STREAM_NOT_FOUND = 10059;
const WRONG_LAST_SEQUENCE = [10071, 10164];

interface ErrorFields {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
}

/** An error in the API's answer to a request or to a publication. */
export interface JetStreamFault {
  readonly code: number;
  readonly err_code?: number;
  readonly description: string;
}

/** A write was refused, because another process has written to the subject. */
export class WrongSequence extends Error {}

/** The error for a fault in the answer to a publication. */
export function publicationFault(fault: JetStreamFault, where: string): Error {
  if (WRONG_LAST_SEQUENCE.includes(fault.err_code ?? 0)) {
    return new WrongSequence(`${where}: ${fault.description}`);
  }
  const { code, err_code: detail } = fault;
  const message = `${where}: NATS refused the messages with ${code} (${detail ?? 'no detail'}): ${fault.description}`;
  return new ApiError({ code, reason: 'Refused', message });
}

/** The 410 with which a reader is told to list again. */
export function gone(where: string, why: string): ApiError {
  return new ApiError({ code: 410, reason: 'Expired', message: `${where}: ${why}` });
}

/** A failure that a publisher or a server can end, so that the request is worth another try. */
export function unavailable(message: string): ApiError {
  return new ApiError({ code: 503, reason: 'ServiceUnavailable', message });
}

/** Converts anything that the NATS client throws. `where` names the request and the bucket. */
export function natsError(error: unknown, where: string): ApiError {
  if (error instanceof ApiError) return error;
  const { name, message, code, cause } = (error ?? {}) as ErrorFields;
  const text = shownError(error);
  const local = (reason: 'Network' | 'Silent', words: string) =>
    ApiError.local(reason, `${where}: ${words}`, { cause: shownCause(error) });
  if (code === STREAM_NOT_FOUND || message === 'stream not found') {
    const words = `the bucket does not exist (${text}); start its publisher, and compare the names of the buckets`;
    return unavailable(`${where}: ${words}`);
  }
  const isForbidden =
    name === 'PermissionViolationError' ||
    (cause as ErrorFields | undefined)?.name === 'PermissionViolationError';
  if (isForbidden) {
    const words = `the NATS user lacks a permission (${text}); docs/guide/nats.md says what a reader needs, such as the option consumer`;
    return new ApiError({ code: 403, reason: 'Forbidden', message: `${where}: ${words}` });
  }
  if (name === 'TimeoutError') {
    return local('Network', 'NATS did not answer in time; look at the connection and the server');
  }
  if (
    name === 'NoRespondersError' ||
    name === 'JetStreamNotEnabled' ||
    /no responders/.test(text)
  ) {
    return local('Network', 'nothing answers at NATS; is JetStream enabled for this account?');
  }
  if (name === 'ClosedConnectionError') {
    return local(
      'Network',
      'the connection to NATS is closed; connect with `maxReconnectAttempts: -1`, so that the client reconnects for ever',
    );
  }
  return local('Network', text);
}
