/** The `Status` answers of the fake server, worded as a real one words them. */
import { ApiError, type Status } from '../../meta/api-error.ts';
import { type GroupVersionResource, resourceName } from '../../meta/resource.ts';

/** Why an object is refused, and for which of its fields. */
export type Cause = { reason: string; message: string; field: string };

/** A failure on its way to the client: thrown by the server's parts, answered by the handler. */
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

function detailsOf(resource: GroupVersionResource, name: string): Status['details'] & object {
  return {
    name,
    ...(resource.group === '' ? {} : { group: resource.group }),
    kind: resource.plural,
  };
}

export function notFound(resource: GroupVersionResource, name: string): ApiError {
  const message = `${resourceName(resource)} ${JSON.stringify(name)} not found`;
  return failure(404, 'NotFound', message, detailsOf(resource, name));
}

export function noSuchResource(): ApiError {
  return failure(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function methodNotAllowed(): ApiError {
  const message = 'the server does not allow this method on the requested resource';
  return failure(405, 'MethodNotAllowed', message, {});
}

export function alreadyExists(resource: GroupVersionResource, name: string): ApiError {
  const message = `${resourceName(resource)} ${JSON.stringify(name)} already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(resource, name));
}

/** `name` is the object's; `kind` what the message and the details call its type. */
export function conflict(
  resource: GroupVersionResource,
  name: string,
  why: string,
  kind?: string,
): ApiError {
  const target = kind ?? resourceName(resource);
  const message = `Operation cannot be fulfilled on ${target} ${JSON.stringify(name)}: ${why}`;
  return failure(409, 'Conflict', message, {
    ...detailsOf(resource, name),
    ...(kind === undefined ? {} : { kind }),
  });
}

export const modified =
  'the object has been modified; please apply your changes to the latest version and try again';

export function badRequest(message: string): ApiError {
  return failure(400, 'BadRequest', message);
}

/** 422 with its causes. `kind` and `group` are those of the refused object or options. */
export function invalid(
  target: { kind: string; name: string; group?: string },
  ...causes: readonly Cause[]
): ApiError {
  const { kind, name, group } = target;
  const qualified = group ? `${kind}.${group}` : kind;
  const told = causes.map(({ field, message }) => `${field}: ${message}`).join(', ');
  return failure(
    422,
    'Invalid',
    `${qualified} ${JSON.stringify(name)} is invalid: ${causes.length > 1 ? `[${told}]` : told}`,
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

export const listTooOld = 'The resourceVersion for the provided list is too old.';

export const continueTooOld =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
