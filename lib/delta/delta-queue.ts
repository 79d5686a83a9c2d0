/**
 * The state of one `deltaFifo` subscription: the waiting deltas, the lists in progress, and whether a resync or a retry
 * is due.
 */
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Deletion, Delta } from '../reflector/delta.ts';
import { KnownSoFar } from './known-so-far.ts';
import {
  betterInformed,
  type Compression,
  type Entry,
  type Folding,
  isSameDeletion,
  type Keyed,
} from './pending-deltas.ts';
import { isEmptyScope, RelistInProgress } from './relist.ts';
import { Resolution } from './resolution.ts';

/** The objects that the consumer of a queue has. */
export interface QueueMemory<T> extends KnownObjects<T> {
  /** Called with the deltas of each pop, before the consumer receives them. */
  popped?(deltas: readonly Delta<T>[]): void;
}

export class DeltaQueue<T extends KubernetesObject> {
  /** Whether a resync is due. */
  resync = false;
  /** The waiting entries in order: one per list and bookmark, and one per delta or, if folded, per key. */
  #entries: Entry<T>[] = [];
  /** The last entry that must be resolved against the known objects: a deletion, a list or a net; -1 if none must. */
  #lastToResolve = -1;
  readonly #folding: Folding<T> | undefined;
  /** Without folding: the place of each key's last entry since the last relist, if that entry is a deletion. */
  #deletions = new Map<string, number>();
  readonly #known: QueueMemory<T>;
  readonly #onUnknownDeletion: (key: string) => void;
  readonly #relists = new Map<string | undefined, RelistInProgress<T>>();
  #retry = false;

  constructor(
    known: QueueMemory<T>,
    compression: Compression | undefined,
    onUnknownDeletion: (key: string) => void,
  ) {
    this.#known = known;
    this.#folding = compression?.();
    this.#onUnknownDeletion = onUnknownDeletion;
  }

  get size(): number {
    return this.#entries.length;
  }

  get hasWork(): boolean {
    return this.size > 0 || this.resync || this.#retry;
  }

  push(delta: Delta<T>): void {
    switch (delta.type) {
      case 'replacing': {
        const part = this.#relistOf(delta.scope).part(
          delta,
          () => this.size === 0 && isEmptyScope(this.#known, delta.scope),
        );
        if (part !== undefined) this.#append(part);
        return;
      }
      case 'replace-abort':
        if (this.#relistOf(delta.scope).abort()) this.#append(delta);
        return;
      case 'replaced':
        this.#append(this.#relistOf(delta.scope).end(delta));
        return;
      case 'bookmark':
      case 'rebalanced':
        this.#append(delta);
        return;
      case 'retry':
        this.#retry = true;
        return;
      default:
        this.#pushKeyed(delta);
    }
  }

  /** Removes all waiting entries and returns their deltas, resolved against the known objects. */
  pop(): readonly Delta<T>[] {
    const entries = this.#entries;
    const lastToResolve = this.#lastToResolve;
    this.#entries = [];
    this.#lastToResolve = -1;
    this.#forgetKeys();
    // Most batches contain only new states, which are passed on as they are.
    const isResolved = lastToResolve === -1 && !this.resync && !this.#retry;
    const out = isResolved ? (entries as Delta<T>[]) : this.#resolve(entries, lastToResolve);
    this.#known.popped?.(out);
    return out;
  }

  #resolve(entries: readonly Entry<T>[], lastToResolve: number): Delta<T>[] {
    const { resync } = this;
    const resolution = new Resolution<T>(new KnownSoFar(this.#known), this.#onUnknownDeletion);
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

  /** Queues a delta without a key. */
  #append(delta: Delta<T>): void {
    this.#entries.push(delta);
    // Deltas are never folded across a relist.
    if (delta.type !== 'replaced' && delta.type !== 'rebalanced') return;
    this.#toResolve();
    this.#forgetKeys();
  }

  #pushKeyed(delta: Keyed<T>): void {
    if (this.#folding !== undefined) {
      if (this.#folding.push(delta, this.#entries)) this.#toResolve();
    } else if (delta.type === 'deleted') this.#appendDeletion(delta);
    else {
      if (this.#deletions.size > 0) this.#deletions.delete(delta.key);
      this.#entries.push(delta);
    }
  }

  #appendDeletion(delta: Deletion<T>): void {
    const at = this.#deletions.get(delta.key);
    const last = at === undefined ? undefined : (this.#entries[at] as Deletion<T>);
    if (at !== undefined && last !== undefined && isSameDeletion(last, delta)) {
      this.#entries[at] = betterInformed(last, delta);
      return;
    }
    this.#deletions.set(delta.key, this.size);
    this.#entries.push(delta);
    this.#toResolve();
  }

  #forgetKeys(): void {
    this.#folding?.forget();
    if (this.#deletions.size > 0) this.#deletions = new Map();
  }

  /** Marks the entry that was just queued. */
  #toResolve(): void {
    this.#lastToResolve = this.size - 1;
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
