/**
 * Strategic Merge Patch: a merge patch that merges lists by key and has directives (`$patch`,
 * `$deleteFromPrimitiveList`, `$setElementOrder`, `$retainKeys`).
 * client-go: apimachinery/pkg/util/strategicpatch.
 */

import { type Fields, isFields } from '../../meta/json-fields.ts';
import { badRequest, failure } from '../../object-log/failures.ts';
import { own } from './merge-patch.ts';

const ORDER = '$setElementOrder/';
const REMOVAL = '$deleteFromPrimitiveList/';

/** A value that the patch adds, without directives and nulls, because there is nothing to merge it with. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !isFields(item) || own(item, '$patch') === undefined).map(plain);
  }
  if (!isFields(value)) return value;
  const kept: Fields = {};
  for (const [name, inner] of Object.entries(value)) {
    if (inner !== null && !name.startsWith('$')) kept[name] = plain(inner);
  }
  return kept;
}

function keyIn(list: readonly unknown[], key: string | undefined): (item: unknown) => unknown {
  if (key === undefined) return (item) => item;
  for (const item of list) {
    if (isFields(item) && own(item, key) === undefined) {
      const message = `map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`;
      throw failure(500, undefined, message);
    }
  }
  return (item) => (isFields(item) ? own(item, key) : item);
}

/**
 * Orders the items of a merged list. Items in `wanted` have that order; every other item is placed before the first
 * item that followed it on the server.
 */
function ordered(
  items: readonly unknown[],
  wanted: readonly unknown[],
  before: readonly unknown[],
  keyOf: (item: unknown) => unknown,
): unknown[] {
  const order = wanted.map(keyOf);
  const server = before.map(keyOf);
  const rank = (item: unknown) => order.indexOf(keyOf(item));
  const named = items.filter((item) => rank(item) >= 0).sort((a, b) => rank(a) - rank(b));
  const others = items.filter((item) => rank(item) < 0);
  const merged: unknown[] = [];
  for (const item of named) {
    const place = server.indexOf(keyOf(item));
    while (place >= 0 && others.length > 0 && server.indexOf(keyOf(others[0])) < place) {
      merged.push(others.shift());
    }
    merged.push(item);
  }
  return [...merged, ...others];
}

/** The list of a patch and its `$setElementOrder` must not contradict each other. */
function checkOrder(
  list: readonly unknown[],
  order: readonly unknown[],
  keyOf: (item: unknown) => unknown,
): void {
  const wanted = order.map(keyOf);
  const places = list.map((item) => wanted.indexOf(keyOf(item)));
  if (places.every((place, at) => place > (places[at - 1] ?? -1))) return;
  const [patch, setting] = [list, order].map((each) => JSON.stringify(each));
  const message = `The order in patch list:\n${patch}\n doesn't match $setElementOrder list:\n${setting}\n`;
  throw failure(500, undefined, message);
}

function mergeItems(
  current: readonly unknown[],
  patch: readonly unknown[],
  keyOf: (item: unknown) => unknown,
  path: string,
): unknown[] {
  const removes = (item: unknown) => isFields(item) && own(item, '$patch') === 'delete';
  const gone = patch.filter(removes).map(keyOf);
  // Removals are applied first, so that an item that is both removed and given starts empty.
  const merged = current.filter((item) => !gone.includes(keyOf(item)));
  for (const item of patch) {
    if (removes(item)) continue;
    const at = merged.findIndex((each) => keyOf(each) === keyOf(item));
    if (at < 0) merged.push(plain(item));
    else if (isFields(item)) merged[at] = mergeFields(merged[at] as Fields, item, path);
  }
  return merged;
}

function mergeList(
  current: readonly unknown[],
  patch: readonly unknown[],
  order: readonly unknown[] | undefined,
  path: string,
): unknown {
  const key = patchMergeKey(path);
  if (key === undefined && !isSet(path)) return plain(patch);
  const directive = (item: unknown) => isFields(item) && own(item, '$patch');
  const items = patch.filter((item) => directive(item) !== 'delete');
  const replaces = patch.some((item) => directive(item) === 'replace');
  if (replaces && order === undefined) return plain(patch);
  const keyOf = keyIn([...patch, ...(order ?? [])], key);
  if (order !== undefined) checkOrder(items, order, keyOf);
  return ordered(mergeItems(current, patch, keyOf, path), order ?? items, current, keyOf);
}

function retained(current: Fields, patch: Fields): Fields {
  const keys = own(patch, '$retainKeys');
  if (keys === undefined) return current;
  const named = (name: string) => name.startsWith('$') || (keys as unknown[]).includes(name);
  if (!Array.isArray(keys) || !Object.keys(patch).every(named)) {
    throw badRequest(`invalid patch format of retainKeys: ${JSON.stringify(keys)}`);
  }
  return Object.fromEntries(Object.entries(current).filter(([name]) => named(name)));
}

