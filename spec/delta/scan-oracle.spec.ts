import { type Delta, deltaFifo, rememberedObjects } from 'rx-informer';
import { Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as fc from '../support/fast-check.ts';
import { type CompressionName, compressions } from './compressions.ts';
import {
  added,
  deleted,
  keyOf,
  lost,
  type Pod,
  pod,
  refusal,
  refused,
  retry,
  updated,
} from './pods.ts';
import { scanFifo } from './scan-oracle.ts';

/** A random step of the server or the reflector. */
const step = fc.record({
  what: fc.constantFrom(
    ...(['put', 'put', 'put', 'put', 'delete', 'delete', 'lose', 'recreate', 'unknown'] as const),
    ...(['part', 'part', 'end', 'abort', 'bookmark', 'resync', 'pop', 'pop'] as const),
    ...(['refuse', 'refuse', 'retry'] as const),
  ),
  key: fc.constantFrom('shop/a', 'shop/b', 'lab/a', 'lab/b'),
  scope: fc.constantFrom(undefined, undefined, 'shop', 'lab'),
  keys: fc.uniqueArray(fc.constantFrom('shop/a', 'shop/b', 'lab/a', 'lab/c'), { maxLength: 3 }),
  fate: fc.constantFrom('removed', 'refused', 'none'),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
type Act = { pop: true } | { resync: true } | { deltas: Delta<Pod>[] };

/** Plays the steps. Versions grow, and an object keeps its UID until it is deleted. */
function play(steps: readonly Step[]): Act[] {
  const there = new Map<string, Pod>();
  let version = 0;
  const make = (key: string, old?: Pod) => {
    version++;
    const made = pod(key, version, old?.metadata.uid ?? `u${version}`);
    there.set(key, made);
    return made;
  };
  const one = ({ what, key, scope, keys, fate }: Step): Delta<Pod>[] => {
    const old = there.get(key);
    const scoped = scope === undefined ? {} : { scope };
    const mine = keys.filter((name) => scope === undefined || name.startsWith(`${scope}/`));
    const [first, ...others] = mine;
    const refusals =
      fate === 'refused' && first !== undefined ? [refusal(make(first, there.get(first)))] : [];
    const fates: Pick<Extract<Delta<Pod>, { type: 'replacing' }>, 'removed' | 'refused'> = {
      ...(fate === 'removed' && first !== undefined ? { removed: [first] } : {}),
      ...(refusals.length > 0 ? { refused: refusals } : {}),
    };
    const objects = (fate === 'none' ? mine : others).map((name) => make(name, there.get(name)));
    switch (what) {
      case 'put':
        return [old === undefined ? added(make(key)) : updated(make(key, old))];
      case 'refuse':
        return [refused(make(key, old))];
      case 'retry':
        return [retry];
      case 'recreate':
        return [updated(make(key))];
      case 'delete':
      case 'lose':
        if (old === undefined) return [];
        version++;
        there.delete(key);
        return [what === 'lose' ? lost(key) : deleted(pod(key, version, old.metadata.uid))];
      case 'unknown':
        return [lost('lab/nobody')];
      case 'part':
        return [{ type: 'replacing', ...scoped, objects, ...fates }];
      case 'end': {
        const refused = refusals.length > 0 ? { refused: refusals } : {};
        const resourceVersion = String(++version);
        const rest = { ...scoped, ...refused, resourceVersion, trustVersions: true };
        return [{ type: 'replaced', objects, ...rest }];
      }
      case 'abort':
        return [{ type: 'replace-abort', ...scoped }];
      default:
        return [{ type: 'bookmark', ...scoped, resourceVersion: String(++version) }];
    }
  };
  return steps.map((next): Act => {
    if (next.what === 'pop') return { pop: true };
    if (next.what === 'resync') return { resync: true };
    return { deltas: one(next) };
  });
}

/** Sorts the tombstones of a list, the objects of a list and syncs, because their order is not defined. */
function lines(deltas: readonly Delta<Pod>[]): unknown[] {
  const out: unknown[] = [];
  let run: { key: string }[] = [];
  const flush = () => {
    out.push(...run.sort((a, b) => (a.key < b.key ? -1 : 1)));
    run = [];
  };
  for (const delta of deltas) {
    if (delta.type === 'sync') {
      run.push(delta);
      continue;
    }
    flush();
    if (delta.type !== 'replaced') out.push(delta);
    else {
      const objects = [...delta.objects].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      const refused = (delta.refused ?? []).map(({ key }) => key).sort();
      const missing = [...(delta.missing ?? [])].sort((a, b) => (a.key < b.key ? -1 : 1));
      const listed = [...(delta.listed ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
      out.push({ ...delta, objects, refused, missing, listed });
    }
  }
  flush();
  return out;
}

function run(acts: readonly Act[], compression: CompressionName) {
  const source = new Subject<readonly Delta<Pod>[]>();
  const [pop$, resync$] = [new Subject<void>(), new Subject<void>()];
  const [operator, oracle]: [unknown[], unknown[]] = [[], []];
  source
    .pipe(
      deltaFifo({
        known: rememberedObjects(),
        ready: () => pop$,
        resync$,
        compression: compressions[compression],
      }),
    )
    .subscribe((deltas) => operator.push(lines(deltas)));
  source
    .pipe(scanFifo(pop$, resync$, compression))
    .subscribe((deltas) => oracle.push(lines(deltas)));
  for (const act of [...acts, { pop: true } as const]) {
    if ('pop' in act) pop$.next();
    else if ('resync' in act) resync$.next();
    else source.next(act.deltas);
  }
  return { operator, oracle };
}

describe('deltaFifo compared with its definition', () => {
  it.each<CompressionName>(['none', 'latest'])(
    'F1, F2, F3, F4, F5, F7, F9, F11, F12, R23: the queue gives the same results as the literal keyed scan on random histories, compression %s (TestRealFIFO_ReplaceMakesDeletionsReplaced, TestRealFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue, TestRealFIFO_replaceWithDeleteDeltaIn, TestRealFIFO_ReplaceAtomic, TestRealFIFO_Resync, TestRealFIFO_ResyncAtomic, TestRealFIFO_ResyncNonExisting, TestRealFIFO_UpdateResyncRace)',
    (compression) => {
      let popped = 0;
      fc.assert(
        fc.property(fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }), (steps) => {
          const { operator, oracle } = run(play(steps), compression);
          expect(operator).toEqual(oracle);
          popped += operator.length;
        }),
        { numRuns: 500, seed: 7 },
      );
      expect(popped).toBeGreaterThan(500);
    },
  );
});
