/** `liveUnion`: the rows of several streams. With names, each row of each source; without, the rows that the sources agree on. */
import { isObservable, type Observable, of } from 'rxjs';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { Ending } from '../engine/answer-log.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { AnswerRows, HeldRow, LiveOptions, MachineContext } from '../engine/machine.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { ROWS_A_STEP } from '../engine/slice.ts';

/** The rows of one of several streams. */
type RowOf<S> = S extends Observable<ChangeSet<infer T>> ? T : never;

/** A row of a union of these sources. */
export type UnitedRow<S> = S extends readonly (infer E)[] ? RowOf<E> : RowOf<S[keyof S]>;

/** The sources of {@link liveUnion}: streams by name, or a list of streams. */
export type UnionSources =
  | { readonly [name: string]: Observable<ChangeSet<unknown>> }
  | readonly Observable<ChangeSet<unknown>>[];

const EMPTY: ChangeSet<unknown> = /* @__PURE__ */ createChangeSet<unknown>(
  { rev: 0, cause: 'snapshot', reset: true, synced: true, initial: true, resourceVersion: '' },
  [],
);

function checkedNames(sources: UnionSources): readonly string[] | undefined {
  if (Array.isArray(sources)) return undefined;
  if (typeof sources !== 'object') {
    throw new TypeError(
      `liveUnion: sources is ${typeof sources}; it must be { name: stream } or a list of streams`,
    );
  }
  const names = Object.keys(sources);
  for (const name of names) {
    if (name !== '' && !name.includes('/')) continue;
    throw new TypeError(
      `liveUnion: ${JSON.stringify(name)} is not a name of a source; it must be text without '/', because it stands before '/' in ids and keys`,
    );
  }
  return names;
}

/**
 * The rows of several streams in one.
 *
 * With names, the name of the source stands before each id and key, as in `east/shop/web`: the same object in two
 * sources is two rows. Without names, the sources must have different ids and keys, or the same objects, as two filters
 * of one informer do: such an object is one row until no source has it. If, at the end of a turn, two sources have
 * different objects under one id or key, the row is kept out until they agree, and stands in the view's
 * `status.refusedRows`.
 *
 * The answer is synced when all sources are, and is emitted at the end of a turn. Completes when all sources have
 * completed; the rows of a source that has completed stay. Errors if a source does. Throws a `TypeError` if a source is
 * no Observable, or if a name is empty or contains `/`.
 *
 * Costs the changed rows; without names, one lookup in each source for each.
 *
 * ```
 * a        +x----------x'-----(-x)-|
 * b        ---+y---+x--x'-------------(-x)-|
 * result   +x-+y-------x'-------------(-x)-|
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveUnion, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' } };
 * const east$ = of(changeSet({ added: [web] })); // with an informer: informer.changes$
 * const west$ = of(changeSet({ added: [web] }));
 * const view = toView(liveUnion({ east: east$, west: west$ }));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows.length; // => 2
 * view.select('west/u1').getSnapshot() === web; // => true
 * ```
 */
export function liveUnion<S extends UnionSources>(
  sources: S,
  options?: LiveOptions,
): ChangeStream<UnitedRow<S>>;
export function liveUnion(sources: UnionSources, options: LiveOptions = {}): ChangeStream<unknown> {
  const names = checkedNames(sources);
  const streams = Object.values(sources) as readonly Observable<ChangeSet<unknown>>[];
  for (const [at, stream] of streams.entries()) {
    if (isObservable(stream)) continue;
    throw new TypeError(
      `liveUnion: the source ${names?.[at] ?? at} is no Observable; it must be a stream of change sets`,
    );
  }
  if (streams.length === 0) return of(EMPTY) as ChangeStream<unknown>;
  return liveOperator<unknown, ChangeSet<unknown>>({
    ...options,
    name: 'liveUnion',
    ids: names === undefined ? 'shared' : 'named',
    sources: streams,
    params: [],
    create: (_values, context) =>
      names === undefined
        ? new SharedUnionMachine<unknown>(streams.length, context)
        : new NamedUnionMachine<unknown>(names, context),
  }) as ChangeStream<unknown>;
}

interface NamedRow<T> extends HeldRow<T> {
  readonly row: HeldRow<T>;
}

/** A union in which the name of the source stands before each id and key. */
class NamedUnionMachine<T> extends RowMachine<T, NamedRow<T>> {
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
class SharedUnionMachine<T> extends RowMachine<T> {
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
