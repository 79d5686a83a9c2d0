/** The recorded history of each object, and the part of it that a watcher with selectors can have seen. */
import type { KubernetesObject } from 'rx-informer';

/** An object of the scenario: a ConfigMap. */
export interface Item extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** One change of one key. */
export interface HistoryEntry {
  readonly key: string;
  readonly version: string;
  readonly uid: string;
  /** Left out if the object was deleted at this version. */
  readonly object?: Item;
}

/** The namespace and selector of a watcher. */
export interface View {
  readonly namespace: string;
  readonly labelSelector: string;
}

/** Whether a watcher sees an object. Of selectors only `name=value` is supported. */
export function sees({ namespace, labelSelector }: View, { metadata }: Item): boolean {
  if (namespace !== '' && metadata?.namespace !== namespace) return false;
  if (labelSelector === '') return true;
  const [name = '', value] = labelSelector.split('=');
  return metadata?.labels?.[name] === value;
}

/** The changes of each key, oldest first, as seen through the selectors: an object that stops matching is deleted. */
export function historyOf(
  entries: readonly HistoryEntry[],
  view: View,
): ReadonlyMap<string, readonly HistoryEntry[]> {
  const byKey = new Map<string, HistoryEntry[]>();
  for (const { object, ...entry } of entries) {
    const own = byKey.get(entry.key) ?? [];
    byKey.set(entry.key, own);
    own.push(object !== undefined && sees(view, object) ? { ...entry, object } : entry);
  }
  return byKey;
}
