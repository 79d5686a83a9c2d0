/**
 * Tests that the map from client-go to this library is complete: it has every name of client-go, every name of ours exists, and the title of
 * a test of ours, or a law, names each test of client-go's suites.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { titlesOf } from '../support/test-titles.ts';
import { CLIENT_GO_TESTS, IN_LAWS_ONLY } from './client-go-tests.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

/** A row of the map: the code spans of both columns, and the remark. */
interface Row {
  readonly section: string;
  readonly theirs: readonly string[];
  readonly ours: readonly string[];
  readonly remark: string;
  readonly line: string;
}

function spans(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
}

function rowsOf(text: string): Row[] {
  const rows: Row[] = [];
  let section = '';
  for (const line of text.split('\n')) {
    section = /^## (.*)$/.exec(line)?.[1]?.replaceAll('`', '') ?? section;
    const cells = /^\| (`.*) \| (.*) \| ?(.*)\|$/.exec(line);
    if (cells === null) continue;
    const [, theirs = '', ours = '', remark = ''] = cells;
    rows.push({ section, theirs: spans(theirs), ours: spans(ours), remark: remark.trim(), line });
  }
  return rows;
}

const rows = rowsOf(read('docs/reference/client-go.md'));
const exported = read('spec/oracle/exported-names.txt')
  .trim()
  .split('\n')
  .map((line) => {
    const [section = '', kind = '', name = ''] = line.split(' ');
    return { section, kind, name };
  });

/** The exported names of an entry, and the files that declare them. */
function exportsOf(file: string): Map<string, string> {
  const found = new Map<string, string>();
  const folder = new URL('.', `file:///${file}`);
  const text = read(file).replace(/\/\*[\s\S]*?\*\//g, '');
  for (const [, names = '', from = ''] of text.matchAll(
    /export (?:type )?\{([^}]*)\} from '([^']+)'/g,
  )) {
    const path = new URL(from, folder).pathname.slice(1);
    for (const name of names.split(',')) {
      const [, own, alias] = /^\s*(?:type )?(\w+)(?: as (\w+))?\s*$/.exec(name) ?? [];
      if (own !== undefined) found.set(alias ?? own, path);
    }
  }
  for (const [, from = ''] of text.matchAll(/export \* from '([^']+)'/g)) {
    for (const [name, path] of exportsOf(new URL(from, folder).pathname.slice(1))) {
      found.set(name, path);
    }
  }
  for (const [, name = ''] of text.matchAll(
    /^export (?:declare )?(?:const|function|class|interface|type) (\w+)/gm,
  )) {
    found.set(name, file);
  }
  return found;
}

const ours = new Map(
  ['lib/index.ts', 'lib/resources/index.ts', 'lib/node/index.ts', 'lib/testing/index.ts'].flatMap(
    (file) => [...exportsOf(file)],
  ),
);

