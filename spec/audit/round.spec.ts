/**
 * A round without requests: single cases, and a model over random histories. Then hours of virtual time: the audit finds no difference if
 * nothing was lost, and repairs every loss in time.
 */
import { ApiError, createIndexer, exponentialBackoff } from 'rx-informer';
import { createFaultMachine, seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { type AuditedState, Round } from '../../lib/audit/round.ts';
import { compressions } from '../delta/compressions.ts';
import { pods } from '../faults/history.ts';
import { campaign, seedsOf } from '../support/campaign.ts';
import { ChangingCluster, drawAct, type Manner } from '../support/changing-cluster.ts';
import { type Pod, pod } from '../support/scripted-list-watch.ts';
import { type AuditRig, auditRig, BOOKMARK_MS, PERIOD_MS } from './rig.ts';

const of = (...pods: readonly Pod[]): Map<string, AuditedState> =>
  new Map(
    pods.map(({ metadata: { namespace, name, uid, resourceVersion } }) => [
      `${namespace}/${name}`,
      { uid, resourceVersion },
    ]),
  );

function round(...stored: readonly Pod[]) {
  const store = createIndexer<Pod>();
  for (const each of stored) store.add(each);
  return { store, round: new Round(store, undefined) };
}

function refused(object: Pod) {
  const { uid, resourceVersion, name } = object.metadata;
  const reason = ApiError.local('Refused', 'not now');
  return { key: `shop/${name}`, uid, resourceVersion, reason, retry: () => object };
}

describe('a round', () => {
  it('S27: an object that is missing, deleted, older or of another UID is a difference', () => {
    const { round: compared } = round(
      pod('gone', 3),
      pod('old', 4),
      pod('other', 5),
      pod('same', 6),
    );
    compared.page(
      of(pod('missing', 8), pod('old', 7), pod('other', 5, 'later'), pod('same', 6)),
      '9',
    );
    compared.finish();
    expect([...compared.differed.keys()].sort()).toEqual(
      ['gone', 'missing', 'old', 'other'].map((name) => `shop/${name}`),
    );
    expect(compared.compared).toBe(5);
  });

  it('S27: a state that the server no longer has, as after a restore, is a difference', () => {
    const { round: compared } = round(pod('web', 8));
    compared.page(of(pod('web', 5)), '9');
    expect([...compared.differed.keys()]).toEqual(['shop/web']);
  });

  it('S27: an object that was created, changed or deleted after the version of the page is not a difference', () => {
    const { store, round: compared } = round(pod('changed', 3), pod('ended', 4), pod('remade', 5));
    store.update(pod('changed', 12));
    store.add(pod('new', 11));
    store.delete('shop/ended');
    compared.deleted('shop/ended', '13');
    store.update(pod('remade', 15, 'again'));
    compared.page(of(pod('changed', 3), pod('ended', 4), pod('remade', 5)), '10');
    compared.finish();
    expect([...compared.differed.keys()]).toEqual([]);
  });

  it('S27: an object that was recreated is missing if the store received only the deletion', () => {
    const { store, round: compared } = round(pod('web', 3));
    store.delete('shop/web');
    compared.deleted('shop/web', '5');
    compared.page(of(pod('web', 7, 'again')), '9');
    expect([...compared.differed.keys()]).toEqual(['shop/web']);
  });

  it('S27: a deletion without a version, or versions that cannot be compared, are not differences', () => {
    const { store, round: compared } = round(pod('web', 3), pod('odd', 4));
    store.delete('shop/web');
    compared.deleted('shop/web', '');
    store.update({ metadata: { ...pod('odd', 0).metadata, resourceVersion: 'x7' } });
    compared.page(of(pod('web', 3), pod('odd', 4)), '9');
    expect([...compared.differed.keys()]).toEqual([]);
  });

  it('S27: a refused object is a difference only if the server has a later state than the refused one', () => {
    const { store, round: compared } = round(pod('kept', 3));
    for (const each of [pod('kept', 5), pod('out', 4), pod('late', 4)])
      store.refused.set(refused(each));
    compared.page(of(pod('kept', 5), pod('out', 4), pod('late', 8)), '9');
    compared.finish();
    expect([...compared.differed.keys()]).toEqual(['shop/late']);
  });

  it('S27: a refused object that the server no longer has is a difference', () => {
    const store = createIndexer<Pod>();
    store.refused.set(refused(pod('out', 4)));
    const again = new Round(store, undefined);
    again.page(of(), '9');
    again.finish();
    expect([...again.differed.keys()]).toEqual(['shop/out']);
  });

  it('S27: objects of another scope do not count as missing', () => {
    const store = createIndexer<Pod>();
    store.add(pod('web', 3));
    store.add(pod('db', 4, 'db', 'other'));
    const compared = new Round(store, 'shop');
    compared.page(of(), '9');
    expect(compared.left).toBe(1);
    compared.page(of(pod('web', 3)), '9');
    compared.finish();
    expect([...compared.differed.keys()]).toEqual([]);
  });

  it('S27: pages have any order and several versions; an object in no page is judged by the oldest version', () => {
    const { store, round: compared } = round(pod('a', 3), pod('z', 4), pod('m', 5));
    compared.page(of(pod('z', 4)), '9');
    // Created after the first page and in its range. The second page is at a later version, but does not cover it.
    store.add(pod('b', 11));
    compared.page(of(pod('a', 3)), '12');
    compared.finish();
    expect([...compared.differed.keys()]).toEqual(['shop/m']);
  });
});

interface Write {
  readonly version: number;
  readonly name: string;
  /** Absent for a deletion. */
  readonly object?: Pod;
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

/** A server with writes, and a store that receives each write later, or never. */
class World {
  readonly #random: () => number;
  readonly #lossy: number;
  readonly store = createIndexer<Pod>();
  readonly log: Write[] = [];
  readonly lost = new Map<string, Write>();
  #applied = 0;
  version = 10;
  reached = 10;
  round: Round<Pod> | undefined;

  constructor(random: () => number, lossy: number) {
    this.#random = random;
    this.#lossy = lossy;
  }

  below(bound: number): number {
    return Math.floor(this.#random() * bound);
  }

  write(): void {
    const name = NAMES[this.below(NAMES.length)] as string;
    const before = this.at(this.version).get(name);
    const version = ++this.version;
    if (before !== undefined && this.#random() < 0.4) this.log.push({ version, name });
    else
      this.log.push({
        version,
        name,
        object: pod(name, version, before?.metadata.uid ?? `u${version}`),
      });
  }

  at(version: number): Map<string, Pod> {
    const state = new Map<string, Pod>();
    for (const { version: of, name, object } of this.log) {
      if (of > version) break;
      if (object === undefined) state.delete(name);
      else state.set(name, object);
    }
    return state;
  }

  /** Delivers the next event to the store, or loses it. A delivered deletion is recorded in the round. */
  deliver(): void {
    const write = this.log[this.#applied];
    if (write === undefined) return;
    this.#applied++;
    const { version, name, object } = write;
    if (this.#random() < this.#lossy) {
      this.lost.set(name, write);
      return;
    }
    this.lost.delete(name);
    this.reached = version;
    if (object !== undefined) this.store.update(object);
    else if (this.store.has(`shop/${name}`)) {
      this.store.delete(`shop/${name}`);
      this.round?.deleted(`shop/${name}`, String(version));
    }
  }

  /** Names whose state in the store differs from that of the server at `version`, because an event was lost. */
  wrongAt(version: number): string[] {
    return [...this.lost.values()]
      .filter((lost) => lost.version <= version)
      .map(({ name }) => name);
  }
}

/** Plays one round with writes and events between its pages. Returns the found and the expected differences. */
function play(world: World, random: () => number) {
  const busy = () => {
    for (let steps = world.below(8); steps > 0; steps--) {
      if (random() < 0.5) world.write();
      else world.deliver();
    }
  };
  busy();
  const compared = new Round(world.store, undefined);
  world.round = compared;
  let version = random() < 0.5 ? world.reached : world.version;
  const first = version;
  const names = [...NAMES].sort(() => random() - 0.5);
  const expected = new Set<string>();
  const listedNames = new Set<string>();
  while (names.length > 0) {
    // The token of the previous page has expired, so the remaining pages are at the newest version.
    if (names.length < NAMES.length && random() < 0.2) version = world.version;
    const range = names.splice(0, 1 + world.below(3));
    const state = world.at(version);
    busy();
    for (let tries = 0; world.reached < version && tries < 1000; tries++) {
      world.write();
      world.deliver();
    }
    const page = range.flatMap((name) => state.get(name) ?? []);
    for (const { metadata } of page) listedNames.add(metadata.name);
    for (const name of world.wrongAt(version)) {
      const shown = state.get(name);
      // Found on its page. An object that is missing in the page is judged at the end of the round.
      if (range.includes(name) && shown !== undefined) expected.add(`shop/${name}`);
    }
    compared.page(of(...page), String(version));
    busy();
  }
  for (const name of world.wrongAt(first)) {
    if (world.store.has(`shop/${name}`) && !listedNames.has(name)) expected.add(`shop/${name}`);
  }
  compared.finish();
  world.round = undefined;
  return { differed: new Set(compared.differed.keys()), expected };
}

const ROUNDS = { name: 'ROUND', seeds: 3_000, command: 'spec/audit/round.spec.ts' };

describe('a round over random histories', () => {
  it('S27: a round finds no difference if nothing was lost, whatever changes are in flight', async () => {
    const { wrong } = await campaign(ROUNDS, (seed) => {
      const random = seededRandom(seed);
      const world = new World(random, 0);
      return { wrong: [1, 2, 3, 4].flatMap(() => [...play(world, random).differed]) };
    });
    expect(wrong).toEqual([]);
  });

  it('S27: a round finds every loss up to its version, unless a later event has repaired it', async () => {
    let found = 0;
    const { wrong } = await campaign(ROUNDS, (seed) => {
      const random = seededRandom(seed);
      const world = new World(random, 0.15);
      const missed = [1, 2, 3, 4].flatMap(() => {
        const { differed, expected } = play(world, random);
        found += differed.size;
        return [...expected].filter((key) => !differed.has(key));
      });
      return { wrong: missed };
    });
    expect(wrong).toEqual([]);
    expect(found).toBeGreaterThan(1_000);
  });
});

/** CI plays more worlds, with `AUDIT_SEEDS`. */
const HOURS = { name: 'AUDIT', seeds: 2, command: 'spec/audit/round.spec.ts' };
const SEEDS = seedsOf('AUDIT', HOURS.seeds).length;

const HOUR_MS = 3_600_000;
const PLACES = ['a', 'b', 'c'].flatMap((namespace) =>
  ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'].map((name) => ({ namespace, name })),
);
const WRITES = [
  ...Array.from(
    { length: 14 },
    () => ['put', 'put', 'touch', 'touch', 'delete', 'recreate'] as const,
  ),
  ['deepen', 'crowd', 'purge'] as const,
].flat();
const auditOf = ({ informer }: AuditRig) => {
  const { audit } = informer.status;
  const none = { compared: 0, differed: -1, differedKeys: [] };
  return typeof audit === 'object' ? audit : none;
};

async function world(seed: number, manner?: Manner) {
  const random = seededRandom(seed * 7 + 1);
  const refused = new Map<string, number>();
  const rig = await auditRig({
    seed,
    objects: 20,
    scopes: random() < 0.3 ? [{ namespace: 'a' }, { namespace: 'b' }] : [{}],
    informer: {
      backoff: exponentialBackoff({ baseMs: 100, capMs: 2_000 }),
      compression: compressions[random() < 0.5 ? 'latest' : 'none'],
      // An index function that sometimes refuses an object three times and then accepts it.
      indexers: {
        unreliable: ({ metadata }) => {
          const key = metadata.name;
          const left = refused.get(key) ?? (random() < 0.05 ? 3 : 0);
          refused.set(key, Math.max(0, left - 1));
          if (left > 0) throw new Error('refused by the index');
          return [];
        },
      },
      resyncPeriodMs: 30_000,
    },
  });
  const cluster = new ChangingCluster(rig.server, {
    ...{ resource: pods, places: PLACES, manner },
    contentOf: (n) => ({ spec: { nodeName: `n${n % 4}` }, status: { phase: `${n % 3}` } }),
  });
  const meanMs = 200 + random() * 5_000;
  const write = () => {
    const together = random() < 0.2 ? 2 + Math.floor(random() * 10) : 1;
    for (let at = 0; at < together; at++) cluster.act(drawAct(WRITES, random));
    rig.time.schedule(write, -Math.log(1 - random()) * meanMs);
  };
  rig.time.schedule(write, 0);
  return { rig, random };
}

describe('hours of an informer with an audit', () => {
  it('S27: an hour of writes and faults causes no difference', async () => {
    let compared = 0;
    const { wrong } = await campaign(HOURS, async (seed) => {
      // An audit waits for no bookmark if nothing was lost.
      const { rig, random } = await world(seed, seed % 2 === 0 ? 'no bookmarks' : 'all');
      const machine = createFaultMachine(rig.server, {
        seed,
        scheduler: rig.time,
        depths: ['http', 'stream'],
        meanMs: 20_000,
        maxForMs: 100_000,
      });
      rig.informer.start();
      if (seed > 1) machine.start();
      await rig.time.advance(HOUR_MS * (0.9 + random() * 0.2));
      const { differed, differedKeys } = auditOf(rig);
      compared += auditOf(rig).compared;
      machine.heal();
      await rig.informer.stop();
      return { wrong: differed === 0 ? [] : (differedKeys ?? []).map((key) => `${key} differs`) };
    });
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(160 * SEEDS);
  }, 900_000);

  it('I90: every event that a watch loses silently is repaired within one period after a later version', async () => {
    let lost = 0;
    let repaired = 0;
    const { wrong } = await campaign(HOURS, async (seed) => {
      const { rig } = await world(seed);
      rig.informer.start();
      await rig.time.advance(5_000);
      const loss = rig.server.faults.loseEvents(25);
      const wrongSince = new Map<string, number>();
      for (let second = 0; second < 3_600; second++) {
        await rig.time.advance(1_000);
        const now = new Set(rig.wrong().filter((key) => !rig.informer.indexer.refused.get(key)));
        for (const key of [...wrongSince.keys()]) if (!now.has(key)) wrongSince.delete(key);
        for (const key of now) {
          const sinceMs = wrongSince.get(key) ?? rig.time.now();
          wrongSince.set(key, sinceMs);
          const forMs = rig.time.now() - sinceMs;
          expect(forMs, `${key} is wrong`).toBeLessThan(BOOKMARK_MS + PERIOD_MS);
        }
      }
      lost += loss.hits;
      repaired += auditOf(rig).differed;
      await rig.informer.stop();
      return { wrong: [] };
    });
    expect(wrong).toEqual([]);
    expect(lost).toBeGreaterThan(16 * SEEDS);
    expect(repaired).toBeGreaterThan(5 * SEEDS);
  }, 900_000);
});
