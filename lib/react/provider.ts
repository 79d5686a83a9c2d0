/** `InformerProvider`, which gives a client and a factory to the hooks below it. */
import {
  type Context,
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useState,
} from 'react';
import type { InformerFactory } from '../factory/informer-factory.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { createProvided, type Provided, type ProvidedFactoryOptions } from './provided.ts';
import type { ProviderState } from './provider-state.ts';
import type { BegunProviders } from './suspense/begun-providers.ts';

/** The contents of the nearest provider. */
export const ProvidedContext: Context<ProviderState | undefined> = /* @__PURE__ */ createContext<
  ProviderState | undefined
>(undefined);

/** The properties of {@link InformerProvider}. */
export interface InformerProviderProps {
  /** The client that sends the requests. Create it outside of components, or once with `useState`. */
  readonly client: KubeClient;
  /** A factory that other code uses, too. It is not stopped by the provider. @defaultValue a factory of its own */
  readonly factory?: InformerFactory | undefined;
  /**
   * The options of the provider's own factory. Later values do not matter. If the nearest `<Suspense>` is above the
   * provider, create the objects and functions in them outside of components.
   */
  readonly options?: ProvidedFactoryOptions | undefined;
  readonly children?: ReactNode;
}

/**
 * Finds what renders that React has discarded have begun, by client. React discards the first render of a provider, with its
 * state, if a component below suspends and the boundary is above. Filled by the hooks that suspend.
 */
export const allBegun: WeakMap<KubeClient, BegunProviders> = /* @__PURE__ */ new WeakMap();

/**
 * Holds a client and a factory of informers for the hooks of the components below. Nothing is requested before a hook
 * asks for something, and equal requests of several components are one.
 *
 * Without `factory` the provider makes one, and stops it when the provider is unmounted. Another `client` or `factory`
 * begins with new informers.
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { createClient } from 'rx-informer';
 * import { InformerProvider, useList } from 'rx-informer/react';
 * import { pods } from 'rx-informer/resources';
 * import { renderToString } from 'react-dom/server';
 *
 * const client = createClient({ baseUrl: 'http://localhost:8001' });
 * const Count = () => `${useList(pods).total} Pods`;
 * const app = createElement(InformerProvider, { client }, createElement(Count));
 * renderToString(app); // => '0 Pods'
 * ```
 */
export function InformerProvider(props: InformerProviderProps): ReactElement {
  const { client, factory, children } = props;
  // Kept outside of the renders, because React may discard one until what suspends below has its answer.
  const [made] = useState<{ now?: Provided; next?: Provided }>({});
  const isAsked = (one?: Provided) => one?.client === client && one.factory === factory;
  if (!isAsked(made.now) && !isAsked(made.next)) {
    made.next = allBegun.get(client)?.find(props) ?? createProvided(props);
  }
  const provided = (isAsked(made.now) ? made.now : made.next) as Provided;
  useEffect(() => {
    made.now = provided;
    provided.isShown = true;
    allBegun.delete(client);
    return provided.hold();
  }, [made, client, provided]);
  return createElement(ProvidedContext.Provider, { value: provided }, children);
}

/** The nearest provider. Throws an `Error` that names the hook if there is none, or if it does not have what is asked for. */
export function useProviderState(hook: string, member: keyof Provided = 'used'): ProviderState {
  const state = useContext(ProvidedContext);
  if (state !== undefined && member in state) return state;
  throw new Error(`${hook}: there is no <InformerProvider> above this component`);
}

/** The informers of the nearest provider. Throws as {@link useProviderState} does. */
export function useProvided(hook: string): Provided {
  return useProviderState(hook, 'informers') as Provided;
}
