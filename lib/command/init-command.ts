/// <reference types="node" />
/** `rx-informer init`, which makes a project that compiles, passes its tests and runs. */
import { parseArgs } from 'node:util';
import { controllerFiles } from './init-controller.ts';
import { checkEmpty, type ProjectFiles, templateFiles, writeProject } from './project-files.ts';
import { type Command, type CommandStreams, UsageError } from './subcommand.ts';

const USAGE = `Usage: rx-informer init controller <name> --crd <path>
       rx-informer init dashboard <name>

Makes a TypeScript project in a new or empty folder of this name, a DNS label such as widget-controller.

  controller  a controller for a custom resource
  dashboard   a page with a live table of Pods: React and Vite

  --crd <path>  for a controller: a file with the CustomResourceDefinition, YAML or JSON
  --help        show this help
`;

/** What the user has asked for. */
export interface InitRequest {
  readonly name: string;
  readonly crd: string | undefined;
}

/** Makes the files of each kind of project. */
const PROJECTS: Readonly<Record<string, (request: InitRequest) => Promise<ProjectFiles>>> = {
  controller: ({ name, crd }) => controllerFiles(name, crd),
  dashboard: async ({ name, crd }) => {
    if (crd !== undefined) throw new UsageError('init dashboard has no option --crd; leave it out');
    return await templateFiles('dashboard', { 'pod-dashboard': name });
  },
};

/** A DNS label (RFC 1123), because objects of the cluster get this name. */
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const UNPUBLISHED =
  'If npm does not find rx-informer, write "file:" and the path of its package file into the package.json of the project.\n';

async function run(args: readonly string[], streams: CommandStreams): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { crd: { type: 'string' } },
    allowPositionals: true,
  });
  const [kind = '', name, ...more] = positionals;
  const make = Object.hasOwn(PROJECTS, kind) ? PROJECTS[kind] : undefined;
  const kinds = Object.keys(PROJECTS);
  if (make === undefined || name === undefined || more.length > 0) {
    throw new UsageError(
      `init needs ${kinds.join(' or ')}, and a name, for example init ${kinds[0]} my-project; see rx-informer init --help`,
    );
  }
  if (!LABEL.test(name)) {
    throw new UsageError(
      `init: ${JSON.stringify(name)} is no DNS label; use at most 63 lower-case letters, digits and hyphens, such as my-project`,
    );
  }
  await checkEmpty(name);
  const files = await make({ name, crd: values.crd });
  await writeProject(name, files);
  const list = [...files.keys()].map((path) => `  ${name}/${path}\n`).join('');
  streams.out(`${list}\nNext: cd ${name} && npm install && npm test\n${UNPUBLISHED}`);
}

/** `rx-informer init`. */
export const initCommand: Command = {
  usage: USAGE,
  packages: () => ['yaml', 'json-schema-to-typescript'],
  run,
};
