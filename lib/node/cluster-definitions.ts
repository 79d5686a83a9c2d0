/// <reference types="node" />
/**
 * Reads a CustomResourceDefinition of a cluster by name. If the name does not exist, the error suggests names that
 * do.
 */
import { similarNames } from '../client/similar-names.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesList, KubernetesObject } from '../meta/kubernetes-object.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import type { CustomResourceDefinitionLike } from './crd-types.ts';

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
  const names = list.items.map(({ metadata }) => String(metadata?.name)).sort();
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
