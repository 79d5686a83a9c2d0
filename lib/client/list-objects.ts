/** Lists a complete collection by calls: collects the pages, and adds the type to every item. */

import { defer, EMPTY, firstValueFrom } from 'rxjs';
import { last, map, scan } from 'rxjs/operators';
import { listPages } from '../list-watch/list-pages.ts';
import type { ListRequest } from '../list-watch/lister-watcher.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesList, KubernetesObject, Stored } from '../meta/kubernetes-object.ts';
import { resourceName } from '../meta/resource.ts';
import { listQuery } from './call-query.ts';
import { type Calls, typed } from './resource-calls.ts';
import type { ListCallOptions } from './resource-client.ts';

const PAGE = 500;

/** Checks that a response is a list of objects, and adds the type to its items. */
export function listOf<T extends KubernetesObject>(
  { resource }: Calls<T>,
  answer: KubernetesList<Stored<T>>,
  where: string,
): KubernetesList<Stored<T>> {
  if (!Array.isArray(answer.items)) {
    const { kind } = answer as { kind?: unknown };
    const got = JSON.stringify(typeof kind === 'string' ? kind.slice(0, 60) : typeof kind);
    const message = `${where}: expected a list of ${resourceName(resource)}, got ${got}`;
    throw ApiError.local('Unexpected', message);
  }
  if (answer.items.some((item: unknown) => typeof item !== 'object' || item === null)) {
    throw ApiError.local('Unexpected', `${where}: an item of the list is not an object`);
  }
  const items = answer.items.map((item) => typed(item, resource));
  return { ...answer, metadata: answer.metadata ?? {}, items };
}

/** Sends one LIST request. */
export async function listPage<T extends KubernetesObject>(
  calls: Calls<T>,
  path: string,
  options: ListCallOptions,
): Promise<KubernetesList<Stored<T>>> {
  const query = listQuery(options);
  const call = { query, isList: true };
  const list = await calls.send<KubernetesList<Stored<T>>>(path, call, options.signal);
  return listOf(calls, list, `LIST ${path}`);
}

/** Sends one LIST request per page. The version of the result is that of the first page. */
export async function listAll<T extends KubernetesObject>(
  calls: Calls<T>,
  path: string,
  options: ListCallOptions,
): Promise<KubernetesList<Stored<T>>> {
  const { resourceVersion = '', resourceVersionMatch, ...common } = options;
  let envelope: KubernetesList<Stored<T>> | undefined;
  const page = ({
    known: _known,
    demand: _demand,
    onRefused: _onRefused,
    onTurn: _onTurn,
    ...request
  }: ListRequest<Stored<T>>) =>
    defer(() => listPage(calls, path, { ...common, ...request })).pipe(
      map((list) => {
        envelope = list;
        const { resourceVersion = '', continue: token } = list.metadata;
        const metadata = { resourceVersion, ...(token ? { continue: token } : {}) };
        return { items: list.items, metadata };
      }),
    );
  const first = {
    resourceVersion,
    limit: PAGE,
    ...(resourceVersionMatch === undefined ? {} : { resourceVersionMatch }),
  };
  const items: Stored<T>[] = [];
  const version = await firstValueFrom(
    listPages<Stored<T>>({ list: page, watch: () => EMPTY }, first).pipe(
      scan((version, progress) => {
        if (progress.kind === 'listed') return progress.resourceVersion;
        if (progress.kind === 'restart') items.length = 0;
        else if (progress.kind === 'part') for (const item of progress.items) items.push(item);
        return version;
      }, ''),
      last(),
    ),
  );
  return { ...envelope, metadata: { resourceVersion: version }, items };
}
