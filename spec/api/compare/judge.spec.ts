/** Tests how two trees of declarations are compared: each rule with a change that breaks a consumer, and with one that does not. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareTrees, type Verdict } from './judge.ts';
import { normalise } from './normalise.ts';

type Change = Verdict['change'];

/** Name, what happens, the older and the newer declarations, and the verdict. */
const CASES: readonly [string, string, string, string, Change][] = [
  ['gone', 'a function is removed', 'function gone(): void;', '', 'breaking'],
  ['come', 'a function is added', '', 'function come(): void;', 'added'],
  ['equal', 'nothing changes', 'function equal(a: 1): 2;', 'function equal(a: 1): 2;', 'same'],
  [
    'renamed',
    'only the name of a parameter changes',
    'function renamed(a: string): void;',
    'function renamed(b: string): void;',
    'same',
  ],
  [
    'more',
    'a parameter is added that may be left out',
    'function more(a: string): void;',
    'function more(a: string, b?: number): void;',
    'compatible',
  ],
  [
    'required',
    'a parameter is added that is required',
    'function required(a: string): void;',
    'function required(a: string, b: number): void;',
    'breaking',
  ],
  [
    'widerInput',
    'a parameter accepts more',
    'function widerInput(a: string): void;',
    'function widerInput(a: string | number): void;',
    'compatible',
  ],
  [
    'narrowerInput',
    'a parameter accepts less',
    'function narrowerInput(a: string | number): void;',
    'function narrowerInput(a: string): void;',
    'breaking',
  ],
  [
    'narrowerOutput',
    'a result has fewer possible values',
    'function narrowerOutput(): string | undefined;',
    'function narrowerOutput(): string;',
    'compatible',
  ],
  [
    'widerOutput',
    'a result has more possible values',
    'function widerOutput(): string;',
    'function widerOutput(): string | undefined;',
    'breaking',
  ],
  [
    'overload',
    'an overload is added',
    'function overload(a: 1): 1;',
    'function overload(a: 1): 1;\nexport declare function overload(a: 2): 2;',
    'compatible',
  ],
  [
    'lessOverload',
    'an overload is removed',
    'function lessOverload(a: 1): 1;\nexport declare function lessOverload(a: 2): 2;',
    'function lessOverload(a: 1): 1;',
    'breaking',
  ],
  [
    'constraint',
    'a type parameter accepts less',
    'function constraint<T>(a: T): T;',
    'function constraint<T extends string>(a: T): T;',
    'breaking',
  ],
  [
    'Bound',
    'a type parameter of an interface accepts less',
    'interface Bound<T> {\n    readonly it: 1;\n}',
    'interface Bound<T extends string> {\n    readonly it: 1;\n}',
    'breaking',
  ],
  [
    'Defaulted',
    'a type parameter with a default is added',
    'interface Defaulted<T> {\n    readonly it: T;\n}',
    'interface Defaulted<T, U = 1> {\n    readonly it: T;\n}',
    'same',
  ],
  [
    'Methods',
    'a parameter of a method accepts less',
    'interface Methods {\n    call(a: string | number): void;\n}',
    'interface Methods {\n    call(a: string): void;\n}',
    'breaking',
  ],
  [
    'caller',
    'a value has a method whose parameter accepts more',
    'const caller: {\n    call(a: string): void;\n};',
    'const caller: {\n    call(a: string | number): void;\n};',
    'compatible',
  ],
  [
    'callee',
    'a value has a method whose parameter accepts less',
    'const callee: {\n    call(a: string | number): void;\n};',
    'const callee: {\n    call(a: string): void;\n};',
    'breaking',
  ],
  [
    'Held',
    'a class with private members receives a member that may be absent',
    'class Held {\n    #private;\n    get(): 1;\n}',
    'class Held {\n    #private;\n    get(): 1;\n    more?: 1;\n}',
    'compatible',
  ],
  [
    'Made',
    'a constructor accepts less',
    'class Made {\n    constructor(a: string | number);\n}',
    'class Made {\n    constructor(a: string);\n}',
    'breaking',
  ],
  [
    'MadeWider',
    'a constructor accepts more',
    'class MadeWider {\n    constructor(a: string);\n}',
    'class MadeWider {\n    constructor(a: string | number);\n}',
    'compatible',
  ],
  [
    'Marked',
    'a type is marked by a unique symbol, and nothing else changes',
    'interface Marked<T> {\n    readonly [mark]?: T;\n    a(): 1;\n}',
    'interface Marked<T> {\n    readonly [mark]?: T;\n    a: () => 1;\n}',
    'same',
  ],
  [
    'Remarked',
    'the type that a unique symbol marks changes',
    'interface Remarked {\n    readonly [mark]?: string;\n}',
    'interface Remarked {\n    readonly [mark]?: number;\n}',
    'breaking',
  ],
  [
    'Fewer',
    'a member that may be left out is removed',
    'interface Fewer {\n    readonly a?: 1;\n    readonly b?: 1;\n}',
    'interface Fewer {\n    readonly a?: 1;\n}',
    'breaking',
  ],
  [
    'fewer',
    'an unexported type loses a member that may be left out',
    'function fewer(a: Inner): void;\ninterface Inner {\n    readonly a?: 1;\n    readonly b?: 1;\n}',
    'function fewer(a: Inner): void;\ninterface Inner {\n    readonly a?: 1;\n}',
    'breaking',
  ],
  [
    'Option',
    'an input has one more option',
    'interface Option {\n    readonly a: 1;\n}\nexport declare function takes(a: Option): void;',
    'interface Option {\n    readonly a: 1;\n    readonly b?: 1;\n}\nexport declare function takes(a: Option): void;',
    'compatible',
  ],
  [
    'Accepted',
    'a type that only inputs have becomes wider',
    "type Accepted = 'a';\nexport declare function accepts(a: Accepted): void;",
    "type Accepted = 'a' | 'b';\nexport declare function accepts(a: Accepted): void;",
    'compatible',
  ],
  [
    'Returned',
    'a type that only outputs have becomes wider',
    "type Returned = 'a';\nexport declare function returns(): Returned;",
    "type Returned = 'a' | 'b';\nexport declare function returns(): Returned;",
    'breaking',
  ],
  [
    'Shown',
    'a type that only outputs have receives a required member',
    'interface Shown {\n    readonly a: 1;\n}\nexport declare function shows(): Shown;',
    'interface Shown {\n    readonly a: 1;\n    readonly b: 1;\n}\nexport declare function shows(): Shown;',
    'compatible',
  ],
  [
    'Needed',
    'a type that only inputs have receives a required member',
    'interface Needed {\n    readonly a: 1;\n}\nexport declare function needs(a: Needed): void;',
    'interface Needed {\n    readonly a: 1;\n    readonly b: 1;\n}\nexport declare function needs(a: Needed): void;',
    'breaking',
  ],
  [
    'Unused',
    'a type that no value has becomes wider',
    "type Unused = 'a';",
    "type Unused = 'a' | 'b';",
    'breaking',
  ],
];

