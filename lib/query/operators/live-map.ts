/** `liveMap`: a row of the user's own for each row. */
import type { Observable } from 'rxjs';
import type { RowIdentity } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { metadataOf } from '../../meta/kubernetes-object.ts';
import { synchronous } from '../../rx/is-thenable.ts';
import type { AnyChangeSet, RowOrder, SetOf } from '../../store/change-set.ts';
import type { SetStream } from '../../store/change-stream.ts';
import type { Ending } from '../engine/answer-log.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type {
  AnswerRows,
  Arrangement,
  HeldRow,
  LiveOptions,
  Machine,
  MachineContext,
  Param,
} from '../engine/machine.ts';
import { checkFunction } from '../engine/misuse.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { ChunkedOrder, type GivenRun } from '../order/chunked-order.ts';
import { ListOrder, type PlacedRow, placedRows } from '../order/list-order.ts';
import { shallowEqual } from './shallow-equal.ts';

/** Makes a row; `undefined` keeps it out. `nowMs` is the scheduler's time, in milliseconds since the Unix epoch. */
export type RowProjection<A, B> = (object: Stored<A>, nowMs: number) => B | undefined;

/** The options of {@link liveMap}. */
export interface LiveMapOptions<B> extends LiveOptions {
  /**
   * Whether two results are the same row. If they are, the former row is kept and nothing is emitted.
   * @defaultValue compares the fields of two plain objects, or the elements of two arrays, by `Object.is`
   */
  readonly equals?: ((before: B, now: B) => boolean) | undefined;
}

interface Mapped<B> extends HeldRow<unknown> {
  readonly row: PlacedRow<B> | undefined;
}

class MapMachine<A, B> extends RowMachine<B, Mapped<B>> {
  readonly #project: RowProjection<A, B>;
  readonly #equals: (before: B, now: B) => boolean;
  #former: MapMachine<A, B> | undefined;
  readonly #rows = this.inputs[0] as Map<string, Mapped<B>>;
  readonly answer: { get(id: string): PlacedRow<B> | undefined } & AnswerRows<B>;
  #source: Arrangement<unknown> | undefined;
  /** The rows in the order of `by`, unless one has changed since. */
  #ordered: { readonly by: unknown; readonly order: RowOrder<B> } | undefined;
  /** The rows of runs of the source's order, which stay as they are until a row changes. */
  #runs = new WeakMap<object, GivenRun<B>>();
  #arrangement: Arrangement<B> | undefined;

  constructor(
    project: RowProjection<A, B>,
    equals: (before: B, now: B) => boolean,
    context: MachineContext,
    former: Machine<B> | undefined,
  ) {
    super(context);
    this.#project = project;
    this.#equals = equals;
    this.#former = former as MapMachine<A, B> | undefined;
    const rows = this.#rows;
    this.answer = {
      get: (id) => rows.get(id)?.row,
      *entries() {
        for (const [id, { row }] of rows) if (row !== undefined) yield [id, row] as const;
      },
    };
  }

  put(_input: number, id: string, key: string, object: Stored<A>, of?: RowIdentity): void {
    const { context } = this;
    const held = this.#rows.get(id);
    const before = held?.row ?? (held === undefined ? this.#former?.answer.get(id) : undefined);
    const row = context.attempt(id, key, () => {
      const made = synchronous(this.#project(object, context.nowMs()), 'the function') as
        | Stored<B>
        | undefined;
      if (made === undefined) return undefined;
      const isSame = before !== undefined && this.#equals(before.object, made);
      return isSame ? before : { id, key, object: made, of: of ?? metadataOf(object) };
    });
    if (held?.row !== row) {
      this.log.touch(id, held?.row);
      this.#ordered = undefined;
      // The order of the source does not show it.
      if (held?.object === object) this.#runs = new WeakMap();
    }
    this.#rows.set(id, { key, object, of, row });
  }

  protected removed(_input: number, id: string, { row }: Mapped<B>, ending: Ending<A>): void {
    if (row === undefined) return;
    const { finalStateUnknown } = ending;
    this.log.touch(id, row, { finalStateUnknown });
    this.#ordered = undefined;
  }

  // The rows of the former machine are needed only while the first rows are fed.
  settle(): Generator<void, void, void> | undefined {
    this.#former = undefined;
    return undefined;
  }

  arranged(source: Arrangement<unknown>): void {
    this.#source = source;
  }

  /** The rows in the order of the source, without those that are kept out. */
  #orderedBy(order: RowOrder<unknown>): RowOrder<B> {
    if (order instanceof ChunkedOrder) return order.mapped(({ rows }) => this.#runOf(rows));
    return new ListOrder(this.#mapped(placedRows(order)));
  }

  #runOf(of: readonly PlacedRow<unknown>[]): GivenRun<B> {
    const known = this.#runs.get(of);
    if (known !== undefined) return known;
    const rows = this.#mapped(of);
    const run = { rows, objects: rows.map(({ object }) => object) };
    this.#runs.set(of, run);
    return run;
  }

  #mapped(of: readonly PlacedRow<unknown>[]): PlacedRow<B>[] {
    const rows: PlacedRow<B>[] = [];
    for (const { id } of of) {
      const row = this.#rows.get(id)?.row;
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  arrangement(): Arrangement<B> | undefined {
    const source = this.#source;
    if (source === undefined) return undefined;
    if (this.#ordered?.by !== source.order) {
      this.#ordered = { by: source.order, order: this.#orderedBy(source.order) };
    }
    const { order } = this.#ordered as { order: RowOrder<B> };
    const keptOut = source.order.size - order.size;
    const total = source.total - keptOut;
    if (this.#arrangement?.order !== order || this.#arrangement.total !== total) {
      this.#arrangement = { order, total };
    }
    return this.#arrangement;
  }
}

/**
 * Makes a row for each row, with the same id and key. A row is made again only when its object changes or is to be
 * evaluated again, and a row equal to the former one is the former one, so rows may be compared by identity.
 *
 * A function that throws keeps the row out, and the row stands in the view's `status.refusedRows`. A new function from an
 * Observable gives one change set. An ordered stream stays ordered: after {@link liveWindow} only the rows of the window
 * are made. Completes and errors as its source does, and errors if the Observable of the function errors.
 *
 * Costs one call of the function for each changed row, and for an ordered stream the size of the window.
 *
 * ```
 * source   +a1----a2---a3----|       a2 makes the row that a1 made
 * result   +r1---------r3----|
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveMap, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' } };
 * const changes$ = of(changeSet({ added: [web] })); // with an informer: informer.changes$
 * const view = toView(changes$.pipe(liveMap(({ metadata }) => ({ name: metadata.name }))));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ name: 'web' }]
 * ```
 */
export function liveMap<A, B, O = undefined>(
  project: Param<RowProjection<A, B>>,
  options: LiveMapOptions<B> = {},
): (source: Observable<AnyChangeSet<A, O>>) => SetStream<SetOf<B, O>> {
  const { equals = shallowEqual, ...timing } = options;
  checkFunction('liveMap: project', project);
  return (source) =>
    liveOperator<B>({
      ...timing,
      name: 'liveMap',
      isRemembering: true,
      sources: [source],
      params: [project],
      create: ([value]: readonly RowProjection<A, B>[], context, former) =>
        new MapMachine<A, B>(value as RowProjection<A, B>, equals, context, former),
    }) as SetStream<SetOf<B, O>>;
}
