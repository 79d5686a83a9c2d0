/// <reference types="node" />
/**
 * `crdTypes`, which generates TypeScript from CustomResourceDefinitions: for every served version an interface and
 * its resource, like those of `rx-informer/resources` for built-in resources.
 */
import { shownText } from '../meta/shown-text.ts';
import { type CrdSchema, rootSchema, type TypeSchema } from './crd-schema.ts';
import { notLoaded } from './optional-package.ts';

/** The fields of a CustomResourceDefinition (apiextensions.k8s.io/v1) that types need. */
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

/**
 * Placeholders for the names. They are replaced in the compiled text, because the compiler would change the real
 * names.
 */
const PLACE = { root: 'RxInformerRoot', spec: 'RxInformerSpec', status: 'RxInformerStatus' };
const PACKAGE = 'rx-informer';
const IMPORTED = ['KubernetesObject', 'ObjectMeta', 'Resource', 'defineResource'];
/** The words that no constant of a module can have as its name. A plural may be any of them. */
const RESERVED =
  'arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield';

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

/** Sorts like the version preference of API servers: v2, v1, v1beta2, v1beta1, v1alpha1, then the rest by name. */
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

/** A DNS label (RFC 1035). */
const LABEL = /^[a-z]([a-z0-9-]*[a-z0-9])?$/;
/** A DNS name (RFC 1123). */
const DOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/**
 * Returns the version. Throws a `TypeError` on a name that no API server accepts. A name becomes a part of the module, so another text
 * could add statements to it. apiextensions-apiserver: validation.ValidateCustomResourceDefinition.
 */
function checked(definition: string, served: Version): Version {
  const check = (field: string, name: unknown, form: RegExp) => {
    if (typeof name === 'string' && form.test(name)) return;
    const shown = shownText(String(name)).slice(0, 63);
    throw new TypeError(
      `crd-types: the definition ${definition} has an invalid ${field}: ${JSON.stringify(shown)}`,
    );
  };
  check('spec.group', served.group, DOMAIN);
  check('spec.versions[].name', served.version, LABEL);
  check('spec.names.plural', served.plural, LABEL);
  check('spec.names.kind', served.kind, new RegExp(LABEL, 'i'));
  return served;
}

function versionsOf(definition: CustomResourceDefinitionLike): Version[] {
  const { apiVersion, kind, metadata, spec = {} } = definition;
  const name = shownText(String(metadata?.name ?? 'without a name'));
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
    .map((version) => checked(name, version))
    .sort(byStability);
}

/**
 * Returns names that are not taken yet: the plain names, or names that begin with the version, or with the group and
 * the version.
 */
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
  throw new TypeError(
    `crd-types: all names for ${plain.type} are taken; generate the types of its definition separately`,
  );
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

async function loadCompiler(): Promise<typeof import('json-schema-to-typescript')> {
  try {
    return await import('json-schema-to-typescript');
  } catch (error) {
    throw notLoaded('the generation of types', 'json-schema-to-typescript', error);
  }
}

async function versionText(
  version: Version,
  { type, constant }: { readonly type: string; readonly constant: string },
): Promise<string> {
  const { compile } = await loadCompiler();
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
    // Writes a one-line description as a one-line comment.
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
 * Returns the text of a TypeScript file with the types and resources of these definitions: for each served version an
 * interface that extends `KubernetesObject`, and its `Resource`. The most stable version gets the plain names.
 *
 * Needs the package `json-schema-to-typescript`. Rejects with a `TypeError` if the package is not installed, or if a
 * definition is not a CustomResourceDefinition of apiextensions.k8s.io/v1. The command `rx-informer crd-types` does
 * the same for files and clusters.
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
  const taken = new Set([...IMPORTED, ...RESERVED.split(' ')]);
  // The preferred versions of all definitions come first, so that each of them gets its plain name.
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
