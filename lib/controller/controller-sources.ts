/**
 * Converts the `for`, `owns`, `watches` and `sources` options of a controller to sources of keys, and says which of
 * them are missing if the controller does not become ready.
 */

import { isObservable } from 'rxjs';
import { check, checkedFunction, checkedList } from '../checks/checked-option.ts';
import { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { ControllerOptions, ControllerPhase, ControllerStatus } from './controller.ts';
import { controllerKeys } from './owner-references.ts';
import {
  type FilteredSource,
  informerSource,
  keySource,
  type MappedSource,
  type Source,
  type WatchedInformer,
} from './sources.ts';

/** Throws a `TypeError` that begins with `name` unless these are the predicates of a source, or left out. */
function checkPredicates(predicates: unknown, name: string): void {
  const must = 'a list of functions, such as [generationChanged]';
  for (const [at, each] of checkedList<unknown>(
    (predicates ?? []) as readonly unknown[],
    name,
    must,
  ).entries())
    checkedFunction(each, `${name}[${at}]`);
}

/** The source that a controller was given as an informer, or with predicates. */
function filtered<S extends { readonly informer: unknown; readonly predicates?: unknown }>(
  given: S | S['informer'],
  name: string,
): S {
  const source = Object('informer' in Object(given) ? given : { informer: given }) as S;
  const isInformer = isObservable(Object(source.informer).changes$);
  check(isInformer, name, given, 'an informer, or { informer, predicates }');
  checkPredicates(source.predicates, `${name}.predicates`);
  return source;
}

/** Returns all sources, first that of `for`. Throws a `TypeError` that names the invalid option. */
export function sourcesOf<T extends KubernetesObject>(
  name: string,
  options: ControllerOptions<T>,
): { readonly main: WatchedInformer<T>; readonly sources: readonly Source[] } {
  const own = filtered<FilteredSource<T>>(options.for, `${name}: for`);
  const main = own.informer;
  checkPredicates(options.predicates, `${name}: predicates`);
  const predicates = [...(own.predicates ?? []), ...(options.predicates ?? [])];
  const { owns = [], watches = [], sources = [] } = options;
  return {
    main,
    sources: [
      informerSource('for', { informer: main, predicates, map: ({ key }) => [key] }),
      ...checkedList<(typeof owns)[number]>(owns, `${name}: owns`).map((given, at) => {
        const owned = filtered<FilteredSource<KubernetesObject>>(given, `${name}: owns[${at}]`);
        const prefixOf = (key: string) => owned.informer.prefixOf?.(key) ?? '';
        return informerSource('owns', {
          ...owned,
          map: (change) => controllerKeys(change, main.indexer, prefixOf(change.key)),
        });
      }),
      ...checkedList<MappedSource<KubernetesObject>>(watches, `${name}: watches`).map(
        (given, at) => {
          const watched = filtered<MappedSource<KubernetesObject>>(
            given,
            `${name}: watches[${at}]`,
          );
          checkedFunction(watched.map, `${name}: watches[${at}].map`);
          return informerSource('watches', watched);
        },
      ),
      ...checkedList(sources, `${name}: sources`).map((keys$, at) => {
        check(isObservable(keys$), `${name}: sources[${at}]`, keys$, 'an Observable of keys');
        return keySource(keys$, at);
      }),
    ],
  };
}

/** The status of a controller that was never started. */
export const IDLE: ControllerStatus = {
  phase: 'idle',
  synced: false,
  leading: false,
  waitingFor: [],
  ended: [],
  unfinished: [],
};

/** The error of `whenReady` when its timeout has passed. */
export function notReady(
  name: string,
  timeoutMs: number,
  state: {
    readonly phase: ControllerPhase;
    /** The sources whose caches are not complete. */
    readonly missing: readonly Source[];
    /** The keys whose reconciles of an earlier term still run, although the next term may begin. */
    readonly unfinished: readonly string[];
    /** The last error of the election or of the ring. */
    readonly lastError: ApiError | undefined;
    /** Which slots are owned, in words. */
    readonly shards: string | undefined;
  },
): ApiError {
  const { phase, missing, unfinished, lastError, shards } = state;
  const names = missing.map((source) => `${source.name} (${source.why()})`);
  const reasons: Partial<Record<ControllerPhase, string>> = {
    idle: 'it was not started',
    syncing: `not synced: ${names.join(', ')}`,
    standby: unfinished.length
      ? `earlier reconciles still run: ${unfinished.join(', ')}`
      : (lastError?.message ?? shards ?? 'another candidate leads, or the elector was not started'),
  };
  const message = `${name} was not ready within ${timeoutMs} ms: ${reasons[phase] ?? phase}`;
  const failed = missing.find(({ informer }) => informer?.status.error !== undefined);
  const cause = phase === 'standby' ? lastError : failed?.informer?.status.error;
  return ApiError.local('NotObserved', message, { cause });
}
