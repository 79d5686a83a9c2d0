/** The `Status` responses of the fake server, with the wording of a real server. */
import type { ApiError, Status } from '../../meta/api-error.ts';
import { type GroupVersionResource, resourceName } from '../../meta/resource.ts';
import { failure } from '../../object-log/failures.ts';

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

export function tooLarge(mostBytes: number): ApiError {
  const message = `Request entity too large: limit is ${mostBytes}`;
  return failure(413, 'RequestEntityTooLarge', message);
}

export function alreadyExists(resource: GroupVersionResource, name: string): ApiError {
  const message = `${resourceName(resource)} ${JSON.stringify(name)} already exists`;
  return failure(409, 'AlreadyExists', message, detailsOf(resource, name));
}

/** `name` is the name of the object. `kind` replaces its resource in the message and the details. */
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
