/** Tests that stored objects are read by the decoding of their collection. */
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type Decoding,
  differentialDecoding,
  jsonDecoding,
  type KubernetesObject,
  lazyDecoding,
  snapshotsIn,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { createFakeApiServer, seededRandom } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import type { LazyGetter } from '../../lib/meta/same-content.ts';
import { deepJson } from '../../lib/persist/deep-json.ts';
import { readStored, storedJson } from '../../lib/persist/stored-json.ts';
import { list } from '../decode/decoder.ts';
import { unparsed } from '../decode/lazy/unread.ts';
import { MemoryStore } from './memory-store.ts';

const encoder = new TextEncoder();

/** Whether a member was not parsed yet. */
function isUnread(object: object, name: string): boolean {
  const getter: LazyGetter | undefined = Object.getOwnPropertyDescriptor(object, name)?.get;
  return getter?.unreadTextIn?.(object) !== undefined;
}

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

describe('the decoding of stored objects', () => {
  it('P32: a warm start with lazyDecoding parses metadata and short values, and every other member when it is read', async () => {
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
    const { objects: listed } = await start(jsonDecoding);
    const lazy = await start(lazyDecoding);
    expect(lazy.wasStale).toBe(true);
    expect(lazy.objects).toHaveLength(names.length);
    for (const object of lazy.objects) {
      expect(['spec', 'status'].map((name) => isUnread(object, name))).toEqual([true, true]);
    }
    for (const decoding of [jsonDecoding, differentialDecoding]) {
      const { wasStale, objects } = await start(decoding);
      expect(wasStale).toBe(true);
      expect(objects).toEqual(listed);
      expect(objects.some((object) => isUnread(object, 'spec'))).toBe(false);
    }
    expect(lazy.objects.map((each) => ({ ...each }))).toEqual(listed.map((each) => ({ ...each })));
  });

  it('P32: a stored object equals what JSON.parse gives, in the order of its members, whatever its names and texts', () => {
    let lazy = 0;
    for (let seed = 1; seed <= 100; seed++) {
      const random = seededRandom(seed);
      const jsons = Array.from({ length: 8 }, () => storedJson(randomObject(random), 'stored'));
      // A store may have written the JSON again, without line breaks.
      const others = jsons.map((json) =>
        encoder.encode(JSON.stringify(JSON.parse(new TextDecoder().decode(json)))),
      );
      // The bytes are lent: a store may use its buffer for the next part.
      const lent = jsons.map((json) => json.slice());
      const { stored = () => [] } = lazyDecoding();
      const read = [...stored(lent), ...stored(others)] as KubernetesObject[];
      for (const bytes of lent) bytes.fill(0);
      for (const [at, json] of [...jsons, ...others].entries()) {
        const object = read[at] as KubernetesObject;
        if (at < jsons.length && isUnread(object, 'spec')) lazy++;
        const expected = new TextDecoder().decode(json);
        expect([seed, JSON.stringify(object)]).toEqual([
          seed,
          JSON.stringify(JSON.parse(expected)),
        ]);
      }
    }
    expect(lazy).toBeGreaterThan(100);
  });

  it.each(['stored', 'left-out'] as const)(
    'P32: a lazy object is stored as one that was parsed, and its members stay unread (env: %s)',
    (env) => {
      const decoding = lazyDecoding();
      const textOf = (object: KubernetesObject) =>
        new TextDecoder().decode(storedJson(object, env));
      const random = seededRandom(1);
      const containers = [{ name: 'web', env: [{ name: 'PASSWORD', value: 'secret' }] }];
      const items = Array.from({ length: 50 }, () => randomObject(random)).map((each) => {
        return { ...each, template: { text: 'a\nb', containers } };
      });
      for (const spaces of [0, 2]) {
        // White space between members makes an object unusual, so it is within them.
        const texts = items.map((item) => {
          const members = Object.entries(item).map(([name, value]) => {
            const text = JSON.stringify(value, null, name === 'metadata' ? 0 : spaces);
            return `${JSON.stringify(name)}:${text}`;
          });
          return `{${members}}`;
        });
        const body = `{"kind":"PodList","items":[${texts}]}`;
        const lazy = list([body], { decoding }).out;
        const before = unparsed(lazy);
        expect(before).toBeGreaterThan(50);
        const stored = lazy.map(textOf);
        expect(unparsed(lazy)).toBe(before);
        expect(stored).toEqual(list([body]).out.map(textOf));
        expect(stored.join().includes('secret')).toBe(env === 'stored');
      }
    },
  );

  it.each(['stored', 'left-out'] as const)(
    'P34: an object with 9,000 levels is stored and read like any other (env: %s)',
    (env) => {
      const levels = 9_000;
      const deep = `${'{"k":[1,'.repeat(levels)}null${']}'.repeat(levels)}`;
      const spec = `{"containers":[{"env":[{"name":"A","value":"secret"},1,null]}],"deep":${deep},"no":{},"none":[]}`;
      const text = `{"kind":"Widget","metadata":{"name":"a","namespace":"shop","uid":"u1"},"spec":${spec}}`;
      const json = storedJson(JSON.parse(text) as KubernetesObject, env);
      const secret = ',"value":"secret"';
      const written = new TextDecoder().decode(json).replaceAll('\n', '');
      expect(written === (env === 'stored' ? text : text.replace(secret, ''))).toBe(true);
      for (const decoding of [undefined, jsonDecoding(), differentialDecoding(), lazyDecoding()]) {
        const [read] = readStored<KubernetesObject & { spec: { deep: unknown } }>([json], decoding);
        expect(read?.metadata?.name).toBe('a');
        let inner = read?.spec.deep;
        let depth = 0;
        for (; inner !== null; depth++) inner = (inner as { k: unknown[] }).k[1];
        expect(depth).toBe(levels);
      }
    },
  );

  it('P34: the JSON that is written without recursion is that of JSON.stringify', () => {
    const special = {
      ...{ a: undefined, b: () => 1, c: [undefined, () => 1, new Date(0)], d: new Date(1) },
      ...{ e: { env: [{ name: 'A', value: 'x' }, 1] }, f: Number.NaN, '"': '\u2028', g: [[], {}] },
    };
    const objects: unknown[] = [special, [special], 1, 'a', null, undefined, new Date(0)];
    for (let seed = 1; seed <= 50; seed++) objects.push(randomObject(seededRandom(seed)));
    for (const each of objects) {
      expect(deepJson(each, 'spec', (value) => value)).toBe(JSON.stringify(each));
    }
  });

  it('P32: a member that is not JSON does not keep the others from being stored', () => {
    const spec = '{"env":[{"value":nothing}]}';
    const body = `{"kind":"PodList","items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":${spec},"status":{"a":1}}]}`;
    const { out } = list([body], { decoding: lazyDecoding() });
    const [as, without] = (['stored', 'left-out'] as const).map((env) =>
      new TextDecoder().decode(storedJson(out[0] as KubernetesObject, env)),
    );
    const others = '{"kind":"Pod",\n"apiVersion":"v1",\n"metadata":{"name":"a"},\n';
    expect(without).toBe(`${others}"status":{"a":1}}`);
    expect(as).toBe(`${others}"spec":${spec},\n"status":{"a":1}}`);
  });

  it('P32: a stored text that is not JSON is an error, at once or when the member is read', () => {
    const { stored = () => [] } = lazyDecoding();
    const bytes = encoder.encode('{"kind":"Pod",\n"metadata":{"name":"a"},\n"spec":{"a":nothing}}');
    const [object] = stored([bytes]) as [{ readonly spec: unknown }];
    for (const text of ['', '{', '{"a":1', 'null', '{"metadata":{"name":"a"},\n"kind":Pod}']) {
      const read = () => stored([encoder.encode(text)]);
      if (text === 'null') expect(read()).toEqual([null]);
      else expect(read).toThrow(/not JSON/);
    }
    expect(() => object.spec).toThrow(/^a: the member "spec" of 13 characters is not JSON$/);
  });
});
