/**
 * Shards on a real server, with the feature gate ShardedListAndWatch on and off: its selectors, and four sharded
 * informers that hold a quarter of 1,000 objects each.
 */
import {
  type ChangeSet,
  createListWatch,
  createShardedInformer,
  createSharedInformer,
  type KubeClient,
  type SharedInformer,
  shardRanges,
} from 'rx-informer';
import { clientFromKubeConfig } from 'rx-informer/node';
import { BehaviorSubject } from 'rxjs';
import { tap } from 'rxjs/operators';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiServer } from '../conformance/api-server.ts';
import { openRealApiServer } from '../conformance/real.ts';
import { shardTests } from '../conformance/shards.ts';
import { isGate } from '../support/gate.ts';
import { eventually } from '../support/patience.ts';
import { type ApiServerProcess, startApiServer } from './apiserver.ts';
import { minor, streamingFlags } from './apiserver-binary.ts';
import { noControl } from './cluster.ts';
import { establishWidgets, type Widget, widgets } from './custom-resource.ts';
import { figures } from './figures.ts';
import { freshNamespace } from './namespaces.ts';
import { openRawApi, type RawApi } from './raw-api.ts';

const FOOS = 1_000;
const CHANGED = FOOS / 10;
const QUARTERS = [0, 1, 2, 3].map((quarter) =>
  Array.from({ length: 16 }, (_, slot) => quarter * 16 + slot),
);

/** A client that counts the bytes of its responses. */
async function counting(server: ApiServerProcess) {
  const client = await clientFromKubeConfig({ file: server.kubeconfig });
  let bytes = 0;
  const counted: KubeClient = Object.create(client, {
    send: {
      value: (request: Parameters<KubeClient['send']>[0]) =>
        client.send(request).pipe(
          tap((event) => {
            if (event.kind === 'chunk') bytes += event.bytes.length;
          }),
        ),
    },
  });
  return {
    client: counted,
    take() {
      const taken = bytes;
      bytes = 0;
      return taken;
    },
    close: () => client.close(),
  };
}

// Older servers do not know the feature gate, and do not start with it. Without it our gate asks only the fake API server.
const GATES =
  minor < 36 ? (['off'] as const) : isGate ? (['on'] as const) : (['on', 'off'] as const);

describe.skipIf(noControl).each(GATES)('shards of a real server, gate %s', (gate) => {
  let process_: ApiServerProcess;
  let conformance: ApiServer;
  let api: RawApi;
  let namespace: string;

  beforeAll(async () => {
    process_ = await startApiServer({
      flags: gate === 'on' ? ['--feature-gates=ShardedListAndWatch=true'] : streamingFlags,
    });
    conformance = await openRealApiServer(process_);
    api = await openRawApi(process_.kubeconfig);
    namespace = await freshNamespace(api);
    await establishWidgets(api);
  });
  afterAll(async () => {
    await conformance?.close();
    api?.close();
    await process_?.stop();
  });

  shardTests(gate, () => conformance);

  it.skipIf(isGate)(
    'H71: four informers hold all of 1,000 objects and no object twice; with the gate each receives a quarter',
    async () => {
      const path = `/apis/example.com/v1/namespaces/${namespace}/widgets`;
      const name = (at: number) => `foo-${String(at).padStart(5, '0')}`;
      const each = async (count: number, work: (at: number) => Promise<unknown>) => {
        let next = 0;
        const worker = async () => {
          while (next < count) await work(next++);
        };
        await Promise.all(Array.from({ length: 16 }, worker));
      };
      const text = 'x'.repeat(600);
      await each(FOOS, (at) =>
        api.ok('POST', path, {
          body: {
            apiVersion: 'example.com/v1',
            kind: 'Widget',
            metadata: { name: name(at) },
            spec: { at: '0', text },
          },
        }),
      );

      const plain = await counting(process_);
      const one = createSharedInformer(createListWatch(plain.client, widgets, { namespace }), {
        initialList: 'pages',
      });
      const counters = await Promise.all(QUARTERS.map(() => counting(process_)));
      const shards = counters.map((counter, at) => {
        const ranges$ = new BehaviorSubject(shardRanges(QUARTERS[at] as number[]));
        const informer: SharedInformer<Widget> = createShardedInformer(
          createListWatch(counter.client, widgets, { namespace }),
          { shards: { by: 'uid', ranges$ } },
        );
        const gone: string[] = [];
        informer.changes$.subscribe(({ deleted }: ChangeSet<Widget>) => {
          for (const { key } of deleted) gone.push(key);
        });
        return { ranges$, informer, gone };
      });
      const informers = shards.map(({ informer }) => informer);
      for (const informer of [one, ...informers]) informer.start();
      for (const informer of [one, ...informers]) await informer.whenSynced();
      for (const { status } of informers) expect(status.shards?.serverFilters).toBe(gate === 'on');

      const truth = async () => {
        const { items } = await api.listAll(widgets);
        return items.map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`).sort();
      };
      const held = (some: readonly SharedInformer<Widget>[]) =>
        some
          .flatMap(({ indexer }) => indexer.list())
          .map(({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`)
          .sort();
      const settle = async () => {
        const wanted = await truth();
        await eventually(() => expect(held(informers)).toEqual(wanted));
        await eventually(() => expect(held([one])).toEqual(wanted));
      };
      let touched = 0;
      const touch = (at: number) =>
        api.ok('PATCH', `${path}/${name(at)}`, { body: { spec: { at: String(++touched) } } });
      await eventually(() => expect(informers.every(({ status }) => status.live)).toBe(true));
      await each(CHANGED, touch);
      await each(50, (at) => api.ok('DELETE', `${path}/${name(FOOS - 1 - at)}`));
      await settle();

      const whole = plain.take();
      const parts = counters.map((counter) => counter.take());
      const together = parts.reduce((a, b) => a + b, 0) / whole;
      const largest = Math.max(...parts) / whole;
      figures(`shards, gate ${gate}`, {
        whole,
        together: together.toFixed(3),
        largest: largest.toFixed(3),
      });
      if (gate === 'on') {
        expect(together).toBeLessThanOrEqual(1.15);
        expect(largest).toBeLessThanOrEqual(0.45);
      } else expect(together).toBeGreaterThan(3.5);

      // Ranges move around while objects change: no informer may take a moved object for deleted.
      const before = shards.map(({ gone }) => gone.length);
      let moving = true;
      const churn = (async () => {
        for (let at = 0; moving; at = (at + 1) % CHANGED) await touch(at);
      })();
      for (let turn = 1; turn <= 8; turn++) {
        shards.forEach(({ ranges$ }, at) => {
          ranges$.next(shardRanges(QUARTERS[(at + turn) % 4] as number[]));
        });
        // The next move comes when this one is over, or soon after it began.
        if (turn % 2 === 0) {
          await eventually(() => expect(informers.every(({ status }) => status.live)).toBe(true));
        } else await touch(turn);
      }
      moving = false;
      await churn;
      await settle();
      expect(shards.map(({ gone }) => gone.length)).toEqual(before);
      const uids = informers.flatMap(({ indexer }) =>
        indexer.list().map(({ metadata }) => metadata?.uid),
      );
      expect(new Set(uids).size).toBe(uids.length);

      for (const informer of [one, ...informers]) await informer.stop();
      for (const counter of counters) await counter.close();
      await plain.close();
    },
  );
});
