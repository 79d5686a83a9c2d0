/** The rows that an operator keeps out because a user's function threw. */
import { BehaviorSubject, type Observable } from 'rxjs';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { sameList } from '../operators/shallow-equal.ts';

/** A row that stays out until its object or a parameter changes. */
export interface RefusedRow {
  /** The operator whose function threw: `liveFilter`. */
  readonly operator: string;
  /** The id and the key of the row that the function was called with. */
  readonly id: string;
  readonly key: string;
  readonly error: unknown;
}

const NONE: readonly RefusedRow[] = /* @__PURE__ */ Object.freeze([]);

/** The refused rows of all subscriptions of one operator. */
export class RefusedRows {
  readonly #bySubscription = new Map<object, ReadonlyMap<string, RefusedRow>>();
  readonly #rows = new BehaviorSubject<readonly RefusedRow[]>(NONE);

  /** The refused rows now, and after each change. */
  readonly rows$: Observable<readonly RefusedRow[]> = this.#rows.asObservable();

  get rows(): readonly RefusedRow[] {
    return this.#rows.value;
  }

  /** Notes the rows that a subscription refuses; an empty map when it ends. Reports what is new if nothing listens. */
  publish(subscription: object, rows: ReadonlyMap<string, RefusedRow>): void {
    if (rows.size === 0) this.#bySubscription.delete(subscription);
    else this.#bySubscription.set(subscription, rows);
    const all = new Map<string, RefusedRow>();
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
