/**
 * An informer of all namespaces, or of those that may be read where all are forbidden: finds out in which namespaces
 * the user may list and watch a resource.
 */

import { defer, Subject } from 'rxjs';
import { map } from 'rxjs/operators';
import { check, checkedList } from '../checks/checked-option.ts';
import { sharedInformerOf } from '../informer/create-shared-informer.ts';
import { InformerLifecycle } from '../informer/lifecycle.ts';
import type { SharedInformerOptions } from '../informer/options.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { SourceSet } from '../informer/sources.ts';
import type { ListerWatcher } from '../list-watch/lister-watcher.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { isSegment, type Resource } from '../meta/resource.ts';
import { timingOf } from '../rx/timing.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { permittedScopes } from './access-reviews.ts';

type Anything = KubernetesObject;

/** The informer of all namespaces that a factory makes. */
interface WholeInformer {
  readonly client: KubeClient;
  readonly resource: Resource<Anything>;
  readonly options: SharedInformerOptions<Anything>;
  /** Creates the ListerWatcher of a namespace, or of all. */
  make(namespace: string | undefined): ListerWatcher<Anything>;
}

/** The option of a factory that {@link namespaceFallback} returns. */
export type NamespaceFallback = (of: WholeInformer) => SharedInformer<KubernetesObject>;

/**
 * Lets the informers of a factory show some namespaces where listing and watching all of them is not permitted: those of
 * these names in which both are permitted. Without names it asks about all namespaces of the cluster, for which the user must be
 * permitted to list namespaces; one that is created later is tried at the next run or 403. The server is asked by
 * SelfSubjectAccessReview, when a run begins and after a 403, at most every 30 s while 403s go on. `status.access` says what is shown and what is missing.
 *
 * Throws a `TypeError` if `namespaces` is not an array, or contains what is not the name of a namespace.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory, namespaceFallback } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const factory = createInformerFactory(client, {
 *   namespaceFallback: namespaceFallback(['shop', 'till']),
 * });
 * factory.informer(pods).name; // => 'pods'
 * ```
 */
export function namespaceFallback(namespaces?: readonly string[]): NamespaceFallback {
  const where = 'namespaceFallback: namespaces';
  for (const name of checkedList(namespaces ?? [], where, 'a list of names, or left out')) {
    const must = "the name of a namespace, without '/' and '%', and not '', '.' or '..'";
    check(isSegment(name), 'namespaceFallback: a namespace', name, must);
  }
  const names = namespaces && [...new Set(namespaces)];
  return (of) => fallingBack(of, names);
}

/** Creates an informer whose scopes follow the permissions of the user. */
function fallingBack(
  of: WholeInformer,
  namespaces: readonly string[] | undefined,
): SharedInformer<Anything> {
  const { client, resource, options } = of;
  const { scheduler } = timingOf(options);
  const refused = new Subject<void>();
  const everything = of.make(undefined);
  const sources$ = defer(() =>
    permittedScopes(client, resource, {
      namespaces,
      refused$: refused,
      scheduler,
    }),
  ).pipe(
    map((permitted): SourceSet<Anything> => {
      if (permitted === 'all') return { listerWatchers: [everything] };
      // Without a namespace the complete collection is requested, so that the status shows the refusal of the server.
      const scopes = permitted.namespaces.map(of.make);
      return { listerWatchers: scopes.length === 0 ? [everything] : scopes, access: permitted };
    }),
  );
  const onError: SharedInformerOptions<Anything>['onError'] = (error) => {
    if (error.code === 403) refused.next();
    return options.onError?.(error);
  };
  return sharedInformerOf(
    new InformerLifecycle(
      { listerWatchers: [everything], sources$, caller: 'createSharedInformer' },
      { ...options, onError },
    ),
  );
}
