/**
 * The contestant rx-informer with all stages: transport, reflector, delta, store with the namespace index, one
 * handler. `BENCH_DECODING` names the decoding, `BENCH_IDLE` is a number of further handlers that do nothing.
 */
import {
  byNamespace,
  createClient,
  createListWatch,
  createSharedInformer,
  type Decoding,
  defineResource,
  differentialDecoding,
  jsonDecoding,
  type KubeClient,
  NAMESPACE_INDEX,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { corpora } from '../corpus/corpora.ts';
import { contend, type Seen } from './contestant.ts';

const differential = differentialDecoding();
const decodings: Readonly<Record<string, Decoding>> = { differential, json: jsonDecoding };

const { BENCH_DECODING = 'differential', BENCH_IDLE = '0' } = process.env;
const decoding = decodings[BENCH_DECODING];
if (decoding === undefined) throw new TypeError(`bench: unknown decoding ${BENCH_DECODING}`);

let client: KubeClient;
let held = (): Iterable<Seen> => [];
let afterList = { ...differential.counts };

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
    const informer = createSharedInformer(createListWatch(client, resource, { decoding }), {
      indexers: { [NAMESPACE_INDEX]: byNamespace },
    });
    let synced = false;
    informer.addEventHandler({
      onAdd: (object) => synced && onEvent(object),
      onUpdate: (_previous, object) => onEvent(object),
      onDelete: ({ object }) => onEvent(object),
    });
    for (let at = 0; at < Number(BENCH_IDLE); at++) informer.addEventHandler({ onUpdate() {} });
    informer.start();
    await informer.whenSynced({ timeoutMs: 120_000 });
    synced = true;
    afterList = { ...differential.counts };
    held = () => informer.indexer.list();
  },
  extra() {
    const compared = differential.counts.compared - afterList.compared;
    const decoded = compared + differential.counts.parsed - afterList.parsed;
    return decoded === 0
      ? {}
      : { 'share of events that were compared, not parsed': compared / decoded };
  },
});
