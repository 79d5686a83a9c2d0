/** The script of the test pages: one client, and informers by name. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type InformerStatus,
  type InitialList,
  type KubeClient,
  type KubeClientOptions,
  type Resource,
  type SharedInformer,
} from 'rx-informer';
import * as builtIn from 'rx-informer/resources';

const resources = builtIn as unknown as Readonly<Record<string, Resource<object>>>;
let client: KubeClient;
const informers = new Map<string, SharedInformer<object>>();
const phases = new Map<string, string[]>();

const page = {
  connect(baseUrl: string, options: Partial<KubeClientOptions> = {}) {
    client = createClient({ baseUrl, ...options });
  },
  start(name: string, initialList: InitialList = 'auto') {
    const resource = resources[name];
    if (resource === undefined) throw new Error(`no resource ${name}`);
    const listWatch = createListWatch<object>(client, resource);
    // Without randomness, so that two tabs request the same URLs.
    const informer = createSharedInformer(listWatch, { initialList, random: () => 0.5 });
    informers.set(name, informer);
    const seen: string[] = [];
    phases.set(name, seen);
    informer.status$.subscribe(({ phase }) => {
      if (seen.at(-1) !== phase) seen.push(phase);
    });
    informer.start();
  },
  /** The network properties of the client. */
  network: () => ({ protocol: client.protocol, connectionsLeft: client.connectionsLeft }),
  /** Sends a call, as a user's own request. */
  call: (path: string) => client.request({ path }),
  stop: (name: string) => informers.get(name)?.stop(),
  statuses: (): Record<string, InformerStatus> =>
    Object.fromEntries([...informers].map(([name, { status }]) => [name, status])),
  /** The phases that an informer has shown, without the progress within a phase. */
  phases: (name: string): readonly string[] => phases.get(name) ?? [],
  /** The message of a buffering proxy in the status. */
  heldBack: (name: string) => informers.get(name)?.status.heldBack?.message,
  synced: (name: string) => informers.get(name)?.whenSynced(),
  /** The version of each object in the store, by key. */
  versions: (name: string) =>
    Object.fromEntries(
      [...(informers.get(name)?.indexer.list() ?? [])].map((object) => {
        const { metadata } = object as { metadata: { name: string; resourceVersion: string } };
        return [metadata.name, metadata.resourceVersion];
      }),
    ),
};

export type InformerPage = typeof page;

Object.assign(globalThis, { page });
