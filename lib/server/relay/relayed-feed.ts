/** The changes that one tab of a worker has not been sent, of a view whose rows come from a server. */
import type { SchedulerLike } from 'rxjs';
import type { Stored } from '../../meta/kubernetes-object.ts';
import { ListOrder } from '../../query/order/list-order.ts';
import type { ViewStatus } from '../../query/view/view.ts';
import { carryError, carryStatus } from '../../wire/carried-errors.ts';
import { movedRows } from '../../wire/moved-rows.ts';
import type { Feed } from '../../wire/query-feed.ts';
import type { RowDifference } from '../../wire/row-difference.ts';
import type { AskedView } from '../../worker/page/asked-view.ts';

/** Rows in their order, with their ids. Neither list ever changes. */
interface ListedRows {
  readonly ids: readonly string[];
  readonly list: readonly unknown[];
}

const NO_LISTED: ListedRows = { ids: [], list: [] };

/** The difference between two states of the rows of a view, in which an equal row is the same object. */
export function rowsBetween(
  before: ListedRows,
  now: ListedRows,
): Pick<RowDifference, 'gone' | 'rows'> {
  const [left, right] = [before.ids.length, now.ids.length];
  const most = Math.min(left, right);
  const isSame = (one: number, other: number) =>
    before.ids[one] === now.ids[other] && before.list[one] === now.list[other];
  // Most rows are the same ones at both ends.
  let start = 0;
  while (start < most && isSame(start, start)) start++;
  let end = 0;
  while (end < most - start && isSame(left - 1 - end, right - 1 - end)) end++;
  const between = ({ ids, list }: ListedRows) =>
    ids
      .slice(start, ids.length - end)
      .map((id, at) => ({ id, key: id, object: list[start + at] as Stored<object> }));
  const [former, present] = [between(before), between(now)];
  const remaining = new Map<string, unknown>(former.map(({ id, object }) => [id, object]));
  const places = new Map<string, number>();
  for (const { id, object } of present) {
    if (!remaining.has(id) || remaining.get(id) !== object) places.set(id, -1);
    remaining.delete(id);
  }
  const gone = [...remaining.keys()];
  for (const id of gone) places.set(id, -1);
  const moved = movedRows(new ListOrder(former), new ListOrder(present), places);
  const rows = [...moved, ...places.values()]
    .filter((at) => at >= 0)
    .sort((one, other) => one - other)
    .map((at) => {
      const { id, object } = present[at] as (typeof present)[number];
      return [id, start + at, object] as const;
    });
  return { ...(gone.length > 0 && { gone }), ...(rows.length > 0 && { rows }) };
}

/** The parts of a {@link RelayedFeed}. */
export interface RelayedFeedParts {
  readonly view: AskedView;
  readonly scheduler: SchedulerLike;
  /** Whether the server has been asked and has not answered, so that the rows are those of before. */
  isAwaited(): boolean;
  /** Whether the server may be asked again, if the query has ended. */
  mayAsk(): boolean;
  onWaiting(): void;
}

export class RelayedFeed implements Feed {
  readonly #parts: RelayedFeedParts;
  /** Absent if the next difference has all rows. */
  #told: (ListedRows & { readonly status: ViewStatus }) | undefined;
  #isShown = false;
  #isAnnounced = false;
  /** Leaves the view, which asks the server while it is held. */
  #leave: () => void;

  constructor(parts: RelayedFeedParts) {
    this.#parts = parts;
    this.#leave = parts.view.subscribe(this.#announce);
  }

  show(): void {
    this.#isShown = true;
    this.#told = undefined;
    if (this.#parts.mayAsk()) {
      const leave = this.#leave;
      // Once more, because a view that has ended is asked again for its next subscriber.
      this.#leave = this.#parts.view.subscribe(this.#announce);
      leave();
    }
    this.#announce();
  }

  hide(): void {
    this.#isShown = false;
    this.#told = undefined;
  }

  close(): void {
    this.hide();
    this.#leave();
  }

  take(): RowDifference | undefined {
    this.#isAnnounced = false;
    const { view, scheduler, isAwaited } = this.#parts;
    const before = this.#told;
    if (!this.#isShown || (before === undefined && isAwaited())) return undefined;
    const { status, synced, total, error } = view.getSnapshot();
    const { rows, run } = view.shown;
    const { ids, list } = view.rows;
    // After an error the tab forgets its rows with the next answer.
    this.#told = error === undefined ? { ids, list, status } : undefined;
    return {
      ...(before === undefined && { reset: true as const }),
      ...rowsBetween(before ?? NO_LISTED, { ids, list }),
      ...{ total, synced },
      ...(rows === 'outdated' && { stale: true as const }),
      ...(run !== 'begun' && { run }),
      ...(status !== before?.status && { status: carryStatus(status, scheduler.now()) }),
      ...(error && { error: carryError(error) }),
    };
  }

  readonly #announce = (): void => {
    if (this.#isAnnounced || !this.#isShown) return;
    this.#isAnnounced = true;
    this.#parts.onWaiting();
  };
}
