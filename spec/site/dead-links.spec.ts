/** Tests how the links of the built documentation site are checked. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { deadLinks } from '../../.site/pages/dead-links.ts';

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
