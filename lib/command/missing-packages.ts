/// <reference types="node" />
/** What to run if packages that a command needs are not installed. */
import { dirname, relative, sep } from 'node:path';
import type { MissingPackage } from '../node/optional-package.ts';
import { inPackage, testedRanges } from './project-files.ts';

/** Where the command runs, for tests. */
export interface Surroundings {
  /** The folder of the library. */
  readonly root: string;
  readonly cwd: string;
  /** The packages of `npx --package`, one a line, as npm passes them on. */
  readonly given: string | undefined;
}

function present(): Surroundings {
  return {
    root: dirname(inPackage('package.json')),
    cwd: process.cwd(),
    given: process.env['npm_config_package'],
  };
}

/** Whether packages that are installed in the working directory are beside the library, and not only in the cache of npx. */
function isBeside({ root, cwd }: Surroundings): boolean {
  const at = root.indexOf(`${sep}node_modules${sep}`);
  const way = relative(at < 0 ? root : root.slice(0, at), cwd);
  return at < 0 || !way.startsWith('..');
}

/** An argument as a shell takes it. */
function quoted(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : JSON.stringify(arg);
}

/**
 * Returns the message of a command to which a package is missing. `npm install` cannot add a package to the cache from which npx
 * runs the library, so there it ends with a command line that gives npx all packages of the command.
 */
export async function missingPackages(
  missing: Pick<MissingPackage, 'what' | 'packageName' | 'message'>,
  packages: readonly string[],
  args: readonly string[],
  surroundings: Surroundings = present(),
): Promise<string> {
  const { what, packageName, message } = missing;
  if (isBeside(surroundings)) return message;
  const all = [...new Set([packageName, ...packages])];
  const ranges = await testedRanges();
  const specs = all.map((name) => {
    const [major] = /\d+/.exec(ranges[name] ?? '') ?? [];
    return major === undefined ? name : `${name}@${major}`;
  });
  const given = (surroundings.given ?? '').split('\n').filter((each) => each !== '');
  const isOther = (spec: string) => !all.some((it) => spec === it || spec.startsWith(`${it}@`));
  const own = given.filter(isOther);
  const options = [...(own.length > 0 ? own : ['rx-informer']), ...specs].map(
    (each) => `--package=${quoted(each)}`,
  );
  return `${what} needs the package '${packageName}'. Run: npx ${options.join(' ')} rx-informer ${args.map(quoted).join(' ')}`;
}
