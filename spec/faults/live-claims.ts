/**
 * Checks what a status promises. When it becomes live, nothing that the server wrote before is still on its way (R32). An
 * outage of less than 2 s is no outage, so what was written later than that is not compared. While it is not live, the
 * rows were right at `staleSinceMs` (I71). After the server has restored a backup, nobody promises anything before the
 * informer has noticed that.
 */
import type { SharedInformer } from 'rx-informer';
import type { FaultMachine } from 'rx-informer/testing';
import type { SchedulerLike } from 'rxjs';
import type { Pod } from './history.ts';
import type { Selects, Truth } from './judge.ts';

const SHORT_MS = 2_000;
/** A watch that has become silent is noticed after this long, in milliseconds. */
const SILENT_MS = 90_000;

/** What the claims are compared with. */
export interface ClaimParts {
  readonly informer: SharedInformer<Pod>;
  readonly truth: Truth;
  readonly selects: Selects;
  readonly scheduler: SchedulerLike;
  readonly machine: Pick<FaultMachine, 'played'>;
  /** Whether the informer reads what arrives. */
  isReading(): boolean;
  readonly wrong: string[];
}

type Played = FaultMachine['played'];

/** Whether a watch may be open that delivers nothing, or not everything, although the server answers. */
function isHeldUp(played: Played, nowMs: number): boolean {
  return played.some(({ atMs, fault }) => {
    if (fault.kind === 'swap') return true;
    if (fault.kind !== 'silence' && fault.kind !== 'half-open') return false;
    return nowMs < atMs + fault.forMs + SILENT_MS;
  });
}

/** Records every claim of an informer that is not true. Returns the number of checked claims so far. */
export function checkLiveClaims(parts: ClaimParts): () => number {
  const { informer, truth, selects, scheduler, machine, wrong } = parts;
  let wasLive = false;
  /** Whether the status became stale at a time at which claims can be compared. */
  let isKnown = true;
  let claims = 0;
  /** What the server has not changed since this time must be in the store. */
  const check = (claim: string, sinceMs: number): void => {
    claims++;
    const has = new Map(informer.indexer.list().map(({ metadata }) => [metadata.uid, metadata]));
    for (const uid of truth.changedBefore(sinceMs)) {
      const thing = truth.now.get(uid);
      const expected = thing && selects(thing) ? thing.metadata.resourceVersion : undefined;
      const version = has.get(uid)?.resourceVersion;
      if (version !== expected) {
        wrong.push(`${claim}: has ${uid} at ${version}, the server has ${expected}`);
      }
    }
  };
  informer.status$.subscribe(({ live, synced, staleSinceMs }) => {
    const nowMs = scheduler.now();
    const { played } = machine;
    const isComparable =
      synced && parts.isReading() && truth.epoch === 0 && !isHeldUp(played, nowMs);
    if (wasLive && !live) isKnown = isComparable;
    if (isComparable && live && !wasLive) {
      check(`live at ${nowMs}`, nowMs - SHORT_MS);
    } else if (isComparable && isKnown && staleSinceMs !== undefined) {
      check(`stale at ${nowMs} since ${staleSinceMs}`, staleSinceMs - SHORT_MS);
    }
    wasLive = live;
  });
  return () => claims;
}
