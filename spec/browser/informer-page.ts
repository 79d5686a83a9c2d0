/** What the pages of these tests run: one client, and informers by name. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type InitialList,
  type KubeClient,
  type SharedInformer,
} from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';

const resources = { pods, configMaps };
let client: KubeClient;
const informers = new Map<string, SharedInformer<object>>();

const page = {
  connect(baseUrl: string) {
    client = createClient({ baseUrl });
  },
  start(name: keyof typeof resources, initialList: InitialList = 'auto') {
    const listWatch = createListWatch<object>(client, resources[name]);
    // Without chance, so that two tabs ask for the same URLs.
    const informer = createSharedInformer(listWatch, { initialList, random: () => 0.5 });
    informers.set(name, informer);
    informer.start();
  },
  /** What the client knows of its network. */
  network: () => ({ protocol: client.protocol, connectionsLeft: client.connectionsLeft }),
  /** What its status says of a proxy. */
  heldBack: (name: string) => informers.get(name)?.status.heldBack?.message,
  synced: (name: string, timeoutMs: number) => informers.get(name)?.whenSynced({ timeoutMs }),
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
