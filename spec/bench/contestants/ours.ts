/**
 * The contestant rx-informer with all stages: transport, reflector, delta, store with the namespace index, one
 * handler. Variables of the environment vary it:
 *
 *   BENCH_DECODING    the decoding: differential or json
 *   BENCH_PARTS       'new': without the comparison that keeps unchanged parts
 *   BENCH_IDLE        a number of further handlers that do nothing
 *   BENCH_INDICES     a number of further indices
 *   BENCH_INFORMERS   a number of informers with one client
 *   BENCH_HTTP2_URL   the address of the same server over HTTP/2
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
  type IndexFunc,
  jsonDecoding,
  type KubeClient,
  type KubernetesObject,
  NAMESPACE_INDEX,
  type SharedInformer,
} from 'rx-informer';
import { createUndiciTransport } from 'rx-informer/node';
import { testOnlyCa } from '../../node/test-only-certificates.ts';
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

const {
  BENCH_DECODING = 'differential',
  BENCH_PARTS,
  BENCH_IDLE = '0',
  BENCH_INDICES = '0',
  BENCH_INFORMERS = '1',
  BENCH_HTTP2_URL,
} = process.env;
const createDecoding = decodings[BENCH_DECODING];
if (createDecoding === undefined) throw new TypeError(`bench: unknown decoding ${BENCH_DECODING}`);

const indexers: Record<string, IndexFunc<KubernetesObject>> = { [NAMESPACE_INDEX]: byNamespace };
for (let at = 0; at < Number(BENCH_INDICES); at++) {
  indexers[`index ${at}`] = ({ metadata }) => [`${metadata?.labels?.['app']} ${at}`];
}

let client: KubeClient;
let afterList = { compared: 0, decoded: 0 };
const running: SharedInformer<KubernetesObject>[] = [];

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
    { indexers, unchangedParts: BENCH_PARTS === 'new' ? 'new' : 'same' },
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
  running.push(informer);
}

await contend({
  informers: Number(BENCH_INFORMERS),
  held: () => running.flatMap(({ indexer }) => indexer.list()),
  async prepare(url) {
    // The same conditions as for the floor: undici is loaded before, and client-node is not loaded, because its 84 MB
    // would count as memory of this library.
    await import('undici');
    const baseUrl = BENCH_HTTP2_URL ?? url;
    const http2 = { tls: { ca: testOnlyCa }, maxConnections: 1 };
    const transport = createUndiciTransport({ baseUrl, ...(BENCH_HTTP2_URL && http2) });
    client = createClient({ baseUrl, transport });
  },
  async start(_url, corpus, onEvent) {
    const starts = Array.from({ length: Number(BENCH_INFORMERS) });
    await Promise.all(starts.map(() => startInformer(corpus, onEvent)));
    afterList = decodedSoFar();
  },
  extra() {
    const now = decodedSoFar();
    const decoded = now.decoded - afterList.decoded;
    const share = (now.compared - afterList.compared) / decoded;
    return decoded === 0 ? {} : { 'share of events that were compared, not parsed': share };
  },
});
