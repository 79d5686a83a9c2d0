/** Tests the size of the parts that an application imports: minified, compressed with brotli, without rxjs. */
import { describe, expect, it } from 'vitest';
import { bundleSize, bundleText } from './bundle.ts';
import { budgets, labelOf, ROWS } from './table.ts';

const table = budgets();
const initialSize = async (names: string, entry = '.') =>
  (await bundleSize({ [entry]: names })).initial;

/** Unrelated edits change the compressed size by some tens of bytes, even in the best of several orders of the modules. */
const NOISE = 30;

describe('budgets', () => {
  it('X21: docs/operations/performance.md has a budget for each row', () => {
    expect([...table.keys()]).toEqual(ROWS.map(labelOf));
  });

  it.each(ROWS.map((row) => ({ row, label: labelOf(row) })))(
    'X21: a bundle of $label has the size that docs/operations/performance.md says',
    async ({ row, label }) => {
      const budget = table.get(label) ?? { initial: 0, all: 0 };
      const { initial, all } = await bundleSize(row, budget);
      // If a bundle became smaller, `npm run weigh` lowers its budget.
      expect(initial).toBeLessThanOrEqual(budget.initial + NOISE);
      expect(all).toBeLessThanOrEqual(budget.all + NOISE);
      expect(initial).toBeGreaterThan(budget.initial - 250);
      expect(all).toBeGreaterThan(budget.all - 250);
    },
  );

  it('X21: differential decoding adds at most 3100 bytes to a pipe that decodes with JSON.parse', async () => {
    const [differential, plain] = await Promise.all([
      initialSize('differentialDecoding, applyDeltas'),
      initialSize('jsonDecoding, applyDeltas'),
    ]);
    expect(differential - plain).toBeLessThanOrEqual(3_100);
  });

  it('X21: a projection adds at most 1300 bytes to decoding with JSON.parse, and nothing if it is not imported', async () => {
    const [projected, plain, both] = await Promise.all([
      initialSize('projectedDecoding'),
      initialSize('jsonDecoding'),
      initialSize('createListWatch, projectedDecoding'),
    ]);
    expect(projected - plain).toBeLessThanOrEqual(1_300);
    expect(both - (await initialSize('createListWatch'))).toBeGreaterThan(1_000);
  });

  it('X21: the React hooks add at most 3500 bytes to live queries over a factory, and edits at most 3100 to a client', async () => {
    const queries = 'createInformerFactory, createLiveQueries, liveQuery, animationFrames';
    const hooks = 'InformerProvider, useInformer, useList, useObject, useQuery, useStatus, useView';
    const [core, list, client, edit] = await Promise.all([
      initialSize(queries),
      initialSize(hooks, './react'),
      initialSize(`${queries}, createResourceClient`),
      initialSize(`${hooks}, useEdit`, './react'),
    ]);
    expect(list - core).toBeLessThanOrEqual(3_500);
    expect(edit - list).toBeLessThanOrEqual(client - core + 3_100);
  });

  it('X20: nothing of createClusters is in a bundle that does not import it', async () => {
    const names =
      'createInformerFactory, createLiveQueries, liveQuery, liveUnion, createController, toView';
    const [without, within] = await Promise.all([
      bundleText({ '.': names }),
      bundleText({ '.': `${names}, createClusters` }),
    ]);
    expect([without, within].map((text) => text.includes('createClusters: '))).toEqual([
      false,
      true,
    ]);
    // Not compressed: the difference of two compressed sizes varies by some hundred bytes with any other change.
    expect(within.length - without.length).toBeLessThanOrEqual(15_725);
  });

  it('X21: a reader of a bucket contains nothing of a publisher', async () => {
    const [reader, publisher] = await Promise.all([
      bundleText({ './nats': 'createNatsListWatch' }),
      bundleText({ './nats': 'publishToNats' }),
    ]);
    for (const trace of ['Nats-Batch-Id', 'max_msgs_per_subject']) {
      expect(reader).not.toContain(trace);
      expect(publisher).toContain(trace);
    }
  });

  it('X21: an informer contains nothing of handlers, deliveries, metrics and audits', async () => {
    const informer = 'createClient, createListWatch, createSharedInformer';
    const traces = {
      'slow-handler': 'addEventHandler',
      'delivery.limit': 'deliver',
      informer_queued_items: 'metered',
      'audit: periodMs': 'audit',
    };
    const plain = await bundleText({ '.': informer });
    for (const [trace, name] of Object.entries(traces)) {
      expect(plain, trace).not.toContain(trace);
      expect(await bundleText({ '.': `${informer}, ${name}` }), trace).toContain(trace);
    }
  });

  it('X21: sharded informers and the hash cost nothing to those who do not import them', async () => {
    const informer = 'createClient, createListWatch, createSharedInformer';
    const [plain, sharded] = await Promise.all([
      bundleText({ '.': informer }),
      bundleText({ '.': `${informer}, createShardedInformer` }),
    ]);
    for (const trace of ['shardRange(', 'ShardedListAndWatch']) {
      expect(plain).not.toContain(trace);
      expect(sharded).toContain(trace);
    }
  });

  it('X21: nothing of the ring of shards is in a controller that does not import it', async () => {
    const [controller, both] = await Promise.all([
      initialSize('createController'),
      initialSize('createController, createShardMember'),
    ]);
    expect(both - controller).toBeGreaterThan(4_000);
  });

  it('N33: nothing of traced is in a controller that does not import it', async () => {
    const [controller, both] = await Promise.all([
      bundleText({ '.': 'createController' }),
      bundleText({ '.': 'createController, traced' }),
    ]);
    expect([controller, both].map((text) => text.includes('reconcile.reasons'))).toEqual([
      false,
      true,
    ]);
  });

  it('X21: useStatus loads no live queries', async () => {
    const [status, query] = await Promise.all([
      initialSize('InformerProvider, useInformer, useStatus, useView', './react'),
      initialSize('InformerProvider, useInformer, useStatus, useView, useQueryStatus', './react'),
    ]);
    expect(query - status).toBeGreaterThan(10_000);
  });

  it('T25: no part of the library for browsers names URL.canParse and AbortSignal.any', async () => {
    const texts = await Promise.all([
      bundleText({
        '.': 'createClient, createController, createShardMember, guardedClient, createClusters, createLiveQueries',
      }),
      bundleText({ './react': 'useEdit, useQuery' }),
      bundleText({ './nats': 'createNatsListWatch' }),
      bundleText({ './testing': 'createFakeApiServer' }),
    ]);
    for (const text of texts) expect(text).not.toMatch(/canParse|AbortSignal\.any/);
  });

  it('B13: the hooks over a worker contain no client, no informer and no live operator', async () => {
    const ordinary = 'WorkerProvider, useList, useObject, useQuery, useStatus, useView';
    const [page, text] = await Promise.all(
      [ordinary, `${ordinary}, useSuspenseList, useSuspenseQuery`].map((names) =>
        bundleText({ './worker': 'connectWorker, workerQuery', './react/worker': names }),
      ),
    );
    expect(text).toContain('rx-informer/');
    // The code of the hooks that suspend is in the bundles of pages that import them.
    expect([page?.includes('fulfilled'), text?.includes('fulfilled')]).toEqual([false, true]);
    for (const trace of ['createClient: ', 'liveSort', 'allowWatchBookmarks', 'liveQuery: ']) {
      expect(text, trace).not.toContain(trace);
    }
  });
});
