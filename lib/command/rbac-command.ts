/// <reference types="node" />
/** `rx-informer rbac`, which prints the roles that a program needs. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { type AccessRole, type DeclaredAccess, rolesFor } from '../controller/access.ts';
import { loadYaml, withFile } from './definition-file.ts';
import { type Command, type CommandStreams, UsageError } from './subcommand.ts';

const USAGE = `Usage: rx-informer rbac <module> [options]

Prints the least ClusterRole and Roles that a program needs, as YAML. The module exports the access that the program
declares, in a file of its own, because it is imported:

  export const access: DeclaredAccess = {
    name: 'my-controller',
    informers: [pods],
    clients: [{ resource: pods, calls: ['edit', 'patchStatus'] }],
    leaderElection: { namespace: 'my-controller', name: 'my-controller' },
    events: true,
  };

  --export <name>  the name of the export (default: access)
  --out <path>     the file to write (default: the standard output); it stays as it is if the access is wrong
  --help           show this help
`;

/** The connections that are open or being opened. */
function connections(): number {
  const kinds = process.getActiveResourcesInfo();
  return kinds.filter((kind) => /^(TCP|TLS|GetAddrInfo)/.test(kind)).length;
}

/** Imports a module. Its errors name the module. */
async function imported(module: string): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(module);
  if (!existsSync(path)) {
    throw new TypeError(
      `rbac: there is no file ${module}; name the module that exports the access`,
    );
  }
  const before = connections();
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const isOld = code === 'ERR_UNKNOWN_FILE_EXTENSION';
    const advice = isOld ? `; Node ${process.version} reads no TypeScript, use 22.19 or newer` : '';
    throw new TypeError(`rbac: ${module} cannot be imported: ${message}${advice}`);
  } finally {
    if (connections() > before) {
      // biome-ignore lint/correctness/noUnsafeFinally: the connection explains the failure of an import, too
      throw new TypeError(
        `rbac: importing ${module} opened a connection, so it starts the program; export the access from a file of its own`,
      );
    }
  }
}

/** The roles that a module declares. */
async function declaredRoles(module: string, name: string): Promise<AccessRole[]> {
  const exports = await imported(module);
  if (!Object.hasOwn(exports, name)) {
    const names = Object.keys(exports).sort().join(', ');
    throw new TypeError(
      `rbac: ${module} has no export ${name}; ${names === '' ? 'it exports nothing' : `it exports ${names}`}. Name another one with --export`,
    );
  }
  try {
    return rolesFor(exports[name] as DeclaredAccess);
  } catch (error) {
    throw new TypeError(`rbac: the export ${name} of ${module}: ${(error as Error).message}`);
  }
}

/** Roles as YAML documents. */
export async function rolesText(roles: readonly AccessRole[]): Promise<string> {
  const { stringify } = await loadYaml('rbac');
  return roles.map((role) => `---\n${stringify(role)}`).join('');
}

async function run(args: readonly string[], streams: CommandStreams): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { export: { type: 'string', default: 'access' }, out: { type: 'string' } },
    allowPositionals: true,
  });
  const [module, ...more] = positionals;
  if (module === undefined || more.length > 0) {
    throw new UsageError(
      'rbac needs one module, for example rbac src/access.ts; see rx-informer rbac --help',
    );
  }
  const text = await rolesText(await declaredRoles(module, values.export));
  if (values.out === undefined) streams.out(text);
  else
    await withFile(
      { command: 'rbac', option: 'out', file: values.out },
      writeFile(values.out, text),
    );
}

/** `rx-informer rbac`. */
export const rbacCommand: Command = { usage: USAGE, packages: () => ['yaml'], run };