function mergeFields(current: Fields, patch: Fields, path: string): Fields {
  const directive = own(patch, '$patch');
  if (directive === 'replace') return plain(patch) as Fields;
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') {
    throw failure(500, undefined, `unknown patch type found: ${directive}`);
  }
  const merged: Fields = { ...retained(current, patch) };
  const inside = (name: string) => (path === '' ? name : `${path}.${name}`);
  for (const [name, value] of Object.entries(patch)) {
    const list = name.startsWith(REMOVAL) ? name.slice(REMOVAL.length) : '';
    const there = own(merged, list);
    if (list === '' || !Array.isArray(there) || !Array.isArray(value)) continue;
    merged[list] = there.filter((item) => !value.includes(item));
  }
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith(ORDER)) {
      const list = name.slice(ORDER.length);
      const there = own(merged, list);
      if (own(patch, list) !== undefined || !Array.isArray(there) || !Array.isArray(value))
        continue;
      merged[list] = mergeList(there, [], value, inside(list));
    } else if (name.startsWith('$')) continue;
    else if (value === null) delete merged[name];
    else {
      const there = own(merged, name);
      if (isFields(value) && isFields(there))
        merged[name] = mergeFields(there, value, inside(name));
      else if (Array.isArray(value) && Array.isArray(there)) {
        const order = own(patch, `${ORDER}${name}`);
        const wanted = Array.isArray(order) ? order : undefined;
        merged[name] = mergeList(there, value, wanted, inside(name));
      } else merged[name] = plain(value);
    }
  }
  return merged;
}

/** Returns `current` after `patch`, without changing either. Throws the errors of a real server. */
export function strategicMergePatch(current: Fields, patch: Fields): Fields {
  return mergeFields(current, patch, '');
}

// The keys by which the lists of built-in objects merge. The types of Kubernetes declare them in tags (`patchMergeKey`,
// `listMapKey`); these are the common ones by path.

/** Lists of scalar values that merge as a set. */
const SETS = /^(metadata\.finalizers|spec\.podCIDRs)$/;

type KeysByPath = readonly (readonly [RegExp, string, (readonly string[])?])[];

function keysByPath(): KeysByPath {
  const POD = '(?:.*\\.)?spec';
  const CONTAINER = `${POD}\\.(?:containers|initContainers|ephemeralContainers)`;
  return [
    [new RegExp(`^${CONTAINER}$`), 'name'],
    [new RegExp(`^${CONTAINER}\\.env$`), 'name'],
    [new RegExp(`^${CONTAINER}\\.ports$`), 'containerPort', ['containerPort', 'protocol']],
    [new RegExp(`^${CONTAINER}\\.volumeMounts$`), 'mountPath'],
    [new RegExp(`^${CONTAINER}\\.volumeDevices$`), 'devicePath'],
    [new RegExp(`^${POD}\\.(volumes|imagePullSecrets|schedulingGates|resourceClaims)$`), 'name'],
    [new RegExp(`^${POD}\\.hostAliases$`), 'ip'],
    [
      new RegExp(`^${POD}\\.topologySpreadConstraints$`),
      'topologyKey',
      ['topologyKey', 'whenUnsatisfiable'],
    ],
    [/^spec\.ports$/, 'port', ['port', 'protocol']],
    [/^secrets$/, 'name'],
    [/^status\.(conditions|addresses)$/, 'type'],
    [/^status\.(podIPs|hostIPs)$/, 'ip'],
  ];
}

/** By path: the key of a strategic merge patch, and the keys of an apply if they differ. */
const MAPS = /* @__PURE__ */ keysByPath();
const OWNERS = 'metadata.ownerReferences';

/** Whether the values of the list at a path (`metadata.finalizers`) merge as a set. */
export function isSet(path: string): boolean {
  return SETS.test(path);
}

/** The key by which a strategic merge patch merges the list at a path. `undefined` means that it replaces the list. */
function patchMergeKey(path: string): string | undefined {
  if (path === OWNERS) return 'uid';
  return MAPS.find(([pattern]) => pattern.test(path))?.[1];
}

/** The keys by which an apply merges the list at a path. In custom objects only lists in the metadata have keys. */
export function applyKeys(path: string, custom: boolean): readonly string[] | undefined {
  if (path === OWNERS) return ['uid'];
  const found = custom ? undefined : MAPS.find(([pattern]) => pattern.test(path));
  return found && (found[2] ?? [found[1]]);
}
