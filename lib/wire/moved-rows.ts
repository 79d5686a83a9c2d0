/** Finds where the changed rows are now, and the rows whose place has changed although they have not. */
import { type PlacedRow, placedRows } from '../query/order/list-order.ts';
import type { RowOrder } from '../store/change-set.ts';

type Order = RowOrder<unknown>;
type Rows = readonly PlacedRow<unknown>[];

/** The position of each row that is sent or gone, by id; -1 until it is found. */
export type SentPlaces = Map<string, number>;

interface Walk {
  readonly before: Rows;
  readonly now: Rows;
  readonly sent: SentPlaces;
  /** The positions in a list, from the end where the walk begins. */
  readonly place: (list: Rows, step: number) => number;
}

/**
 * Walks through both lists while the rows that are not sent are in the same order, and returns the steps in each. Most rows are the same
 * objects, and comparing two objects costs a hundredth of looking up an id.
 */
function sameSteps({ before, now, sent, place }: Walk, most: readonly [number, number]) {
  const [mostBefore, mostNow] = most;
  let [former, present] = [0, 0];
  while (present < mostNow) {
    const one = former < mostBefore ? before[place(before, former)] : undefined;
    const at = place(now, present);
    const other = now[at] as PlacedRow<unknown>;
    if (one === other) {
      former++;
      present++;
      continue;
    }
    const isSent = sent.has(other.id);
    if (isSent) sent.set(other.id, at);
    if (one?.id === other.id) former++;
    else if (!isSent) {
      if (one === undefined || !sent.has(one.id)) break;
      former++;
      continue;
    }
    present++;
  }
  return [former, present] as const;
}

/**
 * The positions of the fewest rows that must move, so that the others are in the order `now`, too. The rows of `sent` are moved or gone
 * anyway, and are left out.
 */
export function movedRows(
  beforeOrder: Order,
  nowOrder: Order,
  sent: SentPlaces,
): readonly number[] {
  const [before, now] = [placedRows(beforeOrder), placedRows(nowOrder)];
  const lists = { before, now, sent };
  const [startBefore, start] = sameSteps({ ...lists, place: (_list, step) => step }, [
    before.length,
    now.length,
  ]);
  const left = [before.length - startBefore, now.length - start] as const;
  const [lastBefore, last] = sameSteps(
    { ...lists, place: (list, step) => list.length - 1 - step },
    left,
  );
  const places = new Map<string, number>();
  for (const [at, { id }] of before.slice(startBefore, before.length - lastBefore).entries())
    places.set(id, at);
  const moved: number[] = [];
  const others: Place[] = [];
  for (const [step, { id }] of now.slice(start, now.length - last).entries()) {
    const at = start + step;
    const former = places.get(id);
    if (sent.has(id)) sent.set(id, at);
    else if (former === undefined) moved.push(at);
    else others.push({ at, former, previous: undefined });
  }
  const kept = longestRising(others);
  return moved.concat(others.filter((each) => !kept.has(each)).map(({ at }) => at));
}

interface Place {
  readonly at: number;
  readonly former: number;
  /** The place before it in the longest series that it ends. */
  previous: Place | undefined;
}

/** The longest series in which the former places rise. */
function longestRising(places: readonly Place[]): ReadonlySet<Place> {
  /** The lowest place that ends a series, by its length. */
  const ends: Place[] = [];
  for (const place of places) {
    let low = 0;
    let high = ends.length;
    // The last end is compared first, because most places rise.
    for (let middle = high - 1; low < high; middle = (low + high) >>> 1) {
      if ((ends[middle] as Place).former < place.former) low = middle + 1;
      else high = middle;
    }
    place.previous = ends[low - 1];
    ends[low] = place;
  }
  const series = new Set<Place>();
  for (let each = ends.at(-1); each !== undefined; each = each.previous) series.add(each);
  return series;
}
