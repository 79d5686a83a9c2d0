/** The runtimes in which the packed library runs: how each starts a program, and where it is installed. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installIn, packInto, type Run, root, run } from '../packed/consumer.ts';
import type { Settings } from './programs/settings.ts';

/** The permissions that docs/guide/getting-started.md names for Deno. */
export const PERMISSIONS: readonly string[] = ['--allow-env', '--allow-net', '--allow-read'];

interface Runtime {
  readonly command: string;
  readonly args: readonly string[];
}

const installed = join(root, '.suites/runtimes/node_modules/.bin');

/** The runtimes by name. Node is the model with which the others are compared. */
export const RUNTIMES = {
  Node: { command: process.execPath, args: [] },
  Bun: { command: join(installed, 'bun'), args: [] },
  Deno: { command: join(installed, 'deno'), args: ['run', '--no-prompt', ...PERMISSIONS] },
} as const satisfies Record<string, Runtime>;

export type RuntimeName = keyof typeof RUNTIMES;
export const NAMES: readonly RuntimeName[] = ['Node', 'Bun', 'Deno'];

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** The packages beside the library, in the versions of this repository. */
const BESIDE = [
  ...['rxjs', 'undici', '@kubernetes/client-node', 'react', 'react-dom', 'vitest', 'fast-check'],
  ...['@nats-io/nats-core', '@nats-io/jetstream'],
];

/** A project of a consumer. */
export interface Project extends Disposable {
  readonly folder: string;
  /** A folder in which only rx-informer and rxjs are installed. */
  readonly bare: string;
  /** Runs a program of `programs/`, or of a path, until it ends. Deno may have more permissions. */
  start(
    runtime: RuntimeName,
    program: string,
    options?: {
      readonly settings?: Partial<Settings>;
      readonly allow?: readonly string[];
      readonly isBare?: boolean;
      /** Arguments in front of the program, such as a module to load before. */
      readonly before?: readonly string[];
    },
  ): Promise<Run>;
}

/** Packs the built library, and installs it with other packages, and alone. */
export async function createProject(): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), 'rx-informer-runtimes-'));
  const bare = mkdtempSync(join(tmpdir(), 'rx-informer-runtimes-'));
  const tarball = join(folder, (await packInto(folder)).filename);
  const versions = BESIDE.map((name) => [name, manifest.devDependencies[name] ?? '*']);
  await installIn(folder, tarball, Object.fromEntries(versions));
  await installIn(bare, tarball, { rxjs: manifest.devDependencies['rxjs'] ?? '*' });
  for (const to of [folder, bare]) {
    mkdirSync(join(to, 'programs'));
    writeFileSync(join(to, 'programs/package.json'), JSON.stringify({ type: 'module' }));
    cpSync(join(import.meta.dirname, 'programs'), join(to, 'programs'), { recursive: true });
  }
  return {
    folder,
    bare,
    start(runtime, program, { settings, allow = [], isBare = false, before = [] } = {}) {
      const { command, args } = RUNTIMES[runtime];
      const more = runtime === 'Deno' ? allow : [];
      const path = program.includes('/') ? program : join('programs', `${program}.ts`);
      const all = [
        ...args,
        ...more,
        ...before,
        path,
        ...(settings === undefined ? [] : [JSON.stringify(settings)]),
      ];
      return run(command, all, isBare ? bare : folder);
    },
    [Symbol.dispose]() {
      for (const each of [folder, bare]) rmSync(each, { recursive: true, force: true });
    },
  };
}
