/**
 * The contestant rx-informer with all stages: transport, reflector, delta, store with the namespace index, one
 * handler.
 */
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
    // The same conditions as for the floor: undici is loaded before, and client-node is not loaded, because its 84 MB
    // would count as memory of this library.
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
