/** The selection of a read: labels and, unlike in client-go's listers, fields. */
import { type FieldSelector, parseFieldSelector } from '../meta/field-selector.ts';
import { checkGivenSelectors } from '../meta/given-selectors.ts';
import { isFields } from '../meta/json-fields.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import {
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
} from '../meta/label-selector.ts';

/** Selects labels and fields together; both must match. */
export interface ListSelection {
  /** As for `kubectl -l`, or as objects contain it in `spec.selector`. */
  readonly labelSelector?: string | LabelSelectorObject | LabelSelector;
  /** As for `kubectl --field-selector`; every path in the object is allowed. */
  readonly fieldSelector?: string | FieldSelector;
}

/** Every form of selection that `list` accepts. */
export type Selection = string | LabelSelectorObject | LabelSelector | ListSelection;

/** The arguments of `list`. An argument that is `undefined` differs from a missing one. */
export type Given = readonly [] | readonly [selection: Selection];

const FIELDS = ['labelSelector', 'fieldSelector'];

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
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
  throw new TypeError(
    `list: fieldSelector is ${shown(selector)}; it must be text such as 'metadata.name=web-0', or a parsed selector`,
  );
}

/** Parses a selection. Throws a `TypeError` if it is invalid or missing. */
export function readSelection(selection: Selection): {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector | undefined;
} {
  if (selection === undefined || selection === null) {
    throw new TypeError(
      `list: the selection is ${selection}; call list() or pass '' for everything, or selectNothing`,
    );
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
