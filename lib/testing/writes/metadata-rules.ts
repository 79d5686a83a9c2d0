/**
 * Validates metadata: why a real server would answer 422.
 * apimachinery: pkg/api/validation/objectmeta.go; kubernetes: pkg/apis/core/validation, ValidateObjectMeta.
 */

import { utf8 } from '../../decode/utf8.ts';
import { type Fields, isFields } from '../../meta/json-fields.ts';
import type { KubernetesObject, ObjectMeta, OwnerReference } from '../../meta/kubernetes-object.ts';
import type { Cause } from '../../object-log/failures.ts';
import { deepEqual } from '../deep-equal.ts';
import type { ServedResource } from '../served-resource.ts';

const MOST_ANNOTATIONS = 262_144;
const MOST_DATA = 1_048_576;
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

const bytesOf = (text: string): number => utf8(text).length;

function invalidValue(field: string, value: unknown, why: string): Cause {
  const message = `Invalid value: ${JSON.stringify(value)}: ${why}`;
  return { reason: 'FieldValueInvalid', message, field };
}

function emptyValue(field: string): Cause {
  return { reason: 'FieldValueRequired', message: 'Required value: must not be empty', field };
}

function tooLong(field: string, most: number): Cause {
  const message = `Too long: may not be more than ${most} bytes`;
  return { reason: 'FieldValueTooLong', message, field };
}

function broken(field: string, text: string, rule: TextRule, tested = text): readonly Cause[] {
  return rule(tested).map((why) => invalidValue(field, text, why));
}

/** Why the name of a new object is invalid. `name` is the given or the generated one. */
export function nameCauses(
  served: ServedResource,
  generateName: string | undefined,
  name: string,
): readonly Cause[] {
  const rule = nameRule(served);
  return [
    // It may end in a dash, because a suffix follows.
    ...(generateName
      ? broken(
          'metadata.generateName',
          generateName,
          rule,
          generateName.replace(/\p{ASCII}-$/u, 'a'),
        )
      : []),
    ...broken('metadata.name', name, rule),
  ];
}

function ownerCauses(owners: readonly OwnerReference[]): readonly Cause[] {
  const field = 'metadata.ownerReferences';
  const causes = owners.flatMap((owner, at): Cause[] => {
    const { apiVersion = '', kind = '', name = '', uid = '' } = owner as Partial<OwnerReference>;
    const own = `${field}[${at}]`;
    const wrongVersion = 'must be <group>/<version> or <version>';
    return [
      ...Object.entries({ apiVersion, kind, name, uid })
        .filter(([, value]) => value === '')
        .map(([part]) => emptyValue(`${own}.${part}`)),
      ...(apiVersion.split('/').length < 3
        ? []
        : [invalidValue(`${own}.apiVersion`, apiVersion, wrongVersion)]),
      ...(apiVersion === 'v1' && kind === 'Event'
        ? [invalidValue(own, owner, '/v1, Kind=Event is disallowed from being an owner')]
        : []),
    ];
  });
  const [first, ...others] = owners.filter(({ controller }) => controller);
  const named = (owner: OwnerReference | undefined) => `${owner?.kind}/${owner?.name}`;
  const twice = others.map((other) =>
    invalidValue(
      field,
      owners,
      `Only one reference can have Controller set to true. Found "true" in references for ${named(first)} and ${named(other)}`,
    ),
  );
  return [...causes, ...twice];
}

function finalizerCauses(finalizers: readonly string[], custom: boolean): readonly Cause[] {
  const field = 'metadata.finalizers';
  const contradict = ['foregroundDeletion', 'orphan'].every((each) => finalizers.includes(each));
  return [
    ...finalizers.flatMap((finalizer) => broken(field, finalizer, qualifiedName)),
    ...(contradict
      ? [
          invalidValue(
            field,
            finalizers,
            'finalizer orphan and foregroundDeletion cannot be both set',
          ),
        ]
      : []),
    ...finalizers.flatMap((finalizer, at) => {
      if (custom || finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)) return [];
      const why = 'name is neither a standard finalizer name nor is it fully qualified';
      return [invalidValue(`${field}[${at}]`, finalizer, why)];
    }),
  ];
}

