/** Tests a provider that is below the boundary of `Suspense`, so that React discards its first renders, with their state. */
import { createMetadataListWatch } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import { container, installPage } from './mini-dom.ts';

const clock = installPage();
const { createElement, Suspense, StrictMode } = await import('react');
const { createRoot } = await import('react-dom/client');
const { createClient } = await import('rx-informer');
const { InformerProvider, useSuspenseList } = await import('rx-informer/react');
const { configMaps } = await import('rx-informer/resources');
const { createFakeApiServer } = await import('rx-informer/testing');

describe('a provider below a boundary', () => {
  it.each([
    [0, false],
    [0, true],
    [30_000, false],
    [30_000, true],
  ])(
    'V20: shows the answer to the only request (linger %d ms, StrictMode %s)',
    async (lingerMs, isStrict) => {
      const server = createFakeApiServer({ latencyMs: 50 });
      server.objects.create(configMaps, { metadata: { namespace: 'a', name: 'x' } });
      const client = createClient({
        ...{ baseUrl: 'http://fake', fetch: server.fetch },
        livenessMs: Number.POSITIVE_INFINITY,
      });
      const shown: number[] = [];
      const List = () => {
        shown.push(useSuspenseList(configMaps, { namespace: 'a' }).total);
        return null;
      };
      const projections = { metadata: createMetadataListWatch };
      const App = () => {
        const options = { lingerMs, projections };
        return createElement(InformerProvider, { client, options }, createElement(List));
      };
      const page = createElement(Suspense, { fallback: null }, createElement(App));
      const root = createRoot(container());
      root.render(isStrict ? createElement(StrictMode, {}, page) : page);
      await clock.advance(2_000);
      expect(new Set(shown)).toEqual(new Set([1]));
      expect(server.requests.length).toBe(1);
      root.unmount();
      await clock.advance(1);
      expect([server.openWatches.length, clock.pending]).toEqual([0, 0]);
    },
  );

  it('V20: throws if each render has other options, instead of sending requests without end', async () => {
    const server = createFakeApiServer({ latencyMs: 50 });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const List = () => `${useSuspenseList(configMaps, { namespace: 'a' }).total}`;
    const App = () => {
      const options = { lingerMs: 0, projections: { metadata: createMetadataListWatch } };
      return createElement(InformerProvider, { client, options }, createElement(List));
    };
    const errors: unknown[] = [];
    const root = createRoot(container(), { onUncaughtError: (error) => errors.push(error) });
    root.render(createElement(Suspense, { fallback: null }, createElement(App)));
    await clock.advance(60_000);
    expect(errors).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/^InformerProvider: .*<Suspense>/),
      }),
    ]);
    expect(server.requests.length).toBeLessThan(200);
    root.unmount();
    await clock.advance(60_000);
    expect([server.openWatches.length, clock.pending]).toEqual([0, 0]);
  });

  it('V20: several providers with one client have their own options and stay when another one leaves', async () => {
    const server = createFakeApiServer({ latencyMs: 50 });
    for (const namespace of ['a', 'b']) {
      server.objects.create(configMaps, { metadata: { namespace, name: 'x' } });
    }
    const client = createClient({
      ...{ baseUrl: 'http://fake', fetch: server.fetch },
      livenessMs: Number.POSITIVE_INFINITY,
    });
    const shown = new Map<string, string[]>();
    const List = ({ name }: { readonly name: string }) => {
      const { rows } = useSuspenseList(configMaps);
      shown.set(
        name,
        rows.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
      );
      return null;
    };
    const provider = (name: string, namespaces: readonly string[]) => {
      const options = { lingerMs: 0, namespaces };
      const list = createElement(List, { name });
      return createElement(InformerProvider, { key: name, client, options }, list);
    };
    const [a, b] = [['a'], ['b']];
    const App = ({ names }: { readonly names: readonly string[] }) =>
      createElement(
        Suspense,
        { fallback: null },
        names.map((name) => provider(name, name.startsWith('b') ? b : a)),
      );
    const root = createRoot(container());
    root.render(createElement(App, { names: ['a1', 'b1', 'a2'] }));
    await clock.advance(5_000);
    expect(Object.fromEntries(shown)).toEqual({ a1: ['a/x'], b1: ['b/x'], a2: ['a/x'] });
    root.render(createElement(App, { names: ['b1', 'a2'] }));
    await clock.advance(5_000);
    server.objects.create(configMaps, { metadata: { namespace: 'a', name: 'y' } });
    await clock.advance(5_000);
    expect(shown.get('a2')).toEqual(['a/x', 'a/y']);
    root.unmount();
    await clock.advance(60_000);
    expect([server.openWatches.length, clock.pending]).toEqual([0, 0]);
  });
});
