/** `liveUntil`: rows that are evaluated again at a time. */

import type { Observable } from 'rxjs';
import { refusal } from '../../checks/checked-option.ts';
import type { RowIdentity } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { AnyChangeSet, SetOf } from '../../store/change-set.ts';
import type { SetStream } from '../../store/change-stream.ts';
import { KeyedHeap } from '../../work-queue/heap.ts';
import type { Ending } from '../engine/answer-log.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type {
  AnswerRows,
  Arrangement,
  HeldRow,
  LiveOptions,
  MachineContext,
  Param,
} from '../engine/machine.ts';
import { checkFunction } from '../engine/misuse.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { ListOrder, type PlacedRow, placedRows } from '../order/list-order.ts';

/**
 * Returns when a row is to be evaluated again, in milliseconds since the Unix epoch; `undefined` means never. `nowMs` is
 * the scheduler's time.
 */
export type DueTime<T> = (object: Stored<T>, nowMs: number) => number | undefined;

interface Timed<T> extends HeldRow<T> {
  readonly isIn: boolean;
}

class UntilMachine<T> extends RowMachine<T, Timed<T>> {
  readonly #timeOf: DueTime<T>;
  readonly #rows = this.inputs[0] as Map<string, Timed<T>>;
  readonly #due = new KeyedHeap<string, number>((one, other) => one < other);
  readonly answer: AnswerRows<T>;
  #isReset = false;
  #source: Arrangement<T> | undefined;
  #arrangement: { readonly of: Arrangement<T>; readonly is: Arrangement<T> } | undefined;

  constructor(timeOf: DueTime<T>, context: MachineContext) {
    super(context);
    this.#timeOf = timeOf;
    const rows = this.#rows;
    const inside = (row: Timed<T> | undefined) => (row?.isIn === true ? row : undefined);
    this.answer = {
      get: (id) => inside(rows.get(id)),
      *entries() {
        for (const entry of rows) if (entry[1].isIn) yield entry;
      },
    };
  }

  get dueMs(): number | undefined {
    return this.#due.peek()?.value;
  }

  override apply(input: number, set: AnyChangeSet<unknown>): void {
    // A timer may be late, and the rows of the reset ignore the times that have passed.
    if (set.reset) this.wake();
    this.#isReset = set.reset;
    super.apply(input, set);
    this.#isReset = false;
  }

  put(_input: number, id: string, key: string, object: Stored<T>, of?: RowIdentity): void {
    const before = this.answer.get(id);
    const isIn = this.#isTimed(id, key, object);
    // A reset names every row, also those that nobody has to evaluate again.
    const isAgain = before?.object === object && isIn && !this.#isReset;
    if (isAgain) this.log.repeat(id, before);
    else if (isIn || before !== undefined) {
      this.log.touch(id, before, isIn ? undefined : { last: object });
      this.#arrangement = undefined;
    }
    this.#rows.set(id, { key, object, of, isIn });
  }

  protected removed(_input: number, id: string, row: Timed<T>, ending: Ending<T>): void {
    this.#due.delete(id);
    if (!row.isIn) return;
    this.log.touch(id, row, ending);
    this.#arrangement = undefined;
  }

  wake(): void {
    const nowMs = this.context.nowMs();
    for (let next = this.#due.peek(); next !== undefined; next = this.#due.peek()) {
      if (next.value > nowMs) return;
      this.#due.delete(next.key);
      const { key, object, of } = this.#rows.get(next.key) as Timed<T>;
      this.put(0, next.key, key, object, of);
    }
  }

  arranged(source: Arrangement<unknown>): void {
    this.#source = source as Arrangement<T>;
  }

