/** Writes the reference of the built-in resources: a page per API group. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import {
  API,
  type ApiReference,
  contents,
  missingNames,
  relinked,
  withoutElements,
  write,
} from './reference.ts';
import { RESOURCES } from './stages.ts';
import { type ApiPage, runTypedoc } from './typedoc.ts';

/** A name of `rx-informer/resources`: its API group, and the name that the group declares. */
interface ExportedResource {
  readonly name: string;
  readonly own: string;
  readonly group: string;
}

function exportedResources(root: string): ExportedResource[] {
  const text = readFileSync(`${root}lib/resources/generated/index.ts`, 'utf8');
  const statements = text.matchAll(/^export (?:type )?\{([^}]*)\} from '\.\/([\w-]+)\.ts';/gm);
  return [...statements].flatMap(([, list = '', group = '']) =>
    list
      .split(',')
      .map((each) => each.trim().split(' as '))
      .filter(([own]) => own !== '')
      .map(([own = '', name = own]) => ({ name, own, group })),
  );
}

/** Writes the pages of the resources: one per API group, with a heading per name. */
export async function writeResources(
  root: string,
  out: string,
  pages: string,
): Promise<ApiReference> {
  const at = `${API}/resources`;
  const exported = exportedResources(root);
  const groups = [...new Set(exported.map(({ group }) => group))].sort();
  const api = await runTypedoc(root, out, {
    entryPoints: groups.map((group) => `${root}lib/resources/generated/${group}.ts`),
    outputFileStrategy: 'modules',
    interfacePropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
  });
  const groupOf = ({ source }: ApiPage) => posix.basename(source, '.ts');
  const paths = new Map(api.pages.map((page) => [page.file, `${at}/${groupOf(page)}.md`]));
  for (const page of api.pages) {
    const group = groupOf(page);
    const renamed = exported.filter((each) => each.group === group && each.name !== each.own);
    const title = `# ${group}\n\nOf \`${RESOURCES.name}\`, generated from the API of Kubernetes.`;
    let text = relinked(page.text, page.file, paths)
      .replace(/^# .*$/m, title)
      .replace(/^Defined in: .*\n\n?/gm, '')
      .replace(/^(\|.*\|) (?:Defined in|------|\[resources\/generated\/.*) \|$/gm, '$1');
    for (const { name, own } of renamed) {
      text = text.replace(`### ${own}\n`, `### ${own}\n\nExported as \`${name}\`.\n`);
    }
    write(`${pages}${at}/${group}.md`, withoutElements(text));
  }
  const resources = exported.filter(({ name }) => /^[a-z]/.test(name));
  const rows = resources.map(({ name, own, group }) => {
    return { name, kind: group, summary: '', path: `${at}/${group}.md#${own.toLowerCase()}` };
  });
  const lead = `The ${rows.length} resources that are built into Kubernetes. The page of an API group also has the types of its objects, as on the wire.`;
  write(`${pages}${at}/index.md`, contents(RESOURCES.name, lead, rows, at));
  const documented = new Set(
    api.exports.map(({ module, name }) => `${posix.basename(module, '.ts')} ${name}`),
  );
  const shown = exported.filter(({ group, own }) => documented.has(`${group} ${own}`));
  return {
    groups: [
      {
        ...{ title: RESOURCES.name, entry: RESOURCES, path: at },
        names: groups.map((name) => ({
          name,
          kind: 'API group',
          summary: '',
          path: `${at}/${name}.md`,
        })),
      },
    ],
    faults: [
      ...missingNames(
        root,
        RESOURCES,
        shown.map(({ name }) => name),
      ),
      ...api.deadLinks,
    ],
  };
}
