/** `liveFilter`: the rows for which a predicate holds. */
import { isObservable, type Observable } from 'rxjs';
import type { RowIdentity } from '../../delta/net-change.ts';
import type { KubernetesObject, Stored } from '../../meta/kubernetes-object.ts';
import {
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
} from '../../meta/label-selector.ts';
import { synchronous } from '../../rx/is-thenable.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { Ending } from '../engine/answer-log.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { AnswerRows, HeldRow, LiveOptions, MachineContext, Param } from '../engine/machine.ts';
import { RowMachine } from '../engine/row-machine.ts';

/** Decides whether a row is in the answer. `nowMs` is the time of the scheduler, in milliseconds since the Unix epoch. */
export type RowPredicate<T> = (object: Stored<T>, nowMs: number) => boolean;

interface Filtered<T> extends HeldRow<T> {
  readonly isIn: boolean;
}

class FilterMachine<T> extends RowMachine<T, Filtered<T>> {
  readonly #predicate: RowPredicate<T>;
  readonly #rows = this.inputs[0] as Map<string, Filtered<T>>;
  readonly answer: AnswerRows<T>;

  constructor(predicate: RowPredicate<T>, context: MachineContext) {
    super(context);
    this.#predicate = predicate;
    const rows = this.#rows;
    const inside = (row: Filtered<T> | undefined) => (row?.isIn === true ? row : undefined);
    this.answer = {
      get: (id) => inside(rows.get(id)),
      *entries() {
        for (const entry of rows) if (entry[1].isIn) yield entry;
      },
    };
  }

  put(_input: number, id: string, key: string, object: Stored<T>, of?: RowIdentity): void {
    const { context } = this;
    const holds = () => synchronous(this.#predicate(object, context.nowMs()), 'the condition');
    // As in `Array.filter`, a value such as a label counts as true.
    const isIn = Boolean(context.attempt(id, key, holds));
    const before = this.answer.get(id);
    if (isIn || before !== undefined)
      this.log.touch(id, before, isIn ? undefined : { last: object });
    this.#rows.set(id, { key, object, of, isIn });
  }

  protected removed(_input: number, id: string, row: Filtered<T>, ending: Ending<T>): void {
    if (row.isIn) this.log.touch(id, row, ending);
  }
}

/** The condition of {@link liveFilter}: a function, or a label selector in any of its forms. */
export type FilterCondition<T> = RowPredicate<T> | string | LabelSelectorObject | LabelSelector;

function parsed(condition: string | LabelSelectorObject): LabelSelector {
  try {
    return parseLabelSelector(condition);
  } catch (error) {
    throw new TypeError(`liveFilter: ${(error as Error).message}`);
  }
}

function predicateOf<T>(condition: FilterCondition<T>): RowPredicate<T> {
  if (typeof condition === 'function') return condition;
  const isParsed = typeof condition === 'object' && condition !== null && 'matches' in condition;
  const selector = isParsed ? (condition as LabelSelector) : parsed(condition);
  return (object) => selector.matches((object as KubernetesObject).metadata?.labels ?? {});
}

/**
 * Keeps the rows for which a predicate holds. A row that no longer satisfies it is deleted from the answer.
 *
 * The predicate is called when a row is added, changes, or is to be evaluated again (a resync, or a time of
 * {@link liveUntil}). A predicate that throws keeps the row out, and the row stands in the view's `status.refusedRows`. A
 * new predicate from an Observable gives one change set. Completes and errors as its source does, and errors if the
 * Observable of the predicate errors. Throws a `TypeError` if a label selector cannot be parsed.
 *
 * Costs one call of the predicate for each changed row.
 *
 * ```
 * source   +a1---a2----a3---|        a passes as a1 and a3
 * result   +a1---(-a)--+a3--|
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveFilter, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1', labels: { app: 'shop' } } };
 * const job = { metadata: { name: 'job', uid: 'u2' } };
 * const changes$ = of(changeSet({ added: [web, job] })); // with an informer: informer.changes$
 * const view = toView(changes$.pipe(liveFilter('app=shop')));
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows.map(({ metadata }) => metadata.name); // => ['web']
 * ```
 */
export function liveFilter<T>(
  condition: Param<FilterCondition<T>>,
  options: LiveOptions = {},
): (source: Observable<ChangeSet<T>>) => ChangeStream<T> {
  // A constant is parsed once, and an invalid selector throws here.
  const constant = isObservable(condition) ? undefined : predicateOf<T>(condition);
  return filtered<T>(
    condition,
    options,
    (value) => constant ?? predicateOf<T>(value as FilterCondition<T>),
  );
}

/** As {@link liveFilter}, by a function, so that its users do not load the selectors. */
export function filterBy<T>(
  predicate: RowPredicate<T>,
  options: LiveOptions,
): (source: Observable<ChangeSet<T>>) => ChangeStream<T> {
  return filtered(predicate, options, () => predicate);
}

function filtered<T>(
  condition: unknown,
  options: LiveOptions,
  predicateBy: (value: unknown) => RowPredicate<T>,
): (source: Observable<ChangeSet<T>>) => ChangeStream<T> {
  return (source) =>
    liveOperator<T, ChangeSet<T>>({
      ...options,
      name: 'liveFilter',
      sources: [source],
      params: [condition],
      create: ([value], context) => new FilterMachine<T>(predicateBy(value), context),
    }) as ChangeStream<T>;
}
