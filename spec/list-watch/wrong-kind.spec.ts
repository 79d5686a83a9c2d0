/** Collections of another kind than the resource says: one clear failure, and never an empty store that is synced. */
import {
  ApiError,
  createClient,
  createDynamicInformerFactory,
  createListWatch,
  createPollingListWatch,
  createSharedInformer,
  defineResource,
  type InformerStatus,
  type KubernetesObject,
  type ListerWatcher,
  listPages,
} from 'rx-informer';
import { nodes } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER, of } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Anything, bytes, cuts, list, watch } from '../decode/decoder.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

const wrong = defineResource<KubernetesObject>({
  ...{ group: '', version: 'v1', plural: 'nodes', kind: 'Pod', namespaced: false },
});
const COUNT = 520;

function rig(count = COUNT) {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time });
  for (let at = 0; at < count; at++) server.objects.create(nodes, { metadata: { name: `n${at}` } });
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
  return { time, server, client };
}

/** What one informer says until its first failure, and how long that took. */
async function firstFailure(
  { time }: { readonly time: VirtualTime },
  source: ListerWatcher<KubernetesObject>,
  initialList?: 'stream' | 'pages',
) {
  const informer = createSharedInformer(source, {
    ...{ name: 'nodes', scheduler: time, random: () => 0, onWarning: () => undefined },
    ...(initialList === undefined ? {} : { initialList }),
  });
  onTestFinished(() => informer.stop());
  const statuses: InformerStatus[] = [];
  informer.status$.subscribe((status) => statuses.push(status));
  informer.start();
  let refused: unknown;
  informer.whenSynced({ timeoutMs: 60_000 }).catch((error) => {
    refused = error;
  });
  await time.advance(100);
  return { informer, statuses, refused };
}

describe('a collection of another kind', () => {
  it.each(['stream', 'pages'] as const)(
    'W15: is one clear failure that blocks, and syncs nothing (%s)',
    async (initialList) => {
      const { time, server, client } = rig();
      const source = createListWatch(client, wrong);
      const { informer, statuses, refused } = await firstFailure({ time }, source, initialList);
      expect(informer.status).toMatchObject({ phase: 'backoff', blocked: 'wrong-kind' });
      expect(informer.status.error).toMatchObject({ code: 0, reason: 'WrongKind' });
      expect(informer.status.error?.retryable).toBe(false);
      const { message } = informer.status.error as ApiError;
      for (const part of ['v1/nodes', 'Pod', 'Node', 'Correct the kind or the plural']) {
        expect(message).toContain(part);
      }
      expect(refused).toMatchObject({ reason: 'WrongKind', cause: informer.status.error });
      expect([informer.indexer.size, statuses.some(({ synced }) => synced)]).toEqual([0, false]);
      // It is tried again, as whatever else blocks.
      const asked = server.requests.length;
      await time.advance(60_000);
      expect(server.requests.length).toBeGreaterThan(asked);
      expect(server.requests.length).toBeLessThan(asked + 20);
      expect(statuses.some(({ synced }) => synced)).toBe(false);
      expect(informer.status.blocked).toBe('wrong-kind');
    },
  );

  it.each(['stream', 'pages'] as const)(
    'W15: is known by the kind of its list or bookmark where it has no objects (%s)',
    async (initialList) => {
      const { time, client } = rig(0);
      const source = createListWatch(client, wrong);
      const { informer, refused } = await firstFailure({ time }, source, initialList);
      expect(informer.status.blocked).toBe('wrong-kind');
      expect(refused).toMatchObject({ reason: 'WrongKind' });
    },
  );

  it('W15: is not let in by a polled informer either', async () => {
    const { time, client } = rig(3);
    const timing = { scheduler: time, intervalMs: 1_000 };
    const source = createPollingListWatch(createListWatch(client, wrong), timing);
    const { informer } = await firstFailure({ time }, source);
    expect(informer.status).toMatchObject({ blocked: 'wrong-kind', synced: false });
  });

  it('W15: asked for as metadata, or without a kind, it is what it is', async () => {
    const { time, client } = rig(3);
    const factory = createDynamicInformerFactory(client, { scheduler: time });
    onTestFinished(() => factory.stop());
    const bare = factory.informer({ group: '', version: 'v1', plural: 'nodes' });
    const metadata = factory.informer(wrong, { as: 'metadata' });
    const table = factory.informer(wrong, { as: 'table' });
    factory.start();
    await time.advance(100);
    for (const informer of [bare, metadata, table]) expect(informer.indexer.size).toBe(3);
    expect(bare.indexer.list()[0]?.kind).toBe('Node');
  });
});

const meta = (name: string) => ({ name, uid: name, resourceVersion: '5' });
const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const end = { 'k8s.io/initial-events-end': 'true' };
const bookmark = (kind?: string, annotations?: object) =>
  event('BOOKMARK', { kind, metadata: { resourceVersion: '9', annotations } });
const pod = { kind: 'Pod', metadata: meta('a') };
const node = { kind: 'Node', metadata: meta('n') };

