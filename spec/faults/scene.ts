/** Creates the scene of a seed: a server, a history, faults, one informer and its consumers. */
import {
  ApiError,
  audit,
  byLabel,
  byNamespace,
  createClient,
  createListWatch,
  createPollingListWatch,
  createShardedInformer,
  createSharedInformer,
  exponentialBackoff,
  type IndexerReader,
  type InitialList,
  type ListerWatcher,
  type ListWatchOptions,
  type SharedInformer,
  type SharedInformerOptions,
} from 'rx-informer';
import {
  createFakeApiServer,
  createFaultMachine,
  type FakeApiServer,
  type FaultMachine,
  type ScriptedFault,
  seededRandom,
  type TcpProxy,
} from 'rx-informer/testing';
import { BehaviorSubject, type SchedulerLike } from 'rxjs';
import { filter, take } from 'rxjs/operators';
import { compressions } from '../delta/compressions.ts';
import { drawDecoding } from '../support/decodings.ts';
import { type Backoff, checkBudget, type Load } from './budget.ts';
import { type Consumers, createConsumers } from './consumers.ts';
import { createHistory, type History, NAMESPACES, type Pod, pods } from './history.ts';
import { compareStore, type Selects, type Thing, Truth } from './judge.ts';
import { checkLiveClaims } from './live-claims.ts';
import { createMoods, type Refuses } from './moods.ts';
import { type ObservedFetch, observedFetch } from './observed-fetch.ts';
import { createMoves, type Moves, OWNERS } from './shard-moves.ts';

/** Where and how fast a seed runs. */
export interface Stage {
  readonly seed: number;
  readonly scheduler: SchedulerLike;
  /** The waits between tries. Default: depends on the seed, either the library's own waits or shorter ones. */
  readonly backoff?: Backoff;
  readonly depths: readonly ScriptedFault['depth'][];
  readonly without?: readonly ScriptedFault['kind'][];
  /** The factor by which faults and writes are faster. */
  readonly speed: number;
  /** How the library reaches the server. Default: in process. */
  readonly reach?: (server: FakeApiServer) => Promise<{
    readonly baseUrl: string;
    readonly fetch: typeof globalThis.fetch;
    readonly proxy?: TcpProxy;
  }>;
  /** The fraction by which a wait may appear shorter. */
  readonly slack?: number;
  /** The watchdog timeouts of the informer, in milliseconds. */
  readonly idleTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  /** Whether a proxy holds events back. */
  readonly holdsBack?: boolean;
  /** Whether the informer holds some shards only, which come and go. */
  readonly sharded?: boolean;
}

/** The scene of a seed. */
export interface Scene {
  readonly seed: number;
  readonly what: string;
  readonly server: FakeApiServer;
  readonly truth: Truth;
  readonly history: History;
  readonly machine: FaultMachine;
  readonly informer: SharedInformer<Pod>;
  readonly consumers: Consumers;
  readonly observed: ObservedFetch;
  readonly random: () => number;
  readonly wrong: string[];
  /** The moves of shards, if the informer is sharded. */
  readonly moves: Moves | undefined;
  /** The number of checked claims about the age of the rows. */
  claims(): number;
  /** Writes repeatedly until the returned function is called. */
  write(meanMs: number): () => void;
  start(): void;
  stop(): Promise<void>;
  /** Requests a refresh of the informer. */
  refresh(): Promise<void>;
  /** Ends all refusals of objects. */
  recover(): void;
  /** Closes or opens the demand of the informer. */
  shut(shut: boolean): void;
  /** Compares all consumers, the store and the status with the truth. */
  compare(when: string): void;
  checkBudget(): Load;
}

function scaled({ baseMs, capMs }: Backoff, by: number): Backoff {
  return { baseMs: baseMs * by, capMs: capMs * by };
}

const own: Selects = ({ metadata }) => metadata.labels?.['own'] === 'yes';
const inside =
  (...namespaces: readonly string[]): Selects =>
  ({ metadata }) =>
    namespaces.includes(metadata.namespace ?? '');

