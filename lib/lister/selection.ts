/** Which objects a read is about: labels, and what client-go's listers cannot: fields. */
import { type FieldSelector, parseFieldSelector } from '../meta/field-selector.ts';
import { checkGivenSelectors } from '../meta/given-selectors.ts';
import { isFields } from '../meta/json-fields.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import {
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
} from '../meta/label-selector.ts';

/** Labels and fields together; both must match. */
export interface ListSelection {
  /** As `kubectl -l`, or as objects carry it in `spec.selector`. */
  readonly labelSelector?: string | LabelSelectorObject | LabelSelector;
  /** As `kubectl --field-selector`; every path into the object may be named. */
  readonly fieldSelector?: string | FieldSelector;
}

/** All that `list` takes. */
export type Selection = string | LabelSelectorObject | LabelSelector | ListSelection;

/** What `list` was called with: an argument that is `undefined` is not the same as none. */
export type Given = readonly [] | readonly [selection: Selection];

const FIELDS = ['labelSelector', 'fieldSelector'];

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

/** Throws a `TypeError` where labels are selected twice, of which one would not be looked at. */
function isListSelection(selection: object): selection is ListSelection {
  const names = Object.keys(selection);
  if (!names.some((name) => FIELDS.includes(name))) return false;
  const odd = names.find((name) => !FIELDS.includes(name));
  if (odd === undefined) return true;
  throw new TypeError(
    `list: ${shown(odd)} cannot stand beside ${FIELDS.join(' or ')}; labels are selected by labelSelector there`,
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
    `list: fieldSelector is ${shown(selector)}; it must be text such as 'metadata.name=web-0', or parsed`,
  );
}

/** A selection that is ready to match. Throws a `TypeError` on one that is none, or missing. */
export function readSelection(selection: Selection): {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector | undefined;
} {
  if (selection === undefined || selection === null) {
    throw new TypeError(
      `list: the selection is ${selection}; call list() or give '' for everything, or selectNothing`,
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

/** Those of `objects` that are selected; the same array where that is all of them. */
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
