/** `liveMergeMap`: the latest value of an Observable for each row, such as the metrics of a Pod. */
import { EMPTY, from, type Observable, type ObservableInput, Subscription } from 'rxjs';
import { refuseRemoved } from '../../checks/checked-option.ts';
import type { RowIdentity } from '../../delta/net-change.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { metadataOf } from '../../meta/kubernetes-object.ts';
import { reportingErrors } from '../../rx/report-unhandled.ts';
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

/**
 * Returns the Observable whose latest value is the row of an object; `undefined` makes no row. `nowMs` is the scheduler's
 * time, in milliseconds since the Unix epoch.
 */
export type StreamProjection<A, B> = (
  object: Stored<A>,
  nowMs: number,
) => ObservableInput<B> | undefined;

/** The options of {@link liveMergeMap}. */
export interface LiveMergeMapOptions<A> extends LiveOptions {
  /**
   * Returns what the Observable of an object depends on, such as the address of a Pod. If it changes, the projection is
   * called again, and its Observable replaces the former one. Plain objects and arrays are compared field by field.
   * @defaultValue a constant: the projection is called once for each object
   */
  readonly key?: ((object: Stored<A>) => unknown) | undefined;
}

/** The Observable of one object. */
interface Inner<B> {
  readonly run: Subscription;
  /** That of the object. */
  readonly of: RowIdentity | undefined;
  /** The key of the object when the Observable was made. */
  readonly key: unknown;
  row: HeldRow<B> | undefined;
  /** The last row, with which the next value is compared. */
  last: HeldRow<B> | undefined;
  hasFailed: boolean;
  isReplaced: boolean;
}

interface Merged<B> extends HeldRow<unknown> {
  readonly inner: Inner<B>;
}

class MergeMachine<A, B> extends RowMachine<B, Merged<B>> {
  readonly #project: StreamProjection<A, B>;
  readonly #keyOf: (object: Stored<A>) => unknown;
  #former: Machine<B> | undefined;
  readonly #rows = this.inputs[0] as Map<string, Merged<B>>;
  readonly answer: AnswerRows<B>;

  constructor(
    project: StreamProjection<A, B>,
    { key = () => undefined }: LiveMergeMapOptions<A>,
    context: MachineContext,
    former: Machine<B> | undefined,
  ) {
    super(context);
    this.#project = project;
    this.#keyOf = key;
    this.#former = former;
    const rows = this.#rows;
    this.answer = {
      get: (id) => rows.get(id)?.inner.row,
      *entries() {
        for (const [id, { inner }] of rows) if (inner.row !== undefined) yield [id, inner.row];
      },
    };
  }

