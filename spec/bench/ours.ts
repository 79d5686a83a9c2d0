/** rx-informer, the whole pipe: transport, reflector, delta, store with the namespace index, one handler. */
import {
  byNamespace,
  createClient,
  createListWatch,
  createSharedInformer,
  type KubeClient,
  NAMESPACE_INDEX,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { contend } from './contestant.ts';

let client: KubeClient;
let size = () => 0;

await contend({
  size: () => size(),
  async prepare(baseUrl) {
    // As the floor: no client-node, whose 84 MB would stand for ours, and undici loaded before.
    await import('undici');
    client = createClient({ baseUrl, transport: createUndiciTransport({ baseUrl }) });
  },
  async start(_url, onUpdate) {
    const informer = createSharedInformer(createListWatch(client, pods), {
      indexers: { [NAMESPACE_INDEX]: byNamespace },
    });
    informer.addEventHandler({
      onAdd() {},
      onUpdate: (_previous, pod) => onUpdate(pod),
    });
    informer.start();
    await informer.whenSynced({ timeoutMs: 120_000 });
    size = () => informer.indexer.size;
  },
});
