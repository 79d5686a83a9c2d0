/**
 * Sharded informers under random histories: objects change, ranges arrive and leave, lists fail, watches break and
 * versions expire. At the end the store is what the server has of the owned ranges, and so is the fold of what each
 * consumer was told. What a consumer is told of an object is true.
 */
import {
  type ChangeSet,
  conflateByKey,
  createClient,
  createListWatch,
  createShardedInformer,
  createShardFilter,
  type ShardRange,
  shardRanges,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { createFakeApiServer, seededRandom } from 'rx-informer/testing';
import { BehaviorSubject, Subscription, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { compressions } from '../delta/compressions.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { campaign } from '../support/campaign.ts';
import { BLOWS, ChangingCluster, drawAct } from '../support/changing-cluster.ts';
import { drawDecoding } from '../support/decodings.ts';

/** A consumer's own copy, which checks that each change continues from it. */
class Copy {
  readonly objects = new Map<string, ConfigMap>();
  readonly mistakes: string[] = [];
  /** The versions that the consumer has seen of each UID, which must never fall. */
  readonly #newest = new Map<string, number>();
  readonly #deleted = new Set<string>();
  readonly #log = new Map<string, string[]>();

  readonly #isDeleted: (id: string) => boolean;

  constructor(isDeleted: (id: string) => boolean) {
    this.#isDeleted = isDeleted;
  }

  take(set: ChangeSet<ConfigMap>): void {
    if (set.reset) this.objects.clear();
    for (const { id, key, previous, object, left } of set.changes) {
      const had = this.objects.get(key);
      const before = previous?.metadata.resourceVersion;
      const hadVersion = had?.metadata?.resourceVersion;
      if (!set.reset && before !== hadVersion)
        this.mistakes.push(`${key}: had ${hadVersion}, told ${before}`);
      const told = `${set.rev} ${set.cause} ${id.slice(0, 4)} ${before} ${object?.metadata.resourceVersion} ${left}`;
      this.#log.set(key, [...(this.#log.get(key) ?? []), told]);
      const note = (mistake: string) =>
        this.mistakes.push(`${key} ${mistake}: ${this.#log.get(key)?.join(' | ')}`);
      if (object === undefined) {
        this.objects.delete(key);
        if (left !== true && !this.#isDeleted(id)) note('was not deleted');
        if (left !== true && this.#deleted.has(id)) note('was deleted twice');
        if (left !== true) this.#deleted.add(id);
        continue;
      }
      const version = Number(object.metadata.resourceVersion);
      if (version < (this.#newest.get(id) ?? 0)) note('went back');
      this.#newest.set(id, version);
      this.objects.set(key, object);
    }
  }
}

const NAMESPACES = ['bar', 'cart', 'dock', 'east', 'farm', 'shop'];
const PLACES = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((at) =>
  NAMESPACES.map((namespace) => ({ namespace, name: `n${at}` })),
);
const ACTS = [
  ...(['put', 'put', 'put', 'touch', 'touch', 'touch', 'touch', 'touch', 'recreate'] as const),
  ...(['delete', 'delete', 'delete', 'delete', 'slow', 'refuse', 'heal', 'heal', 'heal'] as const),
  ...BLOWS,
];

/** Changes what it receives, as a transform may. What it has changed before must not come back to it. */
function counting(map: ConfigMap): ConfigMap {
  const { data = {} } = map;
  data['seen'] = `${data['seen'] ?? ''}once`;
  return map;
}

async function play(seed: number, gate: boolean): Promise<string[]> {
  const random = seededRandom(seed);
  const time = new VirtualTime();
  const server = createFakeApiServer({
    scheduler: time,
    shardedListAndWatch: gate,
    random,
    bookmarkIntervalMs: 7,
    historyLimit: 10,
    pageSizeMax: random() < 0.5 ? 3 : 100,
  });
  let count = 0;
  const cluster = new ChangingCluster(server, {
    ...{ resource: configMaps, places: PLACES, slowMs: 10 },
    contentOf: () => ({ data: { at: String(++count) } }),
  });
  const deleted = new Set<string>();
  server.objects.onChange(configMaps, ({ before, after }) => {
    if (before?.metadata.uid !== after?.metadata.uid) deleted.add(before?.metadata.uid ?? '');
  });
  for (let at = 0; at < 20; at++) cluster.act(drawAct(['put'], random));
  const slots = () => {
    const how = random();
    if (how < 0.1) return [];
    if (how < 0.2) return Array.from({ length: 64 }, (_, slot) => slot);
    return Array.from({ length: 64 }, (_, slot) => slot).filter(() => random() < 0.5);
  };
  const ranges$ = new BehaviorSubject<readonly ShardRange[]>(shardRanges(slots()));
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
  const by = random() < 0.5 ? 'uid' : 'namespace';
  const decoding = drawDecoding(seededRandom(seed + 2));
  const informer = createShardedInformer(
    createListWatch(client, configMaps, { decoding, scheduler: time, transform: counting }),
    {
      scheduler: time,
      shards: { by, ranges$ },
      backoff: () => 2,
      compression: compressions[random() < 0.5 ? 'latest' : 'none'],
      pageSize: random() < 0.5 ? 3 : undefined,
      onWarning: () => undefined,
    },
  );
  const isDeleted = (id: string) => deleted.has(id);
  const [fast, slow] = [new Copy(isDeleted), new Copy(isDeleted)];
  const pace = seededRandom(seed + 1);
  const ready = () => timer(pace() * 20, time);
  let subscription = new Subscription();
  const subscribe = () => {
    subscription.unsubscribe();
    subscription = informer.changes$.subscribe((set) => fast.take(set));
    subscription.add(
      informer.changes$.pipe(conflateByKey({ ready })).subscribe((set) => slow.take(set)),
    );
  };
  subscribe();
  informer.start();
  for (let step = 0; step < 60; step++) {
    const what = random();
    if (what < 0.72) cluster.act(drawAct(ACTS, random));
    else if (what < 0.97) {
      ranges$.next(shardRanges(slots()));
      if (random() < 0.3) ranges$.next(shardRanges(slots()));
    } else if (what < 0.98) {
      await informer.stop();
      ranges$.next(shardRanges(slots()));
      informer.start();
      subscribe();
    } else void informer.refresh().catch(() => undefined);
    if (random() < 0.7) await time.advance(random() * 4);
  }
  // At the end the ranges stay: some objects change again and again, and others are gone after an outage.
  cluster.act(['heal', 0, 0]);
  await time.advance(50);
  for (let at = 0; at < 32; at++) {
    cluster.act(['touch', 0, at % 8]);
    await time.advance(1);
  }
  for (const act of ['refuse', 'heal'] as const) {
    cluster.act([act, 0, 0]);
    await time.advance(20);
  }
  const line = ({ metadata, data }: ConfigMap) =>
    `${metadata?.namespace}/${metadata?.name}@${metadata?.resourceVersion} ${data?.['at']} ${data?.['seen'] ?? 'once'}`;
  const lines = (maps: Iterable<ConfigMap>) => JSON.stringify([...maps].map(line).sort());
  const goal = () => lines(cluster.objects.filter(createShardFilter(by, ranges$.value).contains));
  const seen = () => ({
    stored: lines(informer.indexer.list()),
    fast: lines(fast.objects.values()),
    slow: lines(slow.objects.values()),
  });
  const isDone = () =>
    informer.status.synced && Object.values(seen()).every((each) => each === goal());
  for (let at = 0; at < 1_000 && !isDone(); at++) await time.advance(5);
  const problems = [...fast.mistakes, ...slow.mistakes.map((each) => `slow: ${each}`)];
  for (const [name, have] of Object.entries(seen())) {
    if (have !== goal()) problems.push(`${name}: ${have} instead of ${goal()}`);
  }
  if (!informer.status.synced) problems.push(`not synced: ${JSON.stringify(informer.status)}`);
  await informer.stop();
  return problems;
}

const SHARDS = { name: 'SHARD', seeds: 8, command: 'spec/models/sharded-informer.spec.ts' };

describe('sharded informers', () => {
  it.each([
    ['with', true],
    ['without', false],
  ])(
    'H55, H58: %s a filtering server, the store is what the server has of the owned ranges, and every consumer is told the truth',
    async (_, gate) => {
      const { wrong } = await campaign(SHARDS, async (seed) => ({ wrong: await play(seed, gate) }));
      expect(wrong).toEqual([]);
    },
  );
});
