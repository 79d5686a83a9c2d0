/**
 * Label selectors as objects carry them. They are checked as text is: what comes from a custom resource must not
 * mean one thing here and another where it is sent as text.
 * client-go: apimachinery/pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector), labels.NewRequirement.
 */
import { isFields } from './json-fields.ts';
import {
  isLabelKey,
  isLabelValue,
  type LabelOperator,
  type LabelRequirement,
} from './label-selector-parser.ts';

/** `metav1.LabelSelector`, as objects carry it in `spec.selector`. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'In',
  NotIn: 'NotIn',
  Exists: 'Exists',
  DoesNotExist: 'DoesNotExist',
};

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function refuse(why: string): never {
  throw new TypeError(`label selector: ${why}`);
}

function requirement(
  key: unknown,
  operator: LabelOperator,
  values: readonly unknown[],
): LabelRequirement {
  if (typeof key !== 'string' || !isLabelKey(key)) {
    refuse(
      `${shown(key)} is no label key; it must be such as 'app' or 'example.com/app', at most 63 characters a name`,
    );
  }
  for (const value of values) {
    if (typeof value === 'string' && isLabelValue(value)) continue;
    refuse(
      `the value of ${shown(key)} is ${shown(value)}; it must be text of letters, digits, - _ and . inside, at most 63 characters`,
    );
  }
  return { key, operator, values: [...new Set(values as readonly string[])].sort() };
}

function ofExpression(expression: unknown): LabelRequirement {
  if (!isFields(expression)) {
    refuse(`an expression is ${shown(expression)}; it must be { key, operator, values }`);
  }
  const { key, operator, values = [] } = expression;
  const known =
    typeof operator === 'string' && Object.hasOwn(OPERATORS, operator)
      ? OPERATORS[operator]
      : undefined;
  if (known === undefined) {
    refuse(
      `operator of ${shown(key)} is ${shown(operator)}; expected In, NotIn, Exists or DoesNotExist`,
    );
  }
  if (!Array.isArray(values)) {
    refuse(`the values of ${shown(key)} are ${shown(values)}; they must be a list`);
  }
  const wantsValues = known === 'In' || known === 'NotIn';
  if (wantsValues !== values.length > 0) {
    refuse(
      `${known} of ${shown(key)} ${wantsValues ? 'needs at least one value' : 'takes no values'}`,
    );
  }
  return requirement(key, known, values);
}

/**
 * The terms of a selector, labels first. Throws a `TypeError` on what is none: a field that a selector does not have,
 * one that is there and is `undefined` or null, a key, operator or value that a server would not take.
 */
export function requirementsOf(selector: LabelSelectorObject): LabelRequirement[] {
  if (!isFields(selector)) {
    throw new TypeError(
      `label selector ${shown(selector)}: it must be text or a LabelSelector; '' selects everything`,
    );
  }
  const requirements: LabelRequirement[] = [];
  for (const [field, value] of Object.entries(selector)) {
    if (field === 'matchLabels') {
      if (!isFields(value)) refuse(`matchLabels is ${shown(value)}; it must be labels by name`);
      for (const [key, text] of Object.entries(value)) {
        requirements.push(requirement(key, 'In', [text]));
      }
    } else if (field === 'matchExpressions') {
      if (!Array.isArray(value)) refuse(`matchExpressions is ${shown(value)}; it must be a list`);
      requirements.push(...value.map(ofExpression));
    } else {
      // `{ app: 'web' }` would otherwise be everything: the most dangerous answer to a slip.
      refuse(
        `${shown(field)} is no part of a selector; labels are selected by text or by { matchLabels: { ${shown(field)}: … } }`,
      );
    }
  }
  return requirements;
}
