/** Tests warm starts with random lives: restarts, crashes, restored servers, expired versions, refusals and changed settings. */

import { differentialDecoding, jsonDecoding } from 'rx-informer';
import { seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { campaign } from '../support/campaign.ts';
import { ChangingCluster, drawAct } from '../support/changing-cluster.ts';
import { Contents, isOwn, linesOf, storedLines } from './judge.ts';
import type { MemorySnapshot } from './memory-store.ts';
import { type LifeOptions, persistRig, requestsOf, services } from './rig.ts';

const PLACES = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ namespace: 'shop', name }));
const MANNERS = ['all', 'all', 'no ends', 'no bookmarks', 'all'] as const;
const OFTEN = [
  ...(['put', 'put', 'put', 'put', 'put', 'put', 'touch', 'touch', 'touch'] as const),
  ...(['delete', 'delete', 'recreate'] as const),
];
const WRITES = [...OFTEN, ...OFTEN, ...OFTEN, 'deepen', 'deepen', 'fatten'] as const;
/** After none of these a server lacks a version. */
const TROUBLES = [
  ...(['close', 'drop', 'drop', 'cut', 'repeat', 'slow', 'silence', 'half-open'] as const),
];
/** Longer than any backoff in a life, so that an informer can recover from its last fault, also if no bookmark ends its list. */
const HEALS_MS = 300_000;

/** The settings of lives. Each must not see the objects of the others. */
const SETTINGS: readonly LifeOptions[] = [
  {},
  {},
  {},
  { snapshots: { identity: 'bob' } },
  { scopes: [{ labelSelector: 'app!=none' }] },
  { snapshots: { appVersion: '2' } },
];

/** The decodings of the informers, by turns of the seeds. */
const DECODINGS = [jsonDecoding, differentialDecoding];

/** What the lives of one seed have met. */
interface Lived {
  /** What went wrong. */
  readonly wrong: string[];
  /** How often each kind of start and of trouble was seen, so that a test can require all of them. */
  readonly seen: Map<string, number>;
}

