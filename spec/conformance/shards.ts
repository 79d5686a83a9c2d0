/** `shardSelector`, with the feature gate ShardedListAndWatch on and off. */

import { createShardFilter, type ShardRange, shardSelector } from 'rx-informer';
import { describe, expect, it } from 'vitest';
import {
  type ApiServer,
  allWithin,
  configMaps,
  expectFailure,
  fill,
  get,
  type Json,
  names,
  post,
  take,
} from './api-server.ts';

const LOWER: readonly ShardRange[] = [{ start: '0x0000000000000000', end: '0x8000000000000000' }];
const TWO: readonly ShardRange[] = [
  { start: '0x0000000000000000', end: '0x3000000000000000' },
  { start: '0xa000000000000000', end: '0x10000000000000000' },
];
const TWELVE = Array.from({ length: 12 }, (_, at) => `n${String(at).padStart(2, '0')}`);
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const INVALID: readonly (readonly [what: string, selector: string])[] = [
  ['garbage', 'garbage'],
  ['another field', "shardRange(object.metadata.name, '0x0000000000000000', '0x8000000000000000')"],
  ['few digits', "shardRange(object.metadata.uid, '0x0', '0x8000000000000000')"],
  ['upper case', "shardRange(object.metadata.uid, '0x000000000000000A', '0x8000000000000000')"],
  ['no range', "shardRange(object.metadata.uid, '0x8000000000000000', '0x8000000000000000')"],
  ['too high', "shardRange(object.metadata.uid, '0x0000000000000000', '0x10000000000000001')"],
  ['two fields', `${shardSelector('uid', LOWER)} || ${shardSelector('namespace', LOWER)}`],
];

/** Registers the tests of a server that has the feature gate, or has it not. */
export function shardTests(gate: 'on' | 'off', server: () => ApiServer): void {
  const chosen = (
    objects: readonly Json[],
    by: 'uid' | 'namespace',
    ranges: readonly ShardRange[],
  ) =>
    objects
      .filter((object) => gate === 'off' || createShardFilter(by, ranges).contains(object))
      .map(({ metadata }) => metadata.name)
      .sort();

  describe(`shards with the feature gate ${gate}`, () => {
    it.each(['uid', 'namespace'] as const)(
      'a list by %s contains what the client selects',
      async (by) => {
        const namespace = await server().freshNamespace();
        const made = await fill(server(), namespace, TWELVE);
        for (const ranges of [LOWER, TWO]) {
          const list = await get(server(), configMaps(namespace), {
            shardSelector: shardSelector(by, ranges),
          });
          expect(names(list)).toEqual(chosen(made, by, ranges));
          expect(list.metadata.shardInfo).toEqual(
            gate === 'on' ? { selector: shardSelector(by, ranges) } : undefined,
          );
        }
      },
    );

    it('only a list of complete objects says that it was selected', async () => {
      const namespace = await server().freshNamespace();
      const made = await fill(server(), namespace, TWELVE);
      const query = { shardSelector: shardSelector('uid', LOWER) };
      for (const accept of [METADATA, TABLE]) {
        const { json } = await server().request('GET', configMaps(namespace), {
          query,
          headers: { accept },
        });
        expect(json.metadata.shardInfo).toBeUndefined();
        const count = (json.items ?? json.rows ?? []).length;
        expect(count).toBe(chosen(made, 'uid', LOWER).length);
      }
    });

    it('a continue token does not contain the selector, and a selected page has no remainingItemCount since Kubernetes 1.37', async () => {
      const namespace = await server().freshNamespace();
      const made = await fill(server(), namespace, TWELVE);
      const selected = chosen(made, 'uid', TWO);
      const query = { limit: '1', shardSelector: shardSelector('uid', TWO) };
      const page = await get(server(), configMaps(namespace), query);
      expect(names(page)).toEqual(selected.slice(0, 1));
      const at = TWELVE.indexOf(selected[0] as string);
      // A server before 1.37 counts all objects, those of other shards, too.
      const counts = gate === 'off' || server().minor < 37;
      expect(page.metadata.remainingItemCount).toBe(counts ? TWELVE.length - 1 : undefined);
      const rest = await get(server(), configMaps(namespace), { continue: page.metadata.continue });
      expect(names(rest)).toEqual(TWELVE.slice(at + 1));
      const repeated = await get(server(), configMaps(namespace), {
        continue: page.metadata.continue,
        shardSelector: query.shardSelector,
      });
      expect(names(repeated)).toEqual(selected.slice(1));
    });

    it('a watch, and a streaming list, send what the client selects', async () => {
      const namespace = await server().freshNamespace();
      const before = await fill(server(), namespace, TWELVE);
      const selector = { shardSelector: shardSelector('uid', LOWER) };
      const { metadata } = await get(server(), configMaps(namespace));
      const after: Json[] = [];
      for (const name of TWELVE) {
        after.push(
          await post(server(), configMaps(namespace), { metadata: { name: `later-${name}` } }),
        );
      }
      const wanted = chosen(after, 'uid', LOWER);
      const watch = () =>
        server().stream(configMaps(namespace), {
          watch: 'true',
          timeoutSeconds: '2',
          resourceVersion: metadata.resourceVersion,
          ...selector,
        });
      const events = await allWithin(watch, wanted.length);
      expect(events.map(({ object }) => object.metadata.name)).toEqual(wanted);
      const count = chosen([...before, ...after], 'uid', LOWER).length;
      const streaming = server().stream(configMaps(namespace), {
        watch: 'true',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: 'true',
        ...selector,
      });
      const initial = await take(streaming, count + 1);
      streaming.close();
      expect(
        initial
          .slice(0, -1)
          .map(({ object }) => object.metadata.name)
          .sort(),
      ).toEqual(chosen([...before, ...after], 'uid', LOWER));
      expect(initial.at(-1)).toMatchObject({ type: 'BOOKMARK' });
      expect(initial.at(-1).object.metadata.shardInfo).toBeUndefined();
    });

    // At the same time, because each of them waits for the end of a watch.
    it.concurrent.each(INVALID)(
      'an invalid selector (%s) is answered with a 500 without a reason, or ignored without the gate',
      async (_, shardSelector) => {
        const namespace = await server().freshNamespace();
        await fill(server(), namespace, ['a']);
        for (const watch of [{}, { watch: 'true', timeoutSeconds: '1' }]) {
          const answer = await server().request('GET', configMaps(namespace), {
            query: { shardSelector, ...watch },
          });
          if (gate === 'on') expectFailure(answer, 500, undefined, /^invalid shard selector: /);
          else expect(answer.status).toBe(200);
        }
      },
    );

    it('an empty selector selects everything', async () => {
      const namespace = await server().freshNamespace();
      await fill(server(), namespace, TWELVE);
      const list = await get(server(), configMaps(namespace), { shardSelector: '' });
      expect(names(list)).toEqual(TWELVE);
      expect(list.metadata.shardInfo).toBeUndefined();
    });
  });
}
