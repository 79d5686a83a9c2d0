/** The rows of a view of the worker as a stream of change sets, for the live operators of the table. */
import { type ChangeStream, createChangeSet, type Stored, type View } from 'rx-informer';
import { defer, filter, map } from 'rxjs';
import { snapshotsOf } from './snapshots.ts';

/** How far a row is looked for behind the place where it was expected. */
const LOOK_AHEAD = 64;

/** The head of a change set of rows that no informer has emitted. The first one replaces what a reader has. */
export function headOf(rev: number, synced = true) {
  const reset = rev === 1;
  const cause = reset ? 'snapshot' : 'watch';
  return { rev, cause, reset, synced, initial: false, resourceVersion: '' } as const;
}

interface Change<R> {
  readonly id: string;
  readonly key: string;
  readonly previous?: Stored<R>;
  readonly object?: Stored<R>;
}

/** The rows of a view after each of its snapshots. A row is the same object until it changes. */
export class KnownRows<R> {
  readonly #idOf: (row: Stored<R>) => string;
  readonly #byId = new Map<string, Stored<R>>();
  #rows: readonly Stored<R>[] = [];

  constructor(idOf: (row: Stored<R>) => string) {
    this.#idOf = idOf;
  }

  get(id: string): Stored<R> | undefined {
    return this.#byId.get(id);
  }

  /**
   * Takes the next rows, and returns what has changed, deletions first. Both lists are walked at once, because most rows are
   * where they were, and comparing two objects costs a hundredth of looking up an id.
   */
  next(now: readonly Stored<R>[]): readonly Change<R>[] {
    const before = this.#rows;
    const changes: Change<R>[] = [];
    const missed: Stored<R>[] = [];
    /** The ids of rows that are at another place than before, and may be missed at that. */
    const moved = new Set<string>();
    let at = 0;
    for (const row of now) {
      // Nearly all rows end here.
      if (row === before[at]) {
        at++;
        continue;
      }
      const id = this.#idOf(row);
      const previous = this.#byId.get(id);
      if (previous !== row)
        changes.push({ id, key: id, object: row, ...(previous && { previous }) });
      if (previous === undefined) continue;
      const found = before.slice(at, at + LOOK_AHEAD).indexOf(previous);
      if (found === -1) moved.add(id);
      else {
        missed.push(...before.slice(at, at + found));
        at += found + 1;
      }
    }
    this.#rows = now;
    const gone = this.#gone(missed.concat(before.slice(at)), moved);
    return gone.concat(this.#keep(changes));
  }

  #gone(missed: readonly Stored<R>[], moved: ReadonlySet<string>): Change<R>[] {
    const gone: Change<R>[] = [];
    for (const previous of missed) {
      const id = this.#idOf(previous);
      if (moved.has(id)) continue;
      this.#byId.delete(id);
      gone.push({ id, key: id, previous });
    }
    return gone;
  }

  #keep(changes: readonly Change<R>[]): readonly Change<R>[] {
    for (const { id, object } of changes) this.#byId.set(id, object as Stored<R>);
    return changes;
  }
}

/**
 * The change sets of a view. `synced` stays true while another worker is started, because the rows stay; the status says that
 * they may be out of date.
 */
export function changesOf<R>(view: View<R>, idOf: (row: Stored<R>) => string): ChangeStream<R> {
  return defer(() => {
    const known = new KnownRows<R>(idOf);
    let last: readonly Stored<R>[] | undefined;
    let synced = false;
    return snapshotsOf(view).pipe(
      filter((shown) => shown.rows !== last || (!synced && shown.synced)),
      map((shown, at) => {
        last = shown.rows;
        synced ||= shown.synced;
        return createChangeSet<R>(headOf(at + 1, synced), known.next(last));
      }),
    );
  }) as ChangeStream<R>;
}
