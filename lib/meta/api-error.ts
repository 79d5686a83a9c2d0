/**
 * One error type for everything an API server, or the way to it, can answer. `code` and `reason` are the
 * server's; `retryable` says whether the same request may succeed later. Nothing secret is put in: no
 * header, no token, no request body.
 * client-go: apimachinery/pkg/api/errors, metav1.Status.
 */
import { isFields } from './json-fields.ts';
import { shownCause, shownError, shownText } from './shown-text.ts';

/** `metav1.Status` as on the wire. */
export interface Status {
  kind?: string;
  apiVersion?: string;
  status?: string;
  message?: string;
  reason?: string;
  code?: number;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    retryAfterSeconds?: number;
    causes?: { reason?: string; message?: string; field?: string }[];
  };
  metadata?: { continue?: string; resourceVersion?: string };
}

/**
 * Reasons that are not the server's: the way to it failed, or what came was no answer.
 * `Network` connection refused, reset or closed in the middle · `Silent` nothing came for too long ·
 * `HeldBack` a proxy holds events back until a watch ends ·
 * `Malformed` bytes that are no JSON, or cut · `TooLarge` a line or an item over the bound ·
 * `Unexpected` JSON that is not what was asked for · `WrongKind` objects of another kind than the resource · `Rejected` a transform, key or index function threw ·
 * `Aborted` the caller's signal · `Credentials` the credentials could not be had · `Stopped` the informer was stopped ·
 * `NotObserved` a wait ran out of time · `NoMatch` the server serves no resource of this name or kind.
 */
export type LocalReason =
  | 'Network'
  | 'Silent'
  | 'HeldBack'
  | 'Malformed'
  | 'TooLarge'
  | 'Unexpected'
  | 'WrongKind'
  | 'Rejected'
  | 'Aborted'
  | 'Credentials'
  | 'Stopped'
  | 'NotObserved'
  | 'NoMatch';

const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const MOST_CAUSES = 100;
const LONGEST_WAIT_SECONDS = 86_400;

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isFields(value) ? value : undefined;
}

/** Of these fields the texts. */
function texts(value: unknown, names: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  const fields = fieldsOf(value) ?? {};
  for (const name of names) {
    const text = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof text === 'string') found[name] = shownText(text);
  }
  return found;
}

/**
 * A Status as far as it is one: whoever answers may send anything under that name, and an error travels far.
 */
function readStatus(sent: Status): Status {
  const { code } = sent;
  const details = fieldsOf(sent.details);
  const metadata = fieldsOf(sent.metadata);
  const seconds = details?.['retryAfterSeconds'];
  const causes = details?.['causes'];
  return {
    ...texts(sent, ['kind', 'apiVersion', 'status', 'message', 'reason']),
    ...(typeof code === 'number' ? { code } : {}),
    ...(metadata === undefined
      ? {}
      : { metadata: texts(metadata, ['continue', 'resourceVersion']) }),
    ...(details === undefined
      ? {}
      : {
          details: {
            ...texts(details, ['name', 'group', 'kind', 'uid']),
            ...(typeof seconds === 'number' ? { retryAfterSeconds: seconds } : {}),
            ...(Array.isArray(causes)
              ? {
                  causes: causes
                    .slice(0, MOST_CAUSES)
                    .map((cause) => texts(cause, ['reason', 'message', 'field'])),
                }
              : {}),
          },
        }),
  };
}

/** What {@link ApiError} is made of. */
export interface ApiErrorInit {
  /** HTTP status; 0 when there was no answer. */
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly status?: Status | undefined;
  readonly cause?: unknown | undefined;
}

