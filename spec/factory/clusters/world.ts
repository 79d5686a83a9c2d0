/** Several clusters with a fake API server each, in virtual time. */
import {
  type ChangeSet,
  type ClientsByName,
  type ClustersOptions,
  createClient,
  createClusters,
  type KubeClient,
} from 'rx-informer';
import { configMaps, type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { BehaviorSubject, type Observable } from 'rxjs';
import { onTestFinished } from 'vitest';
import { VirtualTime } from '../../rx/virtual-time.ts';
import { projections } from '../../support/projections.ts';

export interface FakeCluster {
  readonly server: FakeApiServer;
  readonly client: KubeClient;
  /** Creates or replaces a pod with a phase. */
  put(name: string, phase?: string): void;
  remove(name: string): void;
}

export function worldOf(
  names: readonly string[],
  options: ClustersOptions = {},
  given?: Observable<ClientsByName>,
) {
  const time = new VirtualTime();
  const clusterOf = (name: string): FakeCluster => {
    const server = createFakeApiServer({ scheduler: time, resources: [pods, configMaps] });
    return {
      server,
      client: createClient({ baseUrl: `http://${name}`, fetch: server.fetch, scheduler: time }),
      put: (pod, phase = 'Running') => {
        server.objects.apply(pods, [
          { metadata: { namespace: 'shop', name: pod }, status: { phase } },
        ]);
      },
      remove: (pod) => server.objects.delete(pods, { namespace: 'shop', name: pod }),
    };
  };
  const fakes: Record<string, FakeCluster> = {};
  for (const name of names) fakes[name] = clusterOf(name);
  const of = (...chosen: readonly string[]): Record<string, KubeClient> =>
    Object.fromEntries(chosen.map((name) => [name, (fakes[name] as FakeCluster).client]));
  const clients$ = new BehaviorSubject<ClientsByName>(of(...names));
  const clusters = createClusters(given ?? clients$, {
    projections,
    scheduler: time,
    random: () => 0.5,
    lingerMs: 0,
    onWarning: () => undefined,
    ...options,
  });
  onTestFinished(() => clusters.stop());
  const fake = (name: string): FakeCluster => fakes[name] as FakeCluster;
  return { time, clusters, clients$, clientsOf: of, clusterOf, fakes, fake };
}

/** Folds change sets to the rows that their consumer has, and notes what each set does in one line. */
export function folding() {
  const rows = new Map<string, string>();
  const lines: string[] = [];
  let isSynced = false;
  return {
    rows,
    lines,
    get isSynced() {
      return isSynced;
    },
    /** The rows as `id`-less lines, sorted. */
    get shown(): string[] {
      return [...rows.values()].sort();
    },
    next(set: ChangeSet<Pod>): void {
      if (set.reset) rows.clear();
      for (const { id, key, object, previous } of set.changes) {
        if (!set.reset && (previous === undefined) === rows.has(id)) {
          throw new Error(`${id} has ${previous === undefined ? 'no' : 'a'} previous state`);
        }
        if (object === undefined) rows.delete(id);
        else rows.set(id, `${key} ${object.status?.phase}`);
      }
      isSynced = set.synced;
      const changes = set.changes.map(({ key, object, previous }) =>
        object === undefined ? `-${key}` : previous === undefined ? `+${key}` : key,
      );
      lines.push(
        [set.reset ? 'reset' : set.cause, ...changes, set.synced ? 'synced' : '…'].join(' '),
      );
    },
  };
}
