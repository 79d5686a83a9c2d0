/**
 * Writes the API reference: a page per exported name, arranged by entry and by the stage that declares it.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import {
  API,
  type ApiGroup,
  type ApiName,
  type ApiReference,
  contents,
  missingNames,
  relinked,
  withoutElements,
  write,
} from './reference.ts';
import { writeResources } from './resources.ts';
import { ENTRIES, type Entry, STAGES } from './stages.ts';
import { type Api, type ApiPage, runTypedoc } from './typedoc.ts';

/** The stages of the types that other packages declare and an entry exports. */
const OF_PACKAGES: Readonly<Record<string, string>> = { immer: 'client' };

function stageOf(source: string): string {
  const [top, second = ''] = source.split('/');
  const stage = top === 'node_modules' ? (OF_PACKAGES[second] ?? '') : second;
  if (STAGES[stage] === undefined) {
    throw new Error(
      `.site/api/stages.ts has no entry for the folder of ${source}: add its title, guide and laws`,
    );
  }
  return stage;
}

function entryOf(module: string): Entry {
  const entry = ENTRIES.find(({ source }) => source === module);
  if (entry === undefined) throw new Error(`.site/api/stages.ts has no entry for ${module}`);
  return entry;
}

/** The folder of a page: core has one per stage, because it has hundreds of names. */
function folderOf({ module, source }: ApiPage): string {
  const { golden } = entryOf(module);
  return golden === 'core' ? `${API}/core/${stageOf(source)}` : `${API}/${golden}`;
}

/** The new paths of typedoc's pages. Two paths must differ in more than their case, because some file systems ignore it. */
function pathsOf(pages: readonly ApiPage[]): Map<string, string> {
  const paths = new Map<string, string>();
  const taken = new Set<string>();
  const named = pages.filter(({ name }) => name !== undefined);
  // Functions first, so that a type of the same name gets the longer path.
  const order = [...named].sort((one, other) => one.kind.localeCompare(other.kind));
  for (const page of order) {
    const path = `${folderOf(page)}/${page.name}`;
    const free = taken.has(path.toLowerCase())
      ? `${path}-${page.kind.toLowerCase().replace(' ', '-')}`
      : path;
    taken.add(free.toLowerCase());
    paths.set(page.file, `${free}.md`);
  }
  for (const page of pages) {
    if (page.name === undefined)
      paths.set(page.file, `${API}/${entryOf(page.module).golden}/index.md`);
  }
  return paths;
}

function titleOf(root: string, page: string): string {
  return /^# (.*)$/m.exec(readFileSync(`${root}docs/${page}`, 'utf8'))?.[1] ?? page;
}

/** The line below the title: where the name comes from, and where to read on. */
function originOf(root: string, page: ApiPage, path: string): string {
  const { guide, laws } = STAGES[stageOf(page.source)] as (typeof STAGES)[string];
  const link = (to: string) => `[${titleOf(root, to)}](${posix.relative(posix.dirname(path), to)})`;
  const further = [
    `Guide: ${link(guide)}`,
    ...(laws === undefined ? [] : [`Promises: ${link(laws)}`]),
  ];
  return `${page.kind} of \`${entryOf(page.module).name}\`, declared in \`${page.source}\`. ${further.join('. ')}.`;
}

/** The class of the pages of names, for style.css. */
const PAGE = '---\npageClass: name\n---\n';

