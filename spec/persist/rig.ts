/** The test setup of warm starts: informers over a fake server and a store, in virtual time. */
import { isDeepStrictEqual } from 'node:util';
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type InformerWarning,
  type KubernetesObject,
  type ListWatchOptions,
  type PersistPart,
  type Resource,
  type SharedInformer,
  type SharedInformerOptions,
  type SnapshotOptions,
  type SnapshotStore,
  snapshotsIn,
} from 'rx-informer';
import { services as coreServices, namespaces } from 'rx-informer/resources';
import {
  createFakeApiServer,
  type FakeApiServer,
  type FakeApiServerOptions,
  seededRandom,
} from 'rx-informer/testing';
import { VirtualTime } from '../rx/virtual-time.ts';
import { MemoryStore } from './memory-store.ts';

export const services: Resource<KubernetesObject> = coreServices;

/** A summary of the requests that a test expects: `L1` a list with limit 1, `L` another list, `S` a streaming list, `W5` a watch. */
export function requestsOf(server: FakeApiServer): string[] {
  return server.requests
    .filter(({ resource }) => resource === 'services')
    .map(({ query }) => {
      const version = query['resourceVersion'] ?? '';
      if (query['watch'] === undefined) return query['limit'] === '1' ? 'L1' : 'L';
      return query['sendInitialEvents'] === 'true' ? 'S' : `W${version}`;
    });
}

/** One life of a program: an informer with its own client. */
export interface Life {
  readonly informer: SharedInformer<KubernetesObject>;
  readonly persist: PersistPart;
  readonly warnings: InformerWarning[];
  /** Ends the program without a chance to write. */
  crash(): void;
  /** Stops the informer and the store. */
  end(): Promise<void>;
}

export interface LifeOptions {
  readonly scopes?: readonly ListWatchOptions<KubernetesObject>[];
  readonly snapshots?: Partial<SnapshotOptions>;
  readonly informer?: SharedInformerOptions<KubernetesObject>;
  readonly store?: SnapshotStore;
  readonly baseUrl?: string;
}

export interface Rig {
  readonly time: VirtualTime;
  readonly server: FakeApiServer;
  readonly store: MemoryStore;
  /** Creates or changes a service. */
  put(name: string, revision: number, namespace?: string): void;
  delete(name: string, namespace?: string): void;
  /** Creates an informer that is not started. */
  life(options?: LifeOptions): Life;
  /** Runs a life until everything is stored, and ends it. */
  once(options?: LifeOptions): Promise<void>;
}

/** `shop/a=1` for service a at revision 1, and `shop/a=1!` if its spec is of another revision. */
export function contents(informer: SharedInformer<KubernetesObject>): string[] {
  return informer.indexer
    .list()
    .map((object) => {
      const { metadata, spec } = object as KubernetesObject & { readonly spec?: object };
      const revision = metadata?.annotations?.['revision'] ?? '';
      const isWhole = spec === undefined || isDeepStrictEqual(spec, specOf(revision));
      return `${metadata?.namespace}/${metadata?.name}=${revision}${isWhole ? '' : '!'}`;
    })
    .sort();
}

function specOf(revision: string): object {
  return { type: 'ExternalName', externalName: `${revision}.example.com`, note: 'ü'.repeat(40) };
}

export function persistRig(options: FakeApiServerOptions = {}): Rig {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time, random: seededRandom(1), ...options });
  server.objects.create(namespaces, { metadata: { name: 'kube-system' } });
  const store = new MemoryStore();
  const rig: Rig = {
    ...{ time, server, store },
    put(name, revision, namespace = 'shop') {
      const metadata = { namespace, name, annotations: { revision: String(revision) } };
      const service = { metadata, spec: specOf(String(revision)) };
      server.objects.apply(services, [service]);
    },
    delete(name, namespace = 'shop') {
      server.objects.delete(services, { name, namespace });
    },
    life({ scopes = [{}], snapshots, informer: own, store: other, baseUrl = 'http://fake' } = {}) {
      let dead = false;
      const never = new Promise<never>(() => undefined);
      const mortal = new Proxy(other ?? store, {
        get(target, name) {
          if (dead) return () => never;
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
      const client = createClient({
        baseUrl,
        fetch: (...args) => (dead ? never : server.fetch(...args)),
        scheduler: time,
        qps: 0,
        livenessMs: Number.POSITIVE_INFINITY,
      });
      const warnings: InformerWarning[] = [];
      const persist = snapshotsIn(mortal, {
        ...{ identity: 'alice', kinds: [services] },
        ...snapshots,
      });
      const informer = createSharedInformer(
        scopes.map((scope) => createListWatch(client, services, { scheduler: time, ...scope })),
        {
          ...{ scheduler: time, random: seededRandom(2), name: 'services', persist },
          onWarning: (warning) => warnings.push(warning),
          ...own,
        },
      );
      return {
        ...{ informer, persist, warnings },
        crash: () => {
          dead = true;
          void informer.stop();
        },
        async end() {
          await informer.stop();
          await persist.close();
        },
      };
    },
    async once(of) {
      const life = rig.life(of);
      life.informer.start();
      await time.advance(3_000);
      await life.end();
      server.clearRequests();
    },
  };
  return rig;
}
