/** Starts the dashboard: a cluster, the proxy to it, the page, and the server that connects them. */
import { createClient, type KubeClient } from 'rx-informer';
import type { SelfSubjectReview } from 'rx-informer/resources';
import type { DashboardOptions } from './arguments.ts';
import { buildPage } from './build-page.ts';
import { type Choice, chooseCluster, readContexts } from './choose-cluster.ts';
import { createEmbeddedCluster, type EmbeddedCluster } from './embedded-cluster.ts';
import { type ClusterProxy, createClusterProxy } from './proxy.ts';
import { readPageFiles } from './server/page-files.ts';
import { ServedKinds } from './server/served-kinds.ts';
import { type Contexts, type ServedCluster, serveDashboard } from './server.ts';
import type { Summary } from './summary-line.ts';
import { type DashboardUsers, serveDashboardUsers } from './users/users.ts';

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
 * Whose objects the browser stores, or '' if it stores none. Each embedded cluster is another one, and those of a real
 * cluster stay on the disk, so the user must ask for it. Rejects if the cluster does not say who the user is.
 */
async function identityOf({ nats, warmStart }: DashboardOptions, choice: Choice) {
  if (nats !== undefined) return '';
  if (!('cluster' in choice)) return `embedded cluster, started at ${Date.now()}`;
  if (!warmStart) return '';
  const { client, name } = choice.cluster;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const review = await client.request<SelfSubjectReview>({ method: 'POST', path: REVIEWS, body });
  return `${review.status?.userInfo?.username} of ${name}`;
}

function sayCluster(options: DashboardOptions, name: string, readOnly: boolean, say: Say): void {
  const { namespace, warmStart } = options;
  const shown = namespace === undefined ? '' : `the namespace ${namespace} of `;
  const edits = readOnly ? 'It is read-only; --allow-edits allows edits.' : 'Edits are allowed.';
  say(`Showing ${shown}${name}. ${edits}`);
  if (warmStart) {
    const what = 'the objects, with the values of environment variables';
    say(`The browser stores ${what}, unencrypted, for the next reload.`);
  }
}

/** With the own token of the dashboard, if the cluster has users. */
function headersOf(embedded: EmbeddedCluster | undefined) {
  const users = embedded?.users;
  return users && { authorization: `Bearer ${users.own}` };
}

/**
 * Starts a dashboard. Rejects with a `ClusterError` if the requested cluster does not answer, and with the server's
 * error if the requested port is taken.
 */
export async function startDashboard(options: DashboardOptions, say: Say): Promise<Dashboard> {
  const choice = await chooseCluster(options);
  const folder = await buildPage(() => say('Building the page …'));
  const { nats = '', bucket = 'k8s', namespace } = options;
  const type = 'cluster' in choice ? 'real' : 'embedded';
  // A real cluster is chosen by default, so nobody may change it by accident.
  const rules = { namespace, readOnly: type === 'real' && !options.allowEdits };
  let embedded: EmbeddedCluster | undefined;
  let client: KubeClient;
  let proxy: ClusterProxy;
  let users: DashboardUsers | undefined;
  // The embedded cluster sends a bookmark every two seconds, a real one every minute.
  const idleTimeoutMs = type === 'real' ? undefined : 6000;

  /** Connects the pages to a cluster. */
  async function serving(of: Choice, base = ''): Promise<ServedCluster> {
    const real = 'cluster' in of ? of.cluster : undefined;
    const name = real?.name ?? 'embedded cluster';
    const files = await readPageFiles(folder, {
      ...{ cluster: type, source: name, namespace: namespace ?? '', base },
      ...{ storedFor: await identityOf(options, of), nats, bucket: nats && bucket },
      hasUsers: options.serveUsers ?? false,
    });
    const baseUrl = embedded?.baseUrl ?? '';
    client = real?.client ?? createClient({ baseUrl, qps: 0, headers: headersOf(embedded) });
    if (options.serveUsers) {
      const anonymous = (await real?.anonymous()) ?? createClient({ baseUrl, qps: 0 });
      users = await serveDashboardUsers({
        ...{ client, anonymous, allowEdits: !rules.readOnly, idleTimeoutMs },
        report: (error) => say(`The server of users: ${String(error)}`),
      });
      proxy = createClusterProxy(anonymous, { ...rules, asUsers: true });
      return { proxy, files, cluster: name };
    }
    const kinds = new ServedKinds(client);
    // Without it only the kinds that the page knows are shown.
    await kinds.refresh().catch(() => undefined);
    proxy = createClusterProxy(client, { ...rules, others: kinds.byPath });
    const cluster = `${name}${nats ? ' over NATS' : ''}`;
    return { proxy, kinds, files, cluster, context: real?.context };
  }

  if ('embeddedBecause' in choice) {
    say(`Showing the embedded cluster, because ${choice.embeddedBecause}.`);
    embedded = await createEmbeddedCluster(options);
    for (const each of embedded.users?.words ?? []) say(each);
    if (options.explainFaults) for (const each of embedded.explanations) say(`Fault ${each}`);
  } else {
    sayCluster(options, choice.cluster.name, rules.readOnly, say);
  }
  if (nats) say(`Reading the objects from the bucket ${bucket} at ${nats}.`);
  const contexts: Contexts = {
    list: async () => (await readContexts(options)).names,
    async choose(context, base) {
      const next = await chooseCluster({ ...options, embedded: false, context });
      const former = client;
      const served = await serving(next, base).catch(async (error: unknown) => {
        if ('cluster' in next) await next.cluster.client.close();
        throw error;
      });
      if ('cluster' in next) sayCluster(options, next.cluster.name, rules.readOnly, say);
      void former.close();
      return served;
    },
  };
  const served = await serving(choice);
  const serve = (port: number) =>
    serveDashboard({
      ...served,
      ...{ rules, port, users },
      // The objects of a bucket are those of one cluster.
      contexts: type === 'real' && !nats && !options.serveUsers ? contexts : undefined,
      ...(embedded === undefined ? {} : { embedded }),
    });
  const close = async () => {
    await users?.close();
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
      pages: users?.count() ?? server.pages.count(),
      ...(embedded === undefined ? {} : { pods: embedded.pods }),
    }),
    async close() {
      await server.close();
      await close();
    },
  };
}
