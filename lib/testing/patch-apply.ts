/**
 * Server-side apply without its memory: what is applied is merged in, by the same list keys as on a real server.
 * Nobody's fields are remembered, so nothing conflicts, and what an earlier apply set and this one leaves out stays.
 * client-go: structured-merge-diff, merge of typed values.
 */
import { applyKeys, isSet } from './list-keys.ts';
import { type Fields, isFields, own } from './patch-merge.ts';

/** Ports that name no protocol are told apart as TCP. */
const DEFAULTS: Fields = { protocol: 'TCP' };

function keyIn(keys: readonly string[] | undefined): (item: unknown) => string {
  if (keys === undefined) return (item) => JSON.stringify(item);
  return (item) =>
    JSON.stringify(keys.map((key) => (isFields(item) && own(item, key)) ?? own(DEFAULTS, key)));
}

/** What was there and is not applied keeps its place before what follows it; the rest is in the order applied. */
function mergeLists(
  current: readonly unknown[],
  applied: readonly unknown[],
  keyOf: (item: unknown) => string,
  merge: (current: unknown, applied: unknown) => unknown,
): unknown[] {
  const wanted = new Set(applied.map(keyOf));
  const there = new Map(current.map((item) => [keyOf(item), item]));
  const done = new Set<string>();
  const merged: unknown[] = [];
  let at = 0;
  const keepOthers = () => {
    for (; at < current.length; at++) {
      const key = keyOf(current[at]);
      if (!wanted.has(key)) merged.push(current[at]);
      else if (!done.has(key)) return;
    }
  };
  for (const item of applied) {
    keepOthers();
    const key = keyOf(item);
    done.add(key);
    merged.push(there.has(key) ? merge(there.get(key), item) : item);
  }
  keepOthers();
  return merged;
}

/** What `current` is after `applied` is applied to it; neither is changed. */
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
