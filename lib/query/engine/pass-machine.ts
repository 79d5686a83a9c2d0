/** The machine that passes rows on as they are, also those to be evaluated again, and makes a difference of a reset. */
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { Ending } from './answer-log.ts';
import type { AnswerRows, Arrangement, HeldRow, MachineContext } from './machine.ts';
import { RowMachine } from './row-machine.ts';

export class PassMachine<T> extends RowMachine<T> {
  readonly #rows = this.inputs[0] as Map<string, HeldRow<T>>;
  readonly answer: AnswerRows<T> = this.#rows;
  #isReset = false;
  #arrangement: Arrangement<T> | undefined;

  constructor(context: MachineContext) {
    super(context);
  }

  override apply(input: number, set: AnyChangeSet<unknown>): void {
    this.#isReset = set.reset;
    super.apply(input, set);
  }

  put(_input: number, id: string, key: string, object: HeldRow<T>['object']): void {
    const before = this.#rows.get(id);
    // A reset names every row, also those that nobody has to evaluate again.
    if (before?.object === object && !this.#isReset) this.log.repeat(id, before);
    else this.log.touch(id, before);
    this.#rows.set(id, { key, object });
  }

  protected removed(_input: number, id: string, row: HeldRow<T>, ending: Ending<T>): void {
    this.log.touch(id, row, ending);
  }

  arranged(source: Arrangement<unknown>): void {
    this.#arrangement = source as Arrangement<T>;
  }

  arrangement(): Arrangement<T> | undefined {
    return this.#arrangement;
  }
}
