/** The script of the measured page: an informer over the synthetic server, with one of the decodings. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type Decoding,
  differentialDecoding,
  jsonDecoding,
  type SharedInformer,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { filter, firstValueFrom } from 'rxjs';

/** Those of pages, which do not load what Node adds to the differential decoding. */
const decodings: Readonly<Record<string, () => Decoding>> = {
  json: jsonDecoding,
  differential: differentialDecoding,
};

let informer: SharedInformer<Pod>;

const page = {
  /** Starts an informer with this decoding, and resolves when it holds the list. */
  async start(name: string): Promise<void> {
    const client = createClient({ baseUrl: '' });
    informer = createSharedInformer(
      createListWatch(client, pods, { decoding: decodings[name], watchList: false }),
    );
    informer.changes$.subscribe();
    await informer.whenSynced({ timeoutMs: 120_000 });
  },
  /** Requests events, and resolves with the time until the last one has arrived, in milliseconds. */
  async play(query: string): Promise<number> {
    const started = performance.now();
    const response = await fetch(`/play?${query}`, { method: 'POST' });
    const { last } = (await response.json()) as { last: string };
    const sets$ = informer.changes$.pipe(filter((set) => set.resourceVersion === last));
    await firstValueFrom(sets$);
    return performance.now() - started;
  },
};

export type MeasuredPage = typeof page;

Object.assign(globalThis, { page });
