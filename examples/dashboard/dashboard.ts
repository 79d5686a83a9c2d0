/** Starts the dashboard: a cluster, the proxy to it, the page, and the server that connects them. */
import { createClient } from 'rx-informer';
import type { SelfSubjectReview } from 'rx-informer/resources';
import type { DashboardOptions } from './arguments.ts';
import { buildPage } from './build-page.ts';
import { type Choice, chooseCluster } from './choose-cluster.ts';
import { createEmbeddedCluster, type EmbeddedCluster } from './embedded-cluster.ts';
import { createClusterProxy } from './proxy.ts';
import { readPageFiles } from './server/page-files.ts';
import { serveDashboard } from './server.ts';
import type { Summary } from './summary-line.ts';

/** A running dashboard. */
export interface Dashboard {
  readonly url: string;
  readonly port: number;
  readonly embedded: EmbeddedCluster | undefined;
  summary(): Summary;
  close(): Promise<void>;
}

/** Receives the progress messages of a dashboard, line by line. */
export type Say = (line: string) => void;

const DEFAULT_PORT = 8011;

const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

/**
 * Whose objects the browser stores, or `undefined` if it stores none. Each embedded cluster is another one, and those of a real
 * cluster stay on the disk, so the user must ask for it. Rejects if the cluster does not say who the user is.
 */
async function identityOf(
  { nats, warmStart }: DashboardOptions,
  choice: Choice,
): Promise<string | undefined> {
  if (nats !== undefined) return undefined;
  if (!('cluster' in choice)) return `embedded cluster, started at ${Date.now()}`;
  if (!warmStart) return undefined;
  const { client, name } = choice.cluster;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const review = await client.request<SelfSubjectReview>({ method: 'POST', path: REVIEWS, body });
  return `${review.status?.userInfo?.username} of ${name}`;
}

/**
 * Starts a dashboard. Rejects with a `ClusterError` if the requested cluster does not answer, and with the server's
 * error if the requested port is taken.
 */
export async function startDashboard(options: DashboardOptions, say: Say): Promise<Dashboard> {
  const choice = await chooseCluster(options);
  const folder = await buildPage(() => say('Building the page …'));
  const type = 'cluster' in choice ? 'real' : 'embedded';
  // A real cluster is chosen by default, so nobody may change it by accident.
  const readOnly = type === 'real' && !options.allowEdits;
  const { nats, bucket = 'k8s' } = options;
  const files = await readPageFiles(folder, {
    cluster: type,
    source: 'cluster' in choice ? choice.cluster.name : 'embedded cluster',
    namespace: options.namespace,
    identity: await identityOf(options, choice),
    nats: nats === undefined ? undefined : { url: nats, bucket },
  });
  let embedded: EmbeddedCluster | undefined;
  if ('embeddedBecause' in choice) {
    say(`Showing the embedded cluster, because ${choice.embeddedBecause}.`);
    embedded = await createEmbeddedCluster(options);
    if (options.explainFaults) for (const each of embedded.explanations) say(`Fault ${each}`);
  } else {
    const { namespace } = options;
    const shown = namespace === undefined ? '' : `the namespace ${namespace} of `;
    const edits = readOnly ? 'It is read-only; --allow-edits allows edits.' : 'Edits are allowed.';
    say(`Showing ${shown}${choice.cluster.name}. ${edits}`);
    if (options.warmStart) {
      const what = 'the objects, with the values of environment variables';
      say(`The browser stores ${what}, unencrypted, for the next reload.`);
    }
  }
  if (nats !== undefined) say(`Reading the objects from the bucket ${bucket} at ${nats}.`);
  const client =
    'cluster' in choice
      ? choice.cluster.client
      : createClient({ baseUrl: embedded?.baseUrl ?? '', qps: 0 });
  const rules = { namespace: options.namespace, readOnly };
  const proxy = createClusterProxy(client, rules);
  const serve = (port: number) =>
    serveDashboard({
      proxy,
      rules,
      files,
      cluster: `${'cluster' in choice ? choice.cluster.name : 'embedded cluster'}${nats ? ' over NATS' : ''}`,
      port,
      context: options.context,
      ...(embedded === undefined ? {} : { embedded }),
    });
  const close = async () => {
    await client.close();
    await embedded?.close();
  };
  let server: Awaited<ReturnType<typeof serve>>;
  try {
    // Another port replaces the default port if it is taken, but never a requested port.
    server = await serve(options.port ?? DEFAULT_PORT).catch((error: unknown) => {
      if (options.port !== undefined) throw error;
      return serve(0);
    });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: server.url,
    port: server.port,
    embedded,
    summary: () => ({
      changes: embedded?.changes ?? proxy.traffic.events,
      watches: proxy.traffic.watches,
      pages: server.pages.count(),
      ...(embedded === undefined ? {} : { pods: embedded.pods }),
    }),
    async close() {
      await server.close();
      await close();
    },
  };
}
