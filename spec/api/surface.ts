/**
 * Formats the public surface of an entry as text: its exports, and the declarations that they mention without being
 * exported. The order is alphabetical, so that a change of the surface is a small difference.
 */
import { dirname, join } from 'node:path';

// Reads emitted declaration files, split into statements: the names that they declare, and the names that each declaration mentions.

/** The origin of a name: another file of the library, or a package. */
interface Origin {
  readonly from: string;
  readonly name: string;
}

/** One declaration file, without comments. */
interface DeclarationFile {
  /** Declarations by name, overloads together. */
  readonly declared: ReadonlyMap<string, string>;
  /** The declarations that the file exports directly. */
  readonly exported: ReadonlySet<string>;
  readonly imported: ReadonlyMap<string, Origin>;
  /** The names that the file re-exports from another. */
  readonly reExported: ReadonlyMap<string, Origin>;
  /** The files of which everything is re-exported. */
  readonly stars: readonly string[];
}

/**
 * Splits a file into statements. A statement begins at the start of a line; indented lines and closing brackets
 * continue it.
 */
function statementsOf(text: string): string[] {
  const statements: string[] = [];
  for (const line of text.split('\n')) {
    if (/^(export|import|declare|interface|type|const|class|function)\b/.test(line)) {
      statements.push(line);
    } else if (statements.length > 0 && line !== '') {
      statements.push(`${statements.pop()}\n${line}`);
    }
  }
  return statements;
}

function originsOf(list: string, from: string): [string, Origin][] {
  return list
    .split(',')
    .map((each) => each.trim().replace(/^type /, ''))
    .filter((each) => each !== '')
    .map((each) => {
      const [name = '', alias = name] = each.split(' as ');
      return [alias, { from, name }];
    });
}

function parse(text: string): DeclarationFile {
  const declared = new Map<string, string>();
  const exported = new Set<string>();
  const imported = new Map<string, Origin>();
  const reExported = new Map<string, Origin>();
  const stars: string[] = [];
  for (const statement of statementsOf(text)) {
    const moved = /^(import|export) (?:type )?\{([^}]*)\}(?: from '([^']+)')?;$/.exec(statement);
    const star = /^export \* from '([^']+)';$/.exec(statement);
    const declaration =
      /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|const|class|function) ([\w$]+)/.exec(
        statement,
      );
    if (moved !== null) {
      const [, keyword, list = '', from] = moved;
      const into = keyword === 'import' ? imported : reExported;
      for (const [name, origin] of originsOf(list, from ?? '')) {
        // Without `from`, the statement re-exports names that were imported above.
        const own = from === undefined ? imported.get(origin.name) : origin;
        if (own !== undefined) into.set(name, own);
      }
    } else if (star !== null) {
      stars.push(star[1] ?? '');
    } else if (declaration !== null) {
      const name = declaration[1] ?? '';
      const before = declared.get(name);
      if (statement.startsWith('export ')) exported.add(name);
      const plain = statement.replace(/^export /, '').replace(/^declare /, '');
      declared.set(name, before === undefined ? plain : `${before}\n${plain}`);
    } else if (statement !== 'export {};') {
      throw new Error(`unknown form of declaration: ${statement}`);
    }
  }
  return { declared, exported, imported, reExported, stars };
}

/** The names of the types that a declaration mentions, and of the values whose type it takes. */
function mentionedIn(declaration: string): Set<string> {
  const withoutTexts = declaration.replace(/'[^'\n]*'/g, "''");
  const types = withoutTexts.matchAll(/(?<![\w$.])([A-Z][\w$]*)/g);
  const values = withoutTexts.matchAll(/(?:\btypeof |\[)([a-z][\w$]*)/g);
  return new Set([...types, ...values].map((match) => match[1] ?? ''));
}

/** One declaration of a file; `text` has its overloads. */
export interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly text: string;
}

/** Reads a declaration file by its path below the folder of declarations. */
export type ReadDeclarations = (path: string) => string;

