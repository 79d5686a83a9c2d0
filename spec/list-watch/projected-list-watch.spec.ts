/** Metadata and tables: their requests, their objects, and servers that ignore the projection. */
import {
  createClient,
  createListWatch,
  createMetadataListWatch,
  createSharedInformer,
  createTableListWatch,
  type Fetch,
  type TableColumn,
} from 'rx-informer';
import { nodes, pods } from 'rx-informer/resources';
import { firstValueFrom, lastValueFrom, NEVER } from 'rxjs';
import { filter, toArray } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';

interface Sent {
  readonly path: string;
  readonly accept: string;
  readonly query: Readonly<Record<string, string>>;
}

/** A client whose lists return these bodies, the last of them repeatedly, and whose watches emit these events. */
function scripted(lists: readonly unknown[], events: readonly unknown[] = []) {
  const sent: Sent[] = [];
  let at = 0;
  const fetch: Fetch = async (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    const accept = new Headers(init?.headers).get('accept') ?? '';
    sent.push({ path: pathname, accept, query: Object.fromEntries(searchParams) });
    if (searchParams.get('watch') !== 'true') {
      return Response.json(lists[Math.min(at++, lists.length - 1)]);
    }
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        init?.signal?.addEventListener('abort', () => controller.error(new Error('aborted')));
        const text = events.map((each) => `${JSON.stringify(each)}\n`).join('');
        controller.enqueue(new TextEncoder().encode(text));
      },
    });
    return new Response(body);
  };
  return { sent, client: createClient({ baseUrl: 'http://scripted', fetch }) };
}

const apiVersion = 'meta.k8s.io/v1';
const partial = (name: string, version: number) => ({
  kind: 'PartialObjectMetadata',
  apiVersion,
  metadata: { name, namespace: 'shop', uid: `u-${name}`, resourceVersion: String(version) },
});
const row = (name: string, version: number, ...cells: unknown[]) => ({
  cells: [name, ...cells],
  object: partial(name, version),
});
const column = (name: string): TableColumn => ({
  name,
  type: 'string',
  format: '',
  description: '',
  priority: 0,
});
const table = (version: number, rows: unknown[], columns: string[] = []) => ({
  kind: 'Table',
  apiVersion,
  metadata: { resourceVersion: String(version) },
  columnDefinitions: columns.length === 0 ? null : columns.map(column),
  rows,
});
/** Gives both functions one type, because the type of the objects does not matter here. */
const createRows = createTableListWatch as unknown as typeof createMetadataListWatch;
const PAGES = { initialList: 'pages' } as const;

const DROP = ';drop=metadata.managedFields';

