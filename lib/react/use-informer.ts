/** `useInformer`, an informer of the provider's factory. */
import { useState, useSyncExternalStore } from 'react';
import { Subscription } from 'rxjs';
import { type InformerScope, identityOf, readScope } from '../factory/scope.ts';
import type { SharedInformer } from '../informer/shared-informer.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import { Hub } from '../rx/sharing/hub.ts';
import { leftLater } from './left-later.ts';
import type { Provided } from './provided.ts';
import { useProvided } from './provider.ts';
import { statusOfInformer } from './status-source.ts';

/** The scope of {@link useInformer}: complete objects. */
export type ObjectScope = Omit<InformerScope, 'as'>;

type AnyInformer = SharedInformer<KubernetesObject>;

/** Holds an informer and keeps it running while it has a listener. */
class InformerSource {
  readonly #provided: Provided;
  readonly #acquire: () => { readonly informer: AnyInformer; release(): void };
  readonly #isPresent: () => boolean;
  readonly #listeners = new Hub<() => void>();
  readonly #enter = leftLater(() => {
    this.#hold();
    return new Subscription(() => {
      this.#held?.unsubscribe();
      this.#informer = undefined;
    });
  });
  #held: Subscription | undefined;
  #informer: AnyInformer | undefined;

  constructor(provided: Provided, resource: Resource<KubernetesObject>, scope: ObjectScope) {
    this.#provided = provided;
    this.#acquire = () => provided.informers.acquire(resource, scope);
    this.#isPresent = () => {
      const { informers } = provided;
      const own = identityOf(resource, informers.scopeOf(resource, scope));
      return informers.entriesOf(resource).some(({ identity }) => identity === own);
    };
  }

  readonly getSnapshot = (): AnyInformer | undefined => this.#informer;

  readonly subscribe = (listener: () => void): (() => void) => {
    const leave = this.#enter();
    const remove = this.#listeners.add(listener);
    return () => {
      remove();
      leave();
    };
  };

  #hold(): void {
    const { informer, release } = this.#acquire();
    this.#informer = informer;
    const held = new Subscription();
    this.#held = held;
    held.add(release);
    held.add(informer.changes$.subscribe());
    held.add(this.#provided.watch(statusOfInformer(informer), informer.name));
    // A removed informer is not created again here. The next one is held when somebody has requested it.
    const complete = () => {
      const { created$ } = this.#provided.informers;
      held.add(created$?.subscribe(() => queueMicrotask(() => this.#renew(held))));
    };
    held.add(informer.status$.subscribe({ complete }));
  }

  #renew(former: Subscription): void {
    if (former.closed || !this.#isPresent()) return;
    this.#hold();
    former.unsubscribe();
    this.#listeners.tell((listener) => listener());
  }
}

const none = () => () => undefined;
const noInformer = () => undefined;

/**
 * Returns an informer of the provider's factory, for a pipe of your own, and keeps it running while the component is
 * mounted. It is `undefined` during the first render, because nothing is started in a render, on a server, and without
 * a resource. Scopes are compared by content. Throws as {@link useQuery} does, and a `TypeError` if the scope is
 * impossible.
 *
 * @example
 * ```ts no-run
 * import { useMemo } from 'react';
 * import { animationFrames, conflateByKey, count, liveGroupBy, toView } from 'rx-informer';
 * import { useInformer, useView } from 'rx-informer/react';
 * import { pods } from 'rx-informer/resources';
 *
 * function PodsPerNode() {
 *   const informer = useInformer(pods, { namespace: 'shop' });
 *   const view = useMemo(
 *     () =>
 *       informer?.changes$.pipe(
 *         liveGroupBy(({ spec }) => spec?.nodeName, { pods: count() }),
 *         conflateByKey({ ready: animationFrames() }),
 *         toView(),
 *       ),
 *     [informer],
 *   );
 *   return useView(view).rows.map(({ key, pods }) => `${key}: ${pods}`).join(', ');
 * }
 * PodsPerNode();
 * ```
 */
export function useInformer<T extends KubernetesObject>(
  resource: Resource<T> | undefined,
  scope: ObjectScope = {},
): SharedInformer<T> | undefined {
  const provided = useProvided('useInformer');
  const any = resource as Resource<KubernetesObject> | undefined;
  const identity = any === undefined ? '' : identityOf(any, readScope(any, scope, {}));
  const begin = () => ({
    provided,
    identity,
    source: any === undefined ? undefined : new InformerSource(provided, any, scope),
  });
  const [held, setHeld] = useState(begin);
  let now = held;
  if (held.provided !== provided || held.identity !== identity) {
    now = begin();
    setHeld(now);
  }
  const { subscribe = none, getSnapshot = noInformer } = now.source ?? {};
  const informer = useSyncExternalStore(subscribe, getSnapshot, noInformer);
  return informer as SharedInformer<T> | undefined;
}
