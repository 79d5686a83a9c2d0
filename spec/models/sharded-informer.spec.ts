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
import { drawDecoding } from '../support/decodings.ts';

/** A consumer's own copy, which checks that each change continues from it. */
class Copy {
  readonly objects = new Map<string, { id: string; version: string }>();
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
      if (!set.reset && previous?.metadata.resourceVersion !== had?.version) {
        this.mistakes.push(
          `${key}: had ${had?.version}, told ${previous?.metadata.resourceVersion}`,
        );
      }
      const told = `${set.rev} ${set.cause} ${id.slice(0, 4)} ${previous?.metadata.resourceVersion} ${object?.metadata.resourceVersion} ${left}`;
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
      this.objects.set(key, { id, version: object.metadata.resourceVersion as string });
    }
  }
}

async function play(seed: number, gate: boolean): Promise<string[]> {
  const random = seededRandom(seed);
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)] as V;
  const time = new VirtualTime();
  const server = createFakeApiServer({
    scheduler: time,
    shardedListAndWatch: gate,
    random,
    bookmarkIntervalMs: 7,
    historyLimit: 10,
    pageSizeMax: random() < 0.5 ? 3 : 100,
  });
  const deleted = new Set<string>();
  const all = () => server.objects.list(configMaps);
  const namespaces = ['bar', 'cart', 'dock', 'east', 'farm', 'shop'];
  let count = 0;
  const create = () => {
    const metadata = { namespace: pick(namespaces), name: `n${Math.floor(random() * 8)}` };
    if (server.objects.get(configMaps, metadata) !== undefined) return;
    server.objects.create(configMaps, { metadata, data: { at: String(++count) } });
  };
  const touch = () => {
    const object = pick(all());
    if (object === undefined) return;
    server.objects.modify(configMaps, object.metadata, (draft) => {
      draft.data = { at: String(++count) };
    });
  };
  const remove = () => {
    const object = pick(all());
    if (object === undefined) return;
    deleted.add(object.metadata.uid as string);
    server.objects.delete(configMaps, object.metadata);
  };
  for (let at = 0; at < 20; at++) create();
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
    createListWatch(client, configMaps, { decoding, scheduler: time }),
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
    if (what < 0.2) create();
    else if (what < 0.45) touch();
    else if (what < 0.6) remove();
    else if (what < 0.85) {
      ranges$.next(shardRanges(slots()));
      if (random() < 0.3) ranges$.next(shardRanges(slots()));
    } else if (what < 0.88) server.faults.dropWatches();
    else if (what < 0.9) server.faults.expireWatches();
    else if (what < 0.92) server.objects.compact();
    else if (what < 0.95) {
      server.faults.failNext(
        { use: pick(['list', 'watch'] as const) },
        { status: pick([500, 410, 429]) },
      );
    } else if (what < 0.97) server.faults.delay(Math.floor(random() * 10), { use: 'list' });
    else if (what < 0.98) {
      await informer.stop();
      ranges$.next(shardRanges(slots()));
      informer.start();
      subscribe();
    } else void informer.refresh().catch(() => undefined);
    if (random() < 0.7) await time.advance(random() * 4);
  }
  server.faults.healAll();
  const filter = () => createShardFilter(by, ranges$.value);
  const wanted = () =>
    all()
      .filter(filter().contains)
      .map(
        ({ metadata: { namespace, name, resourceVersion } }) =>
          `${namespace}/${name}@${resourceVersion}`,
      )
      .sort();
  const stored = () =>
    informer.indexer
      .list()
      .map(
        ({ metadata: { namespace, name, resourceVersion } }) =>
          `${namespace}/${name}@${resourceVersion}`,
      )
      .sort();
  const told = (copy: Copy) =>
    [...copy.objects].map(([key, { version }]) => `${key}@${version}`).sort();
  const isDone = () => {
    const goal = JSON.stringify(wanted());
    return (
      informer.status.synced &&
      [stored(), told(fast), told(slow)].every((each) => JSON.stringify(each) === goal)
    );
  };
  for (let at = 0; at < 400 && !isDone(); at++) await time.advance(5);
  const problems = [...fast.mistakes, ...slow.mistakes.map((each) => `slow: ${each}`)];
  const goal = JSON.stringify(wanted());
  for (const [name, have] of Object.entries({
    stored: stored(),
    fast: told(fast),
    slow: told(slow),
  })) {
    if (JSON.stringify(have) !== goal)
      problems.push(`${name}: ${JSON.stringify(have)} instead of ${goal}`);
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
