/** `mergeDraft`, which repeats the changes of a draft on a newer state of the object. */
import { sameContent } from '../../meta/same-content.ts';

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns `now` with what differs between `base` and `draft`. Fields that the draft has not changed are those of `now`;
 * a list that it has changed is that of the draft. Unchanged parts stay the same objects, and if `now` has the changes
 * already, the result is `now`.
 */
export function mergeDraft<V>(base: V, draft: V, now: V): V {
  if (draft === base || draft === now) return now;
  if (now === base) return draft;
  if (!isFields(base) || !isFields(draft) || !isFields(now)) {
    return sameContent(draft, now) ? now : draft;
  }
  const merged: Record<string, unknown> = {};
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
  return isSame ? now : (merged as V);
}

function fieldOf(name: string, base: Fields, draft: Fields, now: Fields): unknown {
  const has = (of: Fields) => Object.hasOwn(of, name);
  const value = (of: Fields) => (has(of) ? of[name] : undefined);
  // The draft has removed the field, and must not remove what another writer has added.
  if (!has(draft)) return has(base) ? undefined : value(now);
  return mergeDraft(value(base), value(draft), value(now));
}
