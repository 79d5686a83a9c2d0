/** Tests what the hooks show of rows from before a stop or a pause, until they are confirmed. React's client, virtual time. */
import { createClient, createInformerFactory, describeStatus, toView } from 'rx-informer';
import type { ListResult } from 'rx-informer/react';
import {
  InformerProvider,
  useInformer,
  useList,
  useObject,
  useStatus,
  useView,
} from 'rx-informer/react';
import { WorkerProvider } from 'rx-informer/react/worker';
import { configMaps, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { asyncScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BrowserRig } from '../worker/browser-rig.ts';
import { container, installPage } from './pages/mini-dom.ts';

const clock = installPage();
const { Activity, createElement } = await import('react');
const { createRoot } = await import('react-dom/client');
type Node = import('react').ReactNode;

const LATENCY_MS = 500;
const LINGER_MS = 5_000;
const scope = { namespace: 'a' };
/** A worker wants a limit. */
const listed = { ...scope, limit: 100 };

function create(server: FakeApiServer, name: string) {
  server.objects.create(configMaps, { metadata: { ...scope, name } });
}

/** What a page of informers or of a worker consists of. */
interface Page {
  readonly server: FakeApiServer;
  provided(children: Node): Node;
}

function pageOfInformers() {
  const server = createFakeApiServer({ latencyMs: LATENCY_MS });
  create(server, 'x');
  const livenessMs = Number.POSITIVE_INFINITY;
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, livenessMs });
  const factory = createInformerFactory(client, { lingerMs: LINGER_MS });
  const provided = (children: Node) =>
    createElement(InformerProvider, { client, factory }, children);
  return { server, factory, provided };
}

function pageOfWorker(): Page {
  const rig = new BrowserRig(asyncScheduler);
  create(rig.server, 'x');
  const { cluster } = rig.open();
  const provided = (children: Node) => createElement(WorkerProvider, { cluster }, children);
  return { server: rig.server, provided };
}

/** A component that notes each of its results. */
function noting<Result>(hook: () => Result) {
  const shown: Result[] = [];
  const Rows = (_: { mode?: string }) => {
    shown.push(hook());
    return null;
  };
  return { shown, Rows };
}

function rendered(page: Page) {
  const root = createRoot(container());
  onTestFinished(() => root.unmount());
  return async (children: Node, ms: number) => {
    root.render(page.provided(children));
    await clock.advance(ms);
  };
}

const words = ({ status }: { status: ListResult<unknown>['status'] }) =>
  'phase' in status ? describeStatus(status as never).text : '';

describe('rows of a component that React shows again', () => {
  const shownAgain = async <Result>(page: Page, hook: () => Result) => {
    const { shown, Rows } = noting(hook);
    const render = rendered(page);
    const show = (mode: 'visible' | 'hidden', ms: number) =>
      render(createElement(Activity, { mode, children: createElement(Rows, { mode }) }), ms);
    await show('visible', 3_000);
    await show('hidden', 60_000);
    create(page.server, 'y');
    shown.splice(0);
    await show('visible', 10_000);
    return shown;
  };

  it.each([
    ['an informer', pageOfInformers],
    ['a worker', pageOfWorker],
  ])(
    'V21: are stale and not live until the next answer, which takes their place (%s)',
    async (title, page) => {
      const shown = await shownAgain(page(), () => useList(configMaps, listed));
      const answer = shown.findIndex(({ rows }) => rows.length === 2);
      expect(answer).toBeGreaterThan(0);
      // A worker forgets the rows that no tab asks for.
      if (title === 'an informer') expect(shown[0]?.rows.length).toBe(1);
      for (const { rows, synced, stale, status } of shown.slice(0, answer)) {
        expect([rows.length > 0 ? stale : !synced, status.live ?? false]).toEqual([true, false]);
        expect(words({ status })).not.toMatch(/^Live/);
      }
      expect(shown.at(-1)).toMatchObject({ synced: true, stale: false, status: { live: true } });
    },
  );

  it('V21: useObject does not show the former object as live', async () => {
    const page = pageOfInformers();
    const shown = await shownAgain(page, () => useObject(configMaps, { ...scope, name: 'x' }));
    const answer = shown.findIndex(({ stale }) => !stale);
    expect(answer).toBeGreaterThan(0);
    for (const { object, status } of shown.slice(0, answer)) {
      expect([object?.metadata.name, status.live]).toEqual(['x', false]);
    }
    expect(shown.at(-1)).toMatchObject({ synced: true, stale: false, status: { live: true } });
  });
});

