/** Builds the errors of reads: an `ApiError` with the `Status` that kube-apiserver would send. */
import { ApiError, type Status } from '../meta/api-error.ts';

/** One reason why an object or an option is invalid, and its field. */
export type Cause = { reason: string; message: string; field: string };

/** An `ApiError` with a complete `Status`. */
export function failure(
  code: number,
  reason: string | undefined,
  message: string,
  details?: Status['details'],
  metadata: Status['metadata'] = {},
): ApiError {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  };
  return ApiError.fromStatus(status, code);
}

export function badRequest(message: string): ApiError {
  return failure(400, 'BadRequest', message);
}

/** A 422 with its causes. `kind` and `group` are those of the invalid object or options. */
export function invalid(
  target: { kind: string; name: string; group?: string },
  ...causes: readonly Cause[]
): ApiError {
  const { kind, name, group } = target;
  const qualified = group ? `${kind}.${group}` : kind;
  const text = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
  return failure(
    422,
    'Invalid',
    `${qualified} ${JSON.stringify(name)} is invalid: ${causes.length > 1 ? `[${text}]` : text}`,
    {
      ...(name === '' ? {} : { name }),
      ...(group ? { group } : {}),
      kind,
      causes: [...causes],
    },
  );
}

export function forbiddenOption(options: string, field: string, message: string): ApiError {
  return invalid(
    { kind: options, name: '', group: 'meta.k8s.io' },
    { reason: 'FieldValueForbidden', message: `Forbidden: ${message}`, field },
  );
}

export function unsupportedOption(
  options: string,
  field: string,
  value: string,
  supported: readonly string[],
): ApiError {
  const list = supported.map((text) => JSON.stringify(text)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${list}`;
  return invalid(
    { kind: options, name: '', group: 'meta.k8s.io' },
    { reason: 'FieldValueNotSupported', message, field },
  );
}

export function tooLargeVersion(asked: string, current: bigint): ApiError {
  return failure(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  );
}

export function expired(message: string, metadata?: Status['metadata']): ApiError {
  return failure(410, 'Expired', message, undefined, metadata);
}
