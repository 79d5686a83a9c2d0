/** Names of sources before the ids and keys of their rows, as in `east/shop/web`. */
import { checkedText } from '../checks/checked-option.ts';

/** The id or the key of a row, with the name of its source. */
export function named(source: string, text: string): string {
  return `${source}/${text}`;
}

/** Throws a `TypeError` unless a name can stand before ids and keys. `what` is `a source` or `a cluster`. */
export function checkSourceName(caller: string, what: string, name: unknown): void {
  const must = "text without '/', because it stands before '/' in ids and keys";
  checkedText(name, `${caller}: the name of ${what}`, /^[^/]+$/, must);
}