describe('a list body', () => {
  it('W15: of another kind fails before its first object is let in, however it is cut', () => {
    const body = `{"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[${JSON.stringify({ metadata: meta('n') })}]}`;
    for (const chunks of cuts(bytes(body))) {
      const { out, failure, reason } = list(chunks);
      expect([out, reason]).toEqual([[], 'WrongKind']);
      expect(failure).toBe(
        'pods: expected a PodList, got "NodeList". Correct the kind or the plural of the resource',
      );
    }
    const last = list([`{"items":[],"metadata":{"resourceVersion":"9"},"kind":"NodeList"}`]);
    expect(last.reason).toBe('WrongKind');
  });

  it('W15: of kind List, of another version, or of items without a type is as good as any', () => {
    const items = [{ metadata: meta('a') }];
    for (const head of [
      { kind: 'List', apiVersion: 'v1' },
      { kind: 'PodList', apiVersion: 'v2' },
      { kind: 'PodList' },
    ]) {
      const { out, failure } = list([JSON.stringify({ ...head, metadata: {}, items })]);
      expect([out.length, failure]).toEqual([1, undefined]);
    }
  });

  it('W15: without a kind, or that is a Status, is no list of another kind', () => {
    for (const head of [{}, { kind: '' }, { kind: 'Status' }, { kind: 7 }]) {
      expect(list([JSON.stringify({ ...head, metadata: {}, items: [] })]).reason).toBe(
        'Unexpected',
      );
    }
  });
});

describe('a streaming list', () => {
  const failureOf = (...lines: string[]) => watch(lines).failure;

  it('W15: of which every object is of another kind fails at its end', () => {
    const { out, failure, skipped } = watch([
      event('ADDED', node),
      event('ADDED', node),
      bookmark(undefined, end),
    ]);
    expect([out, skipped.length]).toEqual([[], 2]);
    expect(failure).toBe(
      'every object (2) is of another kind; the last: pods: expected a Pod, got a Node. Correct the kind or the plural of the resource',
    );
    expect(failureOf(event('ADDED', { ...node, kind: 'Table' }), bookmark('Pod', end))).toMatch(
      /got a Table/,
    );
  });

  it('W15: whose end says another kind fails there', () => {
    expect(failureOf(event('ADDED', pod), bookmark('Node', end))).toBe(
      'pods: expected a bookmark of kind Pod, got "Node". Correct the kind or the plural of the resource',
    );
  });

  it('W15: with an object of its kind that is skipped for another reason is of its kind', () => {
    const nameless = event('ADDED', { kind: 'Pod' });
    expect(failureOf(event('ADDED', node), nameless, bookmark('Pod', end))).toBe(undefined);
  });

  it('W15: with one object of its kind skips the others (D7), and a plain watch skips them all', () => {
    expect(failureOf(event('ADDED', node), event('ADDED', pod), bookmark('Pod', end))).toBe(
      undefined,
    );
    const { out, failure } = watch([
      bookmark('Pod', end),
      event('ADDED', node),
      bookmark('Pod'),
      bookmark('Node'),
    ]);
    expect([out.length, failure]).toEqual([3, undefined]);
    const transform = () => {
      throw new Error('no');
    };
    expect(watch([event('ADDED', pod), bookmark('Pod', end)], { transform }).failure).toBe(
      undefined,
    );
  });
});

describe('a list in pages', () => {
  const wrongKind = ApiError.local('WrongKind', 'nodes');
  /** Pages whose objects are of another kind, but for the items that are let in. */
  function paged(...pages: (readonly Anything[])[]) {
    const source: ListerWatcher<Anything> = {
      list: ({ continue: token = '0' }) => {
        const items = pages[Number(token)] ?? [];
        const next = Number(token) + 1;
        const more = next < pages.length ? { continue: String(next) } : {};
        const metadata = { resourceVersion: '9', ...more };
        return of({ items, metadata, ...(items.length === 0 ? { wrongKind } : {}) });
      },
      watch: () => NEVER,
    };
    const seen: string[] = [];
    listPages(source, { resourceVersion: '' }).subscribe({
      next: ({ kind }) => seen.push(kind),
      error: ({ reason }: ApiError) => seen.push(reason),
    });
    return seen;
  }

  it('W15: fails if every object of all its pages is of another kind', () => {
    expect(paged([])).toEqual(['WrongKind']);
    expect(paged([], [])).toEqual(['WrongKind']);
  });

  it('W15: skips a page of others where another page has its kind (D7)', () => {
    expect(paged([], [pod as Anything], [])).toEqual(['part', 'listed']);
    expect(
      list([JSON.stringify({ kind: 'List', metadata: {}, items: [node, pod] })]),
    ).toMatchObject({ out: [pod], failure: undefined });
  });

  it('W15: of kind List is judged by its objects', async () => {
    const time = new VirtualTime();
    const body = JSON.stringify({
      kind: 'List',
      metadata: { resourceVersion: '9' },
      items: [node],
    });
    const fetch = async () => new Response(body);
    const client = createClient({ baseUrl: 'http://fake', fetch, scheduler: time });
    const source = createListWatch(client, wrong, { watchList: false });
    const { informer } = await firstFailure({ time }, source);
    expect(informer.status).toMatchObject({ blocked: 'wrong-kind', synced: false, skipped: 1 });
    expect(informer.status.error?.message).toMatch(/every object \(1\) is of another kind/);
  });
});
