/**
 * Server-side apply without field ownership: merges the applied object, by the same list keys as a real server. Owners
 * are not recorded, so there are no conflicts, and a field stays if a later apply leaves it out.
 * client-go: structured-merge-diff, merge of typed values.
 */

import { type Fields, isFields } from '../../meta/json-fields.ts';
import { own } from './merge-patch.ts';
import { applyKeys, isSet } from './strategic-merge-patch.ts';

/** Ports without a protocol are compared as TCP. */
const DEFAULTS: Fields = { protocol: 'TCP' };

function keyIn(keys: readonly string[] | undefined): (item: unknown) => string {
  if (keys === undefined) return (item) => JSON.stringify(item);
  return (item) =>
    JSON.stringify(keys.map((key) => (isFields(item) && own(item, key)) ?? own(DEFAULTS, key)));
}

/**
 * Merges two keyed lists. Applied items have the applied order. Every other item stays before the applied item that
 * followed it on the server, unless the applied order has moved that item further to the front.
 */
function mergeLists(
  current: readonly unknown[],
  applied: readonly unknown[],
  keyOf: (item: unknown) => string,
  merge: (current: unknown, applied: unknown) => unknown,
): unknown[] {
  const there = new Map(current.map((item) => [keyOf(item), item]));
  const keys = applied.map(keyOf);
  const wanted = new Set(keys);
  const shared = keys.filter((key) => there.has(key));
  const merged: unknown[] = [];
  let at = 0;
  let next = 0;
  while (at < current.length || next < keys.length) {
    const live = at < current.length ? keyOf(current[at]) : undefined;
    if (live !== undefined && !wanted.has(live)) {
      merged.push(current[at++]);
      continue;
    }
    if (live !== undefined && live !== shared[0]) {
      at++;
      if (shared.length > 0) continue;
    }
    const key = keys[next];
    if (key === undefined) continue;
    const item = applied[next++];
    merged.push(there.has(key) ? merge(there.get(key), item) : item);
    if (key !== shared[0]) continue;
    shared.shift();
    if (key === live) at++;
  }
  return merged;
}

/** Returns `current` after `applied` is applied to it, without changing either. */
export function applyPatch(
  current: unknown,
  applied: unknown,
  custom: boolean,
  path: string = '',
): unknown {
  if (Array.isArray(applied)) {
    const keys = applyKeys(path, custom);
    if (!Array.isArray(current) || (keys === undefined && !isSet(path))) return applied;
    const merge = (item: unknown, change: unknown) => applyPatch(item, change, custom, path);
    return mergeLists(current, applied, keyIn(keys), merge);
  }
  if (!isFields(applied) || !isFields(current)) return applied;
  const merged: Fields = { ...current };
  for (const [name, value] of Object.entries(applied)) {
    const inner = path === '' ? name : `${path}.${name}`;
    merged[name] = applyPatch(own(merged, name), value, custom, inner);
  }
  return merged;
}
