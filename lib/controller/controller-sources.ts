/** Converts the `for`, `owns`, `watches` and `sources` options of a controller to sources of keys. */
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { ControllerOptions } from './controller.ts';
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