describe('a projection', () => {
  it('W7: the Accept header names the kind of the response, which differs between a list and a watch', async () => {
    const list = {
      kind: 'PartialObjectMetadataList',
      metadata: { resourceVersion: '9' },
      items: [],
    };
    const cases = [
      {
        make: createMetadataListWatch,
        body: list,
        kinds: ['PartialObjectMetadataList', 'PartialObjectMetadata'],
      },
      { make: createRows, body: table(9, []), kinds: ['Table', 'Table'] },
    ];
    for (const { make, body, kinds } of cases) {
      const { sent, client } = scripted([body], []);
      const tweaked: string[] = [];
      const source = make(client, pods, {
        namespace: 'shop',
        labelSelector: 'app=web',
        tweak: (query) => tweaked.push(Object.keys(query).sort().join()),
      });
      expect(source.scope).toBe('shop');
      await lastValueFrom(source.list({ resourceVersion: '0' }).pipe(toArray()));
      const watching = source.watch({ resourceVersion: '9', timeoutSeconds: 300 }).subscribe();
      await new Promise((resolve) => setImmediate(resolve));
      watching.unsubscribe();
      expect(sent.map(({ accept }) => accept)).toEqual(
        kinds.map((kind) => `application/json;as=${kind};g=meta.k8s.io;v=v1${DROP}`),
      );
      for (const { path, query } of sent) {
        expect(path).toBe('/api/v1/namespaces/shop/pods');
        expect(query['labelSelector']).toBe('app=web');
        expect(query['includeObject']).toBe(kinds[0] === 'Table' ? 'Metadata' : undefined);
      }
      expect(tweaked).toHaveLength(2);
      expect(() => make(client, nodes, { namespace: 'shop' })).toThrow(/cluster-scoped/);
    }
    const { sent, client } = scripted([{ kind: 'PodList', metadata: {}, items: [] }]);
    await lastValueFrom(createListWatch(client, pods).list({ resourceVersion: '' }));
    expect(sent[0]?.accept).toBe(`application/json${DROP}, application/json`);
  });

  it('W7: listMetadata() lists with the path, selectors and tweak of list()', async () => {
    const body = {
      kind: 'PartialObjectMetadataList',
      metadata: { resourceVersion: '9', continue: 'more' },
      items: [partial('web', 5)],
    };
    for (const make of [createListWatch, createMetadataListWatch, createRows]) {
      const { sent, client } = scripted([body]);
      const source = (make as typeof createMetadataListWatch)(client, pods, {
        namespace: 'shop',
        labelSelector: 'app=web',
        fieldSelector: 'spec.nodeName=n1',
        tweak: (query) => {
          query['tweaked'] = 'yes';
        },
      });
      const page = await lastValueFrom(
        source.listMetadata?.({
          resourceVersion: '7',
          resourceVersionMatch: 'Exact',
          limit: 500,
        }) ?? NEVER,
      );
      expect(page.metadata).toEqual({ resourceVersion: '9', continue: 'more' });
      expect(sent).toEqual([
        {
          path: '/api/v1/namespaces/shop/pods',
          accept: `application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1${DROP}`,
          query: {
            labelSelector: 'app=web',
            fieldSelector: 'spec.nodeName=n1',
            limit: '500',
            resourceVersion: '7',
            resourceVersionMatch: 'Exact',
            tweaked: 'yes',
          },
        },
      ]);
    }
  });

  it('W7: listMetadata() fails if the server sends complete objects', async () => {
    const { client } = scripted([
      { kind: 'PodList', metadata: { resourceVersion: '9' }, items: [] },
    ]);
    const page = createListWatch(client, pods).listMetadata?.({ resourceVersion: '' }) ?? NEVER;
    await expect(lastValueFrom(page)).rejects.toMatchObject({ code: 406 });
  });

  it('W7: table rows are stored like other objects, also from a streaming LIST', async () => {
    const end = {
      ...row('', 9),
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    };
    const { client, sent } = scripted(
      [],
      [
        { type: 'ADDED', object: table(5, [row('web-0', 5, 'Pending')], ['Name', 'Status']) },
        { type: 'ADDED', object: table(6, [row('web-1', 6, 'Running')]) },
        { type: 'BOOKMARK', object: table(9, [end]) },
        { type: 'MODIFIED', object: table(10, [row('web-0', 10, 'Running')]) },
        { type: 'DELETED', object: table(11, [row('web-1', 11, 'Succeeded')]) },
      ],
    );
    const informer = createSharedInformer(createTableListWatch(client, pods));
    const seen: unknown[] = [];
    informer.updated$.subscribe(({ previous, object }) =>
      seen.push([previous.cells, object.cells]),
    );
    informer.deleted$.subscribe(({ key, object }) => seen.push([key, object.cells]));
    await informer.whenSynced();
    await informer.whenObserved('shop/web-1', '11');
    expect(sent).toHaveLength(1);
    expect(informer.indexer.list()).toEqual([
      {
        kind: 'TableRow',
        apiVersion,
        metadata: partial('web-0', 10).metadata,
        cells: ['web-0', 'Running'],
      },
    ]);
    expect(seen).toEqual([
      [
        ['web-0', 'Pending'],
        ['web-0', 'Running'],
      ],
      ['shop/web-1', ['web-1', 'Succeeded']],
    ]);
    await informer.stop();
  });

  it('G12: a late subscriber receives the columns immediately, and again only if they have changed', async () => {
    const { client } = scripted([
      table(5, [row('web-0', 5)], ['Name', 'Ready']),
      table(6, [row('web-0', 5)], ['Name', 'Ready']),
      table(7, [row('web-0', 5)], ['Name', 'Ready', 'Size']),
    ]);
    const source = createTableListWatch(client, pods);
    const early: string[][] = [];
    const names = (columns: readonly TableColumn[]) => columns.map(({ name }) => name);
    source.columns$.subscribe((columns) => early.push(names(columns)));
    const list = () => lastValueFrom(source.list({ resourceVersion: '' }).pipe(toArray()));
    expect(early).toEqual([]);
    await list();
    await list();
    expect(early).toEqual([['Name', 'Ready']]);
    const late: string[][] = [];
    source.columns$.subscribe((columns) => late.push(names(columns)));
    await list();
    expect(late).toEqual([
      ['Name', 'Ready'],
      ['Name', 'Ready', 'Size'],
    ]);
    expect(early).toEqual(late);
  });

  it('D11: a server that ignores the projection causes a visible error, never an empty store that is synced', async () => {
    const pod = { kind: 'Pod', apiVersion: 'v1', metadata: partial('web-0', 5).metadata };
    const end = {
      kind: 'Pod',
      metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
    };
    const { client } = scripted(
      [{ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items: [pod] }],
      [
        { type: 'ADDED', object: pod },
        { type: 'BOOKMARK', object: end },
      ],
    );
    const ways = [{}, PAGES] as const;
    const makers = [createMetadataListWatch, createRows];
    for (const way of ways) {
      for (const make of makers) {
        const informer = createSharedInformer(make(client, pods), way);
        informer.start();
        const failing = informer.status$.pipe(filter(({ phase }) => phase === 'backoff'));
        const { error } = await firstValueFrom(failing);
        expect(error).toMatchObject({ code: 406, reason: 'NotAcceptable' });
        expect(error?.message).toContain('ignores the Accept header');
        expect(informer.hasSynced).toBe(false);
        expect(informer.indexer.size).toBe(0);
        await informer.stop();
      }
    }
  });
});
