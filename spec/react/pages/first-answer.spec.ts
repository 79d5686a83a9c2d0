/** Tests pages whose arguments change, or which leave, before the first answer has arrived. */
import { describe, expect, it } from 'vitest';
import { container, installPage } from './mini-dom.ts';

const clock = installPage();
const { createElement, Suspense } = await import('react');
const { createRoot } = await import('react-dom/client');
const { createClient, createInformerFactory } = await import('rx-informer');
const { InformerProvider, useList, useSuspenseList } = await import('rx-informer/react');
const { configMaps } = await import('rx-informer/resources');
const { createFakeApiServer } = await import('rx-informer/testing');

const LINGER_MS = 5_000;

function rig(latencyMs: number) {
  const server = createFakeApiServer({ latencyMs });
  for (const namespace of ['a', 'b']) {
    server.objects.create(configMaps, { metadata: { namespace, name: 'x' } });
  }
  const client = createClient({
    ...{ baseUrl: 'http://fake', fetch: server.fetch },
    livenessMs: Number.POSITIVE_INFINITY,
  });
  const factory = createInformerFactory(client, { lingerMs: LINGER_MS });
  return { server, client, factory, root: createRoot(container()) };
}

describe('a page before the first answer', () => {
  it('V4: shows nothing stale if the arguments change, because there are no former rows', async () => {
    const { server, client, factory, root } = rig(50);
    const shown: string[] = [];
    const List = ({ namespace }: { readonly namespace: string }) => {
      const { rows, synced, stale } = useList(configMaps, { namespace });
      shown.push(`${rows.map(({ metadata }) => metadata.namespace)} ${synced} ${stale}`);
      return null;
    };
    const show = async (namespace: string, ms: number) => {
      const list = createElement(List, { namespace });
      root.render(createElement(InformerProvider, { client, factory }, list));
      await clock.advance(ms);
    };
    await show('a', 20);
    await show('b', 20);
    expect(new Set(shown)).toEqual(new Set([' false false']));
    await show('b', 1_000);
    expect(shown.at(-1)).toBe('b true false');
    root.unmount();
    await clock.advance(60_000);
    expect(server.openWatches.length).toBe(0);
  });

  it('V4: shows nothing of the former arguments if the present ones are refused', async () => {
    const { server, client, factory, root } = rig(50);
    server.faults.failNext({ namespace: 'b' }, { status: 403, times: 999 });
    const shown: string[] = [];
    const List = ({ namespace }: { readonly namespace: string }) => {
      const { rows, error } = useList(configMaps, { namespace });
      shown.push(`${rows.map(({ metadata }) => metadata.namespace)} ${error !== undefined}`);
      return null;
    };
    const show = async (namespace: string) => {
      const list = createElement(List, { namespace });
      root.render(createElement(InformerProvider, { client, factory }, list));
      await clock.advance(1_000);
    };
    await show('a');
    expect(shown.at(-1)).toBe('a false');
    await show('b');
    expect(shown.at(-1)).toBe(' true');
    await show('a');
    expect(shown.at(-1)).toBe('a false');
    root.unmount();
    await clock.advance(60_000);
    expect(server.openWatches.length).toBe(0);
  });

  it('V14: if a suspended component leaves, its request ends after the linger, counted from the answer', async () => {
    const { server, client, factory, root } = rig(50);
    const List = () => `${useSuspenseList(configMaps).total}`;
    const show = (isShown: boolean) => {
      const list = createElement(Suspense, { fallback: null }, createElement(List));
      root.render(createElement(InformerProvider, { client, factory }, isShown ? list : null));
    };
    show(true);
    await clock.advance(20);
    show(false);
    await clock.advance(LINGER_MS - 100);
    expect(server.openWatches.length).toBe(1);
    await clock.advance(500);
    expect(server.openWatches.length).toBe(0);
    expect(factory.informers).toEqual([]);
    root.unmount();
    await clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });
});