function pageText(root: string, page: ApiPage, path: string): string {
  const isType = /Interface|Alias/.test(page.kind);
  const from = entryOf(page.module).name;
  const imported = `\`\`\`ts\nimport ${isType ? 'type ' : ''}{ ${page.name} } from '${from}';\n\`\`\``;
  return page.text
    .replace(/^# [^:\n]*: (.*)$/m, `# $1\n\n${originOf(root, page, path)}\n\n${imported}`)
    .replace(/^Defined in: .*\n\n?/gm, '');
}

function isCallable({ kind }: ApiName): boolean {
  return !/interface|alias/i.test(kind);
}

/** What one calls first, then types; each in alphabetical order. */
function inOrder(names: readonly ApiName[]): ApiName[] {
  return [...names].sort(
    (one, other) =>
      Number(isCallable(other)) - Number(isCallable(one)) || one.name.localeCompare(other.name),
  );
}

function groupsOf(api: Api, paths: ReadonlyMap<string, string>): ApiGroup[] {
  const pageOf = new Map(api.pages.map((page) => [page.file, page]));
  const groups = new Map<string, ApiGroup & { names: ApiName[] }>();
  for (const { module, name, file } of api.exports) {
    const page = pageOf.get(file);
    if (page === undefined) continue;
    const entry = entryOf(module);
    const stage = stageOf(page.source);
    const path = entry.golden === 'core' ? `${API}/core/${stage}` : `${API}/${entry.golden}`;
    const title = entry.golden === 'core' ? (STAGES[stage]?.title ?? stage) : entry.name;
    const group = groups.get(path) ?? { title, entry, path, names: [] };
    groups.set(path, group);
    const { kind, summary } = page;
    group.names.push({ name, kind, summary, path: paths.get(file) ?? '' });
  }
  const order = Object.keys(STAGES);
  const rank = ({ entry, path }: ApiGroup) =>
    ENTRIES.indexOf(entry) * 100 + order.indexOf(posix.basename(path));
  return [...groups.values()]
    .sort((one, other) => rank(one) - rank(other))
    .map((group) => ({ ...group, names: inOrder(group.names) }));
}

/** The first page of the reference: the parts of each entry. */
function overview(groups: readonly ApiGroup[]): string {
  const lead =
    'Every exported name has a page with its example. The page names its source in Kubernetes, if there is one, the guide that explains it and the laws that it keeps.';
  const parts = [...Map.groupBy(groups, ({ entry }) => entry.name)].map(([name, own]) => {
    const rows = own.map(({ title, path, names }) => {
      const some = names
        .filter(isCallable)
        .slice(0, 6)
        .map((each) => `\`${each.name}\``);
      const text = title === name ? 'All names' : title;
      return `| [${text}](${posix.relative(API, path)}/index.md) | ${some.join(', ')} |`;
    });
    return `## ${name}\n\n| part | for example |\n|---|---|\n${rows.join('\n')}\n`;
  });
  return `# API reference\n\n${lead}\n\n${parts.join('\n')}`;
}

/** Writes the reference below `pages`. `out` is a folder for typedoc. */
export async function writeApi(root: string, out: string, pages: string): Promise<ApiReference> {
  const api = await runTypedoc(root, out, {
    entryPoints: ENTRIES.map(({ source }) => `${root}${source}`),
  });
  const paths = pathsOf(api.pages);
  for (const page of api.pages) {
    const path = paths.get(page.file) ?? '';
    if (page.name === undefined) continue;
    const text = relinked(page.text, page.file, paths);
    write(`${pages}${path}`, PAGE + withoutElements(pageText(root, { ...page, text }, path)));
  }
  const groups = groupsOf(api, paths);
  for (const { title, entry, path, names } of groups) {
    const lead = `The names of this part of \`${entry.name}\`.`;
    write(`${pages}${path}/index.md`, contents(title, lead, names, path));
  }
  const resources = await writeResources(root, `${out}-resources`, pages);
  const all = [...groups, ...resources.groups];
  write(`${pages}${API}/index.md`, overview(all));
  const exported = (entry: Entry) =>
    api.exports
      .filter(({ module, file }) => module === entry.source && file !== '')
      .map(({ name }) => name);
  return {
    groups: all,
    faults: [
      ...ENTRIES.flatMap((entry) => missingNames(root, entry, exported(entry))),
      ...api.deadLinks,
      ...resources.faults,
    ],
  };
}
