/**
 * Matches label selectors as the API server does, so that a query, the fake server and a cache agree with the server.
 * `!=` and `notin` match objects without the label. client-go: apimachinery/pkg/labels/selector.go,
 * metav1.LabelSelectorAsSelector.
 */
import {
  type LabelOperator,
  type LabelRequirement,
  type LabelSelectorObject,
  parseRequirements,
  requirementsOf,
} from './label-selector-parser.ts';

export type { LabelOperator, LabelRequirement, LabelSelectorObject };

/** A parsed label selector. */
export interface LabelSelector {
  /** The requirements, ordered by key, without duplicates. An object must satisfy all of them. */
  readonly requirements: readonly LabelRequirement[];
  /** Whether the selector has no requirement and therefore matches every object. */
  readonly isEverything: boolean;
  /** Whether the selector matches no object: see {@link selectNothing}. */
  readonly isNothing?: true;
  /** Whether labels satisfy the selector. Only own properties count as labels. */
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
  /** The text form for a request; equal for selectors with equal requirements. */
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
      const integer = BigInt(value.replace('+', ''));
      const bound = BigInt(values[0] as string);
      // To a server a larger value is no integer.
      if (BigInt.asIntN(64, integer) !== integer) return false;
      return operator === 'Gt' ? integer > bound : integer < bound;
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

/**
 * Parses a selector: text such as `app=web,tier in (a,b),!canary`, or a `metav1.LabelSelector`.
 *
 * Throws a `TypeError` that names the text, the position and the expected token, or the invalid part of the object.
 * Keys, operators and values of an object are validated like those of a text.
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
  return selectorOf(
    typeof selector === 'string' ? parseRequirements(selector) : requirementsOf(selector),
  );
}

/** As {@link parseLabelSelector}, of text only, so that its users do not load the validation of objects. */
export function parseLabelText(text: string): LabelSelector {
  return selectorOf(parseRequirements(text));
}

/** The text of a selector in the form that is equal for selectors with equal requirements. */
export function normalLabelText(text: string): string {
  return textOf(normal(parseRequirements(text)));
}

type NormalRequirements = readonly (readonly [text: string, LabelRequirement])[];

/** Sorted by key first, so that `!a` and `a=1` are neighbours, then by text. Requirements with equal text are one. */
function normal(given: readonly LabelRequirement[]): NormalRequirements {
  const byText = new Map(given.map((each) => [format(each), each]));
  return [...byText].sort(([textA, a], [textB, b]) =>
    a.key === b.key ? (textA < textB ? -1 : 1) : a.key < b.key ? -1 : 1,
  );
}

function textOf(sorted: NormalRequirements): string {
  return sorted.map(([text]) => text).join(',');
}

function selectorOf(given: readonly LabelRequirement[]): LabelSelector {
  const sorted = normal(given);
  const requirements = sorted.map(([, requirement]) => requirement);
  const text = textOf(sorted);
  return Object.freeze({
    requirements,
    isEverything: requirements.length === 0,
    matches: (labels: Readonly<Record<string, string>> | undefined) =>
      requirements.every((requirement) => holds(requirement, labels)),
    toString: () => text,
  });
}

/** Matches every object. client-go: labels.Everything. */
export const selectEverything: LabelSelector = /* @__PURE__ */ parseLabelSelector('');

/** Matches no object. No text form exists, so it cannot be sent to a server. client-go: labels.Nothing. */
export const selectNothing: LabelSelector = /* @__PURE__ */ Object.freeze({
  requirements: [],
  isEverything: false,
  isNothing: true,
  matches: () => false,
  toString: () => '',
});

/**
 * Converts a `metav1.LabelSelector` to the text for the query parameter `labelSelector`.
 *
 * Throws a `TypeError` as {@link parseLabelSelector} does.
 */
export function formatLabelSelector(selector: LabelSelectorObject): string {
  return parseLabelSelector(selector).toString();
}
