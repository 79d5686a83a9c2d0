/** Finds misuse of operators: streams that are no longer change sets of one source, in development; and parameters that are no functions. */

import { isObservable } from 'rxjs';
import { check } from '../../checks/checked-option.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { defaultMutationGuard } from '../../store/mutation-guard.ts';

const ADVICE =
  'An RxJS operator that drops, delays or mixes sets (filter, debounceTime, merge) may stand before it: use liveFilter, conflateByKey or liveUnion instead';

const NO_ROWS: ReadonlySet<string> = /* @__PURE__ */ new Set();

/** Checks one set of one source. `rows` are those held before it, if they are known. Throws an `Error` on misuse. */
export type SetCheck = (
  set: AnyChangeSet<unknown>,
  rows: { has(id: string): boolean } | undefined,
  isSubscribing: boolean,
) => void;

/** The check for one subscription to one source, which in production does nothing. */
export function setCheck(operator: string): SetCheck {
  if (defaultMutationGuard() === 'off') return () => undefined;
  let hadReset = false;
  let isFirst = true;
  return (set, rows, isSubscribing) => {
    // The first set adds to nothing. Later, the rows are not known while the first answer is computed.
    const held = isFirst ? NO_ROWS : rows;
    isFirst = false;
    if (set.reset) {
      if (isSubscribing && hadReset) {
        throw new Error(
          `${operator}: its source emitted two first sets, so it mixes several sources. ${ADVICE}`,
        );
      }
      hadReset = true;
      return;
    }
    for (const { id, previous, object } of held === undefined ? [] : set.changes) {
      if (previous === undefined || held?.has(id)) continue;
      const change = object === undefined ? 'the deletion' : 'an update';
      throw new Error(
        `${operator}: its source emitted ${change} of ${JSON.stringify(id)}, which it had not added. ${ADVICE}`,
      );
    }
  };
}

/** Throws an `Error` if a set has lost its order, because there are rows of another stream beside its own. */
export function checkOrder(operator: string, hasLostOrder: boolean): void {
  if (!hasLostOrder) return;
  throw new Error(
    `${operator}: its source mixes an ordered stream with others, and their rows have no common order. Put liveSort or liveWindow after the merge, not before it`,
  );
}

/** Throws a `TypeError` unless the parameter is a function or an Observable. `name` is as in `liveMap: project`. */
export function checkFunction(name: string, value: unknown): void {
  const isFunction = typeof value === 'function' || isObservable(value);
  check(isFunction, name, value, 'a function, or an Observable of functions');
}
