/**
 * Reads emitted declaration files, split into statements: the names that they declare, and the names that each
 * declaration mentions.
 */

/** The origin of a name: another file of the library, or a package. */
export interface Origin {
  readonly from: string;
  readonly name: string;
}

/** One declaration file, without comments. */
export interface DeclarationFile {
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

export function parse(text: string): DeclarationFile {
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
export function mentionedIn(declaration: string): Set<string> {
  const withoutTexts = declaration.replace(/'[^'\n]*'/g, "''");
  const types = withoutTexts.matchAll(/(?<![\w$.])([A-Z][\w$]*)/g);
  const values = withoutTexts.matchAll(/(?:\btypeof |\[)([a-z][\w$]*)/g);
  return new Set([...types, ...values].map((match) => match[1] ?? ''));
}