/** Why the metadata of an object is invalid, besides its name. */
export function metadataCauses(
  { custom }: ServedResource,
  { labels, annotations, ownerReferences, finalizers }: ObjectMeta,
): readonly Cause[] {
  const size = Object.entries(annotations ?? {}).reduce(
    (sum, [key, value]) => sum + bytesOf(key) + bytesOf(value),
    0,
  );
  return [
    ...Object.entries(labels ?? {}).flatMap(([key, value]) => [
      ...broken('metadata.labels', key, qualifiedName),
      ...broken('metadata.labels', value, labelValue),
    ]),
    ...Object.keys(annotations ?? {}).flatMap((key) =>
      broken('metadata.annotations', key, qualifiedName, key.toLowerCase()),
    ),
    ...(size > MOST_ANNOTATIONS ? [tooLong('metadata.annotations', MOST_ANNOTATIONS)] : []),
    ...ownerCauses(ownerReferences ?? []),
    ...finalizerCauses(finalizers ?? [], custom),
  ];
}

/** Whether objects have data: ConfigMaps and Secrets. */
function hasData({ resource: { group, plural } }: ServedResource): boolean {
  return group === '' && (plural === 'configmaps' || plural === 'secrets');
}

/** Which fields of an immutable ConfigMap or Secret an update changes. kubernetes: ValidateConfigMapUpdate */
export function immutableCauses(
  served: ServedResource,
  object: KubernetesObject,
  current: KubernetesObject,
): readonly Cause[] {
  const [next, now] = [object as Fields, current as Fields];
  if (!hasData(served) || now.immutable !== true) return [];
  const message = 'Forbidden: field is immutable when `immutable` is set';
  const changed = ['data', 'binaryData', 'stringData'].filter(
    (field) => !deepEqual(next[field] ?? {}, now[field] ?? {}),
  );
  return [...(next.immutable === true ? [] : ['immutable']), ...changed].map((field) => ({
    ...{ reason: 'FieldValueForbidden', message },
    field: field === 'stringData' ? 'data' : field,
  }));
}

/** Why the data of a ConfigMap or a Secret is too large. The values of a Secret are counted in base64 decoded. */
export function dataCauses(served: ServedResource, object: KubernetesObject): readonly Cause[] {
  if (!hasData(served)) return [];
  const { data, binaryData, stringData } = object as Fields;
  const textsOf = (map: unknown) =>
    isFields(map) ? Object.values(map).filter((value) => typeof value === 'string') : [];
  const plain = (map: unknown) => textsOf(map).reduce((sum, text) => sum + bytesOf(text), 0);
  const decoded = (map: unknown) =>
    textsOf(map).reduce(
      (sum, text) => sum + Math.floor((text.replace(/(?<!=)=+$/, '').length * 3) / 4),
      0,
    );
  const isMap = served.resource.plural === 'configmaps';
  const size = isMap ? plain(data) + decoded(binaryData) : decoded(data) + plain(stringData);
  return size > MOST_DATA ? [tooLong(isMap ? '[]' : 'data', MOST_DATA)] : [];
}

// The rules for names and keys, with the messages of a real server. apimachinery: pkg/api/validate/content.

/** Returns why a text is invalid, one reason per broken rule. */
type TextRule = (text: string) => readonly string[];

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
  ...(bytesOf(text) > 253 ? ['must be no more than 253 characters'] : []),
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
  ...(bytesOf(text) > 63 ? ['must be no more than 63 characters'] : []),
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
function nameRule({ resource, custom }: ServedResource): TextRule {
  const { group, plural } = resource;
  if (custom) return subdomain;
  if (group === 'rbac.authorization.k8s.io' || plural === 'events') return segment;
  return group === '' && (plural === 'namespaces' || plural === 'services') ? label : subdomain;
}

/** The rule for the keys of labels, and for finalizers: a name with an optional prefix. */
const qualifiedName: TextRule = (text) => {
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
    ...(bytesOf(name) > 63 ? ['name part must be no more than 63 bytes'] : []),
    ...(matches(KEY, name) ? [] : [`name part ${shape}`]),
  ];
};

/** The rule for the values of labels. */
const labelValue: TextRule = (text) => [
  ...(bytesOf(text) > 63 ? ['must be no more than 63 bytes'] : []),
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
