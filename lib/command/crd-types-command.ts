/// <reference types="node" />
/** `rx-informer crd-types`, which writes types for custom resources. */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { similarNames } from '../client/similar-names.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesList, KubernetesObject } from '../meta/kubernetes-object.ts';
import { shownText } from '../meta/shown-text.ts';
import { type CustomResourceDefinitionLike, crdTypes } from '../node/crd-types.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { definitionsIn, readDefinitions, withFile } from './definition-file.ts';
import { CLUSTER_PACKAGES, type Command, type CommandStreams, UsageError } from './subcommand.ts';

const COMMAND = 'crd-types';

const USAGE = `Usage: rx-informer crd-types [options]

Writes TypeScript for custom resources: an interface and a resource for every served version.

  --file <path>        a file with CustomResourceDefinitions, YAML or JSON; - is the standard input
  --name <name>        a CustomResourceDefinition of the cluster: widgets.example.com
  --out <path>         the file to write (default: the standard output)
  --kubeconfig <path>  the kubeconfig to use (default: as for kubectl)
  --context <name>     the context to use (default: the current context)
  --help               show this help

--file and --name can be given several times.
`;

async function textOf(input: AsyncIterable<string | Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of input) {
    text += typeof part === 'string' ? part : decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

async function definitionsOf(
  names: readonly string[],
  source: { readonly file: string | undefined; readonly context: string | undefined },
): Promise<CustomResourceDefinitionLike[]> {
  if (names.length === 0) return [];
  // Imported only here, because the option --file needs neither undici nor client-node.
  const { clientFromKubeConfig } = await import('../node/kube-config.ts');
  const client = await clientFromKubeConfig(source);
  try {
    return await Promise.all(names.map((name) => readDefinition(client, name)));
  } finally {
    await client.close();
  }
}

async function run(args: readonly string[], streams: CommandStreams): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      file: { type: 'string', multiple: true, default: [] },
      name: { type: 'string', multiple: true, default: [] },
      out: { type: 'string' },
      kubeconfig: { type: 'string' },
      context: { type: 'string' },
    },
  });
  const { file: files, name: names, out, kubeconfig, context } = values;
  if (files.length + names.length === 0) {
    throw new UsageError(
      'crd-types needs --file or --name, for example --file crds.yaml; see rx-informer crd-types --help',
    );
  }
  const definitions: CustomResourceDefinitionLike[] = [];
  for (const file of files) {
    definitions.push(
      ...(file === '-'
        ? await definitionsIn(COMMAND, await textOf(streams.input), 'the standard input')
        : await readDefinitions({ command: COMMAND, option: 'file', file })),
    );
  }
  definitions.push(...(await definitionsOf(names, { file: kubeconfig, context })));
  const text = await crdTypes(definitions);
  if (out === undefined) streams.out(text);
  else await withFile({ command: COMMAND, option: 'out', file: out }, writeFile(out, text));
}

/** `rx-informer crd-types`. */
export const crdTypesCommand: Command = {
  usage: USAGE,
  packages: (args) => [
    ...['yaml', 'json-schema-to-typescript'],
    ...(args.some((it) => it.startsWith('--name')) ? CLUSTER_PACKAGES : []),
  ],
  run,
};

const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** Requests names only, because a list of definitions with their schemas can have 100 MB. */
const NAMES_ONLY =
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const MOST_SHOWN = 20;

/** Returns similar names, or all names if no name is similar. */
function namesFor(name: string, names: readonly string[]): string {
  const plurals = names.filter((each) => each.startsWith(`${name.toLowerCase()}.`));
  const near = plurals.length > 0 ? plurals : similarNames(name, names);
  if (near.length > 0) return `did you mean ${near.map((each) => `'${each}'`).join(' or ')}?`;
  if (names.length === 0) return 'it has no definitions';
  const more = names.length > MOST_SHOWN ? ` and ${names.length - MOST_SHOWN} more` : '';
  return `there are: ${names.slice(0, MOST_SHOWN).join(', ')}${more}`;
}

async function absent(client: KubeClient, name: string, error: ApiError): Promise<Error> {
  const headers = { accept: NAMES_ONLY };
  const list = await client
    .request<KubernetesList<KubernetesObject>>({ path: PATH, headers })
    .catch(() => undefined);
  if (!Array.isArray(list?.items)) return error;
  // A server may send any text, which a terminal would execute.
  const names = list.items.map(({ metadata }) => shownText(String(metadata?.name), 253)).sort();
  const where = `the cluster at ${client.baseUrl}`;
  return new TypeError(
    `${where} has no CustomResourceDefinition '${name}'; ${namesFor(name, names)}`,
  );
}

/**
 * Reads one definition. Rejects with a `TypeError` that lists similar or existing names if the cluster does not have
 * it.
 */
export async function readDefinition(
  client: KubeClient,
  name: string,
): Promise<CustomResourceDefinitionLike> {
  try {
    return await client.request({ path: `${PATH}/${encodeURIComponent(name)}` });
  } catch (error) {
    throw error instanceof ApiError && error.isNotFound ? await absent(client, name, error) : error;
  }
}
