/** Checks the links of the built site: each must lead to a file, and its fragment to an element. */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

export interface LinkCheck {
  /** How many pages were read. */
  readonly count: number;
  /** How many different links they have, page by page. */
  readonly links: number;
  readonly dead: readonly string[];
}

const decoded = (text: string) => decodeURIComponent(text.replace(/&amp;/g, '&'));

/** Checks the HTML files of a folder that is served under `base`. */
export function deadLinks(folder: string, base: string): LinkCheck {
  const files = new Set(globSync('**/*.*', { cwd: folder }).sort());
  const pages = [...files].filter((file) => file.endsWith('.html') && file !== '404.html');
  const texts = new Map(pages.map((page) => [page, readFileSync(`${folder}/${page}`, 'utf8')]));
  const ids = new Map(
    [...texts].map(([page, text]) => [
      page,
      new Set([...text.matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => decoded(id))),
    ]),
  );
  const dead: string[] = [];
  let links = 0;
  for (const [page, text] of texts) {
    const targets = [...text.matchAll(/<(?:a|img|link|script)\b[^>]*?\s(?:href|src)="([^"]+)"/g)];
    for (const target of new Set(targets.map(([, href = '']) => href))) {
      if (/^(?:https?:|mailto:|data:)/.test(target)) continue;
      links++;
      const [path = '', hash = ''] = target.split('#');
      const file = path === '' ? page : fileOf(path, page, base, files);
      const isHere = file !== undefined && (hash === '' || ids.get(file)?.has(decoded(hash)));
      if (!isHere) dead.push(`${page} links to ${target}, which is not there`);
    }
  }
  return { count: pages.length, links, dead };
}

/** The file that a server sends for a path, or `undefined`. */
function fileOf(
  path: string,
  page: string,
  base: string,
  files: ReadonlySet<string>,
): string | undefined {
  const plain = decoded(path);
  if (plain.startsWith('/') && !plain.startsWith(base)) return undefined;
  const below = plain.startsWith('/')
    ? plain.slice(base.length)
    : posix.join(posix.dirname(page), plain);
  const file = posix.join(below, below === '' || below.endsWith('/') ? 'index.html' : '');
  return [file, `${file}.html`].find((each) => files.has(each));
}
