/**
 * Computes an answer anew in short steps: for the first rows, or for a new parameter. Commits that arrive meanwhile go
 * to the new machine, too, so its answer is up to date when the last step is done.
 */
import type { Change } from '../../delta/net-change.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { Machine, RowFedMachine } from './machine.ts';

/** A row to be fed to the new machine. */
export interface FedRow {
  readonly input: number;
  readonly id: string;
  readonly key: string;
  readonly object: unknown;
}

/** How many rows a step takes. The clock is read between steps. */
const ROWS_A_STEP = 64;

/** The rows of a machine, as another one is fed with them. */
export function* rowsOf(inputs: RowFedMachine<unknown>['inputs']): Generator<FedRow, void, void> {
  for (const [input, rows] of inputs.entries()) {
    for (const [id, { key, object }] of [...rows]) yield { input, id, key, object };
  }
}

/** The rows of a first change set. */
export function* rowsOfSet(
  input: number,
  set: AnyChangeSet<unknown>,
): Generator<FedRow, void, void> {
  for (const { id, key, object } of set.changes) {
    if (object !== undefined) yield { input, id, key, object };
  }
}

/** One computation. `former` is the machine whose answer stands meanwhile. */
export class Recomputation<Out> {
  readonly next: RowFedMachine<Out>;
  readonly #former: Machine<Out> | undefined;
  readonly #rows: Iterator<FedRow, void, void>;
  /** Rows that left before they were fed, and inputs whose rows were all replaced. */
  readonly #gone = new Set<string>();
  readonly #replaced = new Set<number>();
  /** Rows of the answers that may differ; filled in after all rows were fed. */
  readonly #candidates = new Set<string>();
  #fed = false;
  #hasApplied = false;

  constructor(
    next: RowFedMachine<Out>,
    rows: Iterator<FedRow, void, void>,
    former: Machine<Out> | undefined,
  ) {
    this.next = next;
    this.#rows = rows;
    this.#former = former;
    next.logging = false;
  }

  /** Takes a commit, which the former machine has taken already. */
  apply(input: number, set: AnyChangeSet<unknown>): void {
    this.#hasApplied = true;
    if (set.reset) this.#replaced.add(input);
    for (const { id, object } of set.changes) {
      if (object === undefined) this.#gone.add(`${input}/${id}`);
    }
    this.next.apply(input, set);
    if (this.#fed) this.changed(this.next.take());
  }

  /** Notes rows that changed in one of the answers while they were compared. */
  changed(changes: readonly Change<Out>[]): void {
    if (!this.#fed) return;
    for (const { id } of changes) this.#candidates.add(id);
  }

  /** All rows that the answer is to be based on, for a computation that replaces this one. */
  *allRows(): Generator<FedRow, void, void> {
    yield* rowsOf(this.next.inputs);
    yield* this.#unfed();
  }

  *#unfed(): Generator<FedRow, void, void> {
    // Not `for … of`, which would end the iterator when this computation is abandoned.
    for (let each = this.#rows.next(); each.done !== true; each = this.#rows.next()) {
      if (!this.#hasApplied || this.#isStillDue(each.value)) yield each.value;
    }
  }

  /** Whether a row has neither changed nor left nor been replaced since it was to be fed. */
  #isStillDue({ input, id }: FedRow): boolean {
    if (this.next.inputs[input]?.has(id) === true || this.#replaced.has(input)) return false;
    return !this.#gone.has(`${input}/${id}`);
  }

  *steps(): Generator<void, void, void> {
    const { next } = this;
    let rows = 0;
    for (const { input, id, key, object } of this.#unfed()) {
      next.put(input, id, key, object);
      if (++rows % ROWS_A_STEP === 0) yield;
    }
    const left = next.settle?.();
    if (left !== undefined) yield* left;
    if (this.#former === undefined) return;
    this.#fed = true;
    next.logging = true;
    yield* this.#compare(this.#former, next);
    yield* this.#compare(next, this.#former);
  }

  *#compare(one: Machine<Out>, other: Machine<Out>): Generator<void, void, void> {
    let rows = 0;
    for (const [id, { object }] of one.answer.entries()) {
      if (other.answer.get(id)?.object !== object) this.#candidates.add(id);
      if (++rows % ROWS_A_STEP === 0) yield;
    }
  }

  /** What the new answer changes in the former one, deletions first. */
  difference(): Change<Out>[] {
    // Changes that came from outside of the inputs, such as those of inner Observables.
    this.changed(this.next.take());
    this.next.logging = true;
    return this.#former === undefined ? this.#allAdded() : this.#changed(this.#former);
  }

  #allAdded(): Change<Out>[] {
    const added: Change<Out>[] = [];
    for (const [id, { key, object }] of this.next.answer.entries()) added.push({ id, key, object });
    return added;
  }

  #changed(former: Machine<Out>): Change<Out>[] {
    const deletions: Change<Out>[] = [];
    const others: Change<Out>[] = [];
    for (const id of this.#candidates) {
      const had = former.answer.get(id);
      const has = this.next.answer.get(id);
      if (has !== undefined) {
        const { key, object } = has;
        if (had === undefined) others.push({ id, key, object });
        else if (had.object !== object) others.push({ id, key, previous: had.object, object });
      } else if (had !== undefined) {
        deletions.push({ id, key: had.key, previous: had.object, last: had.object });
      }
    }
    return deletions.concat(others);
  }
}
