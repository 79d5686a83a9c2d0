/**
 * Derives the public surface of each entry from the declarations that `tsc` emits. `spec/api/<entry>.txt` shows every
 * change of it in review.
 *
 *   npm run api               # writes the files
 *   npm run api -- --check    # compares them, and compiles the declarations without DOM (law T40)
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Surfaces } from './surface.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const emitted = `${root}.cache/api`;

function tsc(...args: string[]): void {
  const bin = `${root}node_modules/typescript/bin/tsc`;
  try {
    execFileSync(process.execPath, [bin, ...args], { cwd: root, stdio: 'inherit' });
  } catch {
    // The compiler has printed the reason.
    process.exit(1);
  }
}

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

rmSync(emitted, { recursive: true, force: true });
const flags = ['--emitDeclarationOnly', '--removeComments'];
tsc('-p', 'lib', '--outDir', emitted, ...flags);

const surfaces = new Surfaces((path) => readFileSync(`${emitted}/${path}`, 'utf8'));
const core = surfaces.idsOf('index.d.ts');
const texts: Readonly<Record<string, string>> = {
  core: surfaces.surfaceOf('index.d.ts'),
  resources: withoutBodies(surfaces.surfaceOf('resources/index.d.ts', core)),
  testing: surfaces.surfaceOf('testing/index.d.ts', core),
  node: surfaces.surfaceOf('node/index.d.ts', core),
  react: surfaces.surfaceOf('react/index.d.ts', core),
  'react-worker': surfaces.surfaceOf('react/worker.d.ts', core),
  worker: surfaces.surfaceOf('worker/index.d.ts', core),
  diagnose: surfaces.surfaceOf('diagnose/index.d.ts', core),
  nats: surfaces.surfaceOf('nats/index.d.ts', core),
};
const check = process.argv.includes('--check');
for (const [name, text] of Object.entries(texts)) {
  const path = `${root}spec/api/${name}.txt`;
  if (!check) writeFileSync(path, text);
  else {
    const known = readFileSync(path, 'utf8');
    if (known === text) continue;
    const gone = missing(known, text).map((line) => `- ${line}`);
    const come = missing(text, known).map((line) => `+ ${line}`);
    const lines = [...gone, ...come].join('\n') || '(only the order of lines differs)';
    console.error(
      `The public surface differs from spec/api/${name}.txt:\n${lines}\nIf the change is intended, run \`npm run api\`, and say in CHANGELOG.md what replaces a removed name.`,
    );
    process.exitCode = 1;
  }
}
if (check) {
  const entries = [
    ...['index', 'resources/index', 'testing/index', 'node/index', 'react/index', 'react/worker'],
    ...['nats/index', 'worker/index', 'diagnose/index'],
  ].map((name) => `${emitted}/${name}.d.ts`);
  const modules = ['--module', 'nodenext', '--target', 'es2023'];
  const platform = ['--lib', 'es2023', '--types', 'node', '--skipLibCheck', 'false'];
  tsc('--ignoreConfig', '--noEmit', '--strict', ...modules, ...platform, ...entries);
}
