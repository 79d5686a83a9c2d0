/**
 * Listers: reads of an informer's store by name, namespace, selector and index. A lister holds no state and starts nothing.
 * client-go: listers/, tools/cache/listers.go, dynamic/dynamiclister.
 */

import { refusal, shownValue } from '../checks/checked-option.ts';
import type { PartialObjectMetadata, TableRow } from '../decode/projection.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { ObservedDeletion, WaitOptions } from '../informer/waits.ts';
import { type FieldSelector, parseFieldSelector } from '../meta/field-selector.ts';
import { checkGivenSelectors } from '../meta/given-selectors.ts';
import { isFields } from '../meta/json-fields.ts';
import type { KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import {
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
} from '../meta/label-selector.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';

/** Selects labels and, unlike in client-go's listers, fields; both must match. */
interface ListSelection {
  /** As for `kubectl -l`, or as objects contain it in `spec.selector`. */
  readonly labelSelector?: string | LabelSelectorObject | LabelSelector;
  /** As for `kubectl --field-selector`; every path in the object is allowed. */
  readonly fieldSelector?: string | FieldSelector;
}

/** Every form of selection that `list` accepts. */
type Selection = string | LabelSelectorObject | LabelSelector | ListSelection;

/** The arguments of `list`. An argument that is `undefined` differs from a missing one. */
export type Given = readonly [] | readonly [selection: Selection];

const FIELDS = ['labelSelector', 'fieldSelector'];

function shown(value: unknown): string {
  return shownValue(value);
}

/** Throws a `TypeError` if a selection mixes `labelSelector` with labels, because the labels would be ignored. */
function isListSelection(selection: object): selection is ListSelection {
  const names = Object.keys(selection);
  if (!names.some((name) => FIELDS.includes(name))) return false;
  const odd = names.find((name) => !FIELDS.includes(name));
  if (odd === undefined) return true;
  throw new TypeError(
    `list: ${shown(odd)} cannot be combined with ${FIELDS.join(' or ')}; select labels by labelSelector`,
  );
}

function isParsed(selector: unknown): selector is LabelSelector | FieldSelector {
  return isFields(selector) && typeof selector['matches'] === 'function';
}

function labelsOf(selector: string | LabelSelectorObject | LabelSelector): LabelSelector {
  return isParsed(selector) ? selector : parseLabelSelector(selector);
}

function fieldsOf(selector: string | FieldSelector): FieldSelector {
  if (isParsed(selector)) return selector;
  if (typeof selector === 'string') return parseFieldSelector(selector);
  const must = "text such as 'metadata.name=web-0', or a parsed selector";
  throw refusal('list: fieldSelector', selector, must);
}

/** Parses a selection. Throws a `TypeError` if it is invalid or missing. */
export function readSelection(selection: Selection): {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector | undefined;
} {
  if (selection === undefined || selection === null) {
    const must = "text or an object; call list() or pass '' for everything, or selectNothing";
    throw refusal('list: the selection', selection, must);
  }
  if (typeof selection !== 'object' || !isListSelection(selection)) {
    return { labels: labelsOf(selection), fields: undefined };
  }
  checkGivenSelectors('list', selection);
  const { labelSelector = '', fieldSelector = '' } = selection;
  const fields = fieldsOf(fieldSelector);
  return { labels: labelsOf(labelSelector), fields: fields.isEverything ? undefined : fields };
}

const NOTHING: readonly never[] = /* @__PURE__ */ Object.freeze([]);

/** The selected objects; the same array if all objects are selected. */
export function select<T extends KubernetesObject>(
  objects: () => readonly T[],
  given: Given,
): readonly T[] {
  const { labels, fields } = readSelection(given.length === 0 ? '' : given[0]);
  if (labels.isNothing) return NOTHING;
  const all = objects();
  if (labels.isEverything && fields === undefined) return all;
  const found = all.filter(
    (object) =>
      (labels.isEverything || labels.matches(object.metadata?.labels)) &&
      (fields === undefined || fields.matches(object)),
  );
  return Object.freeze(found);
}

export type { ListSelection };

/** Reads within one namespace. */
export interface NamespaceLister<T> {
  readonly namespace: string;
  /** Like {@link Lister.list}, for this namespace. */
  list(): readonly Stored<T>[];
  list(selection: Selection): readonly Stored<T>[];
  /** Returns the object of this name. Throws an {@link ApiError} 404 if it does not exist. */
  get(name: string): Stored<T>;
  /** Like {@link NamespaceLister.get}, but returns `undefined` if the object does not exist. */
  find(name: string): Stored<T> | undefined;
}

/**
 * The state that the store must show: this or a later version of the collection; this or a later version of one object, which does not
 * wait for the rest; an object that a write returned; or the deletion of an object.
 */
export type AtLeast = ResourceVersion | NamedTarget | KubernetesObject;

/** An object by its key, with the version that the store must have reached, or as deleted. */
export type NamedTarget =
  | { readonly key: string; readonly resourceVersion: ResourceVersion }
  | ({ readonly key: string } & ObservedDeletion);

/** Reads of a store. Results are shared with all other readers: do not change them. */
export interface Lister<T, Names extends string = string> {
  /**
   * Returns all objects, or those that a selection selects: text as for `kubectl -l`, a `metav1.LabelSelector`, or labels and
   * fields. Without a selection it returns the store's own array, which stays the same until something changes. Throws a
   * `TypeError` if the selection is invalid, `undefined` or null: in client-go a nil selector selects nothing, and it may come from
   * an object that lacks the field.
   */
  list(): readonly Stored<T>[];
  list(selection: Selection): readonly Stored<T>[];
  /** Returns the object `namespace/name`, or `name` if it is cluster-scoped. Throws an {@link ApiError} 404 if it does not exist. */
  get(name: string): Stored<T>;
  /** Like {@link Lister.get}, but returns `undefined` if the object does not exist. */
  find(name: string): Stored<T> | undefined;
  /** Reads within one namespace; '' means all. Throws a `TypeError` for a cluster-scoped resource. */
  namespace(namespace: string): NamespaceLister<T>;
  /** Returns the objects under a value of an index. Throws a `TypeError` if the index does not exist. */
  byIndex(indexName: Names, value: string): readonly Stored<T>[];
  /**
   * Resolves with this lister once its store shows `target`, for example so that reads include the caller's own write.
   *
   * It sends no request and waits for the watch. If no object changes, it waits for the next bookmark, which arrives about every
   * minute. Rejects with an {@link ApiError} `NotObserved` when `timeoutMs` has passed, with `Stopped` when the informer is stopped,
   * and with a `TypeError` if the lister was created from a store without an informer.
   */
  atLeast(target: AtLeast, options?: WaitOptions): Promise<Lister<T, Names>>;
}

/** The part of an informer that a lister uses. */
export type ListerInformer<T extends KubernetesObject, Names extends string = string> = Pick<
  SharedInformer<T, Names>,
  'name' | 'indexer' | 'whenObserved' | 'whenAtLeast'
>;

/** Options of {@link createLister}. */
export interface ListerOptions {
  /** The namespace of names that are given without one. @defaultValue none */
  readonly namespace?: string | undefined;
  /** Called once for each kind of mistake: a read before the store is synced, a missing index. @defaultValue `console.warn` */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/**
 * `unknown`, which restricts nothing, if objects of a resource can be in a store as `T`: one type extends the other, or `T` is a
 * projection. Otherwise a type that no resource has, so that a lister of ConfigMaps over a store of Pods does not compile.
 */
export type ListedAs<Listed, T> = [T] extends [Listed | PartialObjectMetadata | TableRow]
  ? unknown
  : [Listed] extends [T]
    ? unknown
    : { readonly 'its objects are not those of the informer or store': never };
