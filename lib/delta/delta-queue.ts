/** The state of one `deltaFifo`: the deltas that wait, the lists that are still arriving, and a due resync or retry. */
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Delta } from '../reflector/delta.ts';
import { Overlay, OwnKnownObjects } from './overlay.ts';
import { type Compression, type Entry, Pending } from './pending-deltas.ts';
import { isEmptyScope, RelistUnderWay, type WholeList } from './relist.ts';
import { Resolution } from './resolution.ts';

export class DeltaQueue<T extends KubernetesObject> {
  /** A resync is due. */
  resync = false;
  /** Everything in order, one entry per list, bookmark or, folded, key. */
  readonly pending: Pending<T>;
  readonly #own: OwnKnownObjects<T> | undefined;
  readonly #known: KnownObjects<T>;
  readonly #onUnknownDeletion: (key: string) => void;
  readonly #wholes = new Map<Delta<T>, WholeList<T>>();
  readonly #relists = new Map<string | undefined, RelistUnderWay<T>>();
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
        const through = this.#relistOf(delta.scope).part(
          delta,
          () => pending.size === 0 && isEmptyScope(this.#known, delta.scope),
        );
        if (through !== undefined) pending.pushWhole(through);
        return;
      }
      case 'replace-abort':
        if (this.#relistOf(delta.scope).abort()) pending.pushWhole(delta);
        return;
      case 'replaced': {
        // A place of its own, also if a source sends one delta twice.
        const place = { ...delta };
        this.#wholes.set(place, this.#relistOf(delta.scope).end(delta));
        pending.pushWhole(place);
        return;
      }
      case 'bookmark':
        pending.pushWhole(delta);
        return;
      case 'retry':
        this.#retry = true;
        return;
      default:
        pending.push(delta);
    }
  }

  /** Takes everything that waits, resolved against the known objects. */
  pop(): readonly Delta<T>[] {
    const entries = this.pending.take();
    const resolution = new Resolution<T>(
      new Overlay(this.#known),
      (place) => this.#takeWhole(place),
      this.#onUnknownDeletion,
    );
    const { out } = resolution;
    for (let at = 0; at < entries.length; at++) {
      resolution.resolve(entries[at] as Entry<T>, at === entries.length - 1 && !this.resync);
    }
    if (this.#retry) out.push({ type: 'retry' });
    this.#retry = false;
    if (this.resync) {
      this.resync = false;
      resolution.resync(this.#known.keys());
    }
    this.#own?.apply(out);
    return out;
  }

  #takeWhole(place: Delta<T>): WholeList<T> | undefined {
    const list = this.#wholes.get(place);
    this.#wholes.delete(place);
    return list;
  }

  #relistOf(scope: string | undefined): RelistUnderWay<T> {
    let relist = this.#relists.get(scope);
    if (relist === undefined) {
      relist = new RelistUnderWay<T>();
      this.#relists.set(scope, relist);
    }
    return relist;
  }
}