interface Scope {
  readonly name: string;
  readonly selects: Selects;
  readonly listWatches: readonly ListWatchOptions<Pod>[];
}

const SCOPES: readonly Scope[] = [
  { name: 'all', selects: () => true, listWatches: [{}] },
  { name: 'own=yes', selects: own, listWatches: [{ labelSelector: 'own=yes' }] },
  { name: 'namespace a', selects: inside('a'), listWatches: [{ namespace: 'a' }] },
  {
    name: 'namespaces a, b',
    selects: inside('a', 'b'),
    listWatches: [{ namespace: 'a' }, { namespace: 'b' }],
  },
];
/** After the demand was closed, what was written meanwhile takes up to this long to arrive, in milliseconds. */
const READ_MS = 100_000;
const INDICES = { namespace: byNamespace, tier: byLabel('tier') };

function pick<V>(random: () => number, values: readonly V[]): V {
  return values[Math.floor(random() * values.length)] as V;
}

export async function createScene(stage: Stage): Promise<Scene> {
  const { seed, scheduler, speed } = stage;
  // Each use has its own source of randomness, so that more values for one use do not change the others.
  const chance = (salt: number) => seededRandom(seed * 101 + salt);
  const random = chance(1);
  const of = <V>(values: readonly V[]): V => pick(random, values);
  const wrong: string[] = [];

  const watchList = random() < 0.75;
  const lists: readonly InitialList[] = [
    'auto',
    'auto',
    'pages',
    ...(watchList ? ['stream' as const] : []),
  ];
  const initialList = of(lists);
  const drawn = of(SCOPES);
  // A sharded informer has one ListerWatcher.
  const scope = stage.sharded && drawn.listWatches.length > 1 ? (SCOPES[0] as Scope) : drawn;
  const compression = of(['none', 'latest'] as const);
  const backoff =
    stage.backoff ??
    of([
      { baseMs: 800, capMs: 30_000 },
      { baseMs: 100, capMs: 2_000 },
    ]);
  // A timer of a real clock may fire a little early.
  const tolerated = stage.slack === undefined ? backoff : scaled(backoff, 1 - stage.slack);
  const pageSize = of([undefined, undefined, 2, 5]);
  const historyLimit = of([10_000, 20]);
  const pageSizeMax = of([undefined, undefined, 3]);
  // Moving shards were added later and have a source of their own, too.
  const moved = chance(14);
  const by = pick(moved, ['uid', 'namespace', 'owner'] as const);
  const moves = stage.sharded
    ? createMoves({
        by,
        random: moved,
        scheduler,
        meanMs: pick(moved, [2_000, 10_000, 40_000]) / speed,
        texts: by === 'owner' ? OWNERS : NAMESPACES,
      })
    : undefined;
  const hasGate = moved() < 0.5;
  const server = createFakeApiServer({
    scheduler,
    random: chance(2),
    initialResourceVersion: of(['1', '97', '9007199254740980']),
    watchList,
    historyLimit,
    bookmarkIntervalMs: 60_000 / speed,
    shardedListAndWatch: hasGate,
    ...(pageSizeMax === undefined ? {} : { pageSizeMax }),
  });
  // So that shards move, and objects change, while a list is answered.
  if (moves !== undefined)
    server.faults.delay(pick(moved, [20, 200, 800]) / speed, { use: 'list' });
  const truth = new Truth(() => scheduler.now());
  const restores = random() < 0.2;
  const history = createHistory({
    server,
    truth,
    random: chance(3),
    restores,
    huge: random() < 0.01,
    ...(stage.sharded ? { owners: { random: chance(15), uids: OWNERS } } : {}),
  });
  // These have a source of their own, so that existing seeds keep all other values.
  const later = chance(7);
  const polls = later() < 0.1;
  const refuses: Refuses = later() < 0.3 ? pick(later, ['transform', 'index', 'both']) : 'none';
  const all = later() < 0.5 ? { namespace: '' } : {};
  const pollMs = 20_000 / speed;
  // Half of the informers with an audit lose events without a trace. The shortest period of an audit is in real time,
  // so only runs at normal speed have one.
  const audited = chance(10);
  const audits = audited() < 0.4 && speed === 1 && !stage.sharded;
  const loses = audits && !polls && audited() < 0.5;
  const loseOneIn = pick(audited, [10, 30]);
  const auditMs = 60_000;
  // Short watches, which are renewed often, and refreshes were added later and have a source of their own, too.
  const newer = chance(12);
  const watchMs = pick(newer, [300_000, 60_000, 20_000]) / speed;
  const makeBeforeBreak = newer() < 0.8;
  const refreshes: number[] = [];
  const moods = createMoods({
    refuses,
    scheduler,
    random: chance(8),
    meanMs: 15_000 / speed,
  });
  for (let step = 0; step < 6; step++) history.step();
  const loss = loses ? server.faults.loseEvents(loseOneIn) : undefined;

  const reached = await stage.reach?.(server);
  const fetch = reached?.fetch ?? server.fetch;
  const observed = observedFetch(fetch, scheduler);
  const client = createClient({
    baseUrl: reached?.baseUrl ?? 'http://fake',
    fetch: observed.fetch as typeof globalThis.fetch,
    scheduler,
  });
  const open = new BehaviorSubject(true);
  let openedMs = Number.NEGATIVE_INFINITY;
  const decoding = drawDecoding(chance(16));
  const listWatches = scope.listWatches.map((each) => {
    const asked = {
      ...all,
      ...each,
      ...(refuses === 'none' ? {} : { transform: moods.transform }),
    };
    const source = createListWatch(client, pods, { ...asked, decoding, scheduler });
    const polling = { scheduler, random: chance(9), intervalMs: pollMs };
    return polls ? createPollingListWatch(source, polling) : source;
  });
  const drawnResyncMs = of([0, 0, 30_000]);
  const options: SharedInformerOptions<Pod> = {
    name: `seed ${seed}`,
    scheduler,
    random: chance(4),
    indexers: refuses === 'none' ? INDICES : { ...INDICES, moody: moods.index },
    initialList,
    compression: compressions[compression],
    backoff: exponentialBackoff(backoff),
    makeBeforeBreak,
    minWatchTimeoutMs: watchMs,
    // A refused object is accepted at a resync if no event for it arrives.
    resyncPeriodMs: Math.max(1_000, (refuses === 'none' ? drawnResyncMs : 30_000) / speed),
    demand: () => (open.value ? null : open.pipe(filter(Boolean), take(1))),
    onWarning: () => undefined,
    onUnhandledError: (error) => wrong.push(`unhandled: ${error}`),
    ...(audits ? { audit: audit({ periodMs: auditMs }) } : {}),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(stage.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: stage.idleTimeoutMs }),
    ...(stage.requestTimeoutMs === undefined ? {} : { requestTimeoutMs: stage.requestTimeoutMs }),
  };
  const [listWatch] = listWatches as [ListerWatcher<Pod>];
  const informer =
    moves === undefined
      ? createSharedInformer<Pod>(listWatches, options)
      : createShardedInformer<Pod>(listWatch, { ...options, shards: moves });
  const consumers = createConsumers({
    informer,
    truth,
    selects: scope.selects,
    shards: moves,
    scheduler,
    random: chance(5),
    speed,
    wrong,
  });
  const meanMs = of([3_000, 10_000, 30_000]) / speed;
  const maxForMs = of([5_000, 120_000]) / speed;
  const machine = createFaultMachine(server, {
    seed,
    scheduler,
    depths: stage.depths,
    meanMs,
    maxForMs,
    // If a renewed watch starts between two swapped events, no client can detect the lost event, as with a lost
    // connection.
    without: [...(stage.without ?? []), ...(makeBeforeBreak ? ['swap' as const] : [])],
    ...(reached?.proxy === undefined ? {} : { proxy: reached.proxy }),
  });
  // Other informers learn of changes late, or never, without an outage.
  const isTrue =
    speed === 1 && !stage.holdsBack && !polls && !loses && !stage.sharded && refuses === 'none';
  const claims = isTrue
    ? checkLiveClaims({
        ...{ informer, truth, selects: scope.selects, scheduler, machine, wrong },
        isReading: () => open.value && scheduler.now() - openedMs > READ_MS,
      })
    : () => 0;
  const traits = [`${scope.name}, ${initialList} list, ${compression}`];
  traits.push(
    `${watchList ? 'with' : 'without'} streaming lists, backoff from ${backoff.baseMs} ms`,
  );
  const isAll = scope.listWatches.every(({ namespace }) => namespace === undefined);
  if (isAll && 'namespace' in all) traits.push("namespace ''");
  if (makeBeforeBreak) traits.push(`overlapping watches of ${watchMs} ms each`);
  if (polls) traits.push(`polled every ${pollMs} ms`);
  if (audits) traits.push(loses ? `audited, one event in ${loseOneIn} lost` : 'audited');
  if (moves !== undefined) {
    traits.push(`shards by ${moves.by}, which the server ${hasGate ? 'selects' : 'ignores'}`);
  }
  if (refuses !== 'none') traits.push(`refused for a while by ${refuses}`);
  traits.push(`history ${historyLimit}, a fault every ${meanMs} ms`);

  return {
    seed,
    what: traits.join('; '),
    server,
    truth,
    history,
    machine,
    informer,
    consumers,
    observed,
    random,
    wrong,
    moves,
    claims,
    write(mean) {
      const dice = chance(6);
      let stopped = false;
      const again = () => {
        if (stopped) return;
        history.step();
        scheduler.schedule(again, -Math.log(1 - dice()) * mean);
      };
      scheduler.schedule(again, 0);
      return () => {
        stopped = true;
      };
    },
    start() {
      observed.generation++;
      consumers.subscribe();
      informer.start();
    },
    async stop() {
      await informer.stop();
      consumers.rest();
    },
    recover() {
      moods.recover();
      loss?.heal();
    },
    async refresh() {
      refreshes.push(scheduler.now());
      try {
        await informer.refresh();
      } catch (error) {
        // A refresh may fail as every list may, or because the informer is stopped.
        if (!(error instanceof ApiError)) wrong.push(`refresh: ${error}`);
      }
    },
    shut: (shut) => {
      if (!shut) openedMs = scheduler.now();
      open.next(!shut);
    },
    compare(when) {
      consumers.finish(when);
      const store = informer.indexer as unknown as IndexerReader<Thing>;
      const selects: Selects = (thing) => scope.selects(thing) && moves?.holds(thing) !== false;
      compareStore(store, INDICES, truth, selects, when, wrong);
      const { audit } = informer.status;
      if (audits && !loses && typeof audit === 'object' && audit.differed > 0 && !restores) {
        wrong.push(`audit, ${when}: ${JSON.stringify(audit)}, but no event was lost`);
      }
      const { phase, synced, live, error, staleSinceMs, refused } = informer.status;
      const isHealthy = phase === 'watching' && synced && live && error === undefined;
      if (!isHealthy || staleSinceMs !== undefined || refused > 0) {
        const shown = JSON.stringify({ phase, synced, live, error, staleSinceMs, refused });
        wrong.push(`status, ${when}: ${shown}`);
      }
    },
    checkBudget: () =>
      checkBudget(observed.seen, tolerated, wrong, {
        earlyMs: stage.slack === undefined ? 0 : 20,
        ...(polls ? { pollMs } : {}),
        ...(audits ? { auditMs } : {}),
        watchMs,
        concurrent: moves !== undefined,
        refreshes: [...refreshes, ...(moves?.times ?? [])],
      }),
  };
}
