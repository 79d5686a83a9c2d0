/** Matches requests of a fake server by method, resource and path. */
import type { Resource } from '../../meta/resource.ts';
import { resourceName } from '../../meta/resource.ts';
import type { RequestRecord } from '../http/request.ts';

/** The requests that a fault applies to. All given fields must match. */
export interface RequestMatch {
  readonly method?: string | undefined;
  readonly use?: RequestRecord['use'] | undefined;
  readonly resource?: Resource | undefined;
  readonly namespace?: string | undefined;
  /** The complete path, or a pattern. */
  readonly path?: string | RegExp | undefined;
  /** Query parameters that must have these values. */
  readonly query?: Readonly<Record<string, string>> | undefined;
}

/** The requests that a fault applies to. Default: all. */
export type Match = RequestMatch | ((request: RequestRecord) => boolean);

/** Whether a request matches. */
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
