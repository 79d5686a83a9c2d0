/// <reference types="node" />
/** Finds what the declarations of the package say about an exported name and its options, for errors that begin with a name. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Declaration {
  /** Its TSDoc without stars. */
  readonly comment: string;
  /** The text after the comment, to the end of the file. */
  readonly rest: string;
}

/** The texts of all declarations in a folder, and in the folders within it. */
async function readDeclarations(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}

/** The comment that ends where `end` is, without its stars. */
function commentBefore(text: string, end: number): string | undefined {
  const before = text.slice(0, end).trimEnd();
  if (!before.endsWith('*/')) return undefined;
  return before
    .slice(before.lastIndexOf('/**') + 3, -2)
    .replaceAll(/^ *\* ?/gm, '')
    .replaceAll(/\{@link (\S+)\}/g, '`$1`')
    .trim();
}

function declarationOf(texts: readonly string[], name: string): Declaration | undefined {
  const pattern = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:async )?(?:function\\*?|const|class|interface|type) ${name}\\b`,
    'm',
  );
  for (const text of texts) {
    const at = pattern.exec(text)?.index;
    const comment = at === undefined ? undefined : commentBefore(text, at);
    if (comment !== undefined) return { comment, rest: text.slice(at) };
  }
  return undefined;
}

/** The comment of a member of an interface. */
function memberOf(declared: Declaration | undefined, member: string): string | undefined {
  const [body = ''] = /^[\s\S]*?^\}/m.exec(declared?.rest ?? '') ?? [];
  const at = new RegExp(`^ *(?:readonly )?${member}\\??[:(]`, 'm').exec(body)?.index;
  return at === undefined ? undefined : commentBefore(body, at);
}

/** The comment of a member of one of the types that a declaration names, or of a type that these name in turn. */
function optionOf(
  texts: readonly string[],
  of: Declaration,
  option: string,
  seen = new Set<string>(),
): string | undefined {
  const [head = ''] = /^[^;{]*(?:\{[^;]*?\}[^;{]*)?/.exec(of.rest) ?? [];
  for (const [type] of head.matchAll(/\b[A-Z]\w+\b/g)) {
    const declared = seen.has(type) ? undefined : declarationOf(texts, type);
    seen.add(type);
    if (declared === undefined) continue;
    const found = memberOf(declared, option) ?? optionOf(texts, declared, option, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The comments of a member in all exported types whose names end with `Options`. */
function optionAnywhere(texts: readonly string[], option: string): readonly string[] {
  const types = texts.flatMap((text) => [...text.matchAll(/^export interface (\w+Options)\b/gm)]);
  return types.flatMap(([, type = '']) => {
    const comment = memberOf(declarationOf(texts, type), option);
    return comment === undefined ? [] : [`${option} of ${type}: ${comment}`];
  });
}

/**
 * What the declarations in `folder` say about a message: about the exported name with which it begins and each of its options
 * that the message mentions; or, if it begins with the name of a controller, a queue or an informer, about the option of which
 * it says what it is. Resolves to `undefined` if neither is declared.
 */
export async function declaredIn(folder: string, message: string): Promise<string | undefined> {
  const [name, ...words] = message.match(/[A-Za-z_$][\w$]*/g) ?? [];
  if (name === undefined) return undefined;
  const texts = await readDeclarations(folder);
  const found = declarationOf(texts, name);
  if (found === undefined) {
    const [, option = ''] = /\b(\w+)(?:\[\d+\]|\.\w+)* (?:is|must|needs) /.exec(message) ?? [];
    const everywhere = option === '' ? [] : optionAnywhere(texts, option);
    return everywhere.length === 0 ? undefined : everywhere.join('\n\n');
  }
  const options = [...new Set(words)].flatMap((word) => {
    const comment = optionOf(texts, found, word);
    return comment === undefined ? [] : [`${word}: ${comment}`];
  });
  return [...options, `${name}: ${found.comment}`].join('\n\n');
}
