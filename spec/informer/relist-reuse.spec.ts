/** Relists that do not parse objects again whose UIDs and versions are the stored ones. */
import {
  createClient,
  createListWatch,
  createPollingListWatch,
  createSharedInformer,
  differentialDecoding,
  type SharedInformerOptions,
} from 'rx-informer';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { replaced, rereadIfDoubted } from '../../lib/reflector/lists.ts';
import {
  initialMemory,
  type Memory,
  type Moment,
  type ReflectorConfig,
} from '../../lib/reflector/state.ts';
import { pods, word } from '../reflector/rig.ts';
import type { Pod } from '../reflector/script.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../store/sets.ts';

type Labelled = Pod & { metadata: { labels?: Record<string, string> } };

const named = (name: string, colour: string) =>
  ({ metadata: { name, namespace: 'd', labels: { colour } } }) as unknown as Labelled;

/** An informer of three pods, which have been listed. */
async function synced(options: SharedInformerOptions<Pod>, polls = false) {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time });
  for (const name of ['a', 'b', 'c']) server.objects.create(pods, named(name, 'red'));
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
  const decoding = differentialDecoding();
  const listWatch = createListWatch(client, pods, { scheduler: time, decoding: () => decoding });
  const source = polls
    ? createPollingListWatch(listWatch, { scheduler: time, random: () => 0, intervalMs: 60_000 })
    : listWatch;
  const informer = createSharedInformer(source, { scheduler: time, random: () => 0.5, ...options });
  onTestFinished(() => informer.stop());
  const sets: string[] = [];
  informer.changes$.subscribe((set) => sets.push(brief(set)));
  informer.start();
  await time.advance(1_000);
  const colour = (name: string) =>
    (informer.indexer.getByKey(`d/${name}`) as Labelled | undefined)?.metadata.labels?.['colour'];
  const recolour = (name: string, to: string) =>
    server.objects.modify(pods, { namespace: 'd', name }, (pod) => {
      (pod as Labelled).metadata.labels = { colour: to };
    });
  const requested = () => server.requests.map(word).join(' ');
  return { time, server, informer, decoding, sets, colour, recolour, requested };
}

const ways: Record<string, SharedInformerOptions<Pod>> = {
  'in pages': { initialList: 'pages' },
  'as a streaming LIST': { initialList: 'stream' },
};

describe.each(Object.entries(ways))('a relist %s', (_way, options) => {
  it('D18: parses only the objects that changed, and the others stay the same', async () => {
    const { time, server, informer, decoding, sets, colour, recolour } = await synced(options);
    const before = informer.indexer.getByKey('d/a');
    expect(decoding.counts).toEqual({ compared: 0, parsed: 3, unchanged: 0 });
    server.faults.dropWatches();
    recolour('b', 'blue');
    server.objects.compact();
    await time.advance(60_000);
    expect(informer.status).toMatchObject({ phase: 'watching', relists: 1 });
    expect(decoding.counts).toMatchObject({ parsed: 4, unchanged: 2 });
    expect([colour('a'), colour('b')]).toEqual(['red', 'blue']);
    expect(informer.indexer.getByKey('d/a')).toBe(before);
    expect(sets.at(-1)).toBe('relist* ~d/b@3>5');
  });

  it('D18, S9: a list that is older than a version already seen is requested again and parsed completely', async () => {
    const { time, server, informer, decoding, colour, recolour } = await synced(options);
    const backup = server.objects.snapshot();
    recolour('a', 'blue');
    recolour('b', 'blue');
    await time.advance(1_000);
    server.objects.restoreSnapshot(backup);
    recolour('a', 'green');
    const { unchanged } = decoding.counts;
    await time.advance(300_000);
    // The version of `a` is the one that it had before with the other colour.
    expect([colour('a'), colour('b'), colour('c')]).toEqual(['green', 'red', 'red']);
    expect(decoding.counts.unchanged).toBeGreaterThan(unchanged);
    expect(informer.status).toMatchObject({ phase: 'watching', synced: true });
  });
});

describe.each(Object.entries(ways))('a run that begins %s', (_way, options) => {
  it('S16: takes nothing from what an earlier run kept, so a damaged object stays repaired', async () => {
    const { time, server, informer, decoding, colour } = await synced({
      ...options,
      mutationGuard: 'off',
    });
    const phase = async (to: string) => {
      server.objects.modify(pods, { namespace: 'd', name: 'a' }, (pod) => {
        (pod as { status?: object }).status = { phase: to };
      });
      await time.advance(1_000);
    };
    for (const to of ['one', 'two', 'three', 'four']) await phase(to);
    expect(decoding.counts.compared).toBeGreaterThan(0);
    const cached = informer.indexer.getByKey('d/a') as Labelled;
    (cached.metadata.labels as Record<string, string>)['colour'] = 'damaged';
    await informer.stop();
    informer.start();
    await time.advance(1_000);
    expect(colour('a')).toBe('red');
    await phase('five');
    expect(colour('a')).toBe('red');
  });
});

describe('a kind that is polled', () => {
  it('D18, W13: a poll parses only what changed, and everything if its list is older', async () => {
    const { time, server, decoding, colour, recolour } = await synced({}, true);
    recolour('b', 'blue');
    await time.advance(70_000);
    expect(decoding.counts).toMatchObject({ parsed: 4, unchanged: 2 });
    const backup = server.objects.snapshot();
    recolour('a', 'blue');
    recolour('c', 'blue');
    await time.advance(60_000);
    server.objects.restoreSnapshot(backup);
    // The version of `a` is the one that it had with the other colour.
    recolour('a', 'green');
    await time.advance(60_000);
    expect([colour('a'), colour('b'), colour('c')]).toEqual(['green', 'blue', 'red']);
  });
});

describe('a list that was requested again because it was older', () => {
  it('S9, D18: it is compared by its content, even if its version is newer by then, and not requested a third time', () => {
    const memory: Memory = {
      ...{ ...initialMemory(0), synced: true },
      ...{ resourceVersion: '10', rereading: true },
    };
    const config = { scope: undefined } as ReflectorConfig;
    const moment = { nowMs: 0, random: 0, config } as Moment;
    const [next, effects] = replaced(memory, { items: [], resourceVersion: '12' }, moment);
    expect(effects).toMatchObject([{ type: 'emit', deltas: [{ trustVersions: false }] }]);
    expect(next.rereading).toBe(false);
    // A ListerWatcher of a user may mark its objects as unparsed whatever was requested.
    expect(rereadIfDoubted(memory, true, '5', moment)).toBeUndefined();
  });
});
