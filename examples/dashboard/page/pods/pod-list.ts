/**
 * The data of the page, updated by change sets: sorted rows, filtered rows, and counts. The cost of a batch is
 * proportional to the batch, plus one copy of the array of rows.
 */
import type { ChangeSet } from 'rx-informer';
import type { Pod } from 'rx-informer/resources';
import { versionHash, withHash, withoutHash } from '../../shared/fingerprint.ts';
import { type Filter, isOpen, noFilter, testOf } from './filter.ts';
import { type Compare, orderOf, type Sort } from './order.ts';
import { type PodRow, podRow } from './pod-row.ts';
import { mergeRows } from './sorted-rows.ts';
import { type Count, Tally } from './tally.ts';

/** A snapshot of the list. Each change creates a new snapshot, in which unchanged parts keep their identity. */
export interface PodListSnapshot {
  readonly rows: readonly PodRow[];
  readonly total: number;
  readonly synced: boolean;
  readonly resourceVersion: string;
  readonly sort: Sort;
  readonly filter: Filter;
  readonly phases: readonly Count[];
  readonly namespaces: readonly Count[];
  readonly trouble: number;
  /** The fingerprint of all pods and their versions, to compare with the server's. */
  readonly fingerprint: number;
  /** The number of changes received since the page was opened. */
  readonly changes: number;
}

interface Entry {
  readonly row: PodRow;
  /** The hash of the pod's UID and version. */
  readonly hash: number;
}

/** The list behind the table. */
export class PodList {
  readonly #entries = new Map<string, Entry>();
  readonly #phases = new Tally();
  readonly #namespaces = new Tally();
  readonly #listeners = new Set<() => void>();
  #compare: Compare;
  #test: (row: PodRow) => boolean;
  #sorted: readonly PodRow[] = [];
  #snapshot: PodListSnapshot;

  constructor(sort: Sort) {
    this.#compare = orderOf(sort);
    this.#test = testOf(noFilter);
    this.#snapshot = {
      rows: [],
      total: 0,
      synced: false,
      resourceVersion: '',
      sort,
      filter: noFilter,
      phases: [],
      namespaces: [],
      trouble: 0,
      fingerprint: 0,
      changes: 0,
    };
  }

  readonly getSnapshot = (): PodListSnapshot => this.#snapshot;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  apply(set: ChangeSet<Pod>): void {
    const gone = new Set<PodRow>();
    const fresh: PodRow[] = [];
    let { trouble, fingerprint } = this.#snapshot;
    if (set.reset) {
      this.#entries.clear();
      this.#phases.clear();
      this.#namespaces.clear();
      this.#sorted = [];
      trouble = 0;
      fingerprint = 0;
    }
    for (const { id, object } of set.changes) {
      const entry = this.#entries.get(id);
      const before = entry?.row;
      const row = object === undefined ? undefined : podRow(object, before);
      if (entry !== undefined) fingerprint = withoutHash(fingerprint, entry.hash);
      if (object === undefined || row === undefined) this.#entries.delete(id);
      else {
        const hash = versionHash(row.uid, object.metadata.resourceVersion);
        fingerprint = withHash(fingerprint, hash);
        this.#entries.set(id, { row, hash });
      }
      if (row === before) continue;
      if (before !== undefined) {
        gone.add(before);
        this.#phases.remove(before.phase);
        this.#namespaces.remove(before.namespace);
        if (before.tone === 'bad') trouble--;
      }
      if (row !== undefined) {
        fresh.push(row);
        this.#phases.add(row.phase);
        this.#namespaces.add(row.namespace);
        if (row.tone === 'bad') trouble++;
      }
    }
    this.#sorted = mergeRows(this.#sorted, gone, fresh, this.#compare);
    const open = isOpen(this.#snapshot.filter);
    const rows = set.reset ? [] : this.#snapshot.rows;
    this.#show({
      rows: open ? this.#sorted : mergeRows(rows, gone, fresh.filter(this.#test), this.#compare),
      total: this.#entries.size,
      synced: set.synced,
      resourceVersion: set.resourceVersion,
      trouble,
      fingerprint,
      changes: this.#snapshot.changes + (set.cause === 'watch' ? set.changes.length : 0),
    });
  }

  sort(sort: Sort): void {
    this.#compare = orderOf(sort);
    this.#sorted = this.#sorted.toSorted(this.#compare);
    this.#show({ sort, rows: this.#filtered() });
  }

  filter(filter: Filter): void {
    this.#test = testOf(filter);
    this.#show({ filter, rows: isOpen(filter) ? this.#sorted : this.#filtered() });
  }

  #filtered(): readonly PodRow[] {
    return this.#sorted.filter(this.#test);
  }

  #show(changed: Partial<PodListSnapshot>): void {
    this.#snapshot = {
      ...this.#snapshot,
      ...changed,
      phases: this.#phases.counts,
      namespaces: this.#namespaces.counts,
    };
    for (const listener of this.#listeners) listener();
  }
}
