/**
 * The rules for names and keys, with the messages of a real server.
 * apimachinery: pkg/api/validate/content.
 */
import type { ServedResource } from '../served-resource.ts';

/** Returns why a text is invalid, one reason per broken rule. */
export type TextRule = (text: string) => readonly string[];

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const KEY = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const NAME_CHARACTERS =
  "consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const KEY_CHARACTERS =
  "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const matches = (pattern: string, text: string): boolean => new RegExp(`^${pattern}$`).test(text);

function unmatched(what: string, examples: readonly string[], pattern: string): string {
  const shown = examples.map((example) => `'${example}'`).join(',  or ');
  return `${what} (e.g. ${shown}, regex used for validation is '${pattern}')`;
}

const subdomain: TextRule = (text) => [
  ...(text.length > 253 ? ['must be no more than 253 characters'] : []),
  ...(matches(SUBDOMAIN, text)
    ? []
    : [
        unmatched(
          `a lowercase RFC 1123 subdomain must ${NAME_CHARACTERS}`,
          ['example.com'],
          SUBDOMAIN,
        ),
      ]),
];

const label: TextRule = (text) => [
  ...(text.length > 63 ? ['must be no more than 63 characters'] : []),
  ...(matches(LABEL, text)
    ? []
    : [
        matches(SUBDOMAIN, text)
          ? 'must not contain dots'
          : unmatched(
              `a lowercase RFC 1123 label must ${NAME_CHARACTERS.replace("characters, '-' or '.'", "characters or '-'")}`,
              ['my-name', '123-abc'],
              LABEL,
            ),
      ]),
];

const segment: TextRule = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%']
    .filter((part) => text.includes(part))
    .map((part) => `may not contain '${part}'`);
};

/** The rule for the names of a resource. */
export function nameRule({ resource, custom }: ServedResource): TextRule {
  const { group, plural } = resource;
  if (custom) return subdomain;
  if (group === 'rbac.authorization.k8s.io' || plural === 'events') return segment;
  return group === '' && (plural === 'namespaces' || plural === 'services') ? label : subdomain;
}

/** The rule for the keys of labels, and for finalizers: a name with an optional prefix. */
export const qualifiedName: TextRule = (text) => {
  const parts = text.split('/');
  const shape = unmatched(`must ${KEY_CHARACTERS}`, ['MyName', 'my.name', '123-abc'], KEY);
  if (parts.length > 2) {
    return [
      `a valid label key ${shape} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? (parts[0] as string) : undefined;
  const ofPrefix = prefix === '' ? ['must be non-empty'] : prefix ? subdomain(prefix) : [];
  return [
    ...ofPrefix.map((why) => `prefix part ${why}`),
    ...(name === '' ? ['name part must be non-empty'] : []),
    ...(name.length > 63 ? ['name part must be no more than 63 bytes'] : []),
    ...(matches(KEY, name) ? [] : [`name part ${shape}`]),
  ];
};

/** The rule for the values of labels. */
export const labelValue: TextRule = (text) => [
  ...(text.length > 63 ? ['must be no more than 63 bytes'] : []),
  ...(matches(`(${KEY})?`, text)
    ? []
    : [
        unmatched(
          `a valid label must be an empty string or ${KEY_CHARACTERS}`,
          ['MyValue', 'my_value', '12345'],
          `(${KEY})?`,
        ),
      ]),
];
