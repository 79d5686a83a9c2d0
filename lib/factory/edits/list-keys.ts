/** Which items of two states of a list are one: the keys by which the API server merges lists in a strategic merge patch. */

import { isFields } from '../../meta/json-fields.ts';

/** The fields that name an item. The first of those in one place is read that the item has. */
type Key = readonly (readonly string[])[];

const NAME: Key = [['name']];

/** By the name of the list. `patchMergeKey` and `listMapKey` of the types of Kubernetes 1.37. */
const KEYS: ReadonlyMap<string, Key> = new Map([
  ['containers', NAME],
  ['initContainers', NAME],
  ['ephemeralContainers', NAME],
  ['env', NAME],
  ['volumes', NAME],
  ['volumeMounts', [['mountPath']]],
  ['volumeDevices', [['devicePath']]],
  // Of containers and of Services.
  ['ports', [['containerPort', 'port'], ['protocol']]],
  ['hostAliases', [['ip']]],
  ['topologySpreadConstraints', [['topologyKey'], ['whenUnsatisfiable']]],
  ['schedulingGates', NAME],
  ['resourceClaims', NAME],
  ['imagePullSecrets', NAME],
  ['secrets', NAME],
  ['webhooks', NAME],
  ['matchConditions', NAME],
  ['variables', NAME],
  ['conditions', [['type']]],
  ['ownerReferences', [['uid']]],
  // Each item is its own key.
  ['finalizers', []],
]);

/** What the server fills in. */
const DEFAULTS: Readonly<Record<string, unknown>> = { protocol: 'TCP' };

function keyOf(item: unknown, key: Key): string | undefined {
  if (key.length === 0) return typeof item === 'string' ? JSON.stringify(item) : undefined;
  if (!isFields(item)) return undefined;
  const parts = key.map((names) => {
    const name = names.find((each) => Object.hasOwn(item, each)) ?? names[0] ?? '';
    return item[name] ?? DEFAULTS[name];
  });
  // In JSON, so that no key is the name of a prototype or sorted as a number.
  return parts.includes(undefined) ? undefined : JSON.stringify(parts);
}

/**
 * The items of the list of this name by their keys, in their order. `undefined` if the list has no known key, or if an
 * item has none, or two have the same one.
 */
export function itemsByKey(
  name: string | undefined,
  list: readonly unknown[],
): Readonly<Record<string, unknown>> | undefined {
  const key = name === undefined ? undefined : KEYS.get(name);
  if (key === undefined) return undefined;
  const items: Record<string, unknown> = {};
  for (const item of list) {
    const of = keyOf(item, key);
    if (of === undefined || Object.hasOwn(items, of)) return undefined;
    items[of] = item;
  }
  return items;
}
