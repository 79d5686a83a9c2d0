/// <reference types="node" />
/** The command `rx-informer`: chooses the subcommand, and turns its errors into messages and exit codes. */

import { MissingPackage } from '../node/optional-package.ts';
import { missingPackages } from './missing-packages.ts';
import { type Command, type CommandStreams, UsageError } from './subcommand.ts';

const USAGE = `Usage: rx-informer <command> [options]

  crd-types  writes TypeScript for custom resources
  diagnose   says why informers do not work with a cluster
  explain    prints the documentation of a code or an error
  init       makes a project to begin with
  publish    publishes kinds of a cluster to NATS JetStream
  rbac       prints the roles that a program needs

rx-informer <command> --help shows the options of a command.
`;

/** Loads only the command that is run, because the others need packages that may not be installed. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  'crd-types': async () => (await import('./crd-types-command.ts')).crdTypesCommand,
  diagnose: async () => (await import('./diagnose-command.ts')).diagnoseCommand,
  explain: async () => (await import('./explain-command.ts')).explainCommand,
  init: async () => (await import('./init-command.ts')).initCommand,
  publish: async () => (await import('./publish-command.ts')).publishCommand,
  rbac: async () => (await import('./rbac-command.ts')).rbacCommand,
};

/** An error of `parseArgs`, which says what is wrong with an option, but not which options there are. */
function isParseError(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return String(code).startsWith('ERR_PARSE_ARGS');
}

/** A package that is missing is reported with all packages that the command needs, so that one correction is enough. */
async function withPackages(
  command: Command,
  args: readonly string[],
  run: Promise<void>,
): Promise<void> {
  try {
    await run;
  } catch (error) {
    if (!(error instanceof MissingPackage)) throw error;
    throw new TypeError(await missingPackages(error, command.packages(args), args));
  }
}

/** Runs a command and returns its exit code: 0, 1 after a failure, 2 if the arguments are wrong. */
export async function runCommand(
  args: readonly string[],
  streams: CommandStreams,
): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h') {
    streams[name === undefined ? 'error' : 'out'](USAGE);
    return name === undefined ? 2 : 0;
  }
  try {
    const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (load === undefined) {
      throw new UsageError(`unknown command ${JSON.stringify(name)}; see --help`);
    }
    const command = await load();
    if (rest.includes('--help') || rest.includes('-h')) streams.out(command.usage);
    else await withPackages(command, args, command.run(rest, streams));
    return 0;
  } catch (error) {
    const isParse = isParseError(error);
    const next = isParse ? `; see rx-informer ${name} --help` : '';
    streams.error(`rx-informer: ${(error as Error).message}${next}\n`);
    return isParse || error instanceof UsageError ? 2 : 1;
  }
}
