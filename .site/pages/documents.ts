/**
 * Copies the pages of docs, README.md and CHANGELOG.md into the folder that VitePress builds. Links between pages are kept. A link
 * that leaves docs leads to a page with the file, or with the contents of the folder.
 */
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, posix } from 'node:path';
import { PICTURES } from '../pictures/pictures.ts';
import { firstSentence } from './first-sentence.ts';

/** Where a file of the repository is on the site, below the folder of pages. */
export function pageOf(file: string): string {
  if (file === 'README.md') return 'index.md';
  if (file === 'CHANGELOG.md') return 'changelog.md';
  if (file.startsWith('docs/'))
    return file.slice('docs/'.length).replace(/README\.md$/, 'index.md');
  return /\.\w+$/.test(file) ? `${file}.md` : posix.join(file, 'index.md');
}

/** The text without what is in fences, which are passed to `change` one by one. */
function outsideFences(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : change(part)))
    .join('');
}

/** The comment at the top of a source, as Markdown. */
function openingComment(source: string): string {
  const comment = /^(?:#!.*\n)?\s*\/\*\*([\s\S]*?)\*\//.exec(source)?.[1] ?? '';
  return comment.replace(/^ *\* ?/gm, '').trim();
}

export class Documents {
  readonly #root: string;
  readonly #pages: string;
  /** The files and folders outside of docs to which a page links. */
  readonly #linked = new Set<string>();
  readonly #done = new Set<string>();
  /** What is wrong with the pages. */
  readonly faults: string[] = [];

  constructor(root: string, pages: string) {
    this.#root = root;
    this.#pages = pages;
  }

  /** Writes all pages. Returns their paths. */
  write(): string[] {
    const documents = globSync('docs/**/*.md', { cwd: this.#root }).sort();
    for (const file of [...documents, 'CHANGELOG.md']) this.#put(file, this.#page(file));
    this.#put('README.md', this.#front());
    for (const picture of globSync('docs/**/*.{png,svg}', { cwd: this.#root })) {
      const target = `${this.#pages}${picture.slice('docs/'.length)}`;
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(`${this.#root}${picture}`, target);
    }
    this.#linked.add('examples');
    // A page that is written here may link to further files.
    for (const path of this.#linked) this.#put(path, this.#source(path));
    return [...this.#done];
  }

  #put(file: string, text: string): void {
    const page = pageOf(file);
    if (this.#done.has(page)) return;
    this.#done.add(page);
    mkdirSync(dirname(`${this.#pages}${page}`), { recursive: true });
    writeFileSync(`${this.#pages}${page}`, text);
  }

  #page(file: string): string {
    return this.#relinked(file, withPictures(readFileSync(`${this.#root}${file}`, 'utf8')));
  }

  /** The front page: README.md, with the first links below its first paragraph. */
  #front(): string {
    const links = [
      '[Get started](./guide/getting-started.md)',
      '[How do I …?](./guide/index.md)',
      '[API reference](./reference/api/index.md)',
    ];
    const actions = `<div class="actions">\n\n${links.join('\n')}\n\n</div>`;
    const text = this.#page('README.md').replace(/^(# .*\n\n(?:.+\n)+)/, `$1\n${actions}\n`);
    return `---\nsidebar: false\naside: false\npageClass: front\n---\n${text}`;
  }

  /** The page of a file outside of docs, or of a folder. */
  #source(path: string): string {
    if (!statSync(`${this.#root}${path}`).isDirectory()) {
      const source = readFileSync(`${this.#root}${path}`, 'utf8');
      const language = posix.extname(path).slice(1);
      return `---\noutline: false\n---\n# ${path}\n\n${openingComment(source)}\n\n\`\`\`${language}\n${source}\`\`\`\n`;
    }
    const inside = (pattern: string) => globSync(pattern, { cwd: `${this.#root}${path}` }).sort();
    const rows = inside('*.ts').map((name) => {
      this.#linked.add(posix.join(path, name));
      const comment = openingComment(readFileSync(`${this.#root}${path}/${name}`, 'utf8'));
      return `| [${name}](${name}.md) | ${firstSentence(comment).replace(/\|/g, '\\|')} |`;
    });
    const folders = inside('*/*.ts').map((name) => posix.dirname(name));
    for (const folder of new Set(folders)) {
      this.#linked.add(posix.join(path, folder));
      rows.push(`| [${folder}/](${folder}/index.md) | |`);
    }
    return `# ${path}\n\n| file | |\n|---|---|\n${rows.join('\n')}\n`;
  }

  #relinked(file: string, text: string): string {
    const from = posix.dirname(pageOf(file));
    return outsideFences(text, (prose) =>
      prose.replace(/\]\(([^)#\s]+)(#[^)\s]*)?\)/g, (link, target: string, hash = '') => {
        if (/^https?:/.test(target)) return link;
        const path = posix.join(posix.dirname(file), target).replace(/\/$/, '');
        if (!existsSync(`${this.#root}${path}`)) {
          this.faults.push(`${file} links to ${target}, which does not exist`);
          return link;
        }
        const isDocument = path.startsWith('docs/') || /^(?:README|CHANGELOG)\.md$/.test(path);
        if (!isDocument) this.#linked.add(path);
        const isPicture = /\.(?:png|svg)$/.test(path);
        const to = isPicture ? path.replace(/^docs\//, '') : pageOf(path);
        const near = posix.relative(from, to);
        return `](${near.startsWith('.') ? near : `./${near}`}${hash})`;
      }),
    );
  }
}

/** Puts a picture in the place of each mark, and of the drawing in text below it. */
function withPictures(text: string): string {
  return text.replace(
    /^<!-- picture: (\w+) -->\n(?:\n?```\n[\s\S]*?^```\n)?/gm,
    (_, name: string) => {
      const draw = PICTURES[name];
      if (draw === undefined) throw new Error(`.site/pictures draws no picture ${name}`);
      return `${draw()}\n`;
    },
  );
}
