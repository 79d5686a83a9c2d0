/** Says why a collection is not stored, or was not read from the store, and counts this and the writes. */
import type { InformerPort } from '../informer/part.ts';
import type { ReadCollection } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Metered, SnapshotFigures } from '../meta/metrics.ts';

/** The reasons in words, which what is known of the failure continues. */
const WORDS = {
  'other-informer': 'another informer of this program stores it under the same identity',
  'other-version': 'it was written by another version of rx-informer',
  'unknown-cluster': '',
  damaged: '',
  'read-failed': 'the store cannot be read: ',
  'write-failed': 'the store cannot be written: ',
} as const;

/** The report of one keeper. */
export class StoreReport {
  readonly #port: Pick<InformerPort<KubernetesObject>, 'name' | 'metricAttributes' | 'warn'>;
  readonly #collection: ReadCollection;
  readonly #figures: SnapshotFigures | undefined;
  #hasWarned = false;

  constructor(
    port: Pick<InformerPort<KubernetesObject>, 'name' | 'metricAttributes' | 'warn'>,
    collection: ReadCollection,
    metrics: Metered | undefined,
  ) {
    this.#port = port;
    this.#collection = collection;
    this.#figures = metrics?.snapshots(port.name, port.metricAttributes, Object.keys(WORDS));
  }

  /** Whether something was reported. */
  get hasWarned(): boolean {
    return this.#hasWarned;
  }

  notStored(reason: keyof typeof WORDS, more = ''): void {
    this.#hasWarned = true;
    this.#figures?.notStored(reason);
    const { path } = this.#collection.get({});
    const message = `${path} is not stored, or was not read from the store: ${WORDS[reason]}${more}`;
    this.#port.warn({ type: 'not-stored', message });
  }

  written(): void {
    this.#figures?.written();
  }
}