const root = join(import.meta.dirname, '../../..');
mkdirSync(join(root, '.cache'), { recursive: true });
const folder = mkdtempSync(join(root, '.cache/api-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a tree whose entry re-exports one file per case. The older tree has the files in another folder. */
function writeTree(name: string, below: string, texts: readonly [string, string][]): string {
  const tree = join(folder, name);
  mkdirSync(join(tree, below), { recursive: true });
  for (const [file, text] of texts) {
    const exported = text.replace(/^(?=const|class|function)/, 'declare ');
    const symbol = text.includes('[mark]') ? 'declare const mark: unique symbol;\n' : '';
    const body = text === '' ? '' : `export ${exported}\n`;
    writeFileSync(join(tree, below, `${file}.d.ts`), `${symbol}${body}export {};\n`);
  }
  const stars = texts.map(([file]) => `export * from './${below}/${file}.ts';\n`);
  writeFileSync(join(tree, 'index.d.ts'), stars.join(''));
  return tree;
}

function compare(olds: readonly [string, string][], news: readonly [string, string][]): Verdict[] {
  return compareTrees({
    older: writeTree('given-older', 'a', olds),
    newer: writeTree('given-newer', 'b', news),
    entries: { core: 'index.d.ts' },
    scratch: join(folder, 'scratch'),
  });
}

describe('two trees of declarations', () => {
  let verdicts: readonly Verdict[];
  const file = (name: string, at: number) => `${at}-${name.toLowerCase()}`;
  beforeAll(() => {
    verdicts = compare(
      CASES.map(([name, , older], at) => [file(name, at), older]),
      CASES.map(([name, , , newer], at) => [file(name, at), newer]),
    );
  });

  it.each(CASES)('%s: %s', (name, _, _older, _newer, change) => {
    expect(verdicts.find((each) => each.name === name)).toMatchObject({ change });
  });

  it('say through which declaration an unchanged one breaks', () => {
    expect(verdicts.find(({ name }) => name === 'needs')).toMatchObject({
      change: 'breaking',
      why: expect.stringContaining("Property 'b' is missing"),
      through: ['Needed'],
    });
    expect(verdicts.find(({ name }) => name === 'fewer')).toMatchObject({ through: ['Inner'] });
    expect(verdicts.find(({ name }) => name === 'takes')).toMatchObject({ change: 'compatible' });
  });

  it('are refused if one of them does not compile, because an unknown type is assignable to everything', () => {
    const texts: [string, string][] = [['odd', "import('./missing.ts').Missing"]];
    const odd = texts.map(([name, type]): [string, string] => [name, `function odd(): ${type};`]);
    const plain: [string, string][] = [['odd', 'function odd(): 1;']];
    expect(() => compare(plain, odd)).toThrow(/do not compile, newer.b.odd.d.ts:1: TS2307/);
  });
});

describe('a declaration file', () => {
  it('has properties in place of methods, at every depth, and no members that only equal themselves', () => {
    const text = `/** A comment with a method(). */
export declare class Shelf<T> {
    #private;
    protected static of<T>(item: T, options?: {
        choose?(item: T): boolean;
    }): Shelf<T>;
    get size(): number;
    constructor(size: number);
    put(item: T): void;
    put(item: T, at: '(;'): this;
}
`;
    expect(normalise(text).replace(/\s+/g, ' ').trim()).toBe(
      `export declare class Shelf<T> { static of: (<T>(item: T, options?: { choose?: ((item: T) => boolean); }) => Shelf<T>); get size(): number; constructor(size: number); put: ((item: T) => void) & ((item: T, at: '(;') => this); }`,
    );
  });
});
