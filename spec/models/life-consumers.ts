/** Consumers that track what they receive and record inconsistencies: a change that does not fit, a call out of turn. */
import { type ChangeSet, metaNamespaceKeyFunc, type ResourceEventHandler } from 'rx-informer';
import type { Pod } from '../support/scripted-list-watch.ts';

/** The state of a consumer by key, according to what it received. */
export class ConsumerState {
  readonly objects = new Map<string, Pod>();
  readonly #name: string;
  readonly #fail: (what: string) => void;

  constructor(name: string, fail: (what: string) => void) {
    this.#name = name;
    this.#fail = fail;
  }

  set(set: ChangeSet<Pod>): void {
    if (set.reset) this.objects.clear();
    for (const { key, previous, object } of set.changes) this.change(key, previous, object);
  }

  change(key: string, previous: Pod | undefined, object: Pod | undefined): void {
    const had = this.objects.get(key);
    if (had !== previous) {
      const version = (pod: Pod | undefined) => pod?.metadata.resourceVersion ?? 'nothing';
      this.#fail(
        `${this.#name}: ${key} was ${version(had)}, the handler received ${version(previous)}`,
      );
    }
    if (object === undefined) this.objects.delete(key);
    else this.objects.set(key, object);
  }
}

/** A handler that tracks what it receives; `around` wraps each call. */
export function trackingHandler(
  state: ConsumerState,
  around: (kind: 'onAdd' | 'onUpdate' | 'onDelete') => unknown,
): ResourceEventHandler<Pod> {
  return {
    onAdd: (object) => {
      state.change(metaNamespaceKeyFunc(object), undefined, object);
      return around('onAdd');
    },
    onUpdate: (previous, object) => {
      state.change(metaNamespaceKeyFunc(object), previous, object);
      return around('onUpdate');
    },
    onDelete: ({ key, previous }) => {
      state.change(key, previous, undefined);
      return around('onDelete');
    },
  };
}
