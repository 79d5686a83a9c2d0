/** What the scenarios share: a cluster within the page, a root, and the recording of what components showed. */
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createClient, type InformerFactory, type KubeClient } from 'rx-informer';
import { InformerProvider, type ProvidedFactoryOptions } from 'rx-informer/react';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { eventually } from '../../support/patience.ts';

export interface Rig {
  readonly server: FakeApiServer;
  readonly client: KubeClient;
  /** Renders within a provider. */
  show(children: ReactNode, options?: ShowOptions): void;
  unmount(): void;
  /** The text of the page. */
  text(): string;
  watches(): number;
}

export interface ShowOptions extends ProvidedFactoryOptions {
  readonly isStrict?: boolean;
  readonly client?: KubeClient;
  readonly factory?: InformerFactory;
}

export function createRig(): Rig {
  const server = createFakeApiServer({ initialResourceVersion: '100' });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const place = document.createElement('div');
  document.body.append(place);
  const root = createRoot(place);
  return {
    server,
    client,
    show(children, { isStrict = false, client: other = client, factory, ...options } = {}) {
      const app = (
        <InformerProvider client={other} factory={factory} options={options}>
          {children}
        </InformerProvider>
      );
      root.render(isStrict ? <StrictMode>{app}</StrictMode> : app);
    },
    unmount: () => root.unmount(),
    text: () => place.textContent ?? '',
    watches: () => server.requests.filter(({ use }) => use === 'watch').length,
  };
}

/** Waits until a condition holds. Rejects with the text of `seen` when it hangs. */
export async function until(
  condition: () => boolean,
  seen: () => unknown = () => '',
): Promise<void> {
  await eventually(condition).catch(() => {
    throw new Error(`waited in vain for ${condition}: ${JSON.stringify(seen())}`);
  });
  await frames(1);
}

/** Waits for some frames, in which everything that was caused is painted. */
export async function frames(count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const { port1, port2 } = new MessageChannel();
    await new Promise((resolve) => {
      port1.onmessage = resolve;
      port2.postMessage(0);
    });
    port1.close();
  }
}

/** Leaves out what is equal to the value before it. */
export function distinct<V>(values: readonly V[]): V[] {
  const texts = values.map((value) => JSON.stringify(value));
  return values.filter((_, at) => at === 0 || texts[at] !== texts[at - 1]);
}

/** Notes a render. A function, because the React Compiler leaves components alone that change a variable themselves. */
export function note<V>(list: V[], value: V): void {
  list.push(value);
}
