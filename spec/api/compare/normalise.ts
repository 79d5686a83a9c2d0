/**
 * Rewrites a declaration file so that the compiler compares it strictly with the same file of another version:
 *
 * - A method becomes a property, because the compiler compares the parameters of methods in both directions.
 * - Members that make a class or a key equal to itself only (`#private`, `protected`, unique symbols) become ordinary ones.
 * - Every type is exported, so that a probe can name it.
 */

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/** The end of the string literal that begins at `at`. */
function endOfString(text: string, at: number): number {
  const quote = text[at];
  let end = at + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

function isQuote(char: string | undefined): boolean {
  return char === "'" || char === '"' || char === '`';
}

/** The position after the bracket that closes the one at `at`. The `>` of an arrow closes nothing. */
export function endOfBrackets(text: string, at: number): number {
  const open: string[] = [];
  let here = at;
  while (here < text.length) {
    const char = text[here] ?? '';
    if (isQuote(char)) {
      here = endOfString(text, here);
      continue;
    }
    if (char in CLOSING) open.push(CLOSING[char] ?? '');
    else if (char === open.at(-1) && !(char === '>' && text[here - 1] === '=')) open.pop();
    here += 1;
    if (open.length === 0) return here;
  }
  throw new Error(`no end of the brackets in: ${text.slice(at, at + 80)}`);
}

/** The position of the next `end` outside of brackets and strings. */
export function positionOf(end: string, text: string, at: number): number {
  let here = at;
  while (here < text.length && text[here] !== end) {
    if (isQuote(text[here])) here = endOfString(text, here);
    else if ((text[here] ?? '') in CLOSING) here = endOfBrackets(text, here);
    else here += 1;
  }
  return here;
}

const METHOD =
  /\s*((?:static |abstract |override )*)(?!(?:constructor|new)[<(])([\w$]+|\[[^\]]+\]|'[^']*'|"[^"]*")(\??)(?=[<(])/y;

/** Makes properties of the methods of a body, overloads together. The body begins after its `{`. */
function withoutMethods(body: string): string {
  const members: string[] = [];
  const places = new Map<string, number>();
  let here = 0;
  while (here < body.length) {
    const end = positionOf(';', body, here) + 1;
    METHOD.lastIndex = here;
    const method = METHOD.exec(body);
    if (method === null) {
      members.push(rewriteBodies(body.slice(here, end)));
    } else {
      const [head, modifiers = '', name = '', optional = ''] = method;
      const start = here + head.length;
      const open = body[start] === '<' ? endOfBrackets(body, start) : start;
      const close = endOfBrackets(body, open);
      const parameters = rewriteBodies(body.slice(start, close));
      const returned = rewriteBodies(body.slice(close, end).replace(/^:/, '').replace(/;$/, ''));
      const type = `(${parameters} => ${returned.trim() || 'any'})`;
      const property = `${modifiers}${name}${optional}:`;
      const place = places.get(property);
      if (place === undefined) {
        places.set(property, members.length);
        members.push(`\n    ${property} ${type};`);
      } else {
        members[place] = (members[place] ?? '').replace(/;$/, ` & ${type};`);
      }
    }
    here = end;
  }
  return members.join('');
}

/** Rewrites the bodies `{ … }` in a text. */
function rewriteBodies(text: string): string {
  let result = '';
  let here = 0;
  while (here < text.length) {
    if (isQuote(text[here])) {
      const end = endOfString(text, here);
      result += text.slice(here, end);
      here = end;
    } else if (text[here] === '{') {
      const end = endOfBrackets(text, here);
      result += `{${withoutMethods(text.slice(here + 1, end - 1))}}`;
      here = end;
    } else {
      result += text[here];
      here += 1;
    }
  }
  return result;
}

function withoutComments(text: string): string {
  return text.replace(
    /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\*[\s\S]*?\*\/|\/\/.*/g,
    (found) => (found.startsWith('/') ? '' : found),
  );
}

/** Replaces the keys that are unique symbols by strings. Two symbols of two versions would be different keys. */
function withoutSymbols(text: string): string {
  const names = [...text.matchAll(/\bconst ([\w$]+): unique symbol;/g)].map(([, name]) => name);
  return names.reduce<string>(
    (before, name) => before.replaceAll(`[${name}]`, `['unique symbol ${name}']`),
    text,
  );
}

const DECLARATION = /^(?:declare |abstract )*(?:interface|type|class) ([\w$]+)/gm;

/** Whether a statement is an export list of declarations of the same file, with this name. */
function lists(statement: string, name: string): boolean {
  return !statement.includes(' from ') && new RegExp(`[{,]\\s*${name}\\b`).test(statement);
}

export function normalise(text: string): string {
  const plain = withoutSymbols(withoutComments(text))
    .replace(/^ *#private;\n/gm, '')
    .replace(/^( *)((?:static |abstract |override )*)protected /gm, '$1$2');
  // Import and export lists have braces, too.
  const parts = plain.split(
    /^((?:import|export) (?:type )?(?:[\w$]+, )?(?:\{[^}]*\}|\*)[^;{}]*;)$/m,
  );
  return parts
    .map((part, at) => (at % 2 === 1 ? part : rewriteBodies(part)))
    .join('')
    .replace(DECLARATION, (head, name) =>
      parts.some((part, at) => at % 2 === 1 && lists(part, name)) ? head : `export ${head}`,
    );
}
