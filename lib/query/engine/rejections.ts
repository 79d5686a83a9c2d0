/** The rows that an operator keeps out because a user's function threw. */
import { BehaviorSubject, type Observable } from 'rxjs';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { sameList } from '../order/same-list.ts';

/** A row that stays out until its object or a parameter changes. */
export interface RejectedRow {
  /** The operator whose function threw: `liveFilter`. */
  readonly operator: string;
  /** The id and the key of the row that the function was called with. */
  readonly id: string;
  readonly key: string;
  readonly error: unknown;
}

/** No rejected rows. */
export const NONE: readonly RejectedRow[] = /* @__PURE__ */ Object.freeze([]);

/** The rejected rows of all subscriptions of one operator. */
export class Rejections {
  readonly #bySubscription = new Map<object, ReadonlyMap<string, RejectedRow>>();
  readonly #rows = new BehaviorSubject<readonly RejectedRow[]>(NONE);

  /** The rejected rows now, and after each change. */
  readonly rows$: Observable<readonly RejectedRow[]> = this.#rows.asObservable();

  get rows(): readonly RejectedRow[] {
    return this.#rows.value;
  }

  /** Notes the rows that a subscription rejects; an empty map when it ends. Reports what is new if nothing listens. */
  publish(subscription: object, rows: ReadonlyMap<string, RejectedRow>): void {
    if (rows.size === 0) this.#bySubscription.delete(subscription);
    else this.#bySubscription.set(subscription, rows);
    const all = new Map<string, RejectedRow>();
    for (const each of this.#bySubscription.values()) {
      for (const [id, row] of each) if (!all.has(id)) all.set(id, row);
    }
    const before = this.#rows.value;
    const now = all.size === 0 ? NONE : Object.freeze([...all.values()]);
    if (sameList(now, before)) return;
    if (!this.#rows.observed) {
      for (const row of now) if (!before.includes(row)) reportUnhandled(row.error);
    }
    this.#rows.next(now);
  }
}
