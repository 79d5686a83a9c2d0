/**
 * The queue between the network and the store: a keyed scan. Deltas pass in order; where the consumer has no
 * room they gather, and there they are folded. Lists and resyncs are resolved when they are popped, against what
 * the consumer knows by then. client-go: tools/cache/delta_fifo.go and the_real_fifo.go.
 *
 * It is one `Observable` with its state made in `subscribe`, not `merge(…).pipe(scan(…))`: a scan emits for every
 * input, so nothing would ever gather, and with an immutable state it is thirty times slower. The scan is its
 * oracle in the specs.
 */
import { EMPTY, Observable, type OperatorFunction } from 'rxjs';
import { inScope, metaNamespaceKeyFunc } from '../meta/key.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import type { Demand } from '../rx/demand.ts';
import { createDemandLoop } from '../rx/demand-loop.ts';
import { told } from '../rx/report-unhandled.ts';
import { isOutdatedDeletion, stateOf } from './outdated-deletions.ts';
import { keyOrNone, Overlay, OwnKnownObjects } from './overlay.ts';
import { type Compression, type Entry, Pending } from './pending-deltas.ts';
import { isEmptyScope, RelistUnderWay, type WholeList } from './relist.ts';

/** What {@link deltaFifo} takes. */
export interface DeltaFifoOptions<T> {
  /** What the consumer has. @defaultValue what has passed through */
  readonly known?: KnownObjects<T>;
  /** Asked before each pop. @defaultValue room always */
  readonly ready?: Demand;
  /** Each emission delivers every known object again, but those with something pending. Not a relist. */
  readonly resync$?: Observable<unknown>;
  /** How deltas of one key are folded while they wait. @defaultValue 'none' */
  readonly compression?: Compression;
  /** Told of a DELETED for a key that nobody knows; it is not passed on. */
  readonly onUnknownDeletion?: (key: string) => void;
  /** Given each subscription's queue when it begins: its size tells how much waits. */
  readonly onQueue?: (queue: { readonly size: number }) => void;
}

/** Throws a `TypeError` for a store whose keys are not those of deltas: relists would tombstone all it holds. */
export function checkKeys<T>(known: KnownObjects<T> | undefined, who: string): void {
  const keyOf = known?.keyOf;
  if (keyOf === undefined || keyOf === (metaNamespaceKeyFunc as unknown)) return;
  throw new TypeError(
    `${who}: deltas are keyed by namespace/name, but the store has its own keyOf`,
  );
}

/**
 * Folds deltas per key, resolves lists to one `replaced` with tombstones before it, and injects resyncs.
 *
 * Emits one array a pop, never an empty one. A list's end comes out as `deleted` (with `finalStateUnknown`, and the
 * newest state known: a queued one beats a stored one) for every key that is missing, then `replaced` with its
 * objects; on an empty store the parts go through as `replacing` and `replaced` says `flowed`. Source completion pops what is left, then completes; a source error passes at once; unsubscribing drops
 * what is queued.
 *
 * ```
 * source   a1-a2-b1---c1--|       ready: closed until p
 * ready    -----p-------p
 * result   -----x-------(y|)      x: [a1, a2, b1] or, with 'latest', [a2, b1]   y: [c1]
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { deltaFifo, type Delta } from 'rx-informer';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', resourceVersion: '5' } };
 * const gone: Delta<typeof web> = { type: 'deleted', key: 'db', finalStateUnknown: false };
 * const seen: string[] = [];
 * of([{ type: 'added', key: 'web', object: web } as const, gone])
 *   .pipe(deltaFifo())
 *   .subscribe((deltas) => seen.push(...deltas.map((delta) => delta.type)));
 * seen; // => ['added']
 * ```
 */
