/**
 * The codes of failures and findings, and the pages that explain them. The codes are only here, so that errors contain
 * none, and programs that look nothing up pay nothing.
 */

/** What a code stands for: the reason of an `ApiError`, or a finding of a diagnosis. */
export interface CodeEntry {
  /** Such as `RX1`. A code is never used again for another meaning. */
  readonly code: string;
  /** The reason of the error, or the name of the finding. */
  readonly name: string;
  /** The page that explains it, from the root of the package. */
  readonly page: string;
}

const TROUBLESHOOTING = 'docs/operations/troubleshooting.md';
const DIAGNOSE = 'docs/operations/diagnose.md';

/** The reasons in the order of their codes, from RX1. New ones are appended. */
const REASONS = [
  'Network',
  'Silent',
  'HeldBack',
  'Yielded',
  'Malformed',
  'TooLarge',
  'Unexpected',
  'WrongKind',
  'Refused',
  'Aborted',
  'Credentials',
  'Stopped',
  'NotObserved',
  'NoMatch',
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'MethodNotAllowed',
  'NotAcceptable',
  'Conflict',
  'Gone',
  'Expired',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'Invalid',
  'TooManyRequests',
  'InternalError',
  'ServerTimeout',
  'ServiceUnavailable',
  'Timeout',
  'Unknown',
] as const;

/** The findings in the order of their codes, from RX101. New ones are appended. */
const FINDINGS = [
  'unreachable',
  'certificate-dates',
  'certificate-refused',
  'no-api-server',
  'no-credentials',
  'credentials-refused',
  'missing-right',
  'token-ends',
  'certificate-ends',
  'clock-skew',
  'held-back',
  'late-head',
  'time-limit',
  'compressed',
  'no-streaming',
  'no-bookmarks',
  'few-connections',
  'untested-version',
  'not-served',
  'blocked-informer',
] as const;

/** The name of a finding. */
export type FindingName = (typeof FINDINGS)[number];

function entries(names: readonly string[], first: number, page: string): CodeEntry[] {
  return names.map((name, at) => ({ code: `RX${first + at}`, name, page }));
}

/** All codes, in their order: those of errors, then those of findings. */
export const codes: readonly CodeEntry[] = /* @__PURE__ */ (() =>
  Object.freeze([...entries(REASONS, 1, TROUBLESHOOTING), ...entries(FINDINGS, 101, DIAGNOSE)]))();

/**
 * Looks up the code of an error, of its reason, or of a finding; also the entry of a code. The case does not matter.
 * Returns `undefined` for a text that is neither, such as a reason that only an extension of the server uses.
 *
 * @example
 * ```ts
 * import { ApiError } from 'rx-informer';
 * import { codeOf } from 'rx-informer/diagnose';
 *
 * codeOf(ApiError.local('Network', 'GET /version: connection refused'))?.code; // => 'RX1'
 * codeOf('rx101')?.name; // => 'unreachable'
 * ```
 */
export function codeOf(what: { readonly reason: string } | string): CodeEntry | undefined {
  const text = (typeof what === 'string' ? what : what.reason).toLowerCase();
  return codes.find(({ code, name }) => [code, name].some((each) => each.toLowerCase() === text));
}
