/**
 * One start of an informer of Pods, in a process of its own: from a list, or from the files of an earlier start. Prints a
 * {@link Start} as one line of JSON.
 *
 *   node … start.ts --url URL --from list|files|nothing --decoding json|differential --folder PATH
 *
 * `nothing` fills the folder. `list` has no store, so that nothing is written.
 */
import { parseArgs } from 'node:util';
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type Decoding,
  differentialDecoding,
  jsonDecoding,
} from 'rx-informer';
import { createUndiciTransport, fileSnapshots } from 'rx-informer/node';
import { pods } from 'rx-informer/resources';
import { settledRssMb } from '../contestants/memory.ts';

/** What a start measured. CPU time is that of all threads, with those of the garbage collector. */
export interface Start {
  readonly objects: number;
  readonly readyMs: number;
  readonly cpuMs: number;
  /** The resident memory after garbage collections. */
  readonly rssMb: number;
}

const decodings: Readonly<Record<string, () => Decoding>> = {
  json: jsonDecoding,
  differential: differentialDecoding,
};

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: '' },
    from: { type: 'string', default: 'list' },
    decoding: { type: 'string', default: 'json' },
    folder: { type: 'string', default: '' },
  },
});
const decoding = decodings[values.decoding];
if (decoding === undefined) throw new TypeError(`bench: unknown decoding ${values.decoding}`);

// The benchmark closes stdin when it ends, so an interrupted run leaves no process behind.
process.stdin.resume().on('end', () => process.exit(1));
await import('undici');
const baseUrl = values.url;
const client = createClient({ baseUrl, transport: createUndiciTransport({ baseUrl }) });
const persist =
  values.from === 'list'
    ? undefined
    : fileSnapshots({ folder: values.folder, identity: 'bench', kinds: [pods], env: 'stored' });
const informer = createSharedInformer(createListWatch(client, pods, { decoding }), { persist });
await settledRssMb();
const cpu = process.cpuUsage();
const started = performance.now();
let wasStale = false;
informer.status$.subscribe(({ stale }) => {
  wasStale ||= stale === true;
});
informer.start();
await informer.whenSynced({ timeoutMs: 240_000 });
const readyMs = performance.now() - started;
const { user, system } = process.cpuUsage(cpu);
const objects = informer.indexer.size;
if (wasStale !== (values.from === 'files')) throw new Error(`bench: started from the other source`);
const rssMb = await settledRssMb();
if (values.from === 'nothing') {
  await informer.stop();
  await persist?.close();
}
const start: Start = { objects, readyMs, cpuMs: (user + system) / 1000, rssMb };
process.stdout.write(`${JSON.stringify(start)}\n`, () => process.exit(0));
