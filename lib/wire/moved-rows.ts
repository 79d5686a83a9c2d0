/** Finds the rows whose place has changed although they have not, because what they are sorted by is not in them. */
import type { RowOrder } from '../store/change-set.ts';

type Order = RowOrder<unknown>;

/** The part of two orders that differs. */
interface Differing {
  readonly before: Order;
  readonly start: number;
  readonly beforeEnd: number;
  readonly end: number;
}

/** By the later order, so that the readers of a query share the walk over all rows. */
const differing = /* @__PURE__ */ new WeakMap<Order, Differing>();

function differingPart(before: Order, now: Order): Differing {
  const known = differing.get(now);
  if (known?.before === before) return known;
  let start = 0;
  let beforeEnd = before.size;
  let end = now.size;
  const shorter = Math.min(beforeEnd, end);
  while (start < shorter && before.idAt(start) === now.idAt(start)) start++;
  for (; Math.min(beforeEnd, end) > start; beforeEnd--, end--) {
    if (before.idAt(beforeEnd - 1) !== now.idAt(end - 1)) break;
  }
  const part = { before, start, beforeEnd, end };
  differing.set(now, part);
  return part;
}

/**
 * The positions of the fewest rows that must move, so that the others are in the order `now`, too. The rows for which
 * `isSent` holds are moved or gone anyway, and are left out.
 */
export function movedRows(
  before: Order,
  now: Order,
  isSent: (id: string) => boolean,
): readonly number[] {
  const { start, beforeEnd, end } = differingPart(before, now);
  if (start === end) return [];
  const places = new Map<string, number>();
  for (let at = start; at < beforeEnd; at++) places.set(before.idAt(at) as string, at);
  const moved: number[] = [];
  const others: Place[] = [];
  for (let at = start; at < end; at++) {
    const id = now.idAt(at) as string;
    if (isSent(id)) continue;
    const former = places.get(id);
    if (former === undefined) moved.push(at);
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
