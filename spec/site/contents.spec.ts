/**
 * Tests that the documentation site will have every entry of the package, every stage of lib and every page of docs, and how its links are
 * checked.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { ENTRIES, RESOURCES, STAGES } from '../../.site/api/stages.ts';
import { deadLinks } from '../../.site/pages/dead-links.ts';

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

function site(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'rx-informer-site-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'guide'));
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

it('a link leads to a file below the base and to an element of its page, or is reported', () => {
  const links = [
    ...['/docs/guide/', '/docs/guide/#one%20two', '/docs/guide/a', '/docs/guide/a.html#x', '#own'],
    ...['guide/a.html', '/docs/a.png', 'https://example.com/#nothing'],
    ...['/docs/b.html', '/guide/a.html', '/docs/guide/a.html#y', '#other', 'a.html'],
  ];
  const folder = site({
    'index.html': `<p id="own">${links.map((link) => `<a class="x" href="${link}">x</a>`).join('')}</p>`,
    'guide/index.html':
      '<h1 id="one two">x</h1><a href="./../#own">x</a><img alt="" src="../no.png">',
    'guide/a.html': '<h1 id="x">x</h1>',
    'a.png': '',
  });
  expect(deadLinks(folder, '/docs/')).toEqual({
    count: 3,
    links: 14,
    dead: [
      'guide/index.html links to ../no.png, which is not there',
      'index.html links to /docs/b.html, which is not there',
      'index.html links to /guide/a.html, which is not there',
      'index.html links to /docs/guide/a.html#y, which is not there',
      'index.html links to #other, which is not there',
      'index.html links to a.html, which is not there',
    ],
  });
});
