/// <reference types="node" />
/** The files of `rx-informer init controller`: the template, with the types, the name and the roles for one definition. */
import { type DeclaredAccess, rolesFor } from '../controller/access.ts';
import type { Resource } from '../meta/resource.ts';
import type { CrdSchema } from '../node/crd-schema.ts';
import { type CustomResourceDefinitionLike, crdTypes } from '../node/crd-types.ts';
import { configMaps } from '../resources/generated/index.ts';
import { loadYaml, readDefinitions } from './definition-file.ts';
import { type ProjectFiles, templateFiles } from './project-files.ts';
import { rolesText } from './rbac-command.ts';
import { UsageError } from './subcommand.ts';

/** The type and the resource of the template, which have these names in its texts. */
const [TYPE, RESOURCE] = ['Widget', 'widgets'];

/** What the template declares in `src/access.ts`. */
export function templateAccess(
  name: string,
  resource: Pick<Resource, 'group' | 'plural' | 'namespaced'>,
): DeclaredAccess {
  return {
    name,
    informers: [resource, configMaps],
    clients: [
      { resource, calls: ['finalizer', 'patchStatus'] },
      { resource: configMaps, calls: ['get', 'create', 'edit', 'delete'] },
    ],
    leaderElection: { namespace: name, name },
    events: true,
  };
}

/** Rejects a definition whose objects cannot have conditions, which the template writes. */
function checkConditions(
  file: string,
  version: string,
  { spec }: CustomResourceDefinitionLike,
): void {
  const served = spec?.versions?.find(({ name }) => name === version) as
    | { readonly subresources?: { status?: unknown }; schema?: { openAPIV3Schema?: CrdSchema } }
    | undefined;
  const where = `init: --crd ${file}: version ${version}`;
  if (served?.subresources?.status === undefined) {
    throw new TypeError(`${where} has no status; add "subresources: { status: {} }" to it`);
  }
  const status = served.schema?.openAPIV3Schema?.properties?.['status'];
  const conditions = status?.properties?.['conditions'];
  const items = conditions?.items as CrdSchema | undefined;
  const required = ['type', 'status'].every((field) => items?.required?.includes(field));
  if (!required || ['type', 'status'].some((field) => items?.properties?.[field] === undefined)) {
    throw new TypeError(
      `${where} has no status.conditions as API conventions want them; add to its schema under status.properties: conditions, an array of objects with the required fields type, status, reason, message and lastTransitionTime, and observedGeneration`,
    );
  }
}

/** The names of the generated type and resource of the preferred version, which comes first. */
function namesIn(types: string): { type: string; resource: string; version: string } {
  const declared = /export const (\w+): Resource<(\w+)>[\s\S]*?version: '([^']+)'/.exec(types);
  const [, resource = '', type = '', version = ''] = declared ?? [];
  return { resource, type, version };
}

/**
 * A name that does not occur in the sources of the template, because a kind may be called Controller, and that no file of
 * it has, because a plural may be `main`.
 */
function freeName(
  name: string,
  own: string,
  suffix: string,
  { text, paths = [] }: { readonly text: string; readonly paths?: readonly string[] },
): string {
  const isTaken = (it: string) =>
    it !== own &&
    (new RegExp(`\\b${it}\\b`).test(text) || paths.includes(`src/${it.toLowerCase()}.ts`));
  let free = name;
  while (isTaken(free)) free += suffix;
  return free;
}

/** The definition without what only a cluster has written, such as its status. */
function applicable({ apiVersion, kind, metadata, spec }: CustomResourceDefinitionLike): object {
  const { name, labels, annotations } = metadata as Record<string, unknown>;
  const written = { name, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
  return { apiVersion, kind, metadata: written, spec };
}

/**
 * Adds the types. If the words of the template are other names, the types have a file of their own, because `npm run types`
 * writes it again.
 */
function addTypes(
  files: Map<string, string>,
  types: string,
  names: {
    readonly type: string;
    readonly resource: string;
    readonly words: Readonly<Record<string, string>>;
  },
): void {
  const { type, resource, words } = names;
  const { [TYPE]: typeWord = type, [RESOURCE]: word = resource } = words;
  const aliases = [
    ...(typeWord === type ? [] : [`type { ${type} as ${typeWord} }`]),
    ...(word === resource ? [] : [`{ ${resource} as ${word} }`]),
  ];
  const own = `src/${word}.ts`;
  if (aliases.length === 0) {
    files.set(own, types);
    return;
  }
  const generated = `${word}-types.ts`;
  const source = `'./${generated}'`;
  files.set(own, ['*', ...aliases].map((names) => `export ${names} from ${source};\n`).join(''));
  files.set(`src/${generated}`, types);
  for (const path of ['package.json', 'README.md']) {
    files.set(path, files.get(path)?.replace(own, `src/${generated}`) ?? '');
  }
}

/** Makes the files of a controller. Rejects with an error that names the file and the fix if the definition does not do. */
export async function controllerFiles(
  name: string,
  crd: string | undefined,
): Promise<ProjectFiles> {
  if (crd === undefined) {
    throw new UsageError(
      'init controller needs --crd with the file of a CustomResourceDefinition, for example --crd widgets.yaml',
    );
  }
  const found = await readDefinitions({ command: 'init', option: 'crd', file: crd });
  const [definition] = found;
  if (definition === undefined || found.length > 1) {
    const all = found.map(({ metadata }) => metadata?.name).join(', ');
    throw new TypeError(
      `init: --crd ${crd} has ${found.length} definitions (${all}); a project is for one, so name a file with one`,
    );
  }
  const types = await crdTypes([definition]);
  const { type, resource, version } = namesIn(types);
  checkConditions(crd, version, definition);
  const { group = '', names, scope } = definition.spec ?? {};
  const plural = names?.plural ?? '';

  const template = await templateFiles('controller', {});
  const sources = [...template].filter(([path]) => /^(src|test)\//.test(path));
  const text = sources.map(([path, it]) => (path.includes(RESOURCE) ? '' : it)).join('\n');
  const words = {
    [TYPE]: freeName(type, TYPE, 'Object', { text }),
    [RESOURCE]: freeName(resource, RESOURCE, 'Resource', { text, paths: [...template.keys()] }),
    'widget-controller': name,
    'example.com': group,
  };
  const files = await templateFiles('controller', words);
  addTypes(files, types, { type, resource, words });
  const { stringify } = await loadYaml('init');
  files.set('manifests/1-crd.yaml', stringify(applicable(definition)));
  const access = templateAccess(name, { group, plural, namespaced: scope !== 'Cluster' });
  files.set('manifests/4-roles.yaml', await rolesText(rolesFor(access)));
  return files;
}