/**
 * An answer that is an error, or the lack of an answer.
 *
 * @example
 * ```ts
 * import { ApiError } from 'rx-informer';
 *
 * const error = ApiError.fromStatus({ code: 410, reason: 'Expired', message: 'too old' }, 410);
 * error.isExpired; // => true
 * error.retryable; // => false
 * ```
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status; 0 when there was no answer. */
  readonly code: number;
  /** The server's reason, or a {@link LocalReason}. */
  readonly reason: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The server's `Status`, where it sent one. */
  readonly status: Status | undefined;

  constructor(init: ApiErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.reason = init.reason;
    this.retryAfterMs = init.retryAfterMs;
    this.status = init.status;
  }

  /**
   * From a `Status` body. `where` names the request (`LIST pods`) and goes before the message.
   * A body that is no Status gives the reason that belongs to the HTTP code. Of the body only the fields of a
   * Status are kept, a wait of at most a day, and no credentials that a server quotes.
   */
  static fromStatus(
    sent: Status,
    httpCode: number,
    options: { readonly where?: string; readonly retryAfterMs?: number } = {},
  ): ApiError {
    const status = readStatus(sent);
    const code = status.code !== undefined && status.code > 0 ? status.code : httpCode;
    const reason = status.reason || REASONS[code] || 'Unknown';
    const seconds = status.details?.retryAfterSeconds;
    const retryAfterMs =
      options.retryAfterMs ??
      (seconds !== undefined && seconds > 0
        ? Math.min(seconds, LONGEST_WAIT_SECONDS) * 1000
        : undefined);
    const text = status.message || `the server answered ${code} ${reason}`;
    return new ApiError({
      code,
      reason,
      message: options.where === undefined ? text : `${options.where}: ${text}`,
      status,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }

  /** An error of ours: no answer came, or none that can be used. */
  static local(
    reason: LocalReason,
    message: string,
    options: { readonly cause?: unknown; readonly code?: number } = {},
  ): ApiError {
    return new ApiError({
      code: options.code ?? 0,
      reason,
      message,
      ...(options.cause === undefined ? {} : { cause: options.cause }),
    });
  }

  /** Anything thrown, as an ApiError; one that is one already stays itself. */
  static from(error: unknown, where: string): ApiError {
    if (error instanceof ApiError) return error;
    return ApiError.local('Network', `${where}: ${shownError(error)}`, {
      cause: shownCause(error),
    });
  }

  /** The version asked for is gone: HTTP 410, or reason Expired or Gone. */
  get isExpired(): boolean {
    return this.code === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /**
   * The version asked for is still to come, in the three encodings servers have used.
   * client-go: tools/cache/reflector.go, isTooLargeResourceVersionError.
   */
  get isTooLargeResourceVersion(): boolean {
    if (this.code !== 504 && this.reason !== 'Timeout') return false;
    const causes = this.status?.details?.causes ?? [];
    return (
      causes.some((cause) => cause.reason === 'ResourceVersionTooLarge') ||
      causes.some((cause) => cause.message === 'Too large resource version') ||
      (this.status?.message ?? this.message).includes('Too large resource version')
    );
  }

  get isTooManyRequests(): boolean {
    return this.code === 429 || this.reason === 'TooManyRequests';
  }

  get isNotFound(): boolean {
    return this.code === 404;
  }

  /** Whether the same request may succeed when it is sent again. */
  get retryable(): boolean {
    if (this.code === 0) {
      return ![
        ...['Rejected', 'Aborted', 'Stopped', 'TooLarge', 'NotObserved', 'WrongKind'],
      ].includes(this.reason);
    }
    if (this.retryAfterMs !== undefined) return true;
    return this.code === 408 || this.code === 429 || (this.code >= 500 && this.code !== 501);
  }
}

/**
 * Reads a `Retry-After` header: seconds, or an HTTP date. `undefined` when there is none to be read.
 */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^[0-9]+$/.test(text)) return Math.min(Number(text), LONGEST_WAIT_SECONDS) * 1000;
  // Date.parse makes a date of '1.5', too.
  if (!/^[A-Za-z]/.test(text)) return undefined;
  // biome-ignore lint/style/noRestrictedGlobals: parses a date, reads no clock
  const at = Date.parse(text);
  return Number.isNaN(at)
    ? undefined
    : Math.min(Math.max(0, at - nowMs), LONGEST_WAIT_SECONDS * 1000);
}
