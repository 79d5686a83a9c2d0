/**
 * The report for a bug. It is made of listed fields only: numbers, yes or no, and words of this library. What a user,
 * a server or a cluster has named is added only if it is asked for.
 */
import type { InformerPort } from '../informer/part.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { recordedOf } from './debug.ts';
import type { Finding } from './findings.ts';
import type { Observations, SeenList, SeenWatch } from './observations.ts';
import { shownReason } from './shown-reason.ts';
import { VERSION } from './version.ts';

/** A value of a report. */
export type Reported =
  | string
  | number
  | boolean
  | readonly Reported[]
  | { readonly [field: string]: Reported | undefined };

/** The report of a diagnosis for a bug, as plain data. `JSON.stringify(report, null, 2)` makes it text. */
export interface BugReport {
  readonly versions: { readonly [what: string]: string };
  readonly connection: { readonly [what: string]: Reported | undefined };
  readonly findings: readonly { readonly [what: string]: Reported }[];
  readonly informers: readonly { readonly [what: string]: Reported | undefined }[];
}

/** An informer, and what it reads. */
export interface ReportedInformer {
  readonly port: InformerPort<KubernetesObject>;
  readonly resource: Resource;
}

interface BugReportParts {
  readonly findings: readonly Finding[];
  readonly observations: Observations;
  readonly informers: readonly ReportedInformer[];
  readonly client: KubeClient;
  readonly withNames: boolean;
}

const PROTOCOLS = /^(?:http\/1\.1|h2|h3|TLSv1(?:\.[1-3])?|gzip|identity|br|deflate)$/;

/** A text of the network, if it is one of the well-known. */
function known(text: string | undefined): string | undefined {
  return text === undefined || PROTOCOLS.test(text) ? text : 'unknown';
}

/** Whether a group belongs to Kubernetes. The name of a custom group is often that of a company. */
function isBuiltIn({ group }: Resource): boolean {
  return /^(?:|apps|batch|autoscaling|policy|(?:[a-z]+\.)+k8s\.io)$/.test(group);
}

function watchFacts(watch: SeenWatch | undefined): Reported | undefined {
  if (watch === undefined) return undefined;
  const { askedMs, headMs, bookmarkMs, endMs, ended, encoding, error } = watch;
  const failed = error && shownReason({ reason: error.reason, code: error.status });
  return { askedMs, headMs, bookmarkMs, endMs, ended, encoding: known(encoding), failed };
}

function failureOf(error: SeenList['error']): string | undefined {
  return error && shownReason({ reason: error.reason, code: error.status });
}

function connectionOf({
  observations,
  client,
  withNames,
}: BugReportParts): BugReport['connection'] {
  const { reach, facts, rights, lists, streamed, quiet, atMs } = observations;
  const { credentials } = facts;
  const age = (ms: number | undefined) => ms && Math.round((atMs - ms) / 1_000);
  const left = reach.connectionsLeft;
  return {
    server: withNames ? client.baseUrl : undefined,
    protocol: known(reach.protocol),
    tls: known(facts.tls),
    connectionsLeft: left === Number.POSITIVE_INFINITY ? 'no limit' : left,
    mayCompress: client.mayCompress,
    hidesEncoding: client.hidesEncoding,
    livenessMs: client.livenessMs === Number.POSITIVE_INFINITY ? 'never' : client.livenessMs,
    tookMs: reach.tookMs,
    clockAheadMs: reach.clockAheadMs,
    failed: failureOf(reach.error),
    credentials: credentials && {
      kind: credentials.kind,
      renews: credentials.renews,
      issuedSecondsAgo: age(credentials.issuedAtMs),
      expiredSecondsAgo: age(credentials.expiresAtMs),
    },
    rightsMissing: rights.filter(({ allowed }) => allowed === false).length,
    rightsUnknown: rights.filter(({ allowed }) => allowed === undefined).length,
    lists: lists.map(({ encoding, error }) => ({
      encoding: known(encoding),
      failed: failureOf(error),
    })),
    streamedWatch: watchFacts(streamed),
    quietWatch: watchFacts(quiet),
  };
}

function statusOf({ port }: ReportedInformer, withNames: boolean): Reported {
  const { status } = port.board;
  const { phase, synced, live, attempt, reconnects, relists, loaded, remaining } = status;
  const { refused, refusedItems, unknownDeletions, generation, blocked, error, audit } = status;
  const nowMs = port.timing.scheduler.now();
  return {
    ...{ phase, synced, live, attempt, reconnects, relists, loaded, remaining },
    ...{ refused, refusedItems, unknownDeletions, generation, blocked },
    heldBack: status.heldBack !== undefined,
    phaseSinceMs: nowMs - status.sinceMs,
    staleSinceMs: status.staleSinceMs && nowMs - status.staleSinceMs,
    error: error && shownReason(error),
    message: withNames ? error?.message : undefined,
    audit: typeof audit === 'object' ? { ...countsOf(audit) } : audit,
    namespacesMissing: status.access?.missing.length,
    objects: port.store.size,
    queuedDeltas: port.queueLength,
    waitingForHandlers: port.waiting,
  };
}

function countsOf({
  compared,
  differed,
}: {
  readonly compared: number;
  readonly differed: number;
}) {
  return { compared, differed };
}

function informerOf(informer: ReportedInformer, at: number, withNames: boolean) {
  const { port, resource } = informer;
  const recorded = recordedOf(port);
  const isShown = withNames || isBuiltIn(resource);
  return {
    name: withNames ? port.name : `informer ${at + 1}`,
    resource: isShown ? resourceName(resource) : 'a custom resource',
    options: {
      resyncMs: port.resyncMs,
      requestTimeoutMs: port.requestTimeoutMs,
      sources: port.sources.length,
      partial: port.partial,
    },
    status: statusOf(informer, withNames),
    counts: recorded && { ...recorded.counts },
    batches: recorded && { ...recorded.batches },
    events: recorded?.events.map(({ atMs, text, detail }) => {
      const more = withNames && detail !== '' ? `: ${detail}` : '';
      return `+${(atMs / 1_000).toFixed(3)} s ${text}${more}`;
    }),
  };
}

/** The version of the server without the suffix, in which a vendor may write anything. */
function serverVersion(version: string | undefined): string {
  return /^v\d+\.\d+\.\d+/.exec(version ?? '')?.[0] ?? 'unknown';
}

function runtime(): string {
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  return navigator?.userAgent ?? 'unknown';
}

/** Makes the report. */
export function bugReport(parts: BugReportParts): BugReport {
  const { findings, observations, informers, withNames } = parts;
  return {
    versions: {
      'rx-informer': VERSION,
      server: serverVersion(observations.reach.version),
      runtime: runtime(),
    },
    connection: connectionOf(parts),
    findings: findings.map(({ code, name, severity, seen }) => ({
      ...{ code, name, severity },
      ...(withNames ? { seen } : {}),
    })),
    informers: informers.map((each, at) => informerOf(each, at, withNames)),
  };
}
