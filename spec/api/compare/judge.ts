/**
 * Says for each exported name how two trees of declarations differ for a consumer: it is the same, compatible, added or
 * breaking. The compiler decides: each question is one line, appended to the declaration in the older tree, which compiles
 * only if one type is assignable to the other.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Declaration, idOf, Surfaces } from '../surface.ts';
import { endOfBrackets, normalise } from './normalise.ts';

export interface Verdict {
  readonly entry: string;
  readonly name: string;
  readonly change: 'same' | 'added' | 'compatible' | 'breaking';
  /** What the compiler said. Empty for `same`. */
  readonly why: string;
  /** The changed declarations through which this name breaks, besides itself. */
  readonly through: readonly string[];
}

export interface Comparison {
  /** Folders of declarations. */
  readonly older: string;
  readonly newer: string;
  /** The declaration file of each entry, by the name that an import has. */
  readonly entries: Readonly<Record<string, string>>;
  /** A folder for copies, below the `node_modules` that the declarations import. */
  readonly scratch: string;
}

const compiler = fileURLToPath(
  new URL('../../../node_modules/typescript/bin/tsc', import.meta.url),
);
const FLAGS = [
  ...[
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--pretty',
    'false',
  ],
  ...['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023', '--types', 'node'],
  ...['--skipLibCheck', 'false', '--noErrorTruncation'],
];
/** A class or interface that extends another one incorrectly. Strict methods cause it, and it hides no type. */
const HERITAGE = ['TS2415', 'TS2416', 'TS2417', 'TS2420', 'TS2430'];

/** One exported name of both trees. */
interface Pair {
  readonly entry: string;
  readonly name: string;
  readonly old: Declaration;
  readonly closure: readonly Declaration[];
  /** The declarations of the closure that differ, the exported one included. */
  readonly changed: readonly Declaration[];
}

/** The questions of one comparison, by the file and the line that asks. */
class Probes {
  readonly #lines = new Map<string, string[]>();
  readonly #answers = new Map<string, string>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Asks whether `source` is assignable to `target` beside a declaration, for any arguments of its type parameters. */
  ask(question: string, { file, text, name }: Declaration, source: string, target: string): void {
    const lines = this.#lines.get(file) ?? [];
    const { list } = typeParametersOf(text, name);
    const parameters = [...list, `Probed extends ${target} = ${source}`].join(', ');
    lines.push(`export type Probe${lines.length}<${parameters}> = Probed; // ${question}`);
    this.#lines.set(file, lines);
  }

