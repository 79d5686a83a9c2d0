/** `liveFlatMap`: several rows for each row, such as the containers of a Pod. */
import type { Observable } from 'rxjs';
import { refuseRemoved } from '../../checks/checked-option.ts';
import type { RowIdentity } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { metadataOf } from '../../meta/kubernetes-object.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { Ending } from '../engine/answer-log.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type {
  AnswerRows,
  HeldRow,
  LiveOptions,
  Machine,
  MachineContext,
  Param,
} from '../engine/machine.ts';
import { checkFunction } from '../engine/misuse.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { shallowEqual } from './shallow-equal.ts';

/** Returns the rows of an object. `nowMs` is the scheduler's time, in milliseconds since the Unix epoch. */
export type RowsProjection<A, B> = (
  object: Stored<A>,
  nowMs: number,
) => Iterable<B> | undefined | null;

/** The options of {@link liveFlatMap}. */
export interface LiveFlatMapOptions<B> extends LiveOptions {
  /**
   * Returns the id of a row among the rows of its object.
   * @defaultValue the row's `name`, else its `type`, else the row itself if it is a string
   */
  readonly idOf?: ((row: B) => string) | undefined;
}

interface FlatMapped extends HeldRow<unknown> {
  /** The ids of its rows. */
  readonly ids: readonly string[];
}

/** The id of a container, a port, a volume (`name`) or a condition (`type`). */
function nameOf(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row;
  const { name, type } = row as { readonly name?: unknown; readonly type?: unknown };
  return name ?? type;
}

/** The end of an id. The ids of objects may contain `/`, so one in a name is escaped, and marked by another at the end. */
function idPart(name: string): string {
  return name.includes('/') ? `${name.replaceAll('%', '%25').replaceAll('/', '%2F')}/` : name;
}

class FlatMapMachine<A, B> extends RowMachine<B, FlatMapped> {
  readonly #project: RowsProjection<A, B>;
  readonly #idOf: (row: B) => unknown;
  #former: Machine<B> | undefined;
  readonly #objects = this.inputs[0] as Map<string, FlatMapped>;
  readonly #rows = new Map<string, HeldRow<B>>();
  readonly answer: AnswerRows<B> = this.#rows;

  constructor(
    project: RowsProjection<A, B>,
    { idOf }: LiveFlatMapOptions<B>,
    context: MachineContext,
    former: Machine<B> | undefined,
  ) {
    super(context);
    this.#project = project;
    this.#idOf = idOf ?? nameOf;
    this.#former = former;
  }

  put(_input: number, id: string, key: string, object: Stored<A>, of?: RowIdentity): void {
    const rows = this.context.attempt(id, key, () => this.#rowsOf(id, key, object, of));
    for (const rowId of this.#objects.get(id)?.ids ?? []) {
      if (rows?.has(rowId) !== true) this.#delete(rowId);
    }
    for (const [rowId, row] of rows ?? []) {
      const before = this.#rows.get(rowId);
      if (before === row) continue;
      this.log.touch(rowId, before);
      this.#rows.set(rowId, row);
    }
    this.#objects.set(id, { key, object, of, ids: [...(rows?.keys() ?? [])] });
  }

  protected removed(_input: number, _id: string, { ids }: FlatMapped, ending: Ending<A>): void {
    for (const rowId of ids) this.#delete(rowId, ending.finalStateUnknown);
  }

  // The rows of the former machine are needed only while the first rows are fed.
  settle(): undefined {
    this.#former = undefined;
  }

  #rowsOf(
    id: string,
    key: string,
    object: Stored<A>,
    of: RowIdentity | undefined = metadataOf(object),
  ): Map<string, HeldRow<B>> {
    const rows = new Map<string, HeldRow<B>>();
    for (const row of this.#project(object, this.context.nowMs()) ?? []) {
      const subId = this.#idOf(row);
      if (typeof subId !== 'string' || subId === '') {
        throw new TypeError(
          `liveFlatMap: a row of ${key} has no id, because it has neither a name nor a type; return one with the option idOf`,
        );
      }
      const rowId = `${id}/${idPart(subId)}`;
      if (rows.has(rowId)) {
        throw new TypeError(
          `liveFlatMap: two rows of ${key} have the id ${JSON.stringify(subId)}; return different ids with the option idOf`,
        );
      }
      const before = this.#rows.get(rowId) ?? this.#former?.answer.get(rowId);
      const isSame = before !== undefined && shallowEqual(before.object, row);
      const made = { key: `${key}/${subId}`, object: row as Stored<B>, of };
      rows.set(rowId, isSame ? before : made);
    }
    return rows;
  }

  #delete(rowId: string, finalStateUnknown?: true): void {
    this.log.touch(rowId, this.#rows.get(rowId), { finalStateUnknown });
    this.#rows.delete(rowId);
  }
}

/**
 * Makes several rows for each row: the containers of a Pod, the ports of a Service, the conditions of a Node. The id of
 * a row is `uid/id` and its key `key/id`, where `id` is the row's name or type, or what `idOf` returns. In the id of the
 * row, an `id` with a slash is escaped: `a/b` becomes `a%2Fb/`.
 *
 * The rows of an object are made again only when the object changes or is to be evaluated again. A row whose
 * fields are those of the former one with its id, by `Object.is`, is the former one, so that a change of one container emits one
 * row; to compare otherwise, append `liveMap((row) => row, { equals })`. `undefined` makes no rows.
 * A function that throws, a row without an id, and two rows with one id keep all rows of their object out, and the
 * object stands in the view's `status.refusedRows`. A new function from an Observable gives one change set. Completes and
 * errors as its source does, and errors if the Observable of the function errors.
 *
 * Costs one call of the function for each changed row, and the rows that it returns.
 *
 * ```
 * source   +pod(a,b)----pod(a,b2)----pod(b2)---|
 * result   +a +b--------b2-----------(-a)------|
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveFlatMap, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' }, containers: [{ name: 'nginx' }, { name: 'log' }] };
 * const changes$ = of(changeSet({ added: [web] })); // with an informer: informer.changes$
 * const view = toView(changes$.pipe(liveFlatMap(({ containers }) => containers)));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ name: 'nginx' }, { name: 'log' }]
 * view.select('u1/log').getSnapshot(); // => { name: 'log' }
 * ```
 */
export function liveFlatMap<A, B>(
  project: Param<RowsProjection<A, B>>,
  options: LiveFlatMapOptions<B> = {},
): (source: Observable<ChangeSet<A>>) => ChangeStream<B> {
  checkFunction('liveFlatMap: project', project);
  const instead = 'append liveMap((row) => row, { equals })';
  refuseRemoved(options, 'liveFlatMap', 'equals', instead);
  return (source) =>
    liveOperator<B, ChangeSet<B>>({
      scheduler: options.scheduler,
      name: 'liveFlatMap',
      isRemembering: true,
      sources: [source],
      params: [project],
      create: ([value]: readonly RowsProjection<A, B>[], context, former) =>
        new FlatMapMachine<A, B>(value as RowsProjection<A, B>, options, context, former),
    }) as ChangeStream<B>;
}
