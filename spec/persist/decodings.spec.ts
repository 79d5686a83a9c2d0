/** Tests that stored objects are read as they were in the store, with each decoding. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type Decoding,
  differentialDecoding,
  jsonDecoding,
  type KubernetesObject,
  projectedDecoding,
  snapshotsIn,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { deepJson } from '../../lib/persist/deep-json.ts';
import { readStored, storedJson } from '../../lib/persist/stored-json.ts';
import { seedsUpTo } from '../support/campaign.ts';
import { MemoryStore } from './memory-store.ts';

/** Random members of objects: names and texts that are written in an unusual way are among them. */
function randomObject(random: () => number): KubernetesObject {
  const pick = <V>(values: readonly V[]): V => values[Math.floor(random() * values.length)] as V;
  const text = () => pick(['', 'a', '\n', 'ü\u2028😀', '"},\n{"', '\\', 'x'.repeat(100)]);
  const value = (depth: number): unknown => {
    const dice = random();
    if (depth > 3 || dice < 0.3) return pick([null, true, 0, -1.5e300, 1e21, text(), [], {}]);
    if (dice < 0.6) return Array.from({ length: 3 }, () => value(depth + 1));
    return Object.fromEntries(
      ['a', 'b\n', '__proto__', '7'].map((name) => [name, value(depth + 1)]),
    );
  };
  const metadata = { name: 'a', uid: text(), annotations: { [text()]: text() } };
  const members: [string, unknown][] = [
    ['kind', 'Pod'],
    ['apiVersion', 'v1'],
    ['metadata', metadata],
  ];
  for (const name of ['spec', 'status', 'data']) {
    if (random() < 0.5) members.push([name, value(0)]);
  }
  for (const name of ['ü', 'with\nbreak', '12', '__proto__']) {
    if (random() < 0.1) members.push([name, value(0)]);
  }
  if (random() < 0.3) members.reverse();
  return Object.fromEntries(members) as unknown as KubernetesObject;
}

describe('a stored object', () => {
  it('P32: a warm start shows what a list has shown, with each decoding, also with a projection', async () => {
    const server = createFakeApiServer();
    const names = ['a', 'b', 'c'];
    for (const name of names) {
      server.objects.create(pods, {
        metadata: { namespace: 'shop', name, labels: { app: name } },
        spec: {
          containers: [{ name, image: `registry.example.com/${name}:1`, args: ['ü', '\n'] }],
        },
        status: { phase: 'Running', message: `${name} is running`.repeat(5) },
      });
    }
    const store = new MemoryStore();
    const start = async (decoding: () => Decoding) => {
      const persist = snapshotsIn(store, { identity: 'alice', kinds: [pods], env: 'stored' });
      const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
      const informer = createSharedInformer(createListWatch(client, pods, { decoding }), {
        persist,
      });
      let wasStale = false;
      informer.status$.subscribe(({ stale }) => {
        wasStale ||= stale === true;
      });
      informer.start();
      await informer.whenSynced();
      await informer.stop();
      await persist.close();
      return { wasStale, objects: informer.indexer.list() };
    };
    const projected = () =>
      projectedDecoding({ project: ['spec.containers.image', 'status.phase'] });
    for (const decoding of [jsonDecoding, differentialDecoding, projected]) {
      const listed = await start(decoding);
      expect(listed.wasStale).toBe(false);
      const { wasStale, objects } = await start(decoding);
      expect(wasStale).toBe(true);
      expect(JSON.stringify(objects)).toBe(JSON.stringify(listed.objects));
      store.collections.clear();
    }
  });

  it('P32: is read as it was stored, in the order of its members, whatever its names and texts', () => {
    const random = seededRandom(1);
    for (let count = 0; count < 800; count++) {
      const object = randomObject(random);
      const [read] = readStored([storedJson(object, 'stored')]);
      expect(JSON.stringify(read)).toBe(JSON.stringify(object));
    }
  });

  it.each(['stored', 'left-out'] as const)(
    'P32: an object with 9,000 levels is stored and read like any other (env: %s)',
    (env) => {
      const levels = 9_000;
      const deep = `${'{"k":[1,'.repeat(levels)}null${']}'.repeat(levels)}`;
      const spec = `{"containers":[{"env":[{"name":"A","value":"secret"},1,null]}],"deep":${deep},"no":{},"none":[]}`;
      const text = `{"kind":"Widget","metadata":{"name":"a","namespace":"shop","uid":"u1"},"spec":${spec}}`;
      const json = storedJson(JSON.parse(text) as KubernetesObject, env);
      const secret = ',"value":"secret"';
      const written = new TextDecoder().decode(json);
      expect(written === (env === 'stored' ? text : text.replace(secret, ''))).toBe(true);
      const [read] = readStored<KubernetesObject & { spec: { deep: unknown } }>([json]);
      expect(read?.metadata?.name).toBe('a');
      let inner = read?.spec.deep;
      let depth = 0;
      for (; inner !== null; depth++) inner = (inner as { k: unknown[] }).k[1];
      expect(depth).toBe(levels);
    },
  );

  it('P32: the JSON that is written without recursion is that of JSON.stringify', () => {
    const special = {
      ...{ a: undefined, b: () => 1, c: [undefined, () => 1, new Date(0)], d: new Date(1) },
      ...{ e: { env: [{ name: 'A', value: 'x' }, 1] }, f: Number.NaN, '"': '\u2028', g: [[], {}] },
    };
    const objects: unknown[] = [special, [special], 1, 'a', null, undefined, new Date(0)];
    objects.push(...seedsUpTo(50).map((seed) => randomObject(seededRandom(seed))));
    for (const each of objects) {
      expect(deepJson(each, 'spec', (value) => value)).toBe(JSON.stringify(each));
    }
  });
});
