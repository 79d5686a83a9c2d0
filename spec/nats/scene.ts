/** A fake API server, an informer that follows it, and a publisher. */
import type { NatsConnection } from '@nats-io/nats-core';
import type { ConnectionOptions } from '@nats-io/transport-node';
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type KubernetesObject,
  type SharedInformer,
} from 'rx-informer';
import {
  createNatsListWatch,
  type NatsPublisher,
  type PublishToNatsOptions,
  publishToNats,
} from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { eventually } from '../support/patience.ts';
import type { NatsServer } from './nats-server.ts';

type Pod = KubernetesObject;

export const fast = {
  heartbeatMs: 200,
  backoff: () => 50,
} satisfies Partial<PublishToNatsOptions>;

/** For tests in which nothing is missed: servers and processes may stand still for three seconds. */
export const patient = { heartbeatMs: 1_500, idleMs: 3_000 };

/** Waits until a publisher has written so often; one that has nothing else to write sends heartbeats. */
export async function beats(publisher: NatsPublisher, count: number): Promise<void> {
  let last = publisher.status.sequence;
  let writes = 0;
  const counting = publisher.status$.subscribe(({ sequence }) => {
    if (sequence !== last) writes++;
    last = sequence;
  });
  await eventually(() => writes >= count, `${count} heartbeats`);
  counting.unsubscribe();
}

/** Waits until an informer has failed to connect again so often. */
export async function tries(informer: SharedInformer<object>, count: number): Promise<void> {
  let waits = 0;
  let before = informer.status.phase;
  const counting = informer.status$.subscribe(({ phase }) => {
    if (phase === 'backoff' && before !== 'backoff') waits++;
    before = phase;
  });
  await eventually(() => waits >= count, `${count} tries of the informer`);
  counting.unsubscribe();
}

/** Keys and versions of a store, to compare two of them. */
export function contents(informer: SharedInformer<Pod>): string[] {
  return informer.indexer
    .list()
    .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}@${metadata?.resourceVersion}`)
    .sort();
}

export class Scene {
  readonly api = createFakeApiServer();
  readonly nats: NatsServer;
  readonly #stops: (() => Promise<unknown>)[] = [];

  constructor(nats: NatsServer) {
    this.nats = nats;
  }

  create(namespace: string, name: string, labels: Record<string, string> = {}): void {
    this.api.objects.create(pods, { metadata: { namespace, name, labels } });
  }

  update(namespace: string, name: string, labels: Record<string, string>): void {
    this.api.objects.update(pods, { metadata: { namespace, name, labels } });
  }

  remove(namespace: string, name: string): void {
    this.api.objects.delete(pods, { namespace, name });
  }

  /** Keys and versions of what the API server has. */
  truth(): string[] {
    return this.api.objects
      .list(pods)
      .map(
        ({ metadata }) => `${metadata?.namespace}/${metadata?.name}@${metadata?.resourceVersion}`,
      )
      .sort();
  }

  /** An informer on the API server itself. */
  upstream(): SharedInformer<Pod> {
    const client = createClient({ baseUrl: 'http://fake', fetch: this.api.fetch });
    const informer = createSharedInformer(createListWatch(client, pods), {
      name: 'upstream',
      backoff: () => 50,
    });
    this.#stops.push(() => informer.stop());
    return informer as SharedInformer<Pod>;
  }

  async publisher(
    options: Partial<PublishToNatsOptions> = {},
    informer: SharedInformer<Pod> = this.upstream(),
    connected: ConnectionOptions = {},
    disturb: (connection: NatsConnection) => void = () => undefined,
  ) {
    const connection = await this.nats.connect(connected);
    disturb(connection);
    const publisher = publishToNats(informer, {
      connection,
      resource: pods,
      bucket: 'k8s',
      ...fast,
      ...(options as object),
    });
    this.#stops.push(() => publisher.stop());
    return { publisher, informer, connection };
  }

  /** An informer on the bucket. */
  async reader(
    options: {
      namespace?: string;
      consumer?: string;
      port?: number;
      idleMs?: number;
      initialList?: 'pages' | 'stream';
      connected?: ConnectionOptions;
    } = {},
  ) {
    const { port = this.nats.port, idleMs = 500 } = options;
    const servers = `nats://127.0.0.1:${port}`;
    const { namespace, consumer, initialList, connected = {} } = options;
    const connection = await this.nats.connect({
      ...{ servers, ignoreClusterUpdates: true },
      ...connected,
    });
    const listWatch = createNatsListWatch(connection, pods, {
      bucket: 'k8s',
      ...{ idleMs, consumer },
      ...(namespace === undefined ? {} : { namespace }),
    });
    const informer = createSharedInformer(listWatch, {
      name: 'reader',
      backoff: () => 50,
      ...(initialList === undefined ? {} : { initialList }),
    }) as SharedInformer<Pod>;
    informer.start();
    this.#stops.push(() => informer.stop());
    return { informer, connection, listWatch };
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.reverse()) await stop();
  }
}
