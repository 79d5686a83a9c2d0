/**
 * Decides which requests to the cluster are forwarded: reads of the kinds that the page shows and of what Pods and Nodes use, logs, edits, scales
 * and deletions of one object, new Jobs, reviews of the user's own rights, and reads of the kinds that discovery has found. Everything else is
 * refused. Tokens, exec, proxies and discovery need no list of their own, because no pattern of this file matches their paths.
 */
import {
  meteredKinds,
  revisionKinds,
  rootOf,
  type ShownKind,
  shownKinds,
} from '../shared/kinds.ts';

export interface ProxyRules {
  readonly namespace?: string | undefined;
  readonly readOnly?: boolean | undefined;
  /** Whether each request must carry the token of its user, which is the only one that the cluster gets. */
  readonly asUsers?: boolean | undefined;
  /** Kinds of which only reads are forwarded, by the path of their collection. */
  readonly others?: ReadonlyMap<string, ShownKind> | undefined;
}

export interface AllowedRequest {
  readonly use: 'collection' | 'object' | 'log' | 'write' | 'delete' | 'review';
  readonly metadataOnly: boolean;
  /** The query parameters that are forwarded. All others are dropped. */
  readonly parameters: readonly string[];
}

/** The reason why a request is not forwarded. */
export interface RefusedRequest {
  readonly code: 403 | 405;
  readonly sentence: string;
  /** The methods that this path has, for a 405. */
  readonly allow?: string;
}

interface Target {
  readonly kind: ShownKind;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly part: 'log' | 'scale' | undefined;
}

/** The only path beside that of Jobs to which a POST is forwarded. */
export const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

const PATH =
  /^(?<root>\/api\/v1|\/apis\/[a-z0-9.]+\/v\d+(?:(?:alpha|beta)\d+)?)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[a-z]+)(?:\/(?<name>[^/]+))?(?:\/(?<part>log|scale))?$/;
/** A name of an object: DNS labels joined by dots. Such a name has no escapes, slashes or double dots. */
const NAME = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

const parameters = {
  collection: [
    ...['allowWatchBookmarks', 'continue', 'fieldSelector', 'labelSelector', 'limit'],
    ...['resourceVersion', 'resourceVersionMatch', 'sendInitialEvents', 'timeoutSeconds', 'watch'],
  ],
  object: [],
  log: [
    ...['container', 'follow', 'limitBytes', 'previous', 'sinceSeconds', 'sinceTime'],
    ...['tailLines', 'timestamps'],
  ],
  write: ['dryRun', 'fieldManager', 'fieldValidation'],
  // The options of a deletion are in its body.
  delete: [],
  review: [],
};

const kindOf = new Map(
  [...shownKinds, ...meteredKinds, ...revisionKinds].map((kind) => [
    `${rootOf(kind)}/${kind.plural}`,
    kind,
  ]),
);

function targetOf(path: string, { others }: ProxyRules): Target | undefined {
  const { root, namespace, plural, name, part } = PATH.exec(path)?.groups ?? {};
  const kind = kindOf.get(`${root}/${plural}`) ?? others?.get(`${root}/${plural}`);
  if (kind === undefined) return undefined;
  for (const each of [namespace, name]) {
    if (each !== undefined && !NAME.test(each)) return undefined;
  }
  // An object of a namespaced kind has a namespace, and one of the others has none.
  if (namespace !== undefined && !kind.namespaced) return undefined;
  if (namespace === undefined && kind.namespaced && name !== undefined) return undefined;
  if (part !== undefined && name === undefined) return undefined;
  if (part === 'log' && kind.kind !== 'Pod') return undefined;
  if (part === 'scale' && !kind.scales) return undefined;
  return { kind, namespace, name, part: part as Target['part'] };
}

function methodsOf(target: Target, { readOnly }: ProxyRules): readonly string[] {
  const { kind, namespace, name, part } = target;
  if (part === 'scale') return readOnly ? [] : ['PATCH'];
  if (readOnly || part !== undefined) return ['GET'];
  if (name === undefined) {
    return kind.creatable && namespace !== undefined ? ['GET', 'POST'] : ['GET'];
  }
  if (!kind.editable) return ['GET'];
  return kind.stays ? ['GET', 'PATCH', 'PUT'] : ['GET', 'PATCH', 'PUT', 'DELETE'];
}

function isInside({ kind, namespace, name }: Target, only: string): boolean {
  return (kind.plural === 'namespaces' ? name : namespace) === only;
}

/** Decides whether a request is forwarded. `path` is the path as it was sent, without the query. */
export function judge(
  method: string,
  path: string,
  rules: ProxyRules,
): AllowedRequest | RefusedRequest {
  const isReview = path === REVIEWS;
  const target = targetOf(path, rules);
  if (!isReview && target === undefined) {
    return {
      code: 403,
      sentence: 'This dashboard forwards only requests for the kinds that it shows.',
    };
  }
  const { namespace: only } = rules;
  if (target !== undefined && only !== undefined && !isInside(target, only)) {
    const sentence = `This dashboard shows only the namespace ${only}; ${path} is outside of it.`;
    return { code: 403, sentence };
  }
  const methods = target === undefined ? ['POST'] : methodsOf(target, rules);
  if (!methods.includes(method)) {
    const sentence = rules.readOnly
      ? `This dashboard only reads: ${method} is not forwarded.`
      : `This dashboard does not forward ${method} to this path.`;
    return { code: 405, sentence, allow: methods.join(', ') };
  }
  const use = purposeOf(method, target);
  return {
    use,
    metadataOnly: use === 'collection' && target?.kind.listsMetadataOnly === true,
    parameters: parameters[use],
  };
}

function purposeOf(method: string, target: Target | undefined): AllowedRequest['use'] {
  if (target === undefined) return 'review';
  if (method === 'DELETE') return 'delete';
  if (method !== 'GET') return 'write';
  if (target.part === 'log') return 'log';
  return target.name === undefined ? 'collection' : 'object';
}