  arrangement(): Arrangement<T> | undefined {
    const of = this.#source;
    if (of === undefined) return undefined;
    if (this.#arrangement?.of !== of) this.#arrangement = { of, is: this.#arranged(of) };
    return this.#arrangement.is;
  }

  /** The source's order without the rows that are kept out. */
  #arranged(of: Arrangement<T>): Arrangement<T> {
    const { order, total } = of;
    const kept: PlacedRow<T>[] = [];
    for (const { id, key, object } of placedRows(order)) {
      if (this.#rows.get(id)?.isIn) kept.push({ id, key, object });
    }
    if (kept.length === order.size) return of;
    return { order: new ListOrder(kept), total: total - (order.size - kept.length) };
  }

  /** Asks when the row is due. Returns false if the user's function throws. */
  #isTimed(id: string, key: string, object: Stored<T>): boolean {
    const nowMs = this.context.nowMs();
    const timed = this.context.attempt(id, key, () => ({
      at: checked(this.#timeOf(object, nowMs)),
    }));
    const at = timed?.at;
    if (at !== undefined && at > nowMs && at !== Number.POSITIVE_INFINITY) this.#due.set(id, at);
    else this.#due.delete(id);
    return timed !== undefined;
  }
}

function checked(at: unknown): number | undefined {
  if (at === undefined || typeof at === 'number') return at;
  const must = 'milliseconds since the Unix epoch, or undefined';
  throw refusal('liveUntil: what the function returned', at, must);
}

/**
 * Passes rows on, and passes a row on again at the time that `timeOf` returns for it, so that the next operator
 * evaluates it again, with a new `nowMs`. Use it for answers that change without an event: an age, a deadline.
 *
 * It must stand directly before the operator that reads the time, because an operator whose answer has not changed emits
 * nothing: after a `liveMap` in between, the repeated row would be lost.
 *
 * A row is passed on again as a change whose `previous` and `object` are the same object, in a set with the cause
 * `time`. Rows that are due at one time are one set. The function is asked again after that, and whenever the object
 * changes. A time that is not after now is ignored, and so is `undefined`. If the clock is set back, a row waits until
 * the clock shows its time. Timers stand still while the machine sleeps; a row whose time passes meanwhile is passed on
 * within a minute after the sleep, or within a ten-thousandth of the time that was left. If the function throws, the row stays out, and stands in the view's `status.refusedRows`.
 * An ordered stream stays ordered. A new function from an Observable gives one change set. Completes and errors as its source
 * does, and errors if the Observable of the function errors.
 *
 * Costs one timer for all rows, and the logarithm of their number for each row that changes or is due.
 *
 * ```
 * source   +a---------------b--|     a is due in 5, b is not due
 * result   +a---a(time)-----b--|
 * ```
 *
 * @example
 * ```ts
 * import { liveFilter, liveUntil } from 'rx-informer';
 * import { changeSet, marbles } from 'rx-informer/testing';
 * import { map } from 'rxjs/operators';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' }, startedMs: 0 };
 * marbles(({ cold, expectObservable, scheduler }) => {
 *   const changes$ = cold('a---------', { a: changeSet({ added: [web] }) });
 *   const old = changes$.pipe(
 *     liveUntil(({ startedMs }) => startedMs + 5, { scheduler }),
 *     liveFilter(({ startedMs }, nowMs) => nowMs - startedMs >= 5, { scheduler }),
 *     map(({ added }) => added.length),
 *   );
 *   expectObservable(old, '---------!').toBe('0----1', [0, 1]);
 * });
 * ```
 */
export function liveUntil<T, O = undefined>(
  timeOf: Param<DueTime<T>>,
  options: LiveOptions = {},
): (source: Observable<AnyChangeSet<T, O>>) => SetStream<SetOf<T, O>> {
  checkFunction('liveUntil: timeOf', timeOf);
  return (source) =>
    liveOperator<T>({
      ...options,
      name: 'liveUntil',
      isRemembering: true,
      sources: [source],
      params: [timeOf],
      create: ([value]: readonly DueTime<T>[], context) =>
        new UntilMachine<T>(value as DueTime<T>, context),
    }) as SetStream<SetOf<T, O>>;
}
