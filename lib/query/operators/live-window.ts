/** `liveWindow`: some rows of an order, from a position or around a row; and `liveTop`, the first rows of an order. */

import { isObservable, type Observable } from 'rxjs';
import { check } from '../../checks/checked-option.ts';
import type { Change } from '../../delta/net-change.ts';
import type { AnyChangeSet, OrderedChangeSet, RowOrder } from '../../store/change-set.ts';
import type { OrderedChangeStream } from '../../store/change-stream.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { AnswerRows, Arrangement, LiveOptions, Machine, Param } from '../engine/machine.ts';
import { checkFunction } from '../engine/misuse.ts';
import { placedRows } from '../order/list-order.ts';
import { type Compare, liveSort } from './live-sort.ts';
import { WindowRows } from './window-rows.ts';

/** A window that stays where one row is, so that rows above it do not push it. */
export interface WindowAnchor {
  /**
   * The id of the row. While it is absent, also if the id is `undefined`, the window stays at the position where the
   * row was, at first 0.
   */
  readonly anchor: Param<string | undefined>;
  /** The position of the window's first row relative to the anchor: -10 begins ten rows before it. @defaultValue 0 */
  readonly offset?: Param<number> | undefined;
  /** The most rows of the window. */
  readonly limit: Param<number>;
}

class WindowMachine<T> implements Machine<T> {
  readonly #isAnchored: boolean;
  #offset = 0;
  #limit = 0;
  #anchor: string | undefined;
  /** Where the anchor was when it was last seen. */
  #anchoredAt = 0;
  #source: Arrangement<T> | undefined;
  readonly #shown = new WindowRows<T>();
  readonly answer: AnswerRows<T> = this.#shown.rows;

  constructor(isAnchored: boolean, values: readonly unknown[]) {
    this.#isAnchored = isAnchored;
    this.retune(values);
  }

  retune([offset, limit, anchor]: readonly unknown[]): boolean {
    this.#offset = wholeNumber(offset, 'liveWindow: offset', this.#isAnchored);
    this.#limit = wholeNumber(limit, 'liveWindow: limit', false);
    this.#anchor = anchor as string | undefined;
    this.#cut();
    return true;
  }

  arranged(source: Arrangement<unknown>): void {
    const isSame = this.#source?.order === source.order;
    this.#source = source as Arrangement<T>;
    if (isSame) this.#shown.count(source.total);
    else this.#cut();
  }

  apply(): void {
    // The order of the source has the rows, too.
  }

  take(): Change<T>[] {
    return this.#shown.log.take();
  }

  arrangement(): Arrangement<T> | undefined {
    return this.#shown.arrangement;
  }

