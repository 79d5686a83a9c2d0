/// <reference types="node" />
/** `rx-informer publish`, which keeps buckets of NATS equal to kinds of a cluster. */
import { once } from 'node:events';
import { hostname } from 'node:os';
import type { NatsConnection } from '@nats-io/nats-core';
import { createDiscovery } from '../client/discovery.ts';
import { createRestMapper } from '../client/rest-mapper.ts';
import type { PartialObjectMetadata } from '../decode/projection.ts';
import { createLeaderElector, type LeaderElector } from '../election/leader-elector.ts';
import { createSharedInformer } from '../informer/create-shared-informer.ts';
import { createListWatch } from '../list-watch/create-list-watch.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import { createMetadataListWatch } from '../list-watch/projected-list-watch.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type Resource, resourceName } from '../meta/resource.ts';
import { notLoaded } from '../node/optional-package.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { connectToNats } from './nats-connection.ts';
import { PUBLISH_USAGE, type PublishArguments, publishArguments } from './publish-arguments.ts';
import { reportPublisher } from './publish-report.ts';
import { CLUSTER_PACKAGES, type Command, type CommandStreams, UsageError } from './subcommand.ts';

type NatsEdge = typeof import('../nats/index.ts');

/** The parts that are stopped in the reverse order. */
type Stop = () => Promise<unknown>;

async function resourcesOf(
  client: KubeClient,
  { kinds, namespace }: PublishArguments,
): Promise<Resource[]> {
  const mapper = createRestMapper(createDiscovery(client));
  const found = new Map<string, Resource>();
  for (const kind of kinds) {
    const resource = await mapper.forPlural(kind);
    const { group, plural, version, namespaced } = resource;
    if (namespace !== undefined && !namespaced) {
      throw new UsageError(
        `publish: ${resourceName(resource)} is cluster-scoped, so --namespace ${namespace} cannot be used with it`,
      );
    }
    const name = `${group}/${plural}`;
    const other = found.get(name)?.version ?? version;
    if (other !== version) {
      throw new UsageError(
        `publish: --kind names ${plural} in the versions ${other} and ${version}; a bucket holds one of them`,
      );
    }
    found.set(name, resource);
  }
  return [...found.values()];
}

/** The name of the cluster: what tells clusters apart is the UID of a namespace that each of them has. */
async function clusterOf(
  client: KubeClient,
  given: string | undefined,
): Promise<string | undefined> {
  if (given !== undefined) return given;
  const path = '/api/v1/namespaces/kube-system';
  try {
    const found = await client.request<{ metadata?: { uid?: string } }>({ path });
    return found.metadata?.uid;
  } catch (error) {
    // Not every publisher may read it.
    if (error instanceof ApiError && (error.code === 403 || error.code === 404)) return undefined;
    throw error;
  }
}

function electorOf(
  client: KubeClient,
  { lease }: PublishArguments,
  say: (line: string) => void,
): LeaderElector | undefined {
  if (lease === undefined) return undefined;
  const { namespace, name, durationMs } = lease;
  return createLeaderElector({
    ...{ client, namespace, name },
    identity: `${hostname()}-${process.pid}-${crypto.randomUUID().slice(0, 8)}`,
    // The proportions of the defaults.
    leaseDurationMs: durationMs,
    renewDeadlineMs: (durationMs * 2) / 3,
    retryPeriodMs: (durationMs * 2) / 15,
    onError: (error) => say(`the Lease ${namespace}/${name}: ${error.message}`),
  });
}

/** The parts that all kinds share. */
interface Shared {
  readonly nats: NatsEdge;
  readonly client: KubeClient;
  readonly connection: NatsConnection;
  readonly elector: LeaderElector | undefined;
  readonly args: PublishArguments;
  readonly cluster: string | undefined;
  say(line: string): void;
}