/** The body of a declaration, and the types that it extends. */
function declarationOf(
  name: string,
  file: string,
): { body: string; parents: string[] } | undefined {
  const text = read(file).replace(/\/\*[\s\S]*?\*\//g, '');
  const head = new RegExp(`(?:interface|class) ${name}\\b([^{]*)\\{`).exec(text);
  if (head === null) return undefined;
  const start = head.index + head[0].length;
  let depth = 1;
  let end = start;
  while (depth > 0 && end < text.length) {
    const sign = text[end++];
    if (sign === '{') depth++;
    if (sign === '}') depth--;
  }
  return { body: text.slice(start, end - 1), parents: head[1]?.match(/\b[A-Z]\w+/g) ?? [] };
}

/** Whether a type has a member, its own or an inherited one; `near` is a file with parents that are not exported. */
function hasMember(name: string, member: string, near = ''): boolean {
  const file = ours.get(name) ?? near;
  const declaration = file === '' ? undefined : declarationOf(name, file);
  if (declaration === undefined) return false;
  const pattern = member.replace('$', '\\$');
  const own = new RegExp(`^\\s*(?:readonly |get |static )*${pattern}\\s*[?(:<]`, 'm');
  if (own.test(declaration.body)) return true;
  return declaration.parents.some((parent) => parent !== name && hasMember(parent, member, file));
}

/** The names whose row is also that of `name`: its type, or the name of which it is a variant. */
function simplerNames(name: string): string[] {
  const [type = '', method] = name.split('.');
  if (method !== undefined) return [type, ...simplerNames(type)];
  const shorter = [
    type.replace(/^New(?=.)/, ''),
    type.replace(/Typed(?=.)/, ''),
    type.replace(/(?<=.)With(?:Options|Config|Context|Logger)$/, ''),
  ].filter((each) => each !== type);
  return shorter.flatMap((each) => [each, ...simplerNames(each)]);
}

/** Whether the library exports a name of client-go under the same name. */
function isSame(name: string): boolean {
  return ours.has(name) || ours.has(name.replace(/^./, (letter) => letter.toLowerCase()));
}

describe('the map from client-go', () => {
  it('has every exported name that has no other name here', () => {
    const mapped = new Set(
      rows.flatMap(({ section, theirs }) => theirs.map((each) => `${section} ${each}`)),
    );
    const missing = exported.filter(
      ({ section, name }) =>
        !mapped.has(`${section} *`) &&
        ![name, ...simplerNames(name)].some(
          (each) => mapped.has(`${section} ${each}`) || isSame(each),
        ),
    );
    expect(missing).toEqual([]);
    expect(exported.length).toBeGreaterThan(900);
  });

  it('has no name that client-go does not have', () => {
    const known = new Set(exported.map(({ section, name }) => `${section} ${name}`));
    const unknown = rows.flatMap(({ section, theirs }) =>
      theirs
        .filter((name) => name !== '*' && !known.has(`${section} ${name}`))
        .map((name) => `${section} ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('names only exported names of ours', () => {
    const unknown = rows.flatMap(({ ours: names }) =>
      names.filter((name) => {
        const [first = '', member] = name.split('.');
        if (!ours.has(first)) return true;
        return member !== undefined && !hasMember(first, member);
      }),
    );
    expect([...new Set(unknown)]).toEqual([]);
  });

  it('gives a reason if there is no counterpart', () => {
    const silent = rows.filter((row) => row.ours.length === 0 && row.remark.length < 15);
    expect(silent.map(({ line }) => line)).toEqual([]);
    expect(rows.length).toBeGreaterThan(100);
  });
});

const namesIn = (text: string) => text.match(/\bTest[A-Z]\w+/g) ?? [];

const titles = globSync('spec/**/*.{spec,e2e,browser,oracle,night}.ts', { cwd: root })
  .filter((file) => !file.includes('generated'))
  .flatMap((file) => titlesOf(file, readFileSync(`${root}${file}`, 'utf8')));
const inTitles = new Set(titles.flatMap(namesIn));
const inLaws = new Set(
  globSync('docs/reference/laws/*.md', { cwd: root }).flatMap((file) =>
    namesIn(readFileSync(`${root}${file}`, 'utf8')),
  ),
);

describe("client-go's tests", () => {
  it.each(Object.entries(CLIENT_GO_TESTS))('of %s are named by titles of tests', (_file, tests) => {
    const missing = tests.filter((test) => !inTitles.has(test) && !IN_LAWS_ONLY.includes(test));
    expect(missing).toEqual([]);
  });

  it('that no title names are named by a law', () => {
    expect(IN_LAWS_ONLY.filter((test) => !inLaws.has(test))).toEqual([]);
    expect(IN_LAWS_ONLY.filter((test) => inTitles.has(test))).toEqual([]);
  });

  it('are listed once', () => {
    const all = Object.values(CLIENT_GO_TESTS).flat();
    expect(all.length).toBeGreaterThan(80);
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('titles of tests', () => {
  const read = (text: string) => titlesOf('a.spec.ts', text);

  it('are read from tests, groups and the rows of a table', () => {
    const text = `
      describe('A', () => {
        it('B', () => {});
        it.skipIf(true)(\`C \${1} D\`, () => {});
        it.each([['E', { name: 'none' }], ['F', []]] as const)('G %s', () => {});
        it.each(['H', 'I'])('J %s', () => {});
      });`;
    expect(read(text)).toEqual(['B', 'C … D', 'G %s', 'E', 'F', 'J %s', 'H', 'I', 'A']);
  });

  it('are not read from comments, other texts and rows that no title shows', () => {
    const text = `
      // TestA
      const name: string = 'TestB';
      it('C', () => expect(told('TestD')).toBe('TestE'));
      it.each([['TestF', 1]])('G', () => {});`;
    expect(read(text)).toEqual(['C', 'G']);
  });
});
