/// <reference types="node" />
/**
 * TypeScript for custom resources, from their definitions: for every served version an interface and the resource
 * of it, as `rx-informer/resources` has them for what is built in.
 */
import { type CrdSchema, rootSchema, type TypeSchema } from './crd-schema.ts';
import { needed } from './optional-package.ts';

/** A CustomResourceDefinition of apiextensions.k8s.io/v1, as far as types need it. */
export interface CustomResourceDefinitionLike {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
  readonly spec?: {
    readonly group?: string;
    readonly scope?: string;
    readonly names?: { readonly kind?: string; readonly plural?: string };
    readonly versions?: readonly {
      readonly name: string;
      readonly served?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: CrdSchema };
    }[];
  };
}

interface Version {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly schema: CrdSchema;
}

/** Names that stand for the real ones until the text is there: the compiler has its own idea of good names. */
const PLACE = { root: 'RxInformerRoot', spec: 'RxInformerSpec', status: 'RxInformerStatus' };
const PACKAGE = 'rx-informer';
const IMPORTED = ['KubernetesObject', 'ObjectMeta', 'Resource', 'defineResource'];

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function identifier(text: string): string {
  const joined = text.replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string = '') => next.toUpperCase());
  return /^[0-9]/.test(joined) ? `_${joined}` : joined;
}

/** The plural in camel case: NetworkPolicy, networkpolicies → `networkPolicies`. */
function constantName({ kind, plural }: Version): string {
  const camel = kind.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+/, (capitals) => capitals.toLowerCase());
  let shared = 0;
  while (shared < camel.length && camel[shared]?.toLowerCase() === plural[shared]) shared++;
  return identifier(camel.slice(0, shared) + plural.slice(shared));
}

/** v2, v1, v1beta2, v1beta1, v1alpha1, then the rest by name: as servers prefer them. */
function byStability(a: Version, b: Version): number {
  const rank = ({ version }: Version): [number, number, number] => {
    const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    if (major === undefined) return [3, 0, 0];
    return [['beta', 'alpha'].indexOf(stage ?? '') + 1, -Number(major), -Number(minor ?? 0)];
  };
  const [x, y] = [rank(a), rank(b)];
  for (const at of [0, 1, 2] as const) if (x[at] !== y[at]) return x[at] - y[at];
  return a.version < b.version ? -1 : 1;
}

function versionsOf(definition: CustomResourceDefinitionLike): Version[] {
  const { apiVersion, kind, metadata, spec = {} } = definition;
  const name = metadata?.name ?? 'without a name';
  if (kind !== 'CustomResourceDefinition' || apiVersion !== 'apiextensions.k8s.io/v1') {
    throw new TypeError(
      `crd-types: expected a CustomResourceDefinition of apiextensions.k8s.io/v1, got ${kind ?? 'an object'} (${apiVersion ?? 'no apiVersion'}) ${name}`,
    );
  }
  const { group, scope, names = {}, versions = [] } = spec;
  const { kind: own, plural } = names;
  if (!group || !own || !plural) {
    throw new TypeError(
      `crd-types: the definition ${name} lacks spec.group, spec.names.kind or spec.names.plural`,
    );
  }
  const served = versions.filter((version) => version.served !== false);
  if (served.length === 0) throw new TypeError(`crd-types: no version of ${name} is served`);
  return served
    .map(({ name: version, schema }) => ({
      ...{ group, version, kind: own, plural, namespaced: scope !== 'Cluster' },
      schema: schema?.openAPIV3Schema ?? { 'x-kubernetes-preserve-unknown-fields': true },
    }))
    .sort(byStability);
}

