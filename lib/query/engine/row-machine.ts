/** The base of machines that hold the rows of their inputs: it reads sets, and turns a reset into a difference. */
import type { Change, RowIdentity } from '../../delta/net-change.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { unnamed } from '../../store/held-rows.ts';
import { AnswerLog, type Ending } from './answer-log.ts';
import type { AnswerRows, Arrangement, HeldRow, MachineContext, RowFedMachine } from './machine.ts';

/** A machine over rows of type `A`, with answers of type `B`. `Row` is what it holds of each row of an input. */
export abstract class RowMachine<B, Row extends HeldRow<unknown> = HeldRow<unknown>>
  implements RowFedMachine<B>
{
  readonly inputs: readonly Map<string, Row>[];
  abstract readonly answer: AnswerRows<B>;
  protected readonly context: MachineContext;
  #log: AnswerLog<B> | undefined;

  constructor(context: MachineContext, inputs = 1) {
    this.context = context;
    this.inputs = Array.from({ length: inputs }, () => new Map<string, Row>());
  }

  protected get log(): AnswerLog<B> {
    this.#log ??= new AnswerLog<B>(this.answer);
    return this.#log;
  }

  set logging(enabled: boolean) {
    this.log.enabled = enabled;
  }

  get logging(): boolean {
    return this.log.enabled;
  }

  abstract put(input: number, id: string, key: string, object: unknown, of?: RowIdentity): void;

  /** Takes a row away. The row is still in `inputs`, and is removed after the call. */
  protected abstract removed(input: number, id: string, row: Row, ending: Ending<unknown>): void;

  apply(input: number, set: AnyChangeSet<unknown>): void {
    const rows = this.inputs[input] as Map<string, Row>;
    if (set.reset && rows.size > 0) {
      for (const [id, row] of unnamed(rows, set.changes)) this.#remove(input, id, row, {});
    }
    for (const change of set.changes) this.#apply(input, rows, change);
  }

  take(): Change<B>[] {
    return this.log.take();
  }

  #apply(input: number, rows: Map<string, Row>, change: Change<unknown>): void {
    const { id, key, object } = change;
    if (object !== undefined) return this.put(input, id, key, object, change.of);
    const row = rows.get(id);
    if (row !== undefined) this.#remove(input, id, row, change as Ending<unknown>);
  }

  #remove(input: number, id: string, row: Row, ending: Ending<unknown>): void {
    this.removed(input, id, row, ending);
    (this.inputs[input] as Map<string, Row>).delete(id);
    this.context.forget(id, input);
  }
}

/**
 * The machine that passes rows on as they are, also those to be evaluated again, and makes a difference of a reset. Of several
 * inputs no two may have the same row, as the namespaces of a collection.
 */
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

  put(
    input: number,
    id: string,
    key: string,
    object: HeldRow<T>['object'],
    of?: RowIdentity,
  ): void {
    const rows = this.inputs[input] as Map<string, HeldRow<T>>;
    const before = rows.get(id);
    // A reset names every row, also those that nobody has to evaluate again.
    if (before?.object === object && !this.#isReset) this.log.repeat(id, before);
    else this.log.touch(id, before);
    rows.set(id, { key, object, of });
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
