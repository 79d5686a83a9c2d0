/** The machines of a union: with names, each row of each source; without, the rows that the sources agree on. */
import type { Ending } from '../engine/answer-log.ts';
import type { AnswerRows, HeldRow, MachineContext } from '../engine/machine.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { ROWS_A_STEP } from '../engine/slice.ts';

interface NamedRow<T> extends HeldRow<T> {
  readonly row: HeldRow<T>;
}

/** A union in which the name of the source stands before each id and key. */
export class NamedUnionMachine<T> extends RowMachine<T, NamedRow<T>> {
  readonly #names: readonly string[];
  readonly answer: AnswerRows<T>;

  constructor(names: readonly string[], context: MachineContext) {
    super(context, names.length);
    this.#names = names;
    const { inputs } = this;
    const inputOf = new Map(names.map((name, input) => [name, input]));
    this.answer = {
      get: (id) => {
        const slash = id.indexOf('/');
        const input = inputOf.get(id.slice(0, slash)) as number;
        return inputs[input]?.get(id.slice(slash + 1))?.row;
      },
      *entries() {
        for (const [input, rows] of inputs.entries()) {
          for (const [id, { row }] of rows) yield [`${names[input]}/${id}`, row] as const;
        }
      },
    };
  }

  put(input: number, id: string, key: string, object: HeldRow<T>['object']): void {
    const rows = this.inputs[input] as Map<string, NamedRow<T>>;
    const before = rows.get(id)?.row;
    const name = this.#names[input] as string;
    this.log.touch(`${name}/${id}`, before);
    const row = { key: before?.key ?? `${name}/${key}`, object };
    rows.set(id, { key, object, row });
  }

  protected removed(input: number, id: string, { row }: NamedRow<T>, ending: Ending<T>): void {
    this.log.touch(`${this.#names[input]}/${id}`, row, ending);
  }
}

/** A union of streams whose ids are those of one collection: a row stays as long as one source has it. */
export class SharedUnionMachine<T> extends RowMachine<T> {
  readonly #rows = new Map<string, HeldRow<T>>();
  /** Rows that may be in the answer with another object, or leave it. They are decided when the turn is over. */
  readonly #undecided = new Map<string, string>();
  /** The ids of each key. There is more than one only for a moment, or by mistake. */
  readonly #idsOfKey = new Map<string, string | Set<string>>();
  readonly answer: AnswerRows<T>;

  constructor(inputs: number, context: MachineContext) {
    super(context, inputs);
    const rows = this.#rows;
    const decide = () => this.#decideAll();
    this.answer = {
      get(id) {
        decide();
        return rows.get(id);
      },
      entries() {
        decide();
        return rows;
      },
    };
  }

  put(input: number, id: string, key: string, object: HeldRow<T>['object']): void {
    this.#touch(id, key);
    this.#hold(id, key);
    (this.inputs[input] as Map<string, HeldRow<T>>).set(id, { key, object });
  }

  protected removed(_input: number, id: string, { key }: HeldRow<T>, ending: Ending<T>): void {
    this.#touch(id, key, ending);
  }

  override take(): ReturnType<RowMachine<T>['take']> {
    this.#decideAll();
    return super.take();
  }

  *settle(): Generator<void, void, void> {
    this.#decideSome(ROWS_A_STEP);
    // Not after the last rows, so that a few rows are decided in one step.
    while (this.#undecided.size > 0) {
      yield;
      this.#decideSome(ROWS_A_STEP);
    }
  }

  #touch(id: string, key: string, ending?: Ending<T>): void {
    this.log.touch(id, this.#rows.get(id), ending);
    this.#undecided.set(id, key);
  }

  #hold(id: string, key: string): void {
    const held = this.#idsOfKey.get(key);
    if (held === undefined) this.#idsOfKey.set(key, id);
    else if (typeof held !== 'string') held.add(id);
    else if (held !== id) this.#idsOfKey.set(key, new Set([held, id]));
  }

  #release(id: string, key: string): void {
    const held = this.#idsOfKey.get(key);
    if (held === id) this.#idsOfKey.delete(key);
    if (held === undefined || typeof held === 'string') return;
    held.delete(id);
    const [only] = held;
    if (only === undefined || held.size > 1) return;
    this.#idsOfKey.set(key, only);
  }

  #decideAll(): void {
    if (this.#undecided.size > 0) this.#decideSome(this.#undecided.size);
  }

  /** Decides some rows. What depends on one that is left is decided again with that one. */
  #decideSome(limit: number): void {
    const some: (readonly [id: string, key: string])[] = [];
    for (const row of this.#undecided) {
      if (some.length === limit) break;
      some.push(row);
    }
    const shared = new Set<string>();
    for (const [id, key] of some) {
      this.#undecided.delete(id);
      if (typeof this.#idsOfKey.get(key) === 'object') shared.add(key);
      if (!this.inputs.some((rows) => rows.has(id))) this.#release(id, key);
    }
    // An id that has its key to itself again is in the answer again, and one that has lost it is not.
    for (const key of shared) {
      const held = this.#idsOfKey.get(key) ?? [];
      for (const id of typeof held === 'string' ? [held] : held) {
        this.log.touch(id, this.#rows.get(id));
        some.push([id, key]);
      }
    }
    for (const [id, key] of some) this.#decide(id, key);
  }

  #decide(id: string, key: string): void {
    const row = this.context.attempt(id, key, () => this.#agreed(id, key));
    if (row === undefined) this.#rows.delete(id);
    else if (this.#rows.get(id)?.object !== row.object) this.#rows.set(id, row);
  }

  /** The row that all sources agree on. */
  #agreed(id: string, key: string): HeldRow<T> | undefined {
    let agreed: { readonly row: HeldRow<T>; readonly input: number } | undefined;
    const inputs = this.inputs as readonly ReadonlyMap<string, HeldRow<T>>[];
    for (const [input, rows] of inputs.entries()) {
      const row = rows.get(id);
      if (row === undefined) continue;
      if (agreed !== undefined && agreed.row.object !== row.object) {
        throw new Error(
          `liveUnion: the sources ${agreed.input} and ${input} have different objects of the id ${JSON.stringify(id)} (${key}). Give the sources names, or make them of one stream that makes each object once (liveShare)`,
        );
      }
      agreed ??= { row, input };
    }
    if (agreed !== undefined && typeof this.#idsOfKey.get(key) !== 'string') {
      throw new Error(
        `liveUnion: several sources have different objects of the key ${JSON.stringify(key)}. Give the sources names, as in liveUnion({ east: stream, west: stream })`,
      );
    }
    return agreed?.row;
  }
}
