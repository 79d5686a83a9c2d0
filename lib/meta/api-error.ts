/**
 * `ApiError`, the one error type for every failure of a request: an error response of the API server, or a failure on
 * the way to it. `code` and `reason` are the server's, and `retryable` says whether the same request may succeed
 * later. The error contains no header, token or request body. client-go: apimachinery/pkg/api/errors, metav1.Status.
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
 * Reasons that this library adds to the server's, for failures that no Status describes: `Network` the connection was
 * refused, reset or closed early · `Silent` nothing was received for too long · `HeldBack` a proxy holds events back
 * until a watch ends · `Malformed` invalid JSON, or a body that was cut · `TooLarge` a line or an item over its limit
 * · `Unexpected` valid JSON that is not what was requested · `WrongKind` objects of another kind than the resource ·
 * `Refused` a transform, key function or index function threw · `Aborted` the caller's signal was aborted ·
 * `Credentials` the credentials could not be obtained · `Stopped` the informer was stopped · `NotObserved` a wait
 * timed out · `NoMatch` the server has no resource of this name or kind.
 */
export type LocalReason =
  | 'Network'
  | 'Silent'
  | 'HeldBack'
  | 'Yielded'
  | 'Malformed'
  | 'TooLarge'
  | 'Unexpected'
  | 'WrongKind'
  | 'Refused'
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
/** The most characters of all texts of a Status together, because each of them is read several times. */
const MOST_TEXT = 65_536;
const LONGEST_WAIT_SECONDS = 86_400;

/** Returns a function that reads those of the named fields that are strings. All that it returns is not longer than the limit. */
function boundedTexts() {
  let left = MOST_TEXT;
  return (value: unknown, names: readonly string[]): Record<string, string> => {
    const found: Record<string, string> = {};
    const fields = isFields(value) ? value : {};
    for (const name of names) {
      const text = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (typeof text !== 'string') continue;
      found[name] = shownText(text, left);
      left -= Math.min(left, text.length);
    }
    return found;
  };
}

/**
 * Keeps the valid fields of a Status. The sender may be any server or proxy, and an error travels far, so every field
 * is checked.
 */
function readStatus(sent: Status): Status {
  const { code } = sent;
  const texts = boundedTexts();
  const { details: detailed, metadata: described } = sent as Readonly<Record<string, unknown>>;
  const details = isFields(detailed) ? detailed : undefined;
  const metadata = isFields(described) && described;
  const seconds = details?.['retryAfterSeconds'];
  const causes = details?.['causes'];
  return {
    ...texts(sent, ['kind', 'apiVersion', 'status', 'message', 'reason']),
    ...(typeof code === 'number' && { code }),
    ...(metadata && { metadata: texts(metadata, ['continue', 'resourceVersion']) }),
    ...(details && {
      details: {
        ...texts(details, ['name', 'group', 'kind', 'uid']),
        ...(typeof seconds === 'number' && { retryAfterSeconds: seconds }),
        ...(Array.isArray(causes) && {
          causes: causes
            .slice(0, MOST_CAUSES)
            .map((cause) => texts(cause, ['reason', 'message', 'field'])),
        }),
      },
    }),
  };
}

/** The arguments of the {@link ApiError} constructor. */
export interface ApiErrorInit {
  /** The HTTP status; 0 if there was no response. */
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly status?: Status | undefined;
  readonly cause?: unknown | undefined;
}

/**
 * An error response, or the lack of a response.
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
  /** The name that a console prints. Bundlers rename the class. */
  static override readonly name: string = 'ApiError';
  override readonly name = 'ApiError';
  /** The HTTP status; 0 if there was no response. */
  readonly code: number;
  /** The server's reason, or a {@link LocalReason}. */
  readonly reason: string;
  /** How long the server asked the client to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The server's `Status`, if it sent one. */
  readonly status: Status | undefined;

  constructor(init: ApiErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = init.code;
    this.reason = init.reason;
    this.retryAfterMs = init.retryAfterMs;
    this.status = init.status;
  }

  /**
   * Creates an error from a `Status` body. `where` names the request (`LIST pods`) and precedes the message. If the
   * body is not a Status, the reason is derived from the HTTP code. Only the fields of a Status are kept. The wait is
   * limited to a day, and credentials that the server quotes are removed.
   */
  static fromStatus(
    sent: Status,
    httpCode: number,
    options: {
      readonly where?: string;
      readonly retryAfterMs?: number | undefined;
    } = {},
  ): ApiError {
    const status = readStatus(sent);
    const { code: own = 0 } = status;
    const code = own >= 400 ? own : httpCode;
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
      retryAfterMs,
    });
  }

  /** Creates an error with a reason of this library: there was no response, or no usable response. */
  static local(
    reason: LocalReason,
    message: string,
    options: { readonly cause?: unknown; readonly code?: number } = {},
  ): ApiError {
    return new ApiError({
      code: options.code ?? 0,
      reason,
      message,
      cause: options.cause,
    });
  }

  /** Converts any thrown value to an ApiError. An ApiError is returned as it is. */
  static from(error: unknown, where: string): ApiError {
    if (error instanceof ApiError) return error;
    return ApiError.local('Network', `${where}: ${shownError(error)}`, {
      cause: shownCause(error),
    });
  }

  /** Whether the requested version has expired: HTTP 410, or reason Expired or Gone. */
  get isExpired(): boolean {
    return this.code === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /**
   * Whether the requested version is newer than the server's, in the three encodings that servers have used.
   * client-go: tools/cache/reflector.go, isTooLargeResourceVersionError.
   */
  get isTooLargeResourceVersion(): boolean {
    if (this.code !== 504 && this.reason !== 'Timeout') return false;
    const causes = this.status?.details?.causes ?? [];
    const text = 'Too large resource version';
    return (
      causes.some(
        ({ reason, message }) => reason === 'ResourceVersionTooLarge' || message === text,
      ) || (this.status?.message ?? this.message).includes(text)
    );
  }

  get isTooManyRequests(): boolean {
    return this.code === 429 || this.reason === 'TooManyRequests';
  }

  get isNotFound(): boolean {
    return this.code === 404;
  }

  /** Whether the same request may succeed if it is sent again. */
  get retryable(): boolean {
    if (this.code === 0) {
      return !/^(?:Refused|Aborted|Stopped|TooLarge|NotObserved|WrongKind)$/.test(this.reason);
    }
    if (this.retryAfterMs !== undefined) return true;
    return this.code === 408 || this.code === 429 || (this.code >= 500 && this.code !== 501);
  }
}

/**
 * Reads a `Retry-After` header, in seconds or as an HTTP date, and returns the wait in milliseconds, a day at most.
 * Returns `undefined` if the header is missing or invalid.
 */
export function parseRetryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^[0-9]+$/.test(text)) return Math.min(Number(text), LONGEST_WAIT_SECONDS) * 1000;
  // Date.parse also accepts '1.5' and, in V8, 'soon 5'.
  if (!/^[A-Z]\w+, .+:\d\d GMT$/.test(text)) return undefined;
  // biome-ignore lint/style/noRestrictedGlobals: parses a date, reads no clock
  const at = Date.parse(text);
  return Number.isNaN(at)
    ? undefined
    : Math.min(Math.max(0, at - nowMs), LONGEST_WAIT_SECONDS * 1000);
}
