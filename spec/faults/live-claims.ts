/**
 * Checks what a status promises when it becomes live: nothing that the server wrote before is still on its way (R32). An
 * outage of less than 2 s is no outage, so what was written later than that is not compared.
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

/** Whether a watch may be open that delivers nothing although the server answers. */
function maySilence(machine: ClaimParts['machine'], nowMs: number): boolean {
  return machine.played.some(({ atMs, fault }) => {
    const { kind } = fault;
    if (kind === 'swap') return true;
    if (kind !== 'silence' && kind !== 'half-open') return false;
    return nowMs < atMs + fault.forMs + SILENT_MS;
  });
}

/** Records every claim of an informer to be live that is not true. Returns the number of claims so far. */
export function checkLiveClaims(parts: ClaimParts): () => number {
  const { informer, truth, selects, scheduler, machine, wrong } = parts;
  let wasLive = false;
  let claims = 0;
  const check = (): void => {
    const nowMs = scheduler.now();
    if (!parts.isReading() || maySilence(machine, nowMs)) return;
    claims++;
    const has = new Map(informer.indexer.list().map(({ metadata }) => [metadata.uid, metadata]));
    for (const uid of truth.changedBefore(nowMs - SHORT_MS)) {
      const thing = truth.now.get(uid);
      const expected = thing && selects(thing) ? thing.metadata.resourceVersion : undefined;
      const version = has.get(uid)?.resourceVersion;
      if (version !== expected) {
        wrong.push(`live at ${nowMs}: has ${uid} at ${version}, the server has ${expected}`);
      }
    }
  };
  informer.status$.subscribe(({ live }) => {
    if (live && !wasLive) check();
    wasLive = live;
  });
  return () => claims;
}
