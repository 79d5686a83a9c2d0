/** Tests the size of the parts that an application imports: minified, compressed with brotli, without rxjs. */
import { describe, expect, it } from 'vitest';
import { bundleSize, bundleText } from './bundle.ts';

interface Budget {
  readonly what: string;
  readonly names: string;
  readonly entry?: string;
  /** The largest allowed size, in bytes. */
  readonly budget: number;
  /** Set if the budget exceeds the goal: the goal, and why it is not reached. */
  readonly goal?: readonly [bytes: number, reason: string];
}

const NATS = 'lib/nats/index.ts';

const BUDGETS: readonly Budget[] = [
  {
    what: 'client, list-watch and informer',
    names: 'createClient, createListWatch, createSharedInformer',
    budget: 52_332,
    goal: [
      24_000,
      'the goal is older than cutting `managedFields` from the bytes (0.9 kB), differential decoding (2.7), lists that reuse stored objects (0.6), the unchanged parts of objects (0.8), requests without `managedFields` (0.4), turns and ordered sets of live queries and demands that are asked again (0.4 kB), audits (2.2), proxies that hold events back (1.3), refresh (0.8), overlapping watches (0.5), and turns on the few connections of a browser and closing in hidden tabs (3.2, imported by default because a page of more than six informers would otherwise never sync), and namespaces that change with the permissions (0.2), and objects that leave with their shards (0.4), and the probe that notices a dead server (1.3); without these, the checks of selectors (1.1) and of answers (0.4), and metrics (0.8) it would be 32.4 kB',
    ],
  },
  {
    what: 'the bare pipe',
    names: 'createClient, createListWatch, reflect, deltaFifo, applyDeltas, createIndexer',
    budget: 39_918,
    goal: [
      18_000,
      'list-watch and reflector take 24.2 of it, store and queue 5.9, the client 6.6, of which turns and hidden tabs in browsers are 3.1',
    ],
  },
  {
    what: 'list-watch and reflector',
    names: 'createListWatch, reflect',
    // 0.1 kB of it are the controllers of refused objects, by which they belong to shards.
    budget: 26_199,
    goal: [
      12_000,
      'the reflector takes 8.1 kB of it, decoding 7.5; without proxies that hold events back, overlapping watches, refresh and the checks of selectors and answers it would be 14.8 kB',
    ],
  },
  { what: 'a work queue', names: 'createWorkQueue', budget: 2_000 },
  {
    what: 'a store',
    names: 'createIndexer',
    budget: 2_200,
    goal: [2_000, 'an undo list and buckets that allocate nothing for each update take 0.2 kB'],
  },
  {
    what: 'a view',
    names: 'toView',
    budget: 4_680,
    goal: [
      1_200,
      'the goal is older than snapshots with a status: `ready`, which folds the waiting sets, takes 1.7 kB of it, following and merging the status of informers 0.9, and objects that leave with their shards 0.1',
    ],
  },
  // 0.2 kB of it ask the shards, which are given to the controller and not imported by it. 0.2 kB let keys wait for the
  // lists of their cluster.
  { what: 'a controller', names: 'createController', budget: 12_760 },
  { what: 'one resource', names: 'pods', entry: 'lib/resources/index.ts', budget: 300 },
  { what: 'a reader of a bucket', names: 'createNatsListWatch', entry: NATS, budget: 9_464 },
  { what: 'a publisher', names: 'publishToNats', entry: NATS, budget: 11_889 },
];

describe('budgets', () => {
  it.each(BUDGETS)('X21: $what: at most $budget bytes', async ({ names, entry, budget }) => {
    expect(await bundleSize(names, entry)).toBeLessThanOrEqual(budget);
  });

  it('X21: differential decoding adds at most 3000 bytes to a pipe that decodes with JSON.parse', async () => {
    const [differential, plain] = await Promise.all([
      bundleSize('differentialDecoding, applyDeltas'),
      bundleSize('jsonDecoding, applyDeltas'),
    ]);
    expect(differential - plain).toBeLessThanOrEqual(3_000);
  });

  it('X21: lazy decoding adds at most 3750 bytes to decoding with JSON.parse, and nothing if it is not imported', async () => {
    const [lazy, plain, both] = await Promise.all([
      bundleSize('lazyDecoding'),
      bundleSize('jsonDecoding'),
      bundleSize('createListWatch, lazyDecoding'),
    ]);
    expect(lazy - plain).toBeLessThanOrEqual(3_750);
    expect(both - (await bundleSize('createListWatch'))).toBeGreaterThan(1_000);
  });

  it('X21: the React hooks add at most 3500 bytes to live queries over a factory, and edits at most 2200 to a client', async () => {
    const queries = 'createInformerFactory, createLiveQueries, liveQuery, animationFrames';
    const hooks = 'InformerProvider, useInformer, useList, useObject, useQuery, useStatus, useView';
    const [core, list, client, edit] = await Promise.all([
      bundleSize(queries),
      bundleSize(hooks, 'lib/react/index.ts'),
      bundleSize(`${queries}, createResourceClient`),
      bundleSize(`${hooks}, useEdit`, 'lib/react/index.ts'),
    ]);
    expect(list - core).toBeLessThanOrEqual(3_500);
    expect(edit - list).toBeLessThanOrEqual(client - core + 2_200);
  });

  it('U10: nothing of createClusters is in a bundle that does not import it', async () => {
    const names =
      'createInformerFactory, createLiveQueries, liveQuery, liveUnion, createController, toView';
    const [without, within] = await Promise.all([
      bundleText(names),
      bundleText(`${names}, createClusters`),
    ]);
    expect([without, within].map((text) => text.includes('createClusters: '))).toEqual([
      false,
      true,
    ]);
    // Not compressed: the difference of two compressed sizes varies by some hundred bytes with any other change.
    expect(within.length - without.length).toBeLessThanOrEqual(15_105);
  });

  it('X21: a reader of a bucket contains nothing of a publisher', async () => {
    const [reader, publisher] = await Promise.all([
      bundleText('createNatsListWatch', NATS),
      bundleText('publishToNats', NATS),
    ]);
    for (const trace of ['Nats-Batch-Id', 'max_msgs_per_subject']) {
      expect(reader).not.toContain(trace);
      expect(publisher).toContain(trace);
    }
  });

  it('X21: sharded informers and the hash cost nothing to those who do not import them', async () => {
    const informer = 'createClient, createListWatch, createSharedInformer';
    const [plain, sharded] = await Promise.all([
      bundleText(informer),
      bundleText(`${informer}, createShardedInformer`),
    ]);
    for (const trace of ['shardRange(', 'ShardedListAndWatch']) {
      expect(plain).not.toContain(trace);
      expect(sharded).toContain(trace);
    }
  });

  it('X21: nothing of the ring of shards is in a controller that does not import it', async () => {
    const [controller, both] = await Promise.all([
      bundleSize('createController'),
      bundleSize('createController, createShardMember'),
    ]);
    expect(both - controller).toBeGreaterThan(4_000);
  });

  it('X21: a goal is listed only with a budget above it', () => {
    for (const { budget, goal = [0] } of BUDGETS) expect(goal[0]).toBeLessThan(budget);
  });
});