  #start(order: RowOrder<T>): number {
    if (!this.#isAnchored) return this.#offset;
    const at = this.#anchor === undefined ? -1 : order.indexOf(this.#anchor);
    if (at >= 0) this.#anchoredAt = at;
    // At the end of the rows if the anchor was after it.
    const position = Math.min(this.#anchoredAt, Math.max(0, order.size - 1));
    return Math.max(0, position + this.#offset);
  }

  /** Cuts the window out of the order. */
  #cut(): void {
    if (this.#source === undefined) return;
    const { order, total } = this.#source;
    const start = this.#start(order);
    this.#shown.show(placedRows(order, start, start + this.#limit), total);
  }
}

/** Throws a `TypeError` unless the value is a whole number or Infinity. */
function wholeNumber(value: unknown, name: string, mayBeNegative: boolean): number {
  const whole = Number.isInteger(value) && (mayBeNegative || (value as number) >= 0);
  const must = mayBeNegative ? 'a whole number' : 'a whole number of 0 or more, or Infinity';
  check(whole || value === Number.POSITIVE_INFINITY, name, value, must);
  return value as number;
}

/** The operator from an ordered stream to a window of it. */
export type WindowOperator = <T>(source: Observable<OrderedChangeSet<T>>) => OrderedChangeStream<T>;

/**
 * Cuts a window out of an ordered stream: `limit` rows from position `offset`, or around an anchor. `set.total` is the
 * number of rows before the cut.
 *
 * A set is emitted if a row of the window, its order or the total changes. A new offset, limit or anchor from an
 * Observable gives one change set. Completes and errors as its source does; errors if an Observable of a parameter
 * errors, and with a `TypeError` if a value is not a whole number (or Infinity). Constant values throw here.
 *
 * Costs the size of the window for each set, and for an anchor the number of rows.
 *
 * ```
 * source    [abc]---[abcd]--[xabcd]--|   each set's order
 * (1, 2)    [bc]----[bc]----[ab]-----|   the second set has only another total
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveSort, liveWindow, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const pod = (name: string) => ({ metadata: { name, uid: name } });
 * const changes$ = of(changeSet({ added: [pod('c'), pod('a'), pod('b')] })); // with an informer: informer.changes$
 * const byName = liveSort<ReturnType<typeof pod>>((one, other) =>
 *   one.metadata.name < other.metadata.name ? -1 : 1,
 * );
 * const view = toView(changes$.pipe(byName, liveWindow(1, 2)));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows.map(({ metadata }) => metadata.name); // => ['b', 'c']
 * view.getSnapshot().total; // => 3
 * ```
 */
export function liveWindow(
  offset: Param<number>,
  limit: Param<number>,
  options?: LiveOptions,
): WindowOperator;
export function liveWindow(anchored: WindowAnchor, options?: LiveOptions): WindowOperator;
export function liveWindow(
  first: Param<number> | WindowAnchor,
  second?: Param<number> | LiveOptions,
  third: LiveOptions = {},
): WindowOperator {
  const anchored = isAnchor(first) ? first : undefined;
  const options = anchored === undefined ? third : ((second as LiveOptions | undefined) ?? {});
  const params =
    anchored === undefined
      ? [first, second]
      : [anchored.offset ?? 0, anchored.limit, anchored.anchor];
  // Checks the constants. 0 is valid in place of any parameter.
  const constants = params.map((param) => (isObservable(param) ? 0 : param));
  new WindowMachine(anchored !== undefined, constants);
  return <T>(source: Observable<OrderedChangeSet<T>>) =>
    liveOperator<T, OrderedChangeSet<T>>({
      ...options,
      name: 'liveWindow',
      sources: [source],
      params,
      create: (values) => new WindowMachine<T>(anchored !== undefined, values),
    }) as OrderedChangeStream<T>;
}

function isAnchor(value: Param<number> | WindowAnchor): value is WindowAnchor {
  return typeof value === 'object' && value !== null && 'limit' in value;
}

/**
 * Keeps the first `n` rows in the order of `compare`, like {@link liveSort} and `liveWindow(0, n)`. `set.total` is the number
 * of all rows.
 *
 * A new `n` or comparison from an Observable gives one change set. A row for which the comparison throws is kept out, and
 * stands in the view's `status.refusedRows`. Completes and errors as its source does, and errors if an Observable of a
 * parameter errors. Throws a `TypeError` if `n` is not a whole number of 0 or more (or Infinity).
 *
 * Costs O(log m) comparisons for each changed row of m, and `n` for each set, because all rows are kept in order: the row
 * that follows the last one must be known when a row leaves.
 *
 * ```
 * source        +c---+a----+b---|
 * liveTop(2)    [c]--[ac]--[ab]-|   each set's order
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveTop, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const pod = (name: string, restarts: number) => ({ metadata: { name, uid: name }, restarts });
 * const changes$ = of(changeSet({ added: [pod('web', 3), pod('db', 0), pod('job', 7)] }));
 * const top = liveTop<ReturnType<typeof pod>>(2, (one, other) => other.restarts - one.restarts);
 * const view = toView(changes$.pipe(top));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows.map(({ metadata }) => metadata.name); // => ['job', 'web']
 * ```
 */
export function liveTop<T>(
  n: Param<number>,
  compare: Param<Compare<T>>,
  options: LiveOptions = {},
): (source: Observable<AnyChangeSet<T>>) => OrderedChangeStream<T> {
  checkFunction('liveTop: compare', compare);
  if (!isObservable(n)) wholeNumber(n, 'liveTop: n', false);
  const window = liveWindow(0, n, options);
  return (source) => window(liveSort<T>(compare, options)(source));
}
