/** The script of the test pages: one client, and informers by name. */
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
    // Without randomness, so that two tabs request the same URLs.
    const informer = createSharedInformer(listWatch, { initialList, random: () => 0.5 });
    informers.set(name, informer);
    informer.start();
  },
  /** The network properties of the client. */
  network: () => ({ protocol: client.protocol, connectionsLeft: client.connectionsLeft }),
  /** The message of a buffering proxy in the status. */
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
