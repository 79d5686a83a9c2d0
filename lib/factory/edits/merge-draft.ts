/** Repeats the changes of a draft on a newer state: a pure three-way merge. */

import { type Fields, isFields } from '../../meta/json-fields.ts';
import { sameContent } from '../../meta/same-content.ts';
import { itemsByKey } from './list-keys.ts';

/**
 * Returns `now` with what differs between `base` and `draft`. Fields that the draft has not changed are those of `now`,
 * and so are items of a list that has a known key. Another list that the draft has changed is that of the draft.
 * Unchanged parts stay the same objects, and if `now` has the changes already, the result is `now`. `name` is that of
 * the field.
 */
export function mergeDraft<V>(base: V, draft: V, now: V, name?: string): V {
  if (draft === base || draft === now) return now;
  if (now === base) return draft;
  const merged = mergedFields(base, draft, now) ?? mergedItems(base, draft, now, name);
  if (merged !== undefined) return merged as V;
  return sameContent(draft, base) || sameContent(draft, now) ? now : draft;
}

/** A field that both have added is merged, too: a draft that adds a label hides no label of another writer. */
function mergedFields(base: unknown = {}, draft: unknown, now: unknown): Fields | undefined {
  if (!isFields(base) || !isFields(draft) || !isFields(now)) return undefined;
  const merged: Fields = {};
  let isSame = true;
  for (const name of new Set([...Object.keys(now), ...Object.keys(draft)])) {
    const value = fieldOf(name, base, draft, now);
    if (value === undefined && !Object.hasOwn(now, name)) continue;
    if (value !== now[name]) isSame = false;
    if (value === undefined) isSame = false;
    else
      Object.defineProperty(merged, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return isSame ? now : merged;
}

function fieldOf(name: string, base: Fields, draft: Fields, now: Fields): unknown {
  const has = (of: Fields) => Object.hasOwn(of, name);
  const value = (of: Fields) => (has(of) ? of[name] : undefined);
  // The draft has removed the field, and must not remove what another writer has added.
  if (!has(draft)) return has(base) ? undefined : value(now);
  return mergeDraft(value(base), value(draft), value(now), name);
}

function mergedItems(
  base: unknown = [],
  draft: unknown,
  // An API server drops a list whose last item was deleted.
  now: unknown = [],
  name: string | undefined,
): readonly unknown[] | undefined {
  if (!Array.isArray(base) || !Array.isArray(draft) || !Array.isArray(now)) return undefined;
  const [before, wanted, present] = [base, draft, now].map((list) => itemsByKey(name, list));
  if (before === undefined || wanted === undefined || present === undefined) return undefined;
  const items = mergedFields(before, wanted, present) ?? {};
  const keys = orderOf(Object.keys(before), Object.keys(wanted), Object.keys(present));
  const merged = keys.filter((key) => Object.hasOwn(items, key)).map((key) => items[key]);
  const isSame = merged.length === now.length && merged.every((item, place) => item === now[place]);
  return isSame ? now : merged;
}

/** The order of the draft if it has moved items, otherwise that of `now`. Items that this one lacks stand before their successor, or at the end. */
function orderOf(base: string[], draft: string[], now: string[]): readonly string[] {
  const hasMoved = shared(base, draft) !== shared(draft, base);
  const [order, others] = hasMoved ? [draft, now] : [now, draft];
  const known = new Set(order);
  const before = new Map<string, readonly string[]>();
  let waiting: string[] = [];
  for (const key of others) {
    if (known.has(key)) {
      before.set(key, waiting);
      waiting = [];
    } else waiting.push(key);
  }
  return [...order.flatMap((key) => [...(before.get(key) ?? []), key]), ...waiting];
}

/** What both have, in the order of the first. */
function shared(of: readonly string[], by: readonly string[]): string {
  const keys = new Set(by);
  return of.filter((key) => keys.has(key)).join();
}
