/**
 * Derives the public surface of each entry from the declarations that `tsc` emits. `spec/api/<entry>.txt` shows every
 * change of it in review.
 *
 *   npm run api               # writes the files, and typesVersions of package.json
 *   npm run api -- --check    # compares them, and compiles the declarations without DOM (law T40)
 *   npm run api -- --compare v1.0.0 .    # says for each name whether a consumer breaks; also for two folders of declarations
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareTrees, type Verdict } from './compare/judge.ts';
import { Surfaces } from './surface.ts';
import { declarationsOf, ENTRIES, emitDeclarations, root, tsc } from './trees.ts';
import { withTypesVersions } from './types-versions.ts';

/**
 * Shortens the generated interfaces to their names, because lib/resources/generated shows them. Constants stay
 * complete.
 */
function withoutBodies(text: string): string {
  return text
    .replace(/^((?:export )?interface [^{]*)\{\n[\s\S]*?^\}$/gm, '$1{ … }')
    .replace(/\n\n/g, '\n');
}

/** The lines of one text that the other lacks. */
function missing(text: string, other: string): string[] {
  const lines = new Set(other.split('\n'));
  return text.split('\n').filter((line) => !lines.has(line));
}

const emitted = join(root, '.cache/api');

/** Writes the files of the surfaces, or compares them. */
function surfaces(check: boolean): void {
  emitDeclarations(root, emitted);
  const read = new Surfaces((path) => readFileSync(join(emitted, path), 'utf8'));
  const core = read.idsOf('index.d.ts');
  for (const [entry, file] of Object.entries(ENTRIES)) {
    const name = entry.replace(/^rx-informer\/?/, '').replace('/', '-') || 'core';
    const surface = name === 'core' ? read.surfaceOf(file) : read.surfaceOf(file, core);
    const text = name === 'resources' ? withoutBodies(surface) : surface;
    const path = `${root}spec/api/${name}.txt`;
    if (check) compareSurface(name, readFileSync(path, 'utf8'), text);
    else writeFileSync(path, text);
  }
}

function compareSurface(name: string, known: string, text: string): void {
  if (known === text) return;
  const gone = missing(known, text).map((line) => `- ${line}`);
  const come = missing(text, known).map((line) => `+ ${line}`);
  const lines = [...gone, ...come].join('\n') || '(only the order of lines differs)';
  console.error(
    `The public surface differs from spec/api/${name}.txt:\n${lines}\nIf the change is intended, run \`npm run api\`, and say in CHANGELOG.md what replaces a removed name.`,
  );
  process.exitCode = 1;
}

function compileWithoutDom(): void {
  const entries = Object.values(ENTRIES).map((file) => join(emitted, file));
  const modules = ['--module', 'nodenext', '--target', 'es2023'];
  const platform = ['--lib', 'es2023', '--types', 'node', '--skipLibCheck', 'false'];
  tsc('--ignoreConfig', '--noEmit', '--strict', ...modules, ...platform, ...entries);
}

function writeTypesVersions(): void {
  const manifest = join(root, 'package.json');
  writeFileSync(manifest, withTypesVersions(readFileSync(manifest, 'utf8')));
}

/** Prints each name that differs. Exits with 1 if one of them breaks consumers. */
function compare(older: string, newer: string): void {
  const verdicts = compareTrees({
    older: declarationsOf(older),
    newer: declarationsOf(newer),
    entries: ENTRIES,
    scratch: join(root, '.cache/api-compared/probes'),
  });
  const count = (change: Verdict['change']) =>
    verdicts.filter((each) => each.change === change).length;
  for (const { entry, name, change, why, through } of verdicts) {
    if (change === 'same') continue;
    const by = through.length === 0 ? '' : ` (through ${through.join(', ')})`;
    console.log(`${change} ${entry} ${name}${by}${change === 'breaking' ? `: ${why}` : ''}`);
  }
  const counts = (['breaking', 'added', 'compatible', 'same'] as const).map(
    (change) => `${count(change)} ${change}`,
  );
  console.log(`${counts.join(', ')}.`);
  if (count('breaking') > 0) process.exitCode = 1;
}

const [option, older, newer, ...rest] = process.argv.slice(2);
try {
  if (option === '--compare' && older !== undefined && newer !== undefined && rest.length === 0) {
    compare(older, newer);
  } else if (option === undefined || (option === '--check' && older === undefined)) {
    surfaces(option === '--check');
    if (option === '--check') compileWithoutDom();
    else writeTypesVersions();
  } else {
    console.error('Usage: npm run api -- [--check | --compare OLD NEW]');
    process.exitCode = 1;
  }
} catch (error) {
  // The compiler has printed its own errors.
  if (!(error instanceof Error && 'status' in error)) console.error(String(error));
  process.exitCode = 1;
}
