/** Whether an informer has all objects that a query asks for, and which part of the selection remains to be done locally. */
import { normalFieldTerms, parseFieldRequirements } from '../../meta/field-selector.ts';
import { type LabelRequirement, parseLabelText } from '../../meta/label-selector.ts';
import type { ReadScope } from '../scope.ts';

/** The part of a query's scope that the informer does not select itself. */
export interface LocalScope {
  /** Absent: the informer has no other namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** '' and '': the informer has the same selector. */
  readonly labelSelector: string;
  readonly fieldSelector: string;
}

/**
 * Fields that every server selects by the value in the object. Other fields cannot be selected locally, because a server
 * refuses some of them, and gives others a value when they are absent (`spec.unschedulable=false`).
 */
const LOCAL_FIELDS = ['metadata.name', 'metadata.namespace'];

/** Whether every object that satisfies `one` satisfies `other`. */
function implies(one: LabelRequirement, other: LabelRequirement): boolean {
  if (one.key !== other.key) return false;
  if (one.operator === 'In' && other.operator === 'Exists') return true;
  if (one.operator !== other.operator) return false;
  if (one.operator === 'In') return one.values.every((value) => other.values.includes(value));
  if (one.operator === 'NotIn') return other.values.every((value) => one.values.includes(value));
  return one.values.join() === other.values.join();
}

function localLabels(asked: string, has: string): string | undefined {
  if (asked === has) return '';
  const { requirements } = parseLabelText(asked);
  const isWider = parseLabelText(has).requirements.every((each) =>
    requirements.some((one) => implies(one, each)),
  );
  return isWider ? asked : undefined;
}

function localFields(asked: string, has: string): string | undefined {
  if (asked === has) return '';
  const texts = (text: string) => normalFieldTerms(parseFieldRequirements(text));
  const had = texts(has);
  const wanted = texts(asked);
  if (had.some((each) => !wanted.includes(each))) return undefined;
  // The rest only: the informer's own fields may be such that cannot be selected locally.
  const rest = wanted.filter((each) => !had.includes(each)).join(',');
  const isLocal = parseFieldRequirements(rest).every(({ field }) => LOCAL_FIELDS.includes(field));
  return isLocal ? rest : undefined;
}

/** The selection that remains to be done locally, or `undefined` if the informer lacks objects that are asked for. */
export function localScope(asked: ReadScope, has: ReadScope): LocalScope | undefined {
  if (has.as !== asked.as) return undefined;
  const hasAll = has.namespaces.length === 0;
  const isWithin =
    asked.namespaces.length > 0 && asked.namespaces.every((name) => has.namespaces.includes(name));
  if (!hasAll && !isWithin) return undefined;
  const labelSelector = localLabels(asked.labelSelector, has.labelSelector);
  const fieldSelector = localFields(asked.fieldSelector, has.fieldSelector);
  if (labelSelector === undefined || fieldSelector === undefined) return undefined;
  const isSame = asked.namespaces.length === has.namespaces.length;
  return { namespaces: isSame ? undefined : asked.namespaces, labelSelector, fieldSelector };
}
