/**
 * The state of one `deltaFifo` subscription: the waiting deltas, the lists in progress, and whether a resync or a retry
 * is due.
 */
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import { Overlay, OwnKnownObjects } from './overlay.ts';
import { type Compression, type Entry, Pending } from './pending-deltas.ts';
import { isEmptyScope, RelistInProgress } from './relist.ts';
import { Resolution } from './resolution.ts';

export class DeltaQueue<T extends KubernetesObject> {
  /** Whether a resync is due. */
  resync = false;
  /** The waiting entries in order: one per list and bookmark, and one per delta or, if folded, per key. */
  readonly pending: Pending<T>;
  readonly #own: OwnKnownObjects<T> | undefined;
  readonly #known: KnownObjects<T>;
  readonly #onUnknownDeletion: (key: string) => void;
  readonly #relists = new Map<string | undefined, RelistInProgress<T>>();
  #retry = false;

  constructor(
    known: KnownObjects<T> | undefined,
    compression: Compression,
    onUnknownDeletion: (key: string) => void,
  ) {
    this.#own = known === undefined ? new OwnKnownObjects<T>() : undefined;
    this.#known = known ?? (this.#own as OwnKnownObjects<T>);
    this.pending = new Pending<T>(compression);
    this.#onUnknownDeletion = onUnknownDeletion;
  }

  get hasWork(): boolean {
    return this.pending.size > 0 || this.resync || this.#retry;
  }

  push(delta: Delta<T>): void {
    const { pending } = this;
    switch (delta.type) {
      case 'replacing': {
        const part = this.#relistOf(delta.scope).part(
          delta,
          () => pending.size === 0 && isEmptyScope(this.#known, delta.scope),
        );
        if (part !== undefined) pending.pushUnkeyed(part);
        return;
      }
      case 'replace-abort':
        if (this.#relistOf(delta.scope).abort()) pending.pushUnkeyed(delta);
        return;
      case 'replaced':
        pending.pushUnkeyed(this.#relistOf(delta.scope).end(delta));
        return;
      case 'bookmark':
      case 'rebalanced':
        pending.pushUnkeyed(delta);
        return;
      case 'retry':
        this.#retry = true;
        return;
      default:
        pending.push(delta);
    }
  }

  /** Removes all waiting entries and returns their deltas, resolved against the known objects. */
  pop(): readonly Delta<T>[] {
    const { lastToResolve } = this.pending;
    const entries = this.pending.take();
    // Most batches contain only new states, which are passed on as they are.
    const isResolved = lastToResolve === -1 && !this.resync && !this.#retry;
    const out = isResolved ? (entries as Delta<T>[]) : this.#resolve(entries, lastToResolve);
    this.#own?.apply(out);
    return out;
  }

  #resolve(entries: readonly Entry<T>[], lastToResolve: number): Delta<T>[] {
    const { resync } = this;
    const resolution = new Resolution<T>(new Overlay(this.#known), this.#onUnknownDeletion);
    const { out } = resolution;
    for (let at = 0; at < entries.length; at++) {
      resolution.resolve(entries[at] as Entry<T>, at >= lastToResolve && !resync);
    }
    if (this.#retry) out.push({ type: 'retry' });
    this.#retry = false;
    this.resync = false;
    if (resync) resolution.resync(this.#known.keys());
    return out;
  }

  #relistOf(scope: string | undefined): RelistInProgress<T> {
    let relist = this.#relists.get(scope);
    if (relist === undefined) {
      relist = new RelistInProgress<T>();
      this.#relists.set(scope, relist);
    }
    return relist;
  }
}