export class Surfaces {
  readonly #read: ReadDeclarations;
  readonly #files = new Map<string, DeclarationFile>();

  constructor(read: ReadDeclarations) {
    this.#read = read;
  }

  /**
   * The surface of an entry: its exports, then the inner declarations. `known` are the exports of another entry,
   * which are left out.
   */
  surfaceOf(entry: string, known: ReadonlySet<string> = new Set()): string {
    const exported = this.exportsOf(entry);
    const done = new Set([...known, ...[...exported.values()].map(idOf)]);
    const inner: Declaration[] = [];
    for (const declaration of [...exported.values(), ...inner])
      this.#follow(declaration, done, inner);
    // The declarations that an inner declaration mentions are inner, too.
    for (const declaration of inner) this.#follow(declaration, done, inner);
    const byName = [...exported].sort(([a], [b]) => (a < b ? -1 : 1));
    const texts = byName.map(([name, { name: own, text }]) =>
      name === own ? `export ${text}\n` : `export { ${own} as ${name} };\n${text}\n`,
    );
    const others = inner.map(({ text }) => `${text}\n`).sort();
    return [
      ...texts,
      ...(others.length > 0 ? ['// Not exported, but part of the above:\n'] : []),
      ...others,
    ].join('\n');
  }

  /** The ids of the declarations that an entry exports, for `known` of {@link surfaceOf}. */
  idsOf(entry: string): Set<string> {
    return new Set([...this.exportsOf(entry).values()].map(idOf));
  }

  /** What an entry exports, by name. */
  exportsOf(path: string): Map<string, Declaration> {
    const { declared, exported, reExported, stars } = this.#file(path);
    const found = new Map<string, Declaration>();
    for (const name of exported)
      found.set(name, { file: path, name, text: declared.get(name) ?? '' });
    for (const [name, origin] of reExported) {
      found.set(name, this.#resolve(path, origin.from, origin.name));
    }
    for (const star of stars) {
      for (const [name, declaration] of this.exportsOf(resolve(path, star)))
        found.set(name, declaration);
    }
    return found;
  }

  /** A declaration, and those that it mentions directly or not. */
  closureOf(declaration: Declaration): readonly Declaration[] {
    const found = [declaration];
    const done = new Set([idOf(declaration)]);
    for (const each of found) this.#follow(each, done, found);
    return found;
  }

  #resolve(importer: string, from: string, name: string): Declaration {
    if (!from.startsWith('.')) {
      return { file: from, name, text: `type ${name} = import('${from}').${name};` };
    }
    const file = resolve(importer, from);
    const { declared, reExported } = this.#file(file);
    const further = reExported.get(name);
    if (further !== undefined) return this.#resolve(file, further.from, further.name);
    const text = declared.get(name);
    if (text === undefined) throw new Error(`${file} does not declare ${name}`);
    return { file, name, text };
  }

  /** Adds the declarations that a declaration mentions to `inner`. */
  #follow({ file, text }: Declaration, done: Set<string>, inner: Declaration[]): void {
    if (!file.endsWith('.d.ts')) return;
    const { declared, imported } = this.#file(file);
    for (const name of mentionedIn(text)) {
      const origin = imported.get(name);
      const own = declared.get(name);
      // A name of another package, a name of the platform, or a type parameter.
      if (own === undefined && !origin?.from.startsWith('.')) continue;
      const found =
        origin === undefined
          ? { file, name, text: own ?? '' }
          : this.#resolve(file, origin.from, origin.name);
      if (done.has(idOf(found))) continue;
      done.add(idOf(found));
      inner.push(found);
    }
  }

  #file(path: string): DeclarationFile {
    let file = this.#files.get(path);
    if (file === undefined) {
      file = parse(this.#read(path));
      this.#files.set(path, file);
    }
    return file;
  }
}

export function idOf({ file, name }: Declaration): string {
  return `${file}#${name}`;
}

function resolve(importer: string, from: string): string {
  return join(dirname(importer), from.replace(/\.ts$/, '.d.ts'));
}
