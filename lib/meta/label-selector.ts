/**
 * Label selectors as the API server reads them, so that a query, a fake server and a cache agree with it on
 * what matches. `!=` and `notin` match where the key is absent.
 * client-go: apimachinery/pkg/labels/selector.go, metav1.LabelSelectorAsSelector.
 */
import {
  type LabelOperator,
  type LabelRequirement,
  parseRequirements,
} from './label-selector-parser.ts';

export type { LabelOperator, LabelRequirement };

/** `metav1.LabelSelector`, as objects carry it in `spec.selector`. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** A selector that is ready to match. */
export interface LabelSelector {
  /** All of them must hold; ordered by key. */
  readonly requirements: readonly LabelRequirement[];
  /** Matches every object: it has no requirement. */
  readonly isEverything: boolean;
  /** Matches no object: see {@link selectNothing}. */
  readonly isNothing?: true;
  /** Whether labels satisfy the selector. Only own properties count as labels. */
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
  /** The text form that the API server takes; equal for selectors with equal requirements. */
  toString(): string;
}

function holds(
  requirement: LabelRequirement,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  const { key, operator, values } = requirement;
  const has = labels !== undefined && Object.hasOwn(labels, key);
  const value = has ? String(labels[key]) : '';
  switch (operator) {
    case 'Exists':
      return has;
    case 'DoesNotExist':
      return !has;
    case 'In':
      return has && values.includes(value);
    case 'NotIn':
      return !has || !values.includes(value);
    default: {
      if (!has || !/^[+-]?[0-9]+$/.test(value)) return false;
      const difference =
        BigInt(value.replace('+', '')) - BigInt((values[0] ?? '0').replace('+', ''));
      return operator === 'Gt' ? difference > 0n : difference < 0n;
    }
  }
}

function format({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'Gt':
      return `${key}>${values[0]}`;
    case 'Lt':
      return `${key}<${values[0]}`;
    default: {
      if (values.length === 1) return `${key}${operator === 'In' ? '=' : '!='}${values[0]}`;
      return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.join(',')})`;
    }
  }
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'In',
  NotIn: 'NotIn',
  Exists: 'Exists',
  DoesNotExist: 'DoesNotExist',
};

function requirementsOf(selector: LabelSelectorObject): LabelRequirement[] {
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push({ key, operator: 'In', values: [value] });
  }
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    const known = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (known === undefined) {
      throw new TypeError(
        `label selector: operator of ${JSON.stringify(key)} is ${JSON.stringify(operator)}; expected In, NotIn, Exists or DoesNotExist`,
      );
    }
    const wantsValues = known === 'In' || known === 'NotIn';
    if (wantsValues !== values.length > 0) {
      throw new TypeError(
        `label selector: ${known} of ${JSON.stringify(key)} ${wantsValues ? 'needs at least one value' : 'takes no values'}`,
      );
    }
    requirements.push({ key, operator: known, values: [...new Set(values)].sort() });
  }
  return requirements;
}

/**
 * Parses a selector: text such as `app=web,tier in (a,b),!canary`, or a `metav1.LabelSelector`.
 *
 * Throws a `TypeError` that names the text, the position and what was expected there.
 *
 * @example
 * ```ts
 * import { parseLabelSelector } from 'rx-informer';
 *
 * const selector = parseLabelSelector('app=web,tier!=db');
 * selector.matches({ app: 'web' }); // => true
 * selector.matches({ app: 'web', tier: 'db' }); // => false
 * parseLabelSelector({ matchLabels: { app: 'web' } }).toString(); // => 'app=web'
 * ```
 */
export function parseLabelSelector(selector: string | LabelSelectorObject): LabelSelector {
  const requirements =
    typeof selector === 'string' ? parseRequirements(selector) : requirementsOf(selector);
  requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const text = requirements.map(format).join(',');
  return Object.freeze({
    requirements,
    isEverything: requirements.length === 0,
    matches: (labels: Readonly<Record<string, string>> | undefined) =>
      requirements.every((requirement) => holds(requirement, labels)),
    toString: () => text,
  });
}

/** Matches every object. client-go: labels.Everything. */
export const selectEverything: LabelSelector = parseLabelSelector('');

/** Matches no object; no text says that to a server. client-go: labels.Nothing. */
export const selectNothing: LabelSelector = Object.freeze({
  requirements: [],
  isEverything: false,
  isNothing: true,
  matches: () => false,
  toString: () => '',
});

/**
 * A `metav1.LabelSelector` as the text that `labelSelector=` takes.
 *
 * Throws a `TypeError` on an unknown operator, or on values that do not fit it.
 */
export function formatLabelSelector(selector: LabelSelectorObject): string {
  return parseLabelSelector(selector).toString();
}