export function deltaFifo<T extends KubernetesObject>(
  options: DeltaFifoOptions<T> = {},
): OperatorFunction<readonly Delta<T>[], readonly Delta<T>[]> {
  const { ready, resync$, compression = 'none' } = options;
  const onUnknownDeletion = told(options.onUnknownDeletion);
  const onQueue = told(options.onQueue);
  checkKeys(options.known, 'deltaFifo');
  return (source) =>
    new Observable<readonly Delta<T>[]>((subscriber) => {
      const own = options.known === undefined ? new OwnKnownObjects<T>() : undefined;
      const known = options.known ?? (own as OwnKnownObjects<T>);
      const pending = new Pending<T>(compression);
      onQueue(pending);
      const wholes = new Map<Delta<T>, WholeList<T>>();
      const relists = new Map<string | undefined, RelistUnderWay<T>>();
      let resync = false;
      let retry = false;
      let ended = false;
      /** Nothing stands behind what is being resolved that would have to know of it. */
      let isLast = false;

      const relistOf = (scope: string | undefined) => {
        let relist = relists.get(scope);
        if (relist === undefined) {
          relist = new RelistUnderWay<T>();
          relists.set(scope, relist);
        }
        return relist;
      };
      const push = (delta: Delta<T>) => {
        switch (delta.type) {
          case 'replacing': {
            const through = relistOf(delta.scope).part(
              delta,
              () => pending.size === 0 && isEmptyScope(known, delta.scope),
            );
            if (through !== undefined) pending.pushWhole(through);
            return;
          }
          case 'replace-abort':
            return relistOf(delta.scope).abort() ? pending.pushWhole(delta) : undefined;
          case 'replaced': {
            // A place of its own, also where a source sends one delta twice.
            const place = { ...delta };
            wholes.set(place, relistOf(delta.scope).end(delta));
            return pending.pushWhole(place);
          }
          case 'bookmark':
            return pending.pushWhole(delta);
          case 'retry':
            retry = true;
            return undefined;
          default:
            return pending.push(delta);
        }
      };

      const resolveWhole = (list: WholeList<T>, overlay: Overlay<T>, out: Delta<T>[]) => {
        const { delta, held, flowed, rejected, keyless } = list;
        const { scope } = delta;
        const missing: string[] = [];
        for (const key of flowed ? [] : overlay.keys()) {
          if (held.has(key) || rejected.has(key)) continue;
          if (inScope(key, scope)) missing.push(key);
        }
        for (const key of missing) {
          const object = overlay.get(key) as T;
          out.push({ type: 'deleted', key, object, finalStateUnknown: true });
          overlay.set(key, undefined);
        }
        if (!isLast) overlay.refuseListed(rejected, scope, flowed);
        const objects: T[] = [];
        for (const [key, object] of held) {
          objects.push(object);
          if (!isLast) overlay.set(key, object);
        }
        objects.push(...keyless);
        // What flowed through is not handed over again: a first list is walked once.
        out.push({
          ...delta,
          objects,
          ...(flowed ? { flowed } : {}),
          ...(rejected.size === 0 ? {} : { rejected: [...rejected.values()] }),
        });
      };
      const resolve = (place: Entry<T>, overlay: Overlay<T>, out: Delta<T>[]) => {
        if (place.kind === 'net') {
          if (place.deleted !== undefined) remove(place.deleted, overlay, out, place.fleeting);
          if (place.ended !== undefined) remove(place.ended, overlay, out, true);
          if (place.present !== undefined) resolveDelta(place.present, overlay, out);
          if (place.refused !== undefined) resolveDelta(place.refused, overlay, out);
        } else resolveDelta(place.delta, overlay, out);
      };
      const remove = (
        delta: Extract<Delta<T>, { type: 'deleted' }>,
        overlay: Overlay<T>,
        out: Delta<T>[],
        fleeting = false,
      ) => {
        const { key } = delta;
        const newest = overlay.get(key);
        const refused = overlay.refused(key);
        if (newest === undefined && refused === undefined) {
          if (!fleeting) onUnknownDeletion(key);
          return;
        }
        if (newest !== undefined && isOutdatedDeletion(delta, stateOf(newest))) return;
        if (refused !== undefined && !isOutdatedDeletion(delta, refused))
          overlay.refuse(key, undefined);
        overlay.set(key, undefined);
        const isTold = delta.object !== undefined || newest === undefined;
        out.push(isTold ? delta : { ...delta, object: newest });
      };
      const resolveDelta = (delta: Delta<T>, overlay: Overlay<T>, out: Delta<T>[]) => {
        if (delta.type === 'deleted') return remove(delta, overlay, out);
        if (delta.type === 'replaced') {
          const list = wholes.get(delta);
          wholes.delete(delta);
          if (list !== undefined) resolveWhole(list, overlay, out);
          return;
        }
        out.push(delta);
        if (isLast) return;
        if (delta.type === 'replacing') {
          for (const object of delta.objects) {
            const key = keyOrNone(object);
            if (key !== undefined) overlay.set(key, object);
          }
          for (const refused of delta.rejected ?? []) overlay.refuse(refused.key, refused);
          for (const key of delta.removed ?? []) {
            overlay.set(key, undefined);
            overlay.refuse(key, undefined);
          }
        } else if (delta.type === 'refused') overlay.refuse(delta.key, delta.refused);
        else if ('key' in delta) overlay.set(delta.key, delta.object);
      };
      const pop = () => {
        const entries = pending.take();
        const overlay = new Overlay(known);
        const out: Delta<T>[] = [];
        for (let at = 0; at < entries.length; at++) {
          isLast = at === entries.length - 1 && !resync;
          resolve(entries[at] as Entry<T>, overlay, out);
        }
        if (retry) out.push({ type: 'retry' });
        retry = false;
        if (resync) {
          resync = false;
          for (const key of [...known.keys()]) {
            const object = overlay.get(key);
            if (overlay.touched(key) || object === undefined) continue;
            out.push({ type: 'sync', key, object });
          }
        }
        own?.apply(out);
        if (out.length > 0) subscriber.next(out);
      };
      // What the consumer sends back while it is told is resolved against what it knows then: never within a pop.
      const server = createDemandLoop({
        ready,
        hasWork: () => pending.size > 0 || resync || retry,
        serve: pop,
        onIdle: () => {
          if (ended) subscriber.complete();
        },
        onError: (error) => subscriber.error(error),
      });
      subscriber.add(() => server.close());
      subscriber.add(
        (resync$ ?? EMPTY).subscribe({
          next: () => {
            resync = true;
            server.request();
          },
          error: (error) => subscriber.error(error),
        }),
      );
      subscriber.add(
        source.subscribe({
          next: (deltas) => {
            for (const delta of deltas) push(delta);
            server.request();
          },
          error: (error) => subscriber.error(error),
          complete: () => {
            ended = true;
            server.request();
          },
        }),
      );
    });
}
