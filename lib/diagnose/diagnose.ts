/** `diagnose`: says why informers do not work, or not as well as they could, and what to do. */
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { checkedCount, checkedTimeout } from '../checks/checked-option.ts';
import type { DynamicInformerFactory } from '../factory/create-informer-factory.ts';
import { FactoryInformers, informersOfFactory } from '../factory/factory-informers.ts';
import type { InformerFactory } from '../factory/informer-factory.ts';
import { portOf } from '../informer/part.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { knownResource, type Resource } from '../meta/resource.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { type BugReport, bugReport, type ReportedInformer } from './bug-report.ts';
import { seenError } from './exchange.ts';
import type { Finding } from './findings.ts';
import { judge } from './judge.ts';
import type { ConnectionFacts, Observations, SeenInformer } from './observations.ts';
import { observe, type Scope } from './observe.ts';

/** The options of {@link diagnose}. */
export interface DiagnoseOptions {
  /**
   * The kinds whose rights are checked. The first that may be listed and watched is watched for a moment.
   * @defaultValue those of the factory's informers; of a client, pods
   */
  readonly resources?: readonly Resource<KubernetesObject>[] | undefined;
  /** The namespace of these kinds, as far as they have namespaces; '' for all. @defaultValue all, or the namespaces of the factory's informers */
  readonly namespace?: string | undefined;
  /**
   * How long a watch is observed, in seconds. A proxy with a time limit is found only if its limit is shorter, so give
   * 330 to be sure of five minutes. @defaultValue 5
   */
  readonly watchSeconds?: number | undefined;
  /** How long each request may take, in milliseconds. @defaultValue 15000 */
  readonly timeoutMs?: number | undefined;
  /** Finds out what only the platform knows: `inspectKubeConfig(source)` of `rx-informer/node`. @defaultValue nothing */
  readonly inspect?: (() => Promise<ConnectionFacts>) | undefined;
  /**
   * Whether to make a report for a bug. It contains no names of objects, namespaces, hosts or custom resources, unless it is
   * `'with-names'`. It never contains credentials. @defaultValue false
   */
  readonly report?: boolean | 'with-names' | undefined;
  /** The clock. @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** The result of {@link diagnose}. */
export interface Diagnosis {
  /** Errors first. Empty if nothing is wrong. */
  readonly findings: readonly Finding[];
  /** What the findings follow from. */
  readonly observations: Observations;
  /** With the option `report`. */
  readonly report?: BugReport | undefined;
}

interface Target {
  readonly client: KubeClient;
  readonly scopes: readonly Scope[];
  readonly informers: readonly ReportedInformer[];
}

function ofFactory(factory: object): Target {
  const pool = informersOfFactory('diagnose', factory);
  if (!(pool instanceof FactoryInformers)) {
    throw new TypeError(
      'diagnose: a factory of several clusters has no single server; pass the client of one of them',
    );
  }
  const scopes: Scope[] = [];
  const informers = pool.entries.map(({ identity, informer, scope }) => {
    const port = portOf<KubernetesObject>(informer, 'diagnose');
    const [group, version, plural] = JSON.parse(identity) as [string, string, string];
    const read = port.sources[0]?.collection?.context({ resourceVersion: '' }, false).resource;
    const namespaced = read?.namespaced ?? true;
    // The path of a request does not depend on the kind.
    const resource = knownResource({ group, version, plural, kind: 'Any', namespaced });
    const namespaces = scope.namespaces.length === 0 ? [''] : scope.namespaces;
    scopes.push(...namespaces.map((namespace) => ({ resource, namespace })));
    return { port, resource };
  });
  return { client: pool.client, scopes, informers };
}

function ofClient(client: KubeClient): Target {
  return { client, scopes: [], informers: [] };
}

function seenInformer({ port }: ReportedInformer): SeenInformer {
  const { phase, live, blocked, heldBack, error } = port.board.status;
  return {
    ...{ name: port.name, phase, live, blocked, heldBack: heldBack !== undefined },
    error: error && seenError(error, port.name),
  };
}

function scopesOf(own: readonly Scope[], { resources, namespace }: DiagnoseOptions): Scope[] {
  const of = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
  const all = (resource: Resource): Scope => ({ resource, namespace: '' });
  const given = resources?.map(all) ?? (own.length > 0 ? own : [all(knownResource(of))]);
  const scopes = given.map((scope) =>
    namespace === undefined || !scope.resource.namespaced ? scope : { ...scope, namespace },
  );
  const keys = scopes.map((scope) => JSON.stringify([scope.resource, scope.namespace]));
  return scopes.filter((_, at) => keys.indexOf(keys[at] ?? '') === at);
}

/**
 * Looks for the reasons why informers do not work: the server cannot be reached, credentials, rights, proxies that
 * buffer, cut or compress, a wrong clock, too few connections. Takes about `watchSeconds`.
 *
 * Sends some small requests: the version, an access review and an empty list per kind, and two short watches. Changes
 * nothing on the server, and neither starts nor stops an informer. A failed request is a finding, so the promise
 * rejects only with a `TypeError` if the first argument is neither a client nor a factory, or an option is invalid, and
 * with the error of `inspect`.
 *
 * @example
 * ```ts
 * import { createClient } from 'rx-informer';
 * import { diagnose } from 'rx-informer/diagnose';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer({ allows: ({ verb }) => verb !== 'watch' });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const { findings } = await diagnose(client, { watchSeconds: 1 });
 * findings.map(({ code, seen }) => `${code}: ${seen}`);
 * // => ['RX107: the server does not permit to watch pods in all namespaces']
 * ```
 */
export async function diagnose(
  target: InformerFactory | DynamicInformerFactory | KubeClient,
  options: DiagnoseOptions = {},
): Promise<Diagnosis> {
  const { scheduler = asyncScheduler, inspect = () => Promise.resolve({}) } = options;
  const watchSeconds = checkedCount(options.watchSeconds ?? 5, 'diagnose: watchSeconds', 1);
  const timeoutMs = checkedTimeout(options.timeoutMs ?? 15_000, 'diagnose: timeoutMs');
  const { client, scopes, informers } =
    'send' in Object(target) ? ofClient(target as KubeClient) : ofFactory(target);
  const seen = await observe({
    ...{ client, scheduler, timeoutMs, watchSeconds, inspect },
    scopes: scopesOf(scopes, options),
    informers: informers.map(seenInformer),
  });
  // The statuses after the requests, which may have changed during them.
  const observations = { ...seen, informers: informers.map(seenInformer) };
  const findings = judge(observations);
  if (!options.report) return { findings, observations };
  const withNames = options.report === 'with-names';
  const of = { findings, observations, informers, client, withNames };
  return { findings, observations, report: bugReport(of) };
}
