/** The parts of an object that a change leaves alone stay the same JavaScript objects. */

import {
  createClient,
  createListWatch,
  createSharedInformer,
  type Decoding,
  type SharedInformer,
  type SharedInformerOptions,
  type Transform,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectSharedParts, type Texts, texts } from '../store/shared-parts.ts';
import { decodings } from '../support/decodings.ts';
import * as fc from '../support/fast-check.ts';
import { eventually } from '../support/patience.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface Setting {
  readonly initialList?: SharedInformerOptions<Pod>['initialList'];
  readonly transform?: Transform<Pod> | undefined;
  readonly decoding?: () => Decoding;
  readonly unchangedParts?: 'new';
  readonly mutationGuard?: SharedInformerOptions<Pod>['mutationGuard'];
}

function started(server: FakeApiServer, { transform, decoding, ...options }: Setting = {}) {
  const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
  const informer = createSharedInformer<Pod>(
    createListWatch(client, pods, { transform, decoding }),
    {
      backoff: () => 0,
      ...options,
    },
  );
  onTestFinished(() => informer.stop());
  informer.start();
  return informer;
}

/** Waits until the store has the state of the server. */
async function caughtUp(server: FakeApiServer, informer: SharedInformer<Pod>): Promise<void> {
  const versions = (list: readonly { metadata?: { resourceVersion?: string | undefined } }[]) =>
    list
      .map(({ metadata }) => metadata?.resourceVersion)
      .sort()
      .join();
  const isCaughtUp = () =>
    informer.status.live &&
    versions(server.objects.list(pods)) === versions(informer.indexer.list());
  for (let turns = 0; turns < 1_000 && !isCaughtUp(); turns++) await turn();
  // If this process stood still, the informer is live only when its watch has been quiet for a while.
  await eventually(isCaughtUp, `the store has ${versions(server.objects.list(pods))}`);
}

/** Makes new objects and arrays everywhere, as a transform may do. */
const rebuilt: Transform<Pod> = (pod) => {
  const { spec, ...rest } = structuredClone(pod);
  return { ...rest, summary: { names: Object.keys(spec ?? {}), list: [[], {}] }, spec } as Pod;
};

function mark(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const each of Object.values(value)) mark(each);
  if (Array.isArray(value)) value.push('marked');
  else Object.assign(value, { marked: true });
}

/** Changes the object that it receives, also in parts that the server has left alone. */
const inPlace: Transform<Pod> = (pod) => {
  const { x, y } = pod.spec as unknown as { readonly x: unknown; readonly y: unknown };
  mark(JSON.stringify(x).length % 2 === 0 ? y : pod.spec);
  return pod;
};

const condition = (type: string, status: string) => ({ type, status });
const web = { metadata: { namespace: 'shop', name: 'web', labels: { app: 'web' } } };

