/** Reads the navigation of the site from the table of pages in docs/guide/README.md, so that a reader of the repository has the same one. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import type { ApiGroup } from '../api/reference.ts';
import { pageOf } from './documents.ts';

type Item = DefaultTheme.SidebarItem;

export interface Navigation {
  readonly nav: DefaultTheme.NavItem[];
  readonly sidebar: DefaultTheme.SidebarMulti;
}

const TABLE = 'docs/guide/README.md';
const capital = (text: string) => text.replace(/^./, (letter) => letter.toUpperCase());
const linkOf = (page: string) => `/${page.replace(/index\.md$/, '').replace(/\.md$/, '')}`;

function linksIn(text: string, from: string): Item[] {
  return [...text.matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g)].map(([, name = '', target = '']) => ({
    text: capital(name),
    link: linkOf(pageOf(posix.join(posix.dirname(from), target))),
  }));
}

/** The rows of the table of pages: the folder, and its groups of links. */
export function tableOfPages(text: string): Map<string, Item[]> {
  const folders = new Map<string, Item[]>();
  let folder = '';
  const table = /\| folder \| pages \|\n([\s\S]*?)(?:\n\n|$)/.exec(`${text}\n\n`)?.[1] ?? '';
  for (const [, name = '', cell = ''] of table.matchAll(/^\| ([\w ]*?) ?\| (.*) \|$/gm)) {
    folder = name || folder;
    const items = folders.get(folder) ?? [];
    folders.set(folder, items);
    const title = /^([^[\]]+): \[/.exec(cell)?.[1];
    const links = linksIn(cell, TABLE);
    if (title === undefined) items.push(...links);
    else items.push({ text: capital(title), items: links });
  }
  return folders;
}

function apiSidebars(groups: readonly ApiGroup[]): DefaultTheme.SidebarMulti {
  const byEntry = Map.groupBy(groups, ({ entry }) => entry.name);
  const sidebarOf = (open?: ApiGroup): Item[] => [
    { text: 'API reference', link: '/reference/api/' },
    ...[...byEntry].map(([name, own]) => ({
      text: name,
      items: own.map(
        (group): Item => ({
          text: group.title === name ? 'Contents' : group.title,
          link: `/${group.path}/`,
          ...(group === open
            ? { items: group.names.map(({ name: text, path }) => ({ text, link: linkOf(path) })) }
            : {}),
        }),
      ),
    })),
  ];
  return {
    '/reference/api/': sidebarOf(),
    ...Object.fromEntries(groups.map((group) => [`/${group.path}/`, sidebarOf(group)])),
  };
}

/** The navigation, and the pages of docs that the table does not have. */
export function navigation(
  root: string,
  pages: readonly string[],
  groups: readonly ApiGroup[],
): Navigation & { readonly faults: string[] } {
  const folders = tableOfPages(readFileSync(`${root}${TABLE}`, 'utf8'));
  const laws = 'docs/reference/laws/README.md';
  const pagesOfLaws = linksIn(readFileSync(`${root}${laws}`, 'utf8'), laws);
  for (const items of folders.values()) {
    const own = items.find(({ link }) => link === '/reference/laws/');
    if (own !== undefined) Object.assign(own, { items: pagesOfLaws, collapsed: true });
  }
  folders.get('reference')?.unshift({ text: 'API', link: '/reference/api/' });
  const docs: Item[] = [...folders].map(([name, items]) => ({ text: capital(name), items }));
  docs[0]?.items?.unshift({ text: 'How do I …?', link: '/guide/' });
  docs.push({ text: 'Examples', link: '/examples/' }, { text: 'Changelog', link: '/changelog' });
  const shown = JSON.stringify(docs);
  const missing = pages.filter(
    (page) =>
      /^(guide|reference|operations|internals)\//.test(page) &&
      !shown.includes(`"${linkOf(page)}"`),
  );
  const first = (folder: string) => folders.get(folder)?.find(({ link }) => link)?.link ?? '/';
  return {
    nav: [
      { text: 'Guide', link: '/guide/getting-started', activeMatch: '^/guide/' },
      { text: 'API', link: '/reference/api/', activeMatch: '^/reference/api/' },
      { text: 'Reference', link: '/reference/laws/', activeMatch: '^/reference/(?!api/)' },
      { text: 'Operations', link: first('operations'), activeMatch: '^/operations/' },
      { text: 'Internals', link: first('internals'), activeMatch: '^/internals/' },
      { text: 'Examples', link: '/examples/', activeMatch: '^/examples/' },
    ],
    sidebar: { '/': docs, ...apiSidebars(groups) },
    faults: missing.map((page) => `${TABLE} has no link to ${page} in its table of pages`),
  };
}