/** The first has the plain names; the others have version, or group and version, in front. */
function chooseNames(version: Version, taken: Set<string>): { type: string; constant: string } {
  const plain = { type: upperFirst(identifier(version.kind)), constant: constantName(version) };
  const label = identifier(version.group.split('.')[0] ?? '');
  const choices = [
    '',
    identifier(version.version),
    label + upperFirst(identifier(version.version)),
  ];
  for (const front of [...choices, ...choices.map((_, at) => `${choices[2]}_${at}`)]) {
    const type = upperFirst(front) + plain.type;
    const constant = front === '' ? plain.constant : front + upperFirst(plain.constant);
    const all = [type, `${type}Spec`, `${type}Status`, constant];
    if (all.some((name) => taken.has(name))) continue;
    for (const name of all) taken.add(name);
    return { type, constant };
  }
  throw new TypeError(`crd-types: no name is left for ${plain.type}; give its definition alone`);
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

async function versionText(
  version: Version,
  { type, constant }: { readonly type: string; readonly constant: string },
): Promise<string> {
  const { compile } = await needed(
    'crd-types',
    'json-schema-to-typescript',
    () => import('json-schema-to-typescript'),
  );
  const { group, plural, kind, namespaced } = version;
  const own: Record<string, TypeSchema> = {
    apiVersion: { tsType: quoted(`${group}/${version.version}`) },
    kind: { tsType: quoted(kind) },
    metadata: { tsType: 'ObjectMeta' },
  };
  const compiled = await compile(rootSchema(version.schema, own, PLACE), PLACE.root, {
    bannerComment: '',
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 100 },
  });
  const named = compiled
    .replace(`interface ${PLACE.root} {`, `interface ${PLACE.root} extends KubernetesObject {`)
    .replaceAll(PLACE.root, type)
    .replaceAll(PLACE.spec, `${type}Spec`)
    .replaceAll(PLACE.status, `${type}Status`)
    // One line of description is one line of comment.
    .replace(/\/\*\*\n\s*\* (.*)\n\s*\*\//g, '/** $1 */')
    .replace(/\}\n(?=\/\*\*|export )/g, '}\n\n');
  const scope = namespaced ? 'namespaced' : 'cluster-scoped';
  return `${named}
/** \`${plural}.${group}\` ${version.version}, ${scope}. */
export const ${constant}: Resource<${type}> = /* @__PURE__ */ defineResource<${type}>({
  group: ${quoted(group)},
  version: ${quoted(version.version)},
  plural: ${quoted(plural)},
  kind: ${quoted(kind)},
  namespaced: ${namespaced},
});
`;
}

/**
 * The text of a TypeScript file with the types and resources of these definitions: for each served version an
 * interface that extends `KubernetesObject` and a `Resource` of it. The most stable version has the plain names.
 *
 * Needs the package `json-schema-to-typescript`. Rejects with a `TypeError` on what is no
 * CustomResourceDefinition of apiextensions.k8s.io/v1, and when the package is not there. The command
 * `rx-informer crd-types` does the same from files and clusters.
 *
 * @example
 * ```ts
 * import { crdTypes } from 'rx-informer/node';
 *
 * const text = await crdTypes([
 *   {
 *     apiVersion: 'apiextensions.k8s.io/v1',
 *     kind: 'CustomResourceDefinition',
 *     spec: {
 *       group: 'example.com',
 *       scope: 'Namespaced',
 *       names: { kind: 'Widget', plural: 'widgets' },
 *       versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object' } } }],
 *     },
 *   },
 * ]);
 * text.includes('export interface Widget extends KubernetesObject'); // => true
 * ```
 */
export async function crdTypes(
  definitions: readonly CustomResourceDefinitionLike[],
): Promise<string> {
  const versions = definitions.map(versionsOf);
  if (versions.length === 0) throw new TypeError('crd-types: no definition was given');
  const taken = new Set(IMPORTED);
  // Preferred versions of all definitions first: a plain name goes to the best of each.
  const ranked = [...versions.map(([first]) => first), ...versions.flatMap(([, ...rest]) => rest)];
  const texts = new Map<Version, string>();
  for (const version of ranked) {
    if (version !== undefined) {
      texts.set(version, await versionText(version, chooseNames(version, taken)));
    }
  }
  const all = versions.flat().map((version) => texts.get(version) ?? '');
  const body = all.join('\n');
  const meta = /\bObjectMeta\b/.test(body) ? ', type ObjectMeta' : '';
  return `/** Custom resources and their types as on the wire. Generated by \`rx-informer crd-types\`: do not edit. */
import { defineResource, type KubernetesObject${meta}, type Resource } from ${quoted(PACKAGE)};

${body}`;
}