describe('the parts of an object that a change leaves alone', () => {
  it('S60: when the status of a pod changes, its spec, its labels and the other conditions stay ===', async () => {
    const server = createFakeApiServer();
    const spec = { containers: [{ name: 'web', image: 'web:1' }] };
    const conditions = [condition('Ready', 'False'), condition('PodScheduled', 'True')];
    const pod = server.objects.create<Pod>(pods, { ...web, spec, status: { conditions } });
    const informer = started(server);
    await caughtUp(server, informer);
    const before = informer.indexer.get('shop/web');

    const ready = [
      condition('Initialized', 'True'),
      condition('Ready', 'True'),
      condition('PodScheduled', 'True'),
    ];
    server.objects.update<Pod>(pods, { ...pod, status: { conditions: ready } });
    await caughtUp(server, informer);
    const after = informer.indexer.get('shop/web');

    expect(after?.status?.conditions).toEqual(ready);
    expect(after).not.toBe(before);
    expect(after?.spec).toBe(before?.spec);
    expect(after?.metadata.labels).toBe(before?.metadata.labels);
    expect(after?.status?.conditions?.[2]).toBe(before?.status?.conditions?.[1]);
    // The former state has not changed.
    expect(before?.status?.conditions).toEqual(conditions);
  });

  it.each(['pages', 'stream'] as const)(
    "S60, S9: with unchangedParts: 'new' they are those that were received, and a list (%s) reports only what changed",
    async (initialList) => {
      const server = createFakeApiServer();
      const pod = server.objects.create<Pod>(pods, web);
      server.objects.create<Pod>(pods, { metadata: { namespace: 'shop', name: 'cart' } });
      const informer = started(server, { initialList, unchangedParts: 'new' });
      const changed: string[] = [];
      informer.changes$.subscribe(({ cause, changes }) =>
        changed.push(`${cause} ${changes.map(({ key }) => key)}`),
      );
      await caughtUp(server, informer);
      const before = informer.indexer.get('shop/web');
      const cart = informer.indexer.get('shop/cart');
      server.objects.update<Pod>(pods, { ...pod, status: { phase: 'Running' } });
      await caughtUp(server, informer);
      const after = informer.indexer.get('shop/web');
      expect(after?.status).toEqual({ phase: 'Running' });
      expect(after?.metadata.labels).toEqual(before?.metadata.labels);
      expect(after?.metadata.labels).not.toBe(before?.metadata.labels);
      const told = changed.length;
      // This list is compared by content.
      await informer.refresh();
      await informer.stop();
      informer.start();
      await caughtUp(server, informer);
      expect(informer.indexer.get('shop/web')).toBe(after);
      expect(informer.indexer.get('shop/cart')).toBe(cart);
      expect(changed.slice(told)).toEqual([]);
    },
  );

  it('S60: an object that was created again under its name shares nothing with the former one', async () => {
    const server = createFakeApiServer();
    server.objects.create<Pod>(pods, web);
    const informer = started(server);
    await caughtUp(server, informer);
    const before = informer.indexer.get('shop/web');
    server.objects.delete(pods, { namespace: 'shop', name: 'web' });
    server.objects.create<Pod>(pods, web);
    await caughtUp(server, informer);
    const after = informer.indexer.get('shop/web');
    expect(after?.metadata.labels).toEqual(before?.metadata.labels);
    expect(after?.metadata.labels).not.toBe(before?.metadata.labels);
  });

  it('S60, D4: random changes by watch events, relists and streaming lists, with any decoding, with and without a transform, also one that changes its argument', async () => {
    const step = fc.record({
      how: fc.constantFrom('watch', 'watch', 'relist' as const),
      writes: fc.array(
        fc.record({
          name: fc.constantFrom('a', 'b'),
          field: fc.constantFrom('x', 'y'),
          side: fc.constantFrom(0, 1),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    });
    const setting = fc.record({
      initialList: fc.constantFrom('pages' as const, 'stream' as const),
      transform: fc.constantFrom(undefined, rebuilt, inPlace),
      decoding: fc.constantFrom(...Object.values(decodings)),
      mutationGuard: fc.constantFrom('freeze' as const, 'off' as const),
    });
    const causes: string[] = [];
    const run = async (
      chosen: Setting,
      fields: readonly [Texts, Texts],
      steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
    ) => {
      const server = createFakeApiServer();
      const sides = { a: { x: 0, y: 0 }, b: { x: 0, y: 0 } };
      const objectOf = (name: 'a' | 'b'): Pod => {
        const { x, y } = sides[name];
        const spec = { x: JSON.parse(fields[0][x as 0]), y: JSON.parse(fields[1][y as 0]) };
        return { metadata: { namespace: 'shop', name, labels: { app: name } }, spec } as never;
      };
      for (const name of ['a', 'b'] as const) server.objects.create(pods, objectOf(name));
      const informer = started(server, chosen);
      const received: [object: unknown, text: string][] = [];
      informer.changes$.subscribe(({ changes, updated, cause }) => {
        for (const { object } of changes) received.push([object, JSON.stringify(object)]);
        for (const { previous, object } of updated) {
          causes.push(cause);
          expectSharedParts(previous, object);
        }
      });
      await caughtUp(server, informer);
      for (const { how, writes } of steps) {
        const silent = how === 'relist';
        for (const { name, field, side } of writes) {
          sides[name][field] = side;
          server.objects.update(pods, objectOf(name), { silent });
        }
        if (silent) server.faults.expireWatches();
        await caughtUp(server, informer);
        for (const object of informer.indexer.list()) {
          const served = server.objects.get(pods, object.metadata);
          const expected = JSON.parse(JSON.stringify(served));
          expect(object).toEqual(chosen.transform?.(expected) ?? expected);
        }
      }
      for (const [object, text] of received) expect(JSON.stringify(object)).toBe(text);
      await informer.stop();
    };
    await fc.assert(
      fc.asyncProperty(setting, fc.tuple(texts, texts), fc.array(step, { maxLength: 6 }), run),
      { numRuns: 150 },
    );
    expect(causes.length).toBeGreaterThan(50);
    expect(new Set(causes)).toEqual(new Set(['watch', 'relist']));
  });
});
