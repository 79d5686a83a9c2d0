/** Makes the requests of a diagnosis, and gathers what was seen. It changes nothing on the server. */
import { firstValueFrom } from 'rxjs';
import { type Resource, resourceName, resourcePath } from '../meta/resource.ts';
import { shownText } from '../meta/shown-text.ts';
import { exchange, type Head, type Tools } from './exchange.ts';
import type {
  ConnectionFacts,
  Observations,
  SeenInformer,
  SeenList,
  SeenReach,
  SeenRight,
  SeenWatch,
} from './observations.ts';
import { observedWatch } from './observe-watch.ts';

/** A collection to look at. */
export interface Scope {
  readonly resource: Resource;
  /** '' for all namespaces. */
  readonly namespace: string;
}

/** What is to be observed. */
export interface Subject extends Tools {
  readonly scopes: readonly Scope[];
  readonly watchSeconds: number;
  readonly informers: readonly SeenInformer[];
  inspect(): Promise<ConnectionFacts>;
}

/** A server sends a bookmark two seconds before the end of a watch, so a shorter one may have none, in seconds. */
const LEAST_QUIET_SECONDS = 5;
/** Selects no object, so that lists and watches of any size are empty. */
const NOTHING = { fieldSelector: 'metadata.name=rx-informer-diagnose' };
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** The lead of this clock over the server's. A Date header names the second in which the response was made. */
function clockAheadMs(head: Head | undefined, nowMs: number, tookMs: number): number | undefined {
  const text = head?.header('date');
  // biome-ignore lint/style/noRestrictedGlobals: parses a date, reads no clock
  const serverMs = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(serverMs) ? undefined : nowMs - tookMs / 2 - (serverMs + 500);
}

async function reach(tools: Tools): Promise<SeenReach> {
  const { client, scheduler } = tools;
  const { body, error, head, tookMs } = await exchange(tools, { method: 'GET', path: '/version' });
  const { gitVersion } = (body ?? {}) as { readonly gitVersion?: unknown };
  return {
    error,
    tookMs: head && tookMs,
    clockAheadMs: clockAheadMs(head, scheduler.now(), tookMs),
    version: typeof gitVersion === 'string' ? shownText(gitVersion, 100) : undefined,
    protocol: client.protocol,
    connectionsLeft: client.connectionsLeft,
  };
}

async function right(
  tools: Tools,
  { resource, namespace }: Scope,
  verb: SeenRight['verb'],
): Promise<SeenRight> {
  const { group, version, plural } = resource;
  const resourceAttributes = { verb, group, version, resource: plural, namespace };
  const { body } = await exchange(tools, {
    ...{ method: 'POST', path: REVIEWS, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({
      ...{ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' },
      spec: { resourceAttributes },
    }),
  });
  const { status } = (body ?? {}) as { readonly status?: { readonly allowed?: unknown } };
  const allowed = typeof status?.allowed === 'boolean' ? status.allowed : undefined;
  return { resource: resourceName(resource), namespace, verb, allowed };
}

const pathOf = ({ resource, namespace }: Scope) => resourcePath(resource, { namespace });

async function list(tools: Tools, scope: Scope): Promise<SeenList & { readonly version: string }> {
  const query = { ...NOTHING, limit: '1' };
  const sent = { method: 'GET', path: pathOf(scope), query };
  const { body, head, error } = await exchange(tools, sent);
  const { metadata } = (body ?? {}) as {
    readonly metadata?: { readonly resourceVersion?: unknown };
  };
  return {
    resource: resourceName(scope.resource),
    encoding: head?.header('content-encoding') ?? undefined,
    error,
    version: String(metadata?.resourceVersion ?? ''),
  };
}

/** The two watches of one kind, at the same time. If lists cannot be streamed, the quiet watch is observed to its end. */
async function watches(
  tools: Tools,
  scope: Scope,
  seconds: number,
  version: string,
): Promise<{ readonly streamed: SeenWatch; readonly quiet: SeenWatch }> {
  const resource = resourceName(scope.resource);
  const path = pathOf(scope);
  const bookmarks = { ...NOTHING, allowWatchBookmarks: 'true' };
  const initial = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };
  const observed = (own: Record<string, string>, forSeconds: number, headOnly = false) => {
    const query = { ...bookmarks, ...own };
    const watch = { resource, path, query, seconds: forSeconds, headOnly };
    return firstValueFrom(observedWatch(tools, watch));
  };
  const from = { resourceVersion: version };
  const [streamed, quiet] = await Promise.all([
    observed(initial, seconds),
    observed(from, seconds, true),
  ]);
  if ((streamed.error?.status ?? 0) < 400) return { streamed, quiet };
  return { streamed, quiet: await observed(from, Math.max(seconds, LEAST_QUIET_SECONDS)) };
}

/** Observes a server, and resolves with what was seen. Failures are observations, too. */
export async function observe(subject: Subject): Promise<Observations> {
  const { scopes, scheduler, watchSeconds, informers } = subject;
  const facts = await subject.inspect();
  const seen = { atMs: scheduler.now(), facts, informers, rights: [], lists: [] };
  const reached = await reach(subject);
  // Nothing else can be seen. The version alone may be forbidden.
  if (reached.error !== undefined && ![403, 404].includes(reached.error.status)) {
    return { ...seen, reach: reached };
  }
  const rights = await Promise.all(
    scopes.flatMap((scope) => [right(subject, scope, 'list'), right(subject, scope, 'watch')]),
  );
  const isAllowed = (scope: Scope, verb: string) =>
    rights.every(
      (each) =>
        each.resource !== resourceName(scope.resource) ||
        each.namespace !== scope.namespace ||
        each.verb !== verb ||
        each.allowed !== false,
    );
  const listable = scopes.filter((scope) => isAllowed(scope, 'list'));
  const lists = await Promise.all(listable.map((scope) => list(subject, scope)));
  const at = listable.findIndex((scope, i) => !lists[i]?.error && isAllowed(scope, 'watch'));
  const [watched, listed] = [listable[at], lists[at]];
  const both = watched && listed && (await watches(subject, watched, watchSeconds, listed.version));
  return { ...seen, reach: reached, rights, lists: lists.map(withoutVersion), ...both };
}

function withoutVersion({ resource, encoding, error }: SeenList): SeenList {
  return { resource, encoding, error };
}
