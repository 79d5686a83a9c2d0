/**
 * Validates label selectors in object form and converts them to requirements. They are validated like text, because a
 * selector from a custom resource must not have one meaning here and another when it is sent as text. client-go:
 * apimachinery/pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector), labels.NewRequirement.
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
      `${shown(key)} is not a label key; expected a key such as 'app' or 'example.com/app', with a name of at most 63 characters`,
    );
  }
  for (const value of values) {
    if (typeof value === 'string' && isLabelValue(value)) continue;
    refuse(
      `the value of ${shown(key)} is ${shown(value)}; it must be text of at most 63 letters, digits, '-', '_' and '.' that begins and ends with a letter or digit`,
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
 * The requirements of a selector. Throws a `TypeError` on an unknown field, on a field that is present but
 * `undefined` or null, and on a key, operator or value that a server would refuse.
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
      if (!isFields(value))
        refuse(`matchLabels is ${shown(value)}; it must map label keys to values`);
      for (const [key, text] of Object.entries(value)) {
        requirements.push(requirement(key, 'In', [text]));
      }
    } else if (field === 'matchExpressions') {
      if (!Array.isArray(value)) refuse(`matchExpressions is ${shown(value)}; it must be a list`);
      requirements.push(...value.map(ofExpression));
    } else {
      // Otherwise `{ app: 'web' }` would select everything, which is the most dangerous reading of a slip.
      refuse(
        `${shown(field)} is not a field of a selector; select labels by text or by { matchLabels: { ${shown(field)}: … } }`,
      );
    }
  }
  return requirements;
}