  /** Runs the compiler once for all questions. */
  run(scratch: string): void {
    const asked = new Map<string, string>();
    const files: string[] = [];
    for (const [file, lines] of this.#lines) {
      const path = join(this.#folder, file);
      const text = readFileSync(path, 'utf8');
      const first = text.split('\n').length + 1;
      writeFileSync(path, `${text}\n${lines.join('\n')}\n`);
      files.push(path);
      lines.forEach((line, at) => {
        asked.set(
          `${relative(scratch, path)}:${first + at}`,
          line.slice(line.lastIndexOf('// ') + 3),
        );
      });
    }
    if (files.length === 0) return;
    for (const [place, code, message] of diagnosticsOf(scratch, files)) {
      const question = asked.get(place);
      if (question !== undefined) this.#answers.set(question, message);
      else if (!place.startsWith('..') && !HERITAGE.includes(code))
        throw new Error(`The declarations do not compile, ${place}: ${code} ${message}`);
    }
  }

  /** What the compiler said against a question, or `undefined` if it agreed. */
  refusal(question: string): string | undefined {
    return this.#answers.get(question);
  }
}

/** Place, code and most detailed message of each error. */
function diagnosticsOf(scratch: string, files: readonly string[]): [string, string, string][] {
  let output = '';
  try {
    execFileSync(process.execPath, [compiler, ...FLAGS, ...files], {
      cwd: scratch,
      maxBuffer: 1e9,
    });
  } catch (error) {
    output = String((error as { stdout?: unknown }).stdout ?? '');
    if (!output.includes('error TS')) throw error;
  }
  return output
    .split(/^(?=\S+\(\d+,\d+\): error )/m)
    .flatMap((text): [string, string, string][] => {
      const [, path, line, code = '', message = ''] =
        /^(\S+)\((\d+),\d+\): error (TS\d+): ([\s\S]*)$/.exec(text) ?? [];
      return path === undefined ? [] : [[`${path}:${line}`, code, lastLineOf(message)]];
    });
}

function lastLineOf(message: string): string {
  const last = message.trim().split('\n').at(-1)?.trim() ?? '';
  return last.replace(/import\("[^"]*"\)\./g, '');
}

/** The type parameters of a declaration, with their constraints, and its name with them as arguments. */
function typeParametersOf(text: string, name: string): { list: string[]; args: string } {
  const head = /^(?:abstract )?(?:interface|type|class) [\w$]+(?=<)/m.exec(text);
  if (head === null) return { list: [], args: '' };
  const start = head.index + head[0].length;
  const inner = text.slice(start + 1, endOfBrackets(text, start) - 1).replace(/\s*\n\s*/g, ' ');
  const list: string[] = [];
  for (let at = 0, begin = 0; at <= inner.length; at++) {
    if (at === inner.length || inner[at] === ',') {
      list.push(inner.slice(begin, at).trim());
      begin = at + 1;
    } else if ('<({['.includes(inner[at] ?? '')) at = endOfBrackets(inner, at) - 1;
  }
  const names = list.map((each) => /^(?:(?:in|out) )*([\w$]+)/.exec(each)?.[1] ?? name);
  return { list, args: `<${names.join(', ')}>` };
}

const isType = ({ text }: Declaration) => /^(?:abstract )?(?:interface|type|class) /m.test(text);
const isValue = ({ text }: Declaration) => /^(?:abstract )?(?:const|function|class) /m.test(text);
const isClass = ({ text }: Declaration) => /^class /m.test(text);
const contentOf = ({ name, text }: Declaration) => `${name} ${text}`;

function copy(from: string, to: string): Surfaces {
  for (const path of globSync('**/*.d.ts', { cwd: from })) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    writeFileSync(join(to, path), normalise(readFileSync(join(from, path), 'utf8')));
  }
  return new Surfaces((path) => readFileSync(join(to, path), 'utf8'));
}

/** What an entry exports. A tree without the entry exports nothing there. */
function exportsOf(tree: Surfaces, folder: string, path: string): Map<string, Declaration> {
  return existsSync(join(folder, path)) ? tree.exportsOf(path) : new Map();
}

/** Asks whether each side is assignable to the other, whether they are identical, and whether no member is lost. */
function askAll(probes: Probes, id: string, old: Declaration, module: string, name: string): void {
  const { args } = typeParametersOf(old.text, old.name);
  const ask = (kind: string, source: string, target: string) =>
    probes.ask(`${id} ${kind}`, old, source, target);
  const askBoth = (kind: string, [before, after]: readonly [string, string]) => {
    ask(`${kind} forth`, before, after);
    ask(`${kind} back`, after, before);
    ask(`${kind} same`, identity(before), identity(after));
  };
  if (isType(old)) {
    const [before, after] = [`${old.name}${args}`, `import('${module}').${name}${args}`] as const;
    askBoth('type', [before, after]);
    // A lost optional member changes no assignability.
    ask('members', `keyof ${before}`, `keyof ${after}`);
  }
  if (isValue(old)) {
    const [before, after] = [`typeof ${old.name}`, `typeof import('${module}').${name}`] as const;
    askBoth('value', [before, after]);
    // The compiler compares the parameters of constructors in both directions.
    if (isClass(old))
      ask('constructor', `ConstructorParameters<${before}>`, `ConstructorParameters<${after}>`);
  }
}

/** A type that is assignable to that of another type only if both are identical. */
function identity(type: string): string {
  return `(<G>() => G extends ${type} ? 1 : 2)`;
}

/** Compares two trees. Throws if one of them does not compile. */
export function compareTrees({ older, newer, entries, scratch }: Comparison): Verdict[] {
  rmSync(scratch, { recursive: true, force: true });
  const folder = join(scratch, 'older');
  const [before, after] = [copy(older, folder), copy(newer, join(scratch, 'newer'))];
  const probes = new Probes(folder);
  const verdicts: Verdict[] = [];
  const pairs: Pair[] = [];
  const inner = new Map<string, string>();
  const plain = (entry: string, name: string, change: Verdict['change'], why: string) =>
    verdicts.push({ entry, name, change, why, through: [] });
  const moduleFrom = (file: string, target: string) =>
    relative(dirname(join(folder, file)), join(scratch, 'newer', target)).replace(
      /\.d\.ts$/,
      '.ts',
    );

  for (const [entry, path] of Object.entries(entries)) {
    const [olds, news] = [exportsOf(before, older, path), exportsOf(after, newer, path)];
    for (const name of news.keys()) if (!olds.has(name)) plain(entry, name, 'added', 'new');
    for (const [name, old] of olds) {
      const now = news.get(name);
      if (now === undefined) {
        plain(entry, name, 'breaking', 'removed');
        continue;
      }
      const closure = before.closureOf(old);
      const newClosure = after.closureOf(now);
      const contents = new Set(newClosure.map(contentOf));
      const changed = closure.filter((each) => !contents.has(contentOf(each)));
      pairs.push({ entry, name, old, closure, changed });
      if (changed.length === 0) continue;
      if (!old.file.endsWith('.d.ts')) continue;
      askAll(probes, `${entry}:${name}`, old, moduleFrom(old.file, path), name);
      for (const part of changed) {
        const found = newClosure.find((each) => each.name === part.name);
        const id = idOf(part);
        if (inner.has(id) || part === old || found === undefined || !isType(part)) continue;
        inner.set(id, part.name);
        const { args } = typeParametersOf(part.text, part.name);
        const target = `import('${moduleFrom(part.file, found.file)}').${found.name}${args}`;
        probes.ask(`inner ${id}`, part, `keyof ${part.name}${args}`, `keyof ${target}`);
      }
    }
  }
  probes.run(scratch);
  return [...verdicts, ...judge(pairs, probes)].sort((a, b) =>
    `${a.entry} ${a.name}` < `${b.entry} ${b.name}` ? -1 : 1,
  );
}

/** What is wrong with the value of a pair. */
function brokenValue({ entry, name }: Pair, probes: Probes): string | undefined {
  const id = `${entry}:${name}`;
  return probes.refusal(`${id} value back`) ?? probes.refusal(`${id} constructor`);
}

function judge(pairs: readonly Pair[], probes: Probes): Verdict[] {
  const broken = (pair: Pair) =>
    brokenValue(pair, probes) ?? brokenMember(pair, probes) ?? brokenType(pair, pairs, probes);
  const whys = new Map(pairs.map((pair) => [pair, broken(pair)]));
  const exported = new Map(pairs.map((pair) => [idOf(pair.old), pair]));
  return pairs.map((pair): Verdict => {
    const { entry, name, changed, old } = pair;
    const why = whys.get(pair);
    if (why === undefined) {
      const change = isSame(pair, probes) ? 'same' : 'compatible';
      return { entry, name, change, why: change === 'same' ? '' : 'assignable', through: [] };
    }
    const through = changed.filter((each) => {
      const other = exported.get(idOf(each));
      return each !== old && (other === undefined || whys.get(other) !== undefined);
    });
    return { entry, name, change: 'breaking', why, through: through.map((each) => each.name) };
  });
}

/** Whether both versions are identical. */
function isSame({ entry, name, changed, old }: Pair, probes: Probes): boolean {
  if (changed.length === 0) return true;
  const kinds = [...(isType(old) ? ['type'] : []), ...(isValue(old) ? ['value'] : [])];
  return kinds.every((kind) => probes.refusal(`${entry}:${name} ${kind} same`) === undefined);
}

/** The member that a type, or a type that it mentions, has lost. */
function brokenMember({ entry, name, changed, old }: Pair, probes: Probes): string | undefined {
  if (changed.length > 0 && !old.file.endsWith('.d.ts')) return 'it is another type of a package';
  const own = probes.refusal(`${entry}:${name} members`);
  const refusals = [own, ...changed.map((each) => probes.refusal(`inner ${idOf(each)}`))];
  return refusals.find((refusal) => refusal !== undefined);
}

/**
 * What is wrong with a type. A type that is assignable in one direction only is compatible if every exported value that
 * mentions it is: then inputs have become wider, or outputs narrower.
 */
function brokenType(pair: Pair, pairs: readonly Pair[], probes: Probes): string | undefined {
  const id = `${pair.entry}:${pair.name}`;
  const forth = probes.refusal(`${id} type forth`);
  const back = probes.refusal(`${id} type back`);
  if (forth === undefined || back === undefined) {
    if (forth === back) return undefined;
    const users = pairs.filter(
      ({ old, closure }) => isValue(old) && closure.some((each) => idOf(each) === idOf(pair.old)),
    );
    if (users.length === 0) return `no exported value uses it, and ${forth ?? back}`;
    const user = users.find((each) => brokenValue(each, probes) !== undefined);
    return user === undefined ? undefined : `${user.name}: ${brokenValue(user, probes)}`;
  }
  return back;
}
