/**
 * Converts the `for`, `owns`, `watches` and `sources` options of a controller to sources of keys, and says which of
 * them are missing if the controller does not become ready.
 */

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

function filtered<T extends KubernetesObject>(
  given: WatchedInformer<T> | FilteredSource<T>,
): FilteredSource<T> {
  return 'informer' in given ? given : { informer: given };
}

/** All sources, beginning with that of `for`. */
export function sourcesOf<T extends KubernetesObject>(
  options: ControllerOptions<T>,
): { readonly main: WatchedInformer<T>; readonly sources: readonly Source[] } {
  const own = filtered(options.for);
  const main = own.informer;
  const predicates = [...(own.predicates ?? []), ...(options.predicates ?? [])];
  const watches: readonly MappedSource<KubernetesObject>[] = options.watches ?? [];
  return {
    main,
    sources: [
      informerSource('for', { informer: main, predicates, map: ({ key }) => [key] }),
      ...(options.owns ?? []).map((given) => {
        const owned = filtered(given);
        const prefixOf = (key: string) => owned.informer.prefixOf?.(key) ?? '';
        return informerSource('owns', {
          ...owned,
          map: (change) => controllerKeys(change, main.indexer, prefixOf(change.key)),
        });
      }),
      ...watches.map((watched) => informerSource('watches', watched)),
      ...(options.sources ?? []).map((keys$, at) => keySource(keys$, at)),
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
