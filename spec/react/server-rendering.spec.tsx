/** Tests the hooks in a server render, where nothing is committed. */
import { type ReactElement, Suspense } from 'react';
import { renderToString } from 'react-dom/server';
import { createClient, createInformerFactory, liveQuery, toView } from 'rx-informer';
import {
  InformerProvider,
  useInformer,
  useList,
  useObject,
  useQuery,
  useQueryStatus,
  useStatus,
  useSuspenseList,
  useSuspenseQuery,
  useView,
} from 'rx-informer/react';
import { nodes, pods } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';

function render(element: ReactElement) {
  const server = createFakeApiServer();
  server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  // A started factory starts each informer that is requested.
  const factory = createInformerFactory(client);
  factory.start();
  const app = (
    <InformerProvider client={client} factory={factory}>
      {element}
    </InformerProvider>
  );
  const text = renderToString(app);
  /** The paths of all requests up to the list of the nodes, which nothing on the page requests. */
  const requested = async () => {
    await factory.informer(nodes).whenSynced();
    await factory.stop();
    return [...new Set(server.requests.map(({ path }) => path))];
  };
  return { text, requested };
}

describe('a server render', () => {
  it('V10: gives the empty answer, without a request and without a subscription', async () => {
    let subscriptions = 0;
    const view = toView(
      new Observable<never>(() => {
        subscriptions++;
      }),
    );
    function All() {
      const list = useList(pods, { namespace: 'shop' });
      const query = useQuery(liveQuery({ from: pods }));
      const own = useView(view);
      const { object, synced } = useObject(pods, { namespace: 'shop', name: 'web' });
      const informer = useInformer(pods);
      const status = [useStatus(), useQueryStatus(liveQuery({ from: pods }))];
      return JSON.stringify([list, query.rows, own.rows, object, synced, informer, ...status]);
    }
    const { text, requested } = render(<All />);
    const paths = await requested();
    expect(JSON.parse(text.replaceAll('&quot;', '"'))).toEqual([
      { rows: [], total: 0, synced: false, stale: false, status: { refusedRows: [] } },
      [],
      [],
      null,
      false,
      null,
      { rows: [], total: 0, synced: false, stale: false, status: { refusedRows: [] } },
      { rows: [], total: 0, synced: false, stale: false, status: { refusedRows: [] } },
    ]);
    expect(paths).toEqual(['/api/v1/nodes']);
    expect(subscriptions).toBe(0);
  });

  it('V8: useStatus refuses what is neither a view nor an informer', () => {
    function Status() {
      return useStatus(liveQuery({ from: pods }) as never).error?.message;
    }
    expect(() => render(<Status />)).toThrow(/^useStatus: .*call useQueryStatus\(query\)$/);
  });

  it('V8: useQueryStatus refuses null as liveQuery does', () => {
    const Status = () => useQueryStatus(null as never).error?.message;
    expect(() => render(<Status />)).toThrow(/^liveQuery: /);
  });

  it('V14: a suspending hook gives the empty answer, without a request', async () => {
    const List = () =>
      `${useSuspenseList(pods).rows.length} ${useSuspenseQuery(liveQuery({ from: pods })).synced}`;
    const { text, requested } = render(
      <Suspense fallback="loading">
        <List />
      </Suspense>,
    );
    const paths = await requested();
    expect(text).toContain('0 false');
    expect(paths).toEqual(['/api/v1/nodes']);
  });

  it('V5: a function without a key is refused, and the message says what to pass', () => {
    const where = { project: () => 1 };
    const Wrong = () => useList(pods, { select: where as never }).total;
    expect(() => render(<Wrong />)).toThrow(
      'liveQuery: select.key is undefined; it must be text that names the function',
    );
    const Bare = () => useList(pods, { where: (() => true) as never }).total;
    expect(() => render(<Bare />)).toThrow(/liveQuery: where is a function/);
  });

  it('V10: a hook without a provider says so', () => {
    const Lost = () => useList(pods).total;
    expect(() => renderToString(<Lost />)).toThrow(
      'useList: there is no <InformerProvider> above this component',
    );
  });

  it('V6: the name of an object must not be empty', () => {
    const Nameless = () => String(useObject(pods, { name: '' }).synced);
    expect(() => render(<Nameless />)).toThrow('useObject: name is ""');
  });

  it('V10: of any number of pages with one client keeps nothing from one to the next', () => {
    const client = createClient({ baseUrl: 'http://fake', fetch: createFakeApiServer().fetch });
    const List = () => `${useList(pods).total} Pods`;
    for (let page = 0; page < 150; page++) {
      const app = (
        <InformerProvider client={client} options={{ resources: [] }}>
          <List />
        </InformerProvider>
      );
      expect(renderToString(app)).toBe('0 Pods');
    }
  });
});
