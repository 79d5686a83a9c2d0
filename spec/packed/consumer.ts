/** Creates the project of a consumer: the packed library and other packages, installed in a folder of its own. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
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
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  // The variables that vitest sets are removed, because a consumer does not have them.
  for (const name of ['NODE_ENV', 'NODE_OPTIONS', 'VITEST', 'FORCE_COLOR']) delete env[name];
  Object.assign(env, variables);
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

/** Installs the packed library and other packages in an empty folder, and nothing else: no optional peer. */
export async function installIn(
  folder: string,
  tarball: string,
  beside: Readonly<Record<string, string>>,
): Promise<void> {
  const dependencies = { 'rx-informer': `file:${tarball}`, ...beside };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--prefer-offline'];
  await mustRun('npm', ['install', ...quiet], folder);
}

/** The variable with the folder of the project that all files of a run share. */
const SHARED = 'PACKED_CONSUMER';

/** The project of a consumer, in which the library is installed. A file of tests writes only files and folders with names of its own. */
export async function installConsumer(): Promise<Consumer> {
  const shared = process.env[SHARED];
  if (shared === undefined) return await installNow();
  const packed = JSON.parse(readFileSync(join(shared, 'packed.json'), 'utf8')) as Packed;
  return { ...consumerIn(shared, packed), [Symbol.asyncDispose]: async () => undefined };
}

let installed: Consumer | undefined;

/** Vitest calls it before all files. */
export async function setup(): Promise<void> {
  installed = await installNow();
  process.env[SHARED] = installed.folder;
}

/** Vitest calls it after all files. */
export async function teardown(): Promise<void> {
  await installed?.[Symbol.asyncDispose]();
}

async function installNow(): Promise<Consumer> {
  const folder = mkdtempSync(join(tmpdir(), 'rx-informer-packed-'));
  const packed = await packInto(folder);
  writeFileSync(join(folder, 'packed.json'), JSON.stringify(packed));
  // All peers of the library except rxjs are optional. They are left out, because a project without them is the
  // harder case.
  await installIn(folder, join(folder, packed.filename), BESIDE);
  return consumerIn(folder, packed);
}

function consumerIn(folder: string, { filename, size, unpackedSize }: Packed): Consumer {
  return {
    folder,
    tarball: join(folder, filename),
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

/** Creates a project with the packed library and these packages of the repository. Returns its folder. */
export function projectWith(consumer: Consumer, name: string, packages: readonly string[]): string {
  const folder = join(consumer.folder, name);
  const modules = join(folder, 'node_modules');
  mkdirSync(modules, { recursive: true });
  cpSync(join(consumer.folder, 'node_modules/rx-informer'), join(modules, 'rx-informer'), {
    recursive: true,
  });
  for (const each of packages) {
    mkdirSync(join(modules, each, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', each), join(modules, each));
  }
  return folder;
}