describe('rows from before a stop', () => {
  it('V17: stay stale from the stop of the factory to the answer after its start', async () => {
    const page = pageOfInformers();
    const { shown, Rows } = noting(() => useList(configMaps, listed));
    await rendered(page)(createElement(Rows), 3_000);
    shown.splice(0);
    void page.factory.stop();
    await clock.advance(1_000);
    page.factory.start();
    await clock.advance(3_000);
    expect(shown.map(({ rows, synced, stale }) => [rows.length, synced !== stale])).toEqual(
      shown.map(() => [1, true]),
    );
    expect(shown.at(-1)).toMatchObject({ synced: true, stale: false });
  });

  it('V17: useInformer requests nothing of a removed informer, whatever informer is created next', async () => {
    const page = pageOfInformers();
    const { shown, Rows } = noting(() => useInformer(configMaps, scope));
    await rendered(page)(createElement(Rows), 3_000);
    expect(shown.at(-1)?.status.live).toBe(true);
    void page.factory.stop(configMaps, scope);
    await clock.advance(1_000);
    page.server.clearRequests();
    page.factory.informer(pods, scope);
    page.factory.start();
    await clock.advance(3_000);
    const requested = page.server.requests.filter(({ path }) => path.includes('configmaps'));
    expect([requested.length, shown.at(-1)?.isStopped]).toEqual([0, true]);
    page.factory.informer(configMaps, scope);
    await clock.advance(3_000);
    expect(shown.at(-1)?.status.live).toBe(true);
  });

  it('V17: the status of all forgets a removed informer once another one has taken its place', async () => {
    const page = pageOfInformers();
    const fault = page.server.faults.failNext(undefined, { status: 403, times: 99 });
    const status = noting(() => useStatus());
    const held = noting(() => useInformer(configMaps, scope));
    const all = [status.Rows, held.Rows].map((Each, key) => createElement(Each, { key }));
    await rendered(page)(all, 3_000);
    expect(status.shown.at(-1)?.error).toMatchObject({ code: 403 });
    void page.factory.stop(configMaps, scope);
    fault.heal();
    await clock.advance(1_000);
    page.factory.informer(configMaps, scope);
    page.factory.start();
    await clock.advance(3_000);
    expect(status.shown.at(-1)).toMatchObject({ synced: true, error: undefined });
  });

  it('V17: stay stale while another component creates the removed informer again', async () => {
    const page = pageOfInformers();
    const { shown, Rows } = noting(() => useList(configMaps, listed));
    const Other = () => {
      useInformer(configMaps, scope);
      return null;
    };
    const render = rendered(page);
    const rows = createElement(Rows, { key: 'rows' });
    await render([rows], 3_000);
    void page.factory.stop(configMaps, scope);
    await clock.advance(1_000);
    shown.splice(0);
    create(page.server, 'y');
    await render([rows, createElement(Other, { key: 'other' })], 3_000);
    const answer = shown.findIndex(({ rows }) => rows.length === 2);
    expect(shown.slice(0, answer).map(({ rows, stale }) => [rows.length, stale])).toEqual(
      shown.slice(0, answer).map(() => [1, true]),
    );
    expect(shown.at(-1)).toMatchObject({ synced: true, stale: false });
  });
});

describe('the status of all components', () => {
  const read = {
    useList: () => useList(configMaps, scope),
    useObject: () => useObject(configMaps, { ...scope, name: 'x' }),
    useInformer: () => useInformer(configMaps, scope),
  };
  const shownWithout = async (page: ReturnType<typeof pageOfInformers>, hook: () => unknown) => {
    page.server.faults.failNext(undefined, { status: 403, times: Number.POSITIVE_INFINITY });
    const status = noting(() => useStatus());
    const rows = noting(hook);
    const render = rendered(page);
    const all = createElement(status.Rows, { key: 'status' });
    await render([all, createElement(rows.Rows, { key: 'rows' })], 3_000);
    const during = status.shown.at(-1);
    await render([all], 3_000);
    return { during, after: status.shown.at(-1) };
  };

  it.each(Object.entries(read))('V8: counts what %s reads until it leaves', async (_, hook) => {
    const { during, after } = await shownWithout(pageOfInformers(), hook);
    expect(during).toMatchObject({ synced: false, error: { code: 403 } });
    expect(after).toMatchObject({ synced: false, error: undefined });
    expect(after?.status).toEqual({ refusedRows: [] });
  });

  it('V8: counts a view of useView until it leaves', async () => {
    const page = pageOfInformers();
    const informer = page.factory.informer(configMaps, scope);
    page.factory.start();
    onTestFinished(() => page.factory.stop());
    const view = toView(informer.changes$);
    const { during, after } = await shownWithout(page, () => useView(view));
    expect(during?.error).toMatchObject({ code: 403 });
    expect(after).toMatchObject({ error: undefined, status: { refusedRows: [] } });
  });
});
