/** Creates the project of a consumer: the packed library and other packages, installed in a folder of its own. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Whether Parcel is tested, too. It takes as long as all other bundlers. */
export const everyBundler: boolean = process.env['PACKED_BUNDLERS'] === 'all';

/**
 * The packages installed beside the library. The bundlers and the TypeScript that this repository has itself are not
 * listed.
 */
const BESIDE = {
  '@arethetypeswrong/cli': '0.18.5',
  '@types/node': '^24',
  node22: 'npm:node@22',
  node26: 'npm:node@26',
  ...(everyBundler && { parcel: '2.16.4' }),
  rxjs: '^7.8.2',
  'typescript-5.9': 'npm:typescript@5.9',
  webpack: '5.112.2',
};

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program until it ends, with any exit code. */
export function run(command: string, args: readonly string[], cwd: string): Promise<Run> {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  // The variables that vitest sets are removed, because a consumer does not have them.
  for (const name of ['NODE_ENV', 'NODE_OPTIONS', 'VITEST', 'FORCE_COLOR']) delete env[name];
  return new Promise((resolve) => {
    execFile(command, [...args], { cwd, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}

/** Runs a program that must succeed. */
export async function mustRun(command: string, args: readonly string[], cwd: string): Promise<Run> {
  const done = await run(command, args, cwd);
  if (done.code === 0) return done;
  throw new Error(`${command} ${args.join(' ')}: ${done.stdout}${done.stderr}`);
}

/** What npm says of a package: sizes are in bytes. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
}

export interface Consumer extends AsyncDisposable {
  readonly folder: string;
  /** The path of the packed library. */
  readonly tarball: string;
  /** The sizes of the library in bytes: of what is downloaded, and of its files. */
  readonly packedSize: number;
  readonly unpackedSize: number;
  /** The path of Node by its major version. */
  readonly nodes: Readonly<Record<'22' | '24' | '26', string>>;
}

/** Packs the built library into a folder. */
export async function packInto(folder: string): Promise<Packed> {
  const packed = await mustRun('npm', ['pack', '--json', '--pack-destination', folder], root);
  // npm 11 prints a list, npm 12 an object by name.
  const [one] = Object.values<Packed>(JSON.parse(packed.stdout));
  if (one === undefined) throw new Error(`npm packed nothing: ${packed.stdout}`);
  return one;
}

/** Packs the built library and installs it. */
export async function installConsumer(): Promise<Consumer> {
  const folder = mkdtempSync(join(tmpdir(), 'rx-informer-packed-'));
  const { filename, size, unpackedSize } = await packInto(folder);
  const tarball = join(folder, filename);
  const dependencies = { 'rx-informer': `file:${filename}`, ...BESIDE };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
  // All peers of the library except rxjs are optional. They are left out, because a project without them is the
  // harder case.
  await mustRun('npm', ['install', ...quiet], folder);
  return {
    folder,
    tarball,
    packedSize: size,
    unpackedSize,
    nodes: {
      '22': join(folder, 'node_modules/node22/bin/node'),
      '24': process.execPath,
      '26': join(folder, 'node_modules/node26/bin/node'),
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
