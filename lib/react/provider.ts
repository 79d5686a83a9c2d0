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
import { Provided, type ProvidedFactoryOptions } from './provided.ts';

/** The contents of the nearest provider. */
export const ProvidedContext: Context<Provided | undefined> = /* @__PURE__ */ createContext<
  Provided | undefined
>(undefined);

/** The properties of {@link InformerProvider}. */
export interface InformerProviderProps {
  /** The client that sends the requests. Create it outside of components, or once with `useState`. */
  readonly client: KubeClient;
  /** A factory that other code uses, too. It is not stopped by the provider. @defaultValue a factory of its own */
  readonly factory?: InformerFactory | undefined;
  /** The options of the provider's own factory. Later values do not matter. */
  readonly options?: ProvidedFactoryOptions | undefined;
  readonly children?: ReactNode;
}

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
  const { client, factory, options, children } = props;
  const [held, setHeld] = useState(() => ({
    factory,
    provided: new Provided(client, factory ?? options),
  }));
  let { provided } = held;
  if (provided.client !== client || held.factory !== factory) {
    provided = new Provided(client, factory ?? options);
    setHeld({ factory, provided });
  }
  useEffect(() => provided.hold(), [provided]);
  return createElement(ProvidedContext.Provider, { value: provided }, children);
}

/** What the nearest provider holds. Throws an `Error` that names the hook if there is no provider. */
export function useProvided(hook: string): Provided {
  const provided = useContext(ProvidedContext);
  if (provided !== undefined) return provided;
  throw new Error(`${hook}: there is no <InformerProvider> above this component`);
}
