/**
 * Collections whose kind differs from the resource's: they fail with one clear error, and never sync an empty store.
 */
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
import { projections } from '../support/projections.ts';

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

/** Runs an informer until its first failure. */
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
    'W15: the list fails and blocks as wrong-kind, and nothing is synced (%s)',
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
      // The list is retried, like after every other blocking cause.
      const asked = server.requests.length;
      await time.advance(60_000);
      expect(server.requests.length).toBeGreaterThan(asked);
      expect(server.requests.length).toBeLessThan(asked + 20);
      expect(statuses.some(({ synced }) => synced)).toBe(false);
      expect(informer.status.blocked).toBe('wrong-kind');
    },
  );

  it.each(['stream', 'pages'] as const)(
    'W15: an empty collection of another kind is recognized by the kind of its list or bookmark (%s)',
    async (initialList) => {
      const { time, client } = rig(0);
      const source = createListWatch(client, wrong);
      const { informer, refused } = await firstFailure({ time }, source, initialList);
      expect(informer.status.blocked).toBe('wrong-kind');
      expect(refused).toMatchObject({ reason: 'WrongKind' });
    },
  );

  it('W15: a list of another kind also fails for a polled informer', async () => {
    const { time, client } = rig(3);
    const timing = { scheduler: time, intervalMs: 1_000 };
    const source = createPollingListWatch(createListWatch(client, wrong), timing);
    const { informer } = await firstFailure({ time }, source);
    expect(informer.status).toMatchObject({ blocked: 'wrong-kind', synced: false });
  });

  it('W15: a collection requested as metadata, as a table or without a kind is accepted', async () => {
    const { time, client } = rig(3);
    const factory = createDynamicInformerFactory(client, { scheduler: time, projections });
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
  it('W15: a list of another kind fails before its first object is emitted, however its body is cut', () => {
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

  it('W15: a list of kind List, of another apiVersion or of items without a kind is accepted', () => {
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

  it('W15: a body without a kind, or of kind Status, is not reported as a list of another kind', () => {
    for (const head of [{}, { kind: '' }, { kind: 'Status' }, { kind: 7 }]) {
      expect(list([JSON.stringify({ ...head, metadata: {}, items: [] })]).reason).toBe(
        'Unexpected',
      );
    }
  });
});

describe('a streaming list', () => {
  const failureOf = (...lines: string[]) => watch(lines).failure;

  it('W15: a streaming list whose objects are all of another kind fails at its end mark', () => {
    const { out, failure, refusals } = watch([
      event('ADDED', node),
      event('ADDED', node),
      bookmark(undefined, end),
    ]);
    expect([out, refusals.length]).toEqual([[], 2]);
    expect(failure).toBe(
      'every object (2) is of another kind; the last: pods: expected a Pod, got a Node. Correct the kind or the plural of the resource',
    );
    expect(failureOf(event('ADDED', { ...node, kind: 'Table' }), bookmark('Pod', end))).toMatch(
      /got a Table/,
    );
  });

  it('W15: a streaming list whose end mark has another kind fails at the end mark', () => {
    expect(failureOf(event('ADDED', pod), bookmark('Node', end))).toBe(
      'pods: expected a bookmark of kind Pod, got "Node". Correct the kind or the plural of the resource',
    );
  });

  it('W15: an object of the right kind that is refused for another reason shows that the kind is right', () => {
    const nameless = event('ADDED', { kind: 'Pod' });
    expect(failureOf(event('ADDED', node), nameless, bookmark('Pod', end))).toBe(undefined);
  });

  it('W15: a streaming list with one object of the right kind skips the others (D7), and a plain watch skips all of them', () => {
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
  /** Lists these pages. An empty page stands for a page whose objects are all of another kind. */
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

  it('W15: a list fails if every object of all its pages is of another kind', () => {
    expect(paged([])).toEqual(['WrongKind']);
    expect(paged([], [])).toEqual(['WrongKind']);
  });

  it('W15: a page of another kind is refused if another page has an object of the right kind (D7)', () => {
    expect(paged([], [pod as Anything], [])).toEqual(['part', 'listed']);
    expect(
      list([JSON.stringify({ kind: 'List', metadata: {}, items: [node, pod] })]),
    ).toMatchObject({ out: [pod], failure: undefined });
  });

  it('W15: a list of kind List fails if all its objects are of another kind', async () => {
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
    expect(informer.status).toMatchObject({
      blocked: 'wrong-kind',
      synced: false,
      refusedItems: 1,
    });
    expect(informer.status.error?.message).toMatch(/every object \(1\) is of another kind/);
  });
});
