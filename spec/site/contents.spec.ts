/** Tests that the documentation site will have every entry of the package, every stage of lib, and every page of docs. */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ENTRIES, RESOURCES, STAGES } from '../../.site/api/stages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

it('the API reference has each entry of package.json', () => {
  const { exports } = JSON.parse(read('package.json')) as {
    readonly exports: Readonly<Record<string, { readonly 'rx-informer-source'?: string }>>;
  };
  const entries = Object.entries(exports).flatMap(([path, { 'rx-informer-source': source }]) =>
    source === undefined ? [] : [[posix.join('rx-informer', path), posix.normalize(source)]],
  );
  const shown = [...ENTRIES, RESOURCES].map(({ name, source }) => [name, source]);
  expect(shown.sort()).toEqual(entries.sort());
});

it('the API reference has a title for each folder of lib but that of the command, and names existing pages', () => {
  const folders = globSync('lib/*/', { cwd: root }).map((folder) => posix.basename(folder));
  const stages = folders.filter((folder) => !folder.endsWith('.ts') && !folder.endsWith('.json'));
  const why = 'STAGES in .site/api/stages.ts must name every folder of lib';
  expect(Object.keys(STAGES).sort(), why).toEqual(
    stages.filter((name) => name !== 'command').sort(),
  );
  const pages = Object.values(STAGES).flatMap(({ guide, laws = guide }) => [guide, laws]);
  expect(pages.filter((page) => !globSync(`docs/${page}`, { cwd: root }).length)).toEqual([]);
});

it('the table of pages in docs/guide/README.md, which is the navigation, has each page of docs', () => {
  const guide = read('docs/guide/README.md');
  const table = guide.slice(guide.indexOf('## Pages'));
  const linked = [...table.matchAll(/\]\(([^)#]+)\)/g)].map(([, path = '']) =>
    posix.join('docs/guide', path),
  );
  const pages = globSync('docs/*/*.md', { cwd: root }).filter(
    (page) => !page.endsWith('README.md'),
  );
  expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
});
