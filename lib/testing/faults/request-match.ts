/** Which requests of a fake server are meant: by what is asked, of what, and where. */
import type { Resource } from '../../meta/resource.ts';
import { resourceName } from '../../meta/resource.ts';
import type { RequestRecord } from '../http/request.ts';

/** Which requests a fault is for; all that is given must hold. */
export interface RequestMatch {
  readonly method?: string | undefined;
  readonly use?: RequestRecord['use'] | undefined;
  readonly resource?: Resource | undefined;
  readonly namespace?: string | undefined;
  /** The whole path, or a pattern. */
  readonly path?: string | RegExp | undefined;
  /** Parameters that must have these values. */
  readonly query?: Readonly<Record<string, string>> | undefined;
}

/** Which requests a fault is for. Left out: all. */
export type Match = RequestMatch | ((request: RequestRecord) => boolean);

/** Whether a request is meant. */
export function matches(match: Match | undefined, request: RequestRecord): boolean {
  if (match === undefined) return true;
  if (typeof match === 'function') return match(request);
  const { method, use, resource, namespace, path, query = {} } = match;
  if (method !== undefined && method !== request.method) return false;
  if (use !== undefined && use !== request.use) return false;
  if (resource !== undefined && resourceName(resource) !== request.resource) return false;
  if (namespace !== undefined && namespace !== request.namespace) return false;
  if (typeof path === 'string' && path !== request.path) return false;
  if (path instanceof RegExp && !path.test(request.path)) return false;
  return Object.entries(query).every(([name, value]) => request.query[name] === value);
}