  put(_input: number, id: string, key: string, object: Stored<A>, of?: RowIdentity): void {
    const before = this.#rows.get(id)?.inner;
    const keyNow = this.context.attempt(id, key, () => ({ of: this.#keyOf(object) }));
    const isSame =
      before?.hasFailed === false && keyNow !== undefined && shallowEqual(before.key, keyNow.of);
    if (isSame) {
      this.#rows.set(id, { key, object, of, inner: before });
      return;
    }
    if (before !== undefined) this.#end(id, before);
    const inner: Inner<B> = {
      run: new Subscription(),
      of: of ?? metadataOf(object),
      key: keyNow?.of,
      row: undefined,
      last: before?.last ?? this.#former?.answer.get(id),
      hasFailed: keyNow === undefined,
      isReplaced: false,
    };
    this.#rows.set(id, { key, object, of, inner });
    if (keyNow !== undefined) this.#open(id, key, object, inner);
  }

  protected removed(_input: number, id: string, { inner }: Merged<B>, ending: Ending<A>): void {
    this.#end(id, inner, ending.finalStateUnknown);
  }

  // The rows of the former machine are needed only while the first rows are fed.
  settle(): undefined {
    this.#former = undefined;
  }

  close(): void {
    for (const { inner } of this.#rows.values()) this.#unsubscribe(inner);
  }

  #open(id: string, key: string, object: Stored<A>, inner: Inner<B>): void {
    const { context } = this;
    // Values that come while the row is put belong to the set of the source.
    let isOpening = true;
    const change = (task: () => void) => {
      if (isOpening) return task();
      context.change(() => {
        if (!inner.isReplaced) task();
      });
    };
    const failed = (error: unknown) => {
      inner.hasFailed = true;
      this.#show(id, inner, undefined);
      context.attempt(id, key, () => {
        throw error;
      });
    };
    const next = (value: B) => {
      const made = context.attempt(id, key, () => ({ row: this.#rowOf(key, inner, value) }));
      inner.hasFailed = made === undefined;
      this.#show(id, inner, made?.row);
    };
    const made = context.attempt(id, key, () => {
      const projected = this.#project(object, context.nowMs());
      return { values$: projected === undefined ? EMPTY : (from(projected) as Observable<B>) };
    });
    inner.hasFailed = made === undefined;
    if (made === undefined) return;
    inner.run.add(
      made.values$.subscribe({
        next: (value) => change(() => next(value)),
        error: (error) => change(() => failed(error)),
      }),
    );
    isOpening = false;
  }

  #rowOf(key: string, inner: Inner<B>, value: B): HeldRow<B> | undefined {
    if (value === undefined) return undefined;
    const { last } = inner;
    if (last !== undefined && shallowEqual(last.object, value)) return last;
    return { key, object: value as Stored<B>, of: inner.of };
  }

  #show(id: string, inner: Inner<B>, row: HeldRow<B> | undefined): void {
    if (inner.row === row) return;
    this.log.touch(id, inner.row);
    inner.row = row;
    inner.last = row ?? inner.last;
  }

  #end(id: string, inner: Inner<B>, finalStateUnknown?: true): void {
    this.#unsubscribe(inner);
    if (inner.row === undefined) return;
    this.log.touch(id, inner.row, { finalStateUnknown });
    inner.row = undefined;
  }

  #unsubscribe(inner: Inner<B>): void {
    inner.isReplaced = true;
    reportingErrors(() => inner.run.unsubscribe())();
  }
}

/**
 * Makes a row of the latest value of an Observable for each row: metrics, logs, the answer of a request.
 *
 * The projection is called, and its Observable subscribed, when an object is added. The object has no row until the
 * first value; `undefined` as a value takes the row away. When the object is deleted, its Observable is unsubscribed.
 * When the object only changes, its Observable stays, because most changes of a Pod have nothing to do with its
 * metrics; with the option `key` the projection is called again if the key changes, and the row is absent until the
 * new Observable's first value. A new projection from an Observable replaces all Observables.
 *
 * An Observable that completes keeps its last row. One that errors, and a projection that throws, keeps the row out, and
 * the row stands in the view's `status.refusedRows`; the projection is called again when the object changes. Use RxJS's
 * `retry` in the Observable to try earlier. Completes and errors as its source does, and then unsubscribes from all
 * Observables.
 *
 * A value whose fields or elements are those of the former row, by `Object.is`, changes nothing. To compare otherwise, append
 * `liveMap((row) => row, { equals })`.
 *
 * Costs one subscription for each row, and one emission per value, or per turn if the values come in one turn.
 *
 * ```
 * source   +a----------------(-a)--|
 * a's      ----1---1---2-----------     the second 1 is equal to the first
 * result   e---+1------2-----(-a)--|    e: a set without rows
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveMergeMap, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' } };
 * const changes$ = of(changeSet({ added: [web] })); // with an informer: informer.changes$
 * const cpuOf = (name: string) => of({ name, cpu: 0.2 }); // with a cluster: a poll of the metrics
 * const view = toView(changes$.pipe(liveMergeMap(({ metadata }) => cpuOf(metadata.name))));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ name: 'web', cpu: 0.2 }]
 * ```
 */
export function liveMergeMap<A, B>(
  project: Param<StreamProjection<A, B>>,
  options: LiveMergeMapOptions<A> = {},
): (source: Observable<ChangeSet<A>>) => ChangeStream<B> {
  checkFunction('liveMergeMap: project', project);
  const instead = 'append liveMap((row) => row, { equals })';
  refuseRemoved(options, 'liveMergeMap', 'equals', instead);
  return (source) =>
    liveOperator<B, ChangeSet<B>>({
      scheduler: options.scheduler,
      name: 'liveMergeMap',
      sources: [source],
      params: [project],
      hasInnerStreams: true,
      isRemembering: true,
      create: ([value]: readonly StreamProjection<A, B>[], context, former) =>
        new MergeMachine<A, B>(value as StreamProjection<A, B>, options, context, former),
    }) as ChangeStream<B>;
}
