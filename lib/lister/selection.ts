/** Which objects a read is about: labels, and what client-go's listers cannot: fields. */
import { type FieldSelector, parseFieldSelector } from '../meta/field-selector.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import {
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
  selectEverything,
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

const FIELDS = ['labelSelector', 'fieldSelector'];
const OF_SELECTOR = ['matchLabels', 'matchExpressions'];

/** `list({ app: 'web' })` would otherwise be everything: the most dangerous answer to a slip. */
function isListSelection(selection: object): selection is ListSelection {
  const names = Object.keys(selection);
  const odd = names.filter((name) => !FIELDS.includes(name) && !OF_SELECTOR.includes(name));
  if (odd.length > 0) {
    const hint = `{ matchLabels: { ${JSON.stringify(odd[0])}: … } }`;
    throw new TypeError(
      `list: ${JSON.stringify(odd[0])} is no part of a selector; labels are selected by text or by ${hint}`,
    );
  }
  return names.some((name) => FIELDS.includes(name));
}

function labelsOf(selector: string | LabelSelectorObject | LabelSelector): LabelSelector {
  return typeof selector === 'object' && 'matches' in selector
    ? selector
    : parseLabelSelector(selector);
}

/** A selection that is ready to match. Throws a `TypeError` on a selector that is none. */
export function readSelection(selection: Selection): {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector | undefined;
} {
  if (typeof selection === 'string' || 'matches' in selection) {
    return { labels: labelsOf(selection as string | LabelSelector), fields: undefined };
  }
  if (!isListSelection(selection)) return { labels: labelsOf(selection), fields: undefined };
  const { labelSelector, fieldSelector } = selection;
  const fields =
    typeof fieldSelector === 'string' ? parseFieldSelector(fieldSelector) : fieldSelector;
  return {
    labels: labelSelector === undefined ? selectEverything : labelsOf(labelSelector),
    fields: fields?.isEverything ? undefined : fields,
  };
}

const NOTHING: readonly never[] = Object.freeze([]);

/** Those of `objects` that are selected; the same array where that is all of them. */
export function select<T extends KubernetesObject>(
  objects: () => readonly T[],
  selection: Selection,
): readonly T[] {
  const { labels, fields } = readSelection(selection);
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
