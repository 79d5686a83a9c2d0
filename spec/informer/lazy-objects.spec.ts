/** Informers of lazy objects: what they parse, and what their states share. */
import {
  addEventHandler,
  byNamespace,
  createClient,
  createLister,
  createListWatch,
  createSharedInformer,
  lazyDecoding,
  liveFilter,
  liveSort,
  NAMESPACE_INDEX,
  type SharedInformerOptions,
  toView,
} from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, vi } from 'vitest';
import { unparsed } from '../decode/lazy/unread.ts';
import { pods } from '../reflector/rig.ts';
import type { Pod } from '../reflector/script.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

interface Full extends Pod {
  spec: { nodeName: string; containers: { name: string }[] };
  status: { phase: string };
}

const named = (name: string, colour: string) =>
  ({
    metadata: { name, namespace: 'd', labels: { colour } },
    spec: { nodeName: 'n1', containers: [{ name: 'main' }] },
    status: { phase: 'Pending' },
  }) as unknown as Full;

/** An informer of three Pods, which have been listed. */
async function synced(options: SharedInformerOptions<Pod, string> = {}) {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time });
  for (const name of ['a', 'b', 'c']) server.objects.create(pods, named(name, 'red'));
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
  const listWatch = createListWatch(client, pods, { scheduler: time, decoding: lazyDecoding });
  const informer = createSharedInformer(listWatch, {
    scheduler: time,
    random: () => 0.5,
    ...options,
  });
  informer.start();
  await time.advance(1_000);
  const get = (name: string) => informer.indexer.getByKey(`d/${name}`) as unknown as Full;
  const modify = async (name: string, change: (pod: Full) => void) => {
    server.objects.modify(pods, { namespace: 'd', name }, (pod) => change(pod as Full));
    await time.advance(1_000);
  };
  return { time, server, informer, get, modify };
}

const ways: Record<string, SharedInformerOptions<Pod, string>> = {
  'in pages': { initialList: 'pages' },
  'as a streaming LIST': { initialList: 'stream' },
};

describe.each(Object.entries(ways))('an informer of lazy objects listed %s', (_way, way) => {
  it('D33: indices, selectors, queries and handlers of metadata, relists and resyncs parse nothing more', async () => {
    const { time, server, informer, modify } = await synced({
      ...way,
      resyncPeriodMs: 120_000,
      indexers: { [NAMESPACE_INDEX]: byNamespace },
    });
    const parse = vi.spyOn(JSON, 'parse');
    const calls: string[] = [];
    addEventHandler(informer, {
      onAdd: ({ metadata }) => calls.push(`+${metadata.name}`),
      onUpdate: (_previous, { metadata }) => calls.push(`~${metadata.name}`),
      onDelete: ({ key }) => calls.push(`-${key}`),
    });
    const view = toView(
      informer.changes$.pipe(
        liveFilter(({ metadata }) => metadata?.name !== 'c'),
        liveSort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1)),
      ),
    );
    view.subscribe(() => undefined);
    const lister = createLister(informer, pods);
    await modify('a', (pod) => {
      pod.status = { phase: 'Running' };
    });
    server.objects.delete(pods, { namespace: 'd', name: 'c' });
    server.faults.dropWatches();
    await modify('b', (pod) => {
      Object.assign(pod.metadata, { labels: { colour: 'blue' } });
    });
    server.objects.compact();
    await time.advance(60_000);
    expect(informer.status).toMatchObject({ phase: 'watching' });
    await time.advance(200_000);
    expect(lister.list('colour=blue').map(({ metadata }) => metadata.name)).toEqual(['b']);
    expect(lister.byIndex(NAMESPACE_INDEX, 'd')).toHaveLength(2);
    expect(view.getSnapshot().rows.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(calls.join(' ')).toMatch(/^\+a \+b \+c ~a .*-d\/c.*~b/);
    const held = informer.indexer.list();
    await informer.stop();
    expect(unparsed(held)).toBe(4);
    // The server of the test parses complete objects.
    const members = parse.mock.calls.filter(([text]) => /^\{"(?:nodeName|phase)"/.test(text));
    expect(members).toEqual([]);
    parse.mockRestore();
  });

  it('D33, S9: a restart compares the texts of members that were not read, and parses only those that were', async () => {
    const { time, informer, get } = await synced(way);
    const held = informer.indexer.list();
    const { spec } = get('a');
    await informer.stop();
    const parse = vi.spyOn(JSON, 'parse');
    informer.start();
    await time.advance(1_000);
    const members = parse.mock.calls.filter(([text]) => /^\{"(?:nodeName|phase)"/.test(text));
    parse.mockRestore();
    expect(informer.status).toMatchObject({ live: true });
    expect(informer.indexer.list()).toEqual(held);
    for (const [index, object] of informer.indexer.list().entries())
      expect(object).toBe(held[index]);
    expect(get('a').spec).toBe(spec);
    expect(members).toHaveLength(1);
  });

  it('D33, S9: a restart notices other content under the same version, in read and unread members', async () => {
    const { time, server, informer, get, modify } = await synced(way);
    const snapshot = server.objects.snapshot();
    const move = async (nodeName: string) => {
      for (const name of ['a', 'b']) {
        await modify(name, (pod) => {
          pod.spec.nodeName = nodeName;
        });
      }
    };
    await move('n2');
    void get('a').spec;
    const held = ['a', 'b'].map(get);
    await informer.stop();
    // The server was restored, and assigns the same versions to other states.
    server.objects.restoreSnapshot(snapshot);
    await move('n9');
    informer.start();
    await time.advance(1_000);
    const now = ['a', 'b'].map(get);
    const versionsOf = (pods: Full[]) => pods.map(({ metadata }) => metadata.resourceVersion);
    expect(versionsOf(now)).toEqual(versionsOf(held));
    expect(now.map(({ spec }) => spec.nodeName)).toEqual(['n9', 'n9']);
  });

  it('D34: an unread member with the same text is the same in the next state', async () => {
    const { get, modify } = await synced(way);
    const before = get('a');
    await modify('a', (pod) => {
      pod.status = { phase: 'Running' };
    });
    const after = get('a');
    expect(unparsed([before, after])).toBe(4);
    expect(after.spec).toBe(before.spec);
    expect([before.status.phase, after.status.phase]).toEqual(['Pending', 'Running']);
  });

  it('D34, S60: the unchanged parts of a member that was read are the same in a later state', async () => {
    const { get, modify } = await synced(way);
    const { spec } = get('a');
    for (const phase of ['Running', 'Failed']) {
      await modify('a', (pod) => {
        pod.status = { phase };
      });
    }
    expect(get('a').spec === spec).toBe(true);
    await modify('a', (pod) => {
      pod.spec.nodeName = 'n2';
    });
    expect(get('a').spec.containers === spec.containers).toBe(true);
    expect([spec.nodeName, get('a').spec.nodeName]).toEqual(['n1', 'n2']);
  });

  it('D31, S16: the guard freezes stored objects without reading them', async () => {
    const { get } = await synced({ ...way, mutationGuard: 'freeze' });
    const pod = get('a');
    expect(unparsed([pod])).toBe(2);
    expect(Object.isFrozen(pod)).toBe(true);
    expect(() => {
      (pod.spec as { nodeName: string }).nodeName = 'n2';
    }).toThrow(TypeError);
    expect(unparsed([pod])).toBe(1);
  });
});