/** Runs the lives of one seed. */
async function live(seed: number): Promise<Lived> {
  const random = seededRandom(seed);
  const decoding = DECODINGS[seed % DECODINGS.length] ?? jsonDecoding;
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)] as V;
  let forbidden = false;
  const rig = persistRig({ allows: ({ resource }) => !forbidden || resource !== 'services' });
  const { time, server, store } = rig;
  const wrong: string[] = [];
  const seen = new Map<string, number>();
  const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  const told = (what: string) => wrong.push(`seed ${seed}, ${Math.round(time.now())} ms: ${what}`);

  const manner = MANNERS[seed % MANNERS.length];
  const cluster = new ChangingCluster(server, {
    ...{ resource: services, places: PLACES, manner },
    contentOf: (n) => ({ spec: { type: 'ExternalName', externalName: 'ü'.repeat(n) } }),
  });
  const contents = new Contents();
  const now = () => linesOf(cluster.objects);
  const version = () => Number(server.objects.resourceVersion);
  const record = ({ resourceVersion }: { readonly resourceVersion: string }) =>
    contents.record(resourceVersion, cluster.objects);
  let unfollow = server.objects.onChange(services, record);
  const change = () => {
    if (random() < 0.15) server.objects.advance(1 + Math.floor(random() * 5));
    else cluster.act(drawAct(WRITES, random));
  };
  const compact = () => {
    server.objects.compact();
    contents.compacted = version();
  };
  /** Whether the server refuses the life that runs. */
  let isRefused = () => false;
  store.onWrite = (stored) => {
    if (isRefused()) told('stored objects that are forbidden');
    const [has, expected] = [storedLines(stored), contents.at(stored.resourceVersion)];
    if (has !== expected)
      told(`stored ${has} at ${stored.resourceVersion}, where the server had ${expected}`);
  };

  contents.record(String(version()), cluster.objects);
  let backup:
    | { snapshot: ReturnType<typeof server.objects.snapshot>; former: ReadonlyMap<number, string> }
    | undefined;
  /** Collections of a history that the server no longer has. */
  const lost = new Set<MemorySnapshot>();
  /** The failures of a life, which end with it. */
  let failing: { heal(): void } | undefined;
  for (let lives = 3 + Math.floor(random() * 4); lives > 0; lives--) {
    failing?.heal();
    // A restored server that has passed the stored version already cannot be recognized, so these are not compared.
    for (const [id, each] of store.collections) if (lost.has(each)) store.collections.delete(id);
    for (let changes = Math.floor(random() * 6); changes > 0; changes--) change();
    if (random() < 0.25 || backup === undefined) {
      backup = { snapshot: server.objects.snapshot(), former: contents.copy() };
    } else if (random() < 0.6) {
      server.objects.restoreSnapshot(backup.snapshot);
      contents.restored(backup.former, server.objects.resourceVersion);
      for (const each of store.collections.values()) {
        if (Number(each.resourceVersion) > version()) lost.add(each);
      }
      unfollow();
      unfollow = server.objects.onChange(services, record);
      // Versions that stored objects have are issued again, for other objects.
      const lowest = Math.min(...[...lost].map((each) => Number(each.resourceVersion)));
      for (let writes = 0; writes < 3 && version() + 2 < lowest; writes++) {
        cluster.act(drawAct(WRITES, random));
      }
      note('restored');
    }
    if (random() < 0.2) {
      compact();
      note('compacted');
    }
    if (random() < 0.1) {
      await time.advance(90_000_000);
      note('aged');
    }
    forbidden = random() < 0.15;
    const options = pick(SETTINGS);
    const life = rig.life({
      ...options,
      scopes: (options.scopes ?? [{}]).map((scope) => ({ ...scope, decoding })),
    });
    const { informer } = life;
    isRefused = () => informer.status.blocked === 'forbidden';
    const before = [...store.collections.values()].map((each) => ({ ...each }));
    server.clearRequests();
    const startedAt = version();
    // Until the server has been asked for its version, it must not pass the versions of the lost history.
    const isLost = [...store.collections.values()].some((each) => lost.has(each));
    const hasFaults = !isLost && random() < 0.4;
    /** The server cannot say which cluster it is. Then a list follows, and a warning if it still cannot after that list. */
    let isUnknown = false;
    if (hasFaults) {
      note('faults');
      const use = pick(['list', 'watch', 'call'] as const);
      isUnknown = use === 'call';
      failing = server.faults.failNext(
        { use },
        { status: pick([500, 503, 429]), times: 1 + Math.floor(random() * 3) },
      );
    }
    let wasStale = false;
    let wasSynced = false;
    let wasExpired = false;
    informer.status$.subscribe(({ stale, synced }) => {
      wasStale ||= stale === true;
      if (!synced || wasSynced) return;
      wasSynced = true;
      const reached = informer.lastSyncResourceVersion;
      if (Number(reached) < startedAt) {
        told(`synced at ${reached}, and the server was at ${startedAt} at the start`);
      }
    });
    informer.changes$.subscribe((set) => {
      // A list that is repeated shows its objects before it has a version.
      if (!set.synced || informer.status.phase !== 'watching') return;
      const has = linesOf(informer.indexer.list());
      const expected = contents.at(set.resourceVersion);
      if (has !== expected) told(`synced with ${has} at ${set.resourceVersion}: ${expected}`);
    });
    if (isLost) await time.advance(50);
    for (let steps = Math.floor(random() * 8); steps > 0; steps--) {
      await time.advance(random() * 4_000);
      const dice = random();
      if (dice < 0.6) change();
      else if (dice < 0.7) cluster.act(drawAct(TROUBLES, random));
      else if (dice < 0.75) {
        compact();
        server.faults.expireWatches();
        note('expired');
        wasExpired = true;
      } else if (dice < 0.8) {
        forbidden = true;
        server.faults.closeWatches();
        note('revoked');
      }
    }
    // What was known at the start, and whether the server still had it.
    const owner = {
      identity: options.snapshots?.identity ?? 'alice',
      appVersion: options.snapshots?.appVersion ?? '',
      labelSelector: options.scopes?.[0]?.labelSelector,
    };
    const isKept = (each: MemorySnapshot) => isOwn(each, owner, time.now());
    const own = before.find(isKept);
    const isInWindow =
      own !== undefined &&
      !wasExpired &&
      manner !== 'no bookmarks' &&
      contents.isInWindow(own.resourceVersion, startedAt);
    cluster.act(['heal', 0, 1]);
    if (random() < 0.3) {
      note('crash');
      life.crash();
      forbidden = false;
      await time.advance(1_000);
      continue;
    }
    const wasForbidden = forbidden;
    if (forbidden) {
      note('forbidden');
      await time.advance(5_000);
      // A list that does not end shows what is not stored.
      const hasListed = requestsOf(server).some((each) => each === 'L' || each === 'S');
      const isOver = manner === 'all' || !hasListed;
      if (isRefused() && informer.indexer.size > 0 && isOver && !wasSynced)
        told('shows objects that are forbidden');
      const keeps = () => [...store.collections.values()].some(isKept);
      if (isRefused() && keeps()) told('keeps objects that are forbidden');
      if (isRefused() && random() < 0.3) {
        note('ended while forbidden');
        await life.end();
        if (keeps()) told('keeps objects that are forbidden after its end');
        forbidden = false;
        continue;
      }
      forbidden = false;
    }
    await time.advance(HEALS_MS);
    const has = linesOf(informer.indexer.list());
    if (has !== now()) told(`has ${has}: ${now()}`);
    if (!informer.hasSynced) told('is not synced');
    const lists = requestsOf(server).filter((each) => each === 'L' || each === 'S').length;
    if (isInWindow && !wasForbidden && !isUnknown) {
      note('warm');
      if (lists > 0 && !wasForbidden)
        told(`listed ${lists} times: ${requestsOf(server).join(' ')}`);
      if (!wasStale && own.objects.size > 0 && Number(own.resourceVersion) < startedAt)
        told('showed nothing at the start');
    } else note('cold');
    if (own === undefined && wasStale) told('showed objects that are not its own');
    await life.end();
    const written = [...store.collections.values()].find(isKept);
    const isWarned = life.warnings.some(({ type }) => type === 'not-stored');
    if (written === undefined) {
      if (!isUnknown || !isWarned) told('stored nothing');
    } else if (storedLines(written) !== now()) told(`stored ${storedLines(written)}: ${now()}`);
    if (!isUnknown && isWarned) told(life.warnings[0]?.message ?? '');
  }
  return { wrong, seen };
}

const LIVES = { name: 'PERSIST', seeds: 150, command: 'spec/persist/lives.spec.ts' };

describe('random lives', () => {
  it('P21: the informer and its store equal the server after healing, at every version that is shown as synced', async () => {
    const { wrong, seen, isReplay } = await campaign(LIVES, live);
    expect(wrong).toEqual([]);
    if (isReplay) return;
    // Otherwise the test would show nothing about them.
    for (const what of [
      'warm',
      'cold',
      'restored',
      'compacted',
      'expired',
      'aged',
      'faults',
      'crash',
      'forbidden',
      'revoked',
      'ended while forbidden',
    ]) {
      expect([what, (seen.get(what) ?? 0) > 10]).toEqual([what, true]);
    }
  });
});