/** Publishes what a ListerWatcher reads. Returns the function that stops it. */
function publishAll<T extends KubernetesObject>(
  { nats, connection, elector, args, cluster, say }: Shared,
  resource: Resource<T>,
  listWatch: ListerWatcher<T>,
): Stop {
  const { bucket, metadataOnly, replicas, heartbeatMs, compareEveryMs, tombstoneMs } = args;
  const name = resourceName(resource);
  const informer = createSharedInformer(listWatch, { name });
  const publisher = nats.publishToNats(informer, {
    ...{ connection, bucket, cluster, replicas, heartbeatMs, compareEveryMs, tombstoneMs, elector },
    resource,
    content: metadataOnly ? 'metadata' : undefined,
  });
  const reports = reportPublisher(name, publisher.status$, informer.status$, say);
  if (resource.group === '' && resource.plural === 'secrets' && !metadataOnly) {
    say(`${name}: all who may read the bucket ${bucket} can read these Secrets`);
  }
  return async () => {
    await publisher.stop();
    reports.unsubscribe();
    await informer.stop();
  };
}

function publishKind(shared: Shared, resource: Resource): Stop {
  const { client, args } = shared;
  const scope = args.namespace === undefined ? {} : { namespace: args.namespace };
  if (!args.metadataOnly)
    return publishAll(shared, resource, createListWatch(client, resource, scope));
  const listWatch = createMetadataListWatch(client, resource, scope);
  return publishAll(shared, resource as Resource<PartialObjectMetadata>, listWatch);
}

/** Resolves when the process is asked to end. Rejects when the connection is closed. */
async function untilEnded(
  ended: AbortSignal | undefined,
  connection: NatsConnection,
): Promise<void> {
  const closed = connection.closed().then((error) => {
    const why = error ? `: ${error.message}` : '';
    throw new Error(`publish: NATS has closed the connection for good${why}`);
  });
  closed.catch(() => undefined);
  if (ended?.aborted === true) return;
  await Promise.race([closed, ...(ended === undefined ? [] : [once(ended, 'abort')])]);
}

async function loadNatsEdge(): Promise<NatsEdge> {
  try {
    return await import('../nats/index.ts');
  } catch (error) {
    throw notLoaded('publish', '@nats-io/jetstream', error);
  }
}

async function run(given: readonly string[], streams: CommandStreams): Promise<void> {
  const args = publishArguments(given, process.env);
  const say = (line: string): void => streams.error(`${line}\n`);
  const nats = await loadNatsEdge();
  // Imported here, after the arguments are known to be right, because it loads client-node.
  const { clientFromKubeConfig } = await import('../node/kube-config.ts');
  const { file, context } = args;
  const stops: Stop[] = [];
  try {
    const client = await clientFromKubeConfig({
      file,
      context,
    });
    stops.push(() => client.close());
    const resources = await resourcesOf(client, args);
    const cluster = await clusterOf(client, args.cluster);
    const connection = await connectToNats(args.nats);
    stops.push(() => connection.close());
    const ended = streams.ended?.();
    const where = connection.getServer();
    say(`publishing from ${client.baseUrl} to the bucket ${args.bucket} at ${where}`);
    const elector = electorOf(client, args, say);
    const shared: Shared = { nats, client, connection, elector, args, cluster, say };
    const kinds = resources.map((resource) => publishKind(shared, resource));
    stops.push(() => Promise.all(kinds.map((stop) => stop())));
    await untilEnded(ended, connection);
    say(args.lease === undefined ? 'stopping' : 'stopping, and releasing the Lease');
  } finally {
    // A part that cannot be stopped, such as a closed connection, keeps no other from it.
    for (const stop of stops.reverse()) {
      await stop().catch((error: Error) => say(`cannot be stopped: ${error.message}`));
    }
  }
}

/** `rx-informer publish`. */
export const publishCommand: Command = {
  usage: PUBLISH_USAGE,
  packages: () => [
    ...CLUSTER_PACKAGES,
    ...['@nats-io/jetstream', '@nats-io/nats-core', '@nats-io/transport-node'],
  ],
  run,
};
