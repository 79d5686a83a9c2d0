/** Builds the parts of one shared informer and connects them: the core, its listeners, handlers and lifecycle. */
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { checkedDuration } from '../rx/checked-option.ts';
import { type Core, type CoreSource, createCore } from './core.ts';
import { FanOut } from './fan-out.ts';
import { Registrations } from './handlers/registrations.ts';
import { Lifecycle } from './lifecycle.ts';
import type { SharedInformerOptions } from './options.ts';

/** The parts of one shared informer. */
export interface Assembly<T extends KubernetesObject> extends Core<T> {
  readonly hub: FanOut<T>;
  readonly registrations: Registrations<T>;
  readonly lifecycle: Lifecycle<T>;
}

function checkedScopes<T>(listerWatchers: readonly ListerWatcher<T>[]): readonly string[] {
  if (listerWatchers.length === 0)
    throw new TypeError('createSharedInformer: no ListerWatcher given');
  if (listerWatchers.length === 1) {
    const { scope } = listerWatchers[0] as ListerWatcher<T>;
    return scope ? [scope] : [];
  }
  const scopes = listerWatchers.map(({ scope }) => scope || undefined);
  if (scopes.includes(undefined) || new Set(scopes).size < scopes.length) {
    throw new TypeError(
      'createSharedInformer: each of several ListerWatchers needs a scope (namespace) of its own, because otherwise a list of one would delete the objects of another',
    );
  }
  return scopes as string[];
}

/**
 * Builds the parts. `sources$`, if given, replaces the ListerWatchers in each run, and `reflector` follows them. Nothing
 * runs before the lifecycle is started or held.
 */
export function assemble<T extends KubernetesObject>(
  listerWatchers: readonly ListerWatcher<T>[],
  options: SharedInformerOptions<T>,
  { sources$, reflector }: Pick<CoreSource<T>, 'sources$' | 'reflector'> = {},
): Assembly<T> {
  const scopes = checkedScopes(listerWatchers);
  const lingerMs = checkedDuration(options.lingerMs ?? 30_000, 'createSharedInformer: lingerMs');
  const stopError = () => lifecycle.stopError;
  const core = createCore<T>(
    { listerWatchers, scopes, sources$, reflector, caller: 'createSharedInformer' },
    options,
    {
      deliver: (set) => hub.deliver(set),
      lag: () => registrations.lag,
      check: () => registrations.check(),
      stopError,
    },
  );
  const { board, drain, run } = core;
  const hub = new FanOut(core.indexer);
  const registrations: Registrations<T> = new Registrations<T>({
    ...core,
    ...{ hub, stopError },
    isRunning: () => lifecycle.active,
    onRemoved: () => drain.run(() => lifecycle.emptyIfUnused()),
    beforeResync: () => run.retryRefused(),
    notSynced: (name, timeoutMs) => board.notSynced(name, timeoutMs),
    blocking: (name, wait) => board.blocking(name, wait),
  });
  const lifecycle: Lifecycle<T> = new Lifecycle<T>({ ...core, lingerMs, hub, registrations });
  return { ...core, hub, registrations, lifecycle };
}
