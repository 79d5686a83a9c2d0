/** A round without requests: single cases, and a model over random histories. */
import { ApiError, createIndexer } from 'rx-informer';
import { seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { type AuditedState, Round } from '../../lib/audit/round.ts';
import { campaign } from '../support/campaign.ts';
import { type Pod, pod } from '../support/scripted-list-watch.ts';

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
