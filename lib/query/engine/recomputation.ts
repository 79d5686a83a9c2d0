/**
 * Computes an answer anew in short steps: for the first rows, or for a new parameter. Commits that arrive meanwhile go
 * to the new machine, too, so its answer is up to date when the last step is done.
 */
import { type Change, withIdentity } from '../../delta/net-change.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { additions } from '../../store/held-rows.ts';
import type { HeldRow, Machine, RowFedMachine } from './machine.ts';
import { ROWS_A_STEP } from './slice.ts';

/** Rows of one input, to be fed to the new machine in one step. */
export interface FedRows {
  readonly input: number;
  readonly rows: readonly Pick<Change<unknown>, 'id' | 'key' | 'object' | 'of'>[];
}

/** The rows of a machine, as another one is fed with them. Rows may change meanwhile. */
export function* rowsOf(inputs: RowFedMachine<unknown>['inputs']): Generator<FedRows, void, void> {
  for (const [input, held] of inputs.entries()) {
    let rows: Change<unknown>[] = [];
    for (const [id, { key, object, of }] of held) {
      rows.push({ id, key, object, of });
      if (rows.length < ROWS_A_STEP) continue;
      yield { input, rows };
      rows = [];
    }
    if (rows.length > 0) yield { input, rows };
  }
}

/** The rows of a first change set. */
export function* rowsOfSet(
  input: number,
  set: AnyChangeSet<unknown>,
): Generator<FedRows, void, void> {
  const { changes } = set;
  for (let at = 0; at < changes.length; at += ROWS_A_STEP) {
    yield { input, rows: changes.slice(at, at + ROWS_A_STEP) };
  }
}

function isEmpty({ answer }: Machine<unknown>): boolean {
  for (const _row of answer.entries()) return false;
  return true;
}

/** One computation. `former` is the machine whose answer stands meanwhile. */
export class Recomputation<Out> {
  readonly next: RowFedMachine<Out>;
  readonly #former: Machine<Out> | undefined;
  /** The rows that are not fed yet. */
  readonly #unfed: Iterator<FedRows, void, void>[];
  /** Rows that left before they were fed, and inputs whose rows were all replaced. */
  readonly #gone = new Map<number, Set<string>>();
  readonly #replaced = new Set<number>();
  /** The differences found, and the rows that have changed in one of the answers while they were compared. */
  #deletions: Change<Out>[] = [];
  #others: Change<Out>[] = [];
  readonly #late = new Set<string>();
  #isFeeding = true;
  #fed = false;
  #isCompared = false;
  /** Whether a row may come twice, or has left before it was fed. */
  #mayRepeat: boolean;

  constructor(
    next: RowFedMachine<Out>,
    rows: readonly Iterator<FedRows, void, void>[],
    former: Machine<Out> | undefined,
    abandoned?: Recomputation<Out>,
  ) {
    this.next = next;
    this.#unfed = [...rows];
    // Its rows may come twice, too: changed, and as they were.
    this.#mayRepeat = abandoned === undefined ? false : abandoned.#mayRepeat;
    this.#former = former;
    next.logging = false;
  }

  /** Takes a set of many changes, which is fed before the rows that it changes. */
  begin(input: number, set: AnyChangeSet<unknown>): void {
    this.#noteGone(input, set);
    this.#unfed.unshift(rowsOfSet(input, set));
  }

