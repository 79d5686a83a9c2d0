/**
 * The machine that passes rows on as they are, also those to be evaluated again, and makes a difference of a reset. Of
 * several inputs no two may have the same row, as the namespaces of a collection.
 */
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { Ending } from './answer-log.ts';
import type { AnswerRows, Arrangement, HeldRow, MachineContext } from './machine.ts';
import { RowMachine } from './row-machine.ts';

export class PassMachine<T> extends RowMachine<T> {
  declare readonly inputs: readonly Map<string, HeldRow<T>>[];
  readonly answer: AnswerRows<T>;
  #isReset = false;
  #arrangement: Arrangement<T> | undefined;

  constructor(context: MachineContext, inputs = 1) {
    super(context, inputs);
    const [first, ...more] = this.inputs;
    const all = this.inputs;
    this.answer = (more.length === 0 && first) || {
      get: (id) => all.find((rows) => rows.has(id))?.get(id),
      *entries() {
        for (const rows of all) yield* rows;
      },
    };
  }

  override apply(input: number, set: AnyChangeSet<unknown>): void {
    this.#isReset = set.reset;
    super.apply(input, set);
  }

  put(input: number, id: string, key: string, object: HeldRow<T>['object']): void {
    const rows = this.inputs[input] as Map<string, HeldRow<T>>;
    const before = rows.get(id);
    // A reset names every row, also those that nobody has to evaluate again.
    if (before?.object === object && !this.#isReset) this.log.repeat(id, before);
    else this.log.touch(id, before);
    rows.set(id, { key, object });
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
