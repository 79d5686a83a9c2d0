/**
 * The contestant rx-informer with all stages: transport, reflector, delta, store with the namespace index, one
 * handler. `--idle 10` adds subscribers that do nothing.
 */
import {
  byNamespace,
  createClient,
  createListWatch,
  createSharedInformer,
  defineResource,
  type KubeClient,
  NAMESPACE_INDEX,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { corpora } from '../corpus/corpora.ts';
import { contend, type Seen } from './contestant.ts';

let client: KubeClient;
let held = (): Iterable<Seen> => [];

const idle = Number(process.env['BENCH_IDLE'] ?? 0);

await contend({
  held: () => held(),
  async prepare(baseUrl) {
    // The same conditions as for the floor: undici is loaded before, and client-node is not loaded, because its 84 MB
    // would count as memory of this library.
    await import('undici');
    client = createClient({ baseUrl, transport: createUndiciTransport({ baseUrl }) });
  },
  async start(_url, corpus, onEvent) {
    const resource = defineResource({ ...corpora[corpus], namespaced: true });
    const informer = createSharedInformer(createListWatch(client, resource), {
      indexers: { [NAMESPACE_INDEX]: byNamespace },
    });
    let synced = false;
    informer.addEventHandler({
      onAdd: (object) => synced && onEvent(object),
      onUpdate: (_previous, object) => onEvent(object),
      onDelete: (object) => onEvent(object as Seen),
    });
    for (let at = 0; at < idle; at++) informer.addEventHandler({});
    informer.start();
    await informer.whenSynced({ timeoutMs: 120_000 });
    synced = true;
    held = () => informer.indexer.list();
  },
});