  /** Takes the first set of an input, whose rows are fed after those of the other inputs, if these are not yet. */
  add(input: number, set: AnyChangeSet<unknown>): void {
    if (this.#isFeeding) this.#unfed.push(rowsOfSet(input, set));
    else this.apply(input, set);
  }

  /** Takes a later set, which the former machine has taken already. */
  apply(input: number, set: AnyChangeSet<unknown>): void {
    if (set.reset) this.#replaced.add(input);
    this.#noteGone(input, set);
    this.next.apply(input, set);
    if (this.#fed) this.changed(this.next.take());
  }

  #noteGone(input: number, { changes }: AnyChangeSet<unknown>): void {
    this.#mayRepeat = true;
    const gone = this.#gone.get(input) ?? new Set();
    this.#gone.set(input, gone);
    for (const { id, object } of changes) if (object === undefined) gone.add(id);
  }

  /** Notes rows that changed in one of the answers while they were compared. */
  changed(changes: readonly Change<Out>[]): void {
    if (!this.#fed) return;
    for (const { id } of changes) this.#late.add(id);
  }

  /** All rows that the answer is to be based on, for a computation that replaces this one. */
  *allRows(): Generator<FedRows, void, void> {
    yield* rowsOf(this.next.inputs);
    yield* this.#rest();
  }

  *#rest(): Generator<FedRows, void, void> {
    const unfed = this.#unfed;
    for (let source = unfed[0]; source !== undefined; source = unfed[0]) {
      // Not `for … of`, which would end the iterator when this computation is abandoned.
      for (let each = source.next(); each.done !== true; each = source.next()) {
        yield this.#mayRepeat ? this.#stillDue(each.value) : each.value;
      }
      unfed.shift();
    }
  }

  /** The rows that have neither changed nor left nor been replaced since they were to be fed. */
  #stillDue({ input, rows }: FedRows): FedRows {
    if (this.#replaced.has(input)) return { input, rows: [] };
    const fed = this.next.inputs[input] as RowFedMachine<Out>['inputs'][number];
    const gone = this.#gone.get(input);
    return { input, rows: rows.filter(({ id }) => !fed.has(id) && !gone?.has(id)) };
  }

  *steps(): Generator<void, void, void> {
    const { next } = this;
    let fed = 0;
    for (const { input, rows } of this.#rest()) {
      for (const { id, key, object, of } of rows) {
        if (object !== undefined) next.put(input, id, key, object, of);
      }
      fed += rows.length;
      if (fed < ROWS_A_STEP) continue;
      fed = 0;
      yield;
    }
    this.#isFeeding = false;
    const left = next.settle?.();
    if (left !== undefined) yield* left;
    const former = this.#former;
    if (former === undefined) return;
    this.#fed = true;
    next.logging = true;
    if (!isEmpty(former)) yield* this.#compareBoth(former);
  }

  *#compareBoth(former: Machine<Out>): Generator<void, void, void> {
    this.#isCompared = true;
    const { next } = this;
    let rows = 0;
    for (const [id, had] of former.answer.entries()) {
      this.#differ(id, had, next.answer.get(id));
      if (++rows % ROWS_A_STEP === 0) yield;
    }
    for (const [id, has] of next.answer.entries()) {
      if (former.answer.get(id) === undefined) this.#differ(id, undefined, has);
      if (++rows % ROWS_A_STEP === 0) yield;
    }
  }

  /** Notes what a row is in the new answer, if it is something else. */
  #differ(id: string, had: HeldRow<Out> | undefined, has: HeldRow<Out> | undefined): void {
    if (has !== undefined) {
      const { key, object, of } = has;
      if (had === undefined) this.#others.push(withIdentity({ id, key, object }, of));
      else if (had.object !== object) {
        this.#others.push(withIdentity({ id, key, previous: had.object, object }, of));
      }
    } else if (had !== undefined) {
      this.#deletions.push({ id, key: had.key, previous: had.object, last: had.object });
    }
  }

  /** The changes from the former answer to the new one, deletions first; none if there was no former one. */
  difference(): Change<Out>[] {
    // Changes that came from outside of the inputs, such as those of inner Observables.
    this.changed(this.next.take());
    this.next.logging = true;
    const former = this.#former;
    if (former === undefined) return [];
    if (!this.#isCompared) {
      if (isEmpty(former)) return additions(this.next.answer.entries());
      // Rows came to the former answer from outside of its inputs, while the last rows were fed.
      for (const _step of this.#compareBoth(former));
    }
    const late = this.#late;
    if (late.size > 0) {
      const isCurrent = ({ id }: Change<Out>) => !late.has(id);
      this.#deletions = this.#deletions.filter(isCurrent);
      this.#others = this.#others.filter(isCurrent);
      for (const id of late) this.#differ(id, former.answer.get(id), this.next.answer.get(id));
    }
    if (this.#others.length === 0) return this.#deletions;
    return this.#deletions.length === 0 ? this.#others : this.#deletions.concat(this.#others);
  }
}
