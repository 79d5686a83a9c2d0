/**
 * A demo on a fake API server: creates, changes and deletes three Foos, so that the sample runs without a cluster.
 */
import {
  and,
  createClient,
  createResourceClient,
  deleted,
  exists,
  type KubeClient,
  rolesFor,
  untilCondition,
} from 'rx-informer';
import {
  customResourceDefinitions,
  deployments,
  eventsV1Events,
  leases,
} from 'rx-informer/resources';
import {
  createFakeApiServer,
  type FakeApiServer,
  type FakeApiServerOptions,
  permittedBy,
} from 'rx-informer/testing';
import { access } from './access.ts';
import { standInForDeployments } from './deployment-stand-in.ts';
import { type Foo, foos } from './foo.ts';

/** A fake cluster in this process. */
export interface DemoCluster {
  /** The client of the sample controller, which may do only what it declares. */
  readonly client: KubeClient;
  /** The client of all others, which may do everything. */
  readonly admin: KubeClient;
  readonly server: FakeApiServer;
  /** Runs the demo, and resolves at its end. */
  play(log: (line: string) => void): Promise<void>;
  close(): Promise<void>;
}

/** The user as which the sample controller sends its requests. */
export const USER = 'sample-controller';

/**
 * Opens the fake cluster. The fake server neither runs controllers nor establishes definitions, so this function does
 * both.
 */
export function openDemoCluster(options: Partial<FakeApiServerOptions> = {}): DemoCluster {
  const server = createFakeApiServer({
    allows: permittedBy(rolesFor(access), { user: USER }),
    ...options,
    resources: [customResourceDefinitions, deployments, eventsV1Events, leases],
  });
  server.addResource(foos, { custom: true });
  const established = setInterval(() => {
    for (const { metadata, status } of server.objects.list(customResourceDefinitions)) {
      if (status?.conditions !== undefined) continue;
      server.objects.modify(customResourceDefinitions, metadata, (draft) => {
        const condition = { type: 'Established', status: 'True', reason: 'Played', message: '' };
        Object.assign(draft, { status: { conditions: [condition] } });
      });
    }
  }, 20);
  const to = { baseUrl: 'http://fake', fetch: server.fetch };
  const client = createClient({ ...to, headers: { 'impersonate-user': USER } });
  const admin = createClient(to);
  const stopStandIn = standInForDeployments(admin);
  const calls = createResourceClient(admin, foos).namespace('default');
  const until = (name: string, condition: (foo: Foo | undefined) => boolean) =>
    untilCondition(admin, foos, { namespace: 'default', name }, condition, { timeoutMs: 20_000 });
  const available = (replicas: number) =>
    and<Foo | undefined>(exists, (foo) => foo?.status?.availableReplicas === replicas);
  const names = ['red', 'green', 'blue'];

  return {
    client,
    admin,
    server,
    async play(log) {
      for (const name of names) {
        await calls.create({ metadata: { name }, spec: { deploymentName: name, replicas: 2 } });
      }
      for (const name of names) await until(name, available(2));
      log('-- three Foos were created, and each has its Deployment');

      const place = { namespace: 'default', name: 'green' };
      server.objects.delete(deployments, place);
      await untilCondition(admin, deployments, place, exists, { timeoutMs: 20_000 });
      log('-- the Deployment of green was deleted by another client and created again');

      await calls.edit('blue', (draft) => {
        draft.spec.replicas = 3;
      });
      await until('blue', available(3));
      log('-- blue was scaled to three replicas');

      for (const name of names) await calls.delete(name);
      for (const name of names) await until(name, deleted());
      log(`-- all Foos are deleted; Deployments left: ${server.objects.list(deployments).length}`);
    },
    async close() {
      clearInterval(established);
      await stopStandIn();
      await client.close();
      await admin.close();
    },
  };
}
