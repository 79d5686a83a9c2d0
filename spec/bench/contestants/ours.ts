/**
 * The contestant rx-informer with all stages: transport, reflector, delta, store with the namespace index, one
 * handler. Variables of the environment vary it:
 *
 *   BENCH_DECODING    the decoding: differential or json
 *   BENCH_PARTS       'new': without the comparison that keeps unchanged parts
 *   BENCH_IDLE        a number of further handlers that do nothing
 */
import {
  addEventHandler,
  byNamespace,
  createClient,
  createListWatch,
  createSharedInformer,
  type Decoding,
  type DifferentialDecoding,
  defineResource,
  differentialDecoding,
  jsonDecoding,
  type KubeClient,
  type KubernetesObject,
  NAMESPACE_INDEX,
  type SharedInformer,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { type CorpusName, corpora } from '../corpus/corpora.ts';
import { contend, type Seen } from './contestant.ts';

const differentials: DifferentialDecoding[] = [];
const decodings: Readonly<Record<string, () => Decoding>> = {
  // As by default, each collection has its own.
  differential() {
    const decoding = differentialDecoding();
    differentials.push(decoding);
    return decoding;
  },
  json: jsonDecoding,
};

const { BENCH_DECODING = 'differential', BENCH_PARTS, BENCH_IDLE = '0' } = process.env;
const createDecoding = decodings[BENCH_DECODING];
if (createDecoding === undefined) throw new TypeError(`bench: unknown decoding ${BENCH_DECODING}`);

let client: KubeClient;
let afterList = { compared: 0, decoded: 0 };
let running: SharedInformer<KubernetesObject> | undefined;

/** How many objects were decoded, and of how many of them only the difference. */
function decodedSoFar(): { readonly compared: number; readonly decoded: number } {
  let [compared, decoded] = [0, 0];
  for (const { counts } of differentials) {
    compared += counts.compared;
    decoded += counts.compared + counts.parsed;
  }
  return { compared, decoded };
}

/** Starts one informer, and resolves when it holds the complete list. */
async function startInformer(corpus: CorpusName, onEvent: (object: Seen) => void): Promise<void> {
  const resource = defineResource({ ...corpora[corpus], namespaced: true });
  const informer = createSharedInformer(
    createListWatch(client, resource, { decoding: createDecoding }),
    {
      indexers: { [NAMESPACE_INDEX]: byNamespace },
      unchangedParts: BENCH_PARTS === 'new' ? 'new' : 'same',
    },
  );
  let synced = false;
  addEventHandler(informer, {
    onAdd: (object) => synced && onEvent(object),
    onUpdate: (_previous, object) => onEvent(object),
    onDelete: ({ object }) => onEvent(object),
  });
  for (let at = 0; at < Number(BENCH_IDLE); at++) addEventHandler(informer, { onUpdate() {} });
  informer.start();
  await informer.whenSynced({ timeoutMs: 240_000 });
  synced = true;
  running = informer;
}

await contend({
  held: () => running?.indexer.list() ?? [],
  async prepare(baseUrl) {
    // The same conditions as for the floor: undici is loaded before, and client-node is not loaded, because its 84 MB
    // would count as memory of this library.
    await import('undici');
    client = createClient({ baseUrl, transport: createUndiciTransport({ baseUrl }) });
  },
  async start(_url, corpus, onEvent) {
    await startInformer(corpus, onEvent);
    afterList = decodedSoFar();
  },
  extra() {
    const now = decodedSoFar();
    const decoded = now.decoded - afterList.decoded;
    const share = (now.compared - afterList.compared) / decoded;
    return decoded === 0 ? {} : { 'share of events that were compared, not parsed': share };
  },
});
