/** Random lives of a program over a fake server and a store, and everything that goes wrong in them. */
import { differentialDecoding, jsonDecoding } from 'rx-informer';
import { seededRandom } from 'rx-informer/testing';
import type { MemorySnapshot } from './memory-store.ts';
import { contents, type LifeOptions, persistRig, requestsOf, services } from './rig.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
/** Longer than any backoff in a life, so that an informer can recover from its last fault. */
const HEALS_MS = 150_000;

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
export interface Lived {
  /** What went wrong. */
  readonly wrong: string[];
  /** How often each kind of start and of trouble was seen, so that a test can require all of them. */
  readonly seen: Map<string, number>;
}

/** Runs the lives of one seed. */
export async function live(seed: number): Promise<Lived> {
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

  /** The contents of the server by version, in its present history. */
  let truth = new Map<string, string>();
  let compacted = 0;
  const now = () =>
    server.objects
      .list(services)
      .map(
        ({ metadata }) =>
          `${metadata.namespace}/${metadata.name}=${metadata.annotations?.['revision']}`,
      )
      .sort()
      .join(' ');
  const version = () => Number(server.objects.resourceVersion);
  const record = () => truth.set(String(version()), now());
  const at = (resourceVersion: string): string | undefined => {
    // A version between two changes, for example of other collections, has the contents of the change before it.
    for (let from = Number(resourceVersion); from > 0; from--) {
      const found = truth.get(String(from));
      if (found !== undefined) return found;
    }
    return '';
  };
  let revision = 0;
  const change = () => {
    const name = pick(NAMES);
    const exists = server.objects.get(services, { name, namespace: 'shop' }) !== undefined;
    const dice = random();
    if (dice < 0.15) server.objects.advance(1 + Math.floor(random() * 5));
    else if (dice < 0.4 && exists) rig.delete(name);
    else rig.put(name, ++revision);
    record();
  };
  const shown = ({ objects }: MemorySnapshot) =>
    [...objects.values()]
      .map((text) => JSON.parse(text))
      .map(({ metadata }) => `shop/${metadata.name}=${metadata.annotations.revision}`)
      .sort()
      .join(' ');
  /** Whether the server refuses the life that runs. */
  let isRefused = () => false;
  store.onWrite = (stored) => {
    if (isRefused()) told('stored objects that are forbidden');
    const expected = at(stored.resourceVersion);
    if (shown(stored) === expected) return;
    told(`stored ${shown(stored)} at ${stored.resourceVersion}, where the server had ${expected}`);
  };

  record();
  let backup:
    | {
        snapshot: ReturnType<typeof server.objects.snapshot>;
        truth: Map<string, string>;
      }
    | undefined;
  /** Collections of a history that the server no longer has. */
  const lost = new Set<MemorySnapshot>();
  for (let lives = 3 + Math.floor(random() * 4); lives > 0; lives--) {
    // A restored server that has passed the stored version already cannot be recognized, so these are not compared.
    for (const [id, each] of store.collections) if (lost.has(each)) store.collections.delete(id);
    for (let changes = Math.floor(random() * 6); changes > 0; changes--) change();
    if (random() < 0.25 || backup === undefined) {
      backup = { snapshot: server.objects.snapshot(), truth: new Map(truth) };
    } else if (random() < 0.3) {
      server.objects.restoreSnapshot(backup.snapshot);
      // A restored server has no history.
      compacted = version();
      truth = new Map(backup.truth);
      for (const each of store.collections.values()) {
        if (Number(each.resourceVersion) > version()) lost.add(each);
      }
      note('restored');
    }
    if (random() < 0.2) {
      server.objects.compact();
      compacted = version();
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
      server.faults.failNext(
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
      if (!set.synced) return;
      const has = contents(informer).join(' ');
      const expected = at(set.resourceVersion);
      if (has !== expected) told(`synced with ${has} at ${set.resourceVersion}: ${expected}`);
    });
    if (isLost) await time.advance(50);
    for (let steps = Math.floor(random() * 8); steps > 0; steps--) {
      await time.advance(random() * 4_000);
      const dice = random();
      if (dice < 0.6) change();
      else if (dice < 0.7) server.faults.dropWatches();
      else if (dice < 0.75) {
        server.objects.compact();
        compacted = version();
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
    const isOwn = ({ head, savedAtMs }: MemorySnapshot) => {
      const { identity, query, app } = JSON.parse(head);
      const { labelSelector } = options.scopes?.[0] ?? {};
      return (
        identity === (options.snapshots?.identity ?? 'alice') &&
        app === (options.snapshots?.appVersion ?? '') &&
        query.labelSelector === labelSelector &&
        time.now() - savedAtMs < 86_000_000
      );
    };
    const own = before.find(isOwn);
    const isInWindow =
      own !== undefined &&
      !wasExpired &&
      Number(own.resourceVersion) >= compacted &&
      Number(own.resourceVersion) <= startedAt;
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
      if (isRefused() && informer.indexer.size > 0 && !wasSynced)
        told('shows objects that are forbidden');
      const keeps = () => [...store.collections.values()].some(isOwn);
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
    if (contents(informer).join(' ') !== now()) told(`has ${contents(informer)}: ${now()}`);
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
    const written = [...store.collections.values()].find(isOwn);
    if (written === undefined) told('stored nothing');
    else if (shown(written) !== now()) told(`stored ${shown(written)}: ${now()}`);
    if (!isUnknown && life.warnings.some(({ type }) => type === 'not-stored'))
      told(life.warnings[0]?.message ?? '');
  }
  return { wrong, seen };
}
