/**
 * Consumers that throw, and listeners and options of single stages: the error is reported with the name of the consumer, no other consumer is
 * affected, and the stage continues.
 */
import {
  ApiError,
  addEventHandler,
  applyDeltas,
  conflateByKey,
  createClient,
  createIndexer,
  createListWatch,
  createSharedInformer,
  type Decoding,
  type DeliveryPolicy,
  type Delta,
  deliver,
  deltaFifo,
  jsonDecoding,
  type ListerWatcher,
  metered,
  metricsOf,
  reflect,
  rememberedObjects,
  type SharedInformer,
  type SharedInformerOptions,
  toView,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { NEVER, type Observable, of, Subject, throwError } from 'rxjs';
import { mergeMap } from 'rxjs/operators';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../store/sets.ts';
import { eventually } from '../support/patience.ts';
import { type Pod, pod, scriptedInformer } from '../support/scripted-list-watch.ts';
import { rig, STORY } from './rig.ts';
import { unhandled } from './unhandled.ts';

class ConsumerError extends Error {}

let thrown = 0;
function culprit(): never {
  thrown++;
  throw new ConsumerError('no');
}

let errors: ReturnType<typeof unhandled>;
beforeEach(() => {
  errors = unhandled();
  thrown = 0;
});
afterEach(() => errors.restore());

type Informer = SharedInformer<Pod>;

const STREAMS = [
  'changes$',
  'added$',
  'updated$',
  'deleted$',
  'snapshot$',
  'status$',
  'synced$',
] as const;

const ready: Record<string, DeliveryPolicy<Pod>> = {
  'a policy’s ready throws': { kind: 'conflate', ready: () => culprit() },
  'a policy’s ready errors': {
    kind: 'buffer',
    limit: 2,
    overflow: 'conflate',
    ready: () =>
      throwError(() => {
        thrown++;
        return new ConsumerError();
      }),
  },
  'a policy’s ready returns undefined': {
    kind: 'drop',
    limit: 2,
    ready: () => {
      thrown++;
      return undefined as unknown as Observable<unknown>;
    },
  },
};

/** The consumers whose errors the informer reports, with the reported name. */
const named: Record<string, [(informer: Informer) => unknown, string]> = {
  ...Object.fromEntries(
    STREAMS.map((name) => [
      name,
      [
        (informer: Informer) => (informer[name] as Observable<unknown>).subscribe(culprit),
        'culprit',
      ],
    ]),
  ),
  metrics$: [(informer) => metricsOf(informer).metrics$.subscribe(culprit), 'culprit'],
  'deliver(policy)': [
    (informer) => deliver(informer, { kind: 'conflate' }).changes$.subscribe(culprit),
    'culprit',
  ],
  ...Object.fromEntries(
    Object.entries(ready).map(([fault, policy]) => [
      `deliver: ${fault}`,
      [
        (informer: Informer) => deliver(informer, policy).changes$.subscribe(() => undefined),
        `deliver ${policy.kind}`,
      ],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(ready).map(([fault, delivery]) => [
      `a handler: ${fault}`,
      [
        (informer: Informer) => addEventHandler(informer, {}, { name: 'culprit', delivery }),
        'culprit',
      ],
    ]),
  ),
  'a handler': [
    (informer) =>
      addEventHandler(
        informer,
        { onAdd: culprit, onUpdate: culprit, onDelete: culprit },
        { name: 'culprit' },
      ),
    'culprit',
  ],
  'a handler that rejects': [
    (informer) =>
      addEventHandler(
        informer,
        { onAdd: async () => culprit(), onUpdate: async () => culprit() },
        { name: 'culprit' },
      ),
    'culprit',
  ],
  'a handler with a thenable that throws': [
    (informer) =>
      addEventHandler(
        informer,
        {
          // biome-ignore lint/suspicious/noThenProperty: the tested fault
          onAdd: () => Object.assign(Promise.resolve(), { then: culprit }),
          // biome-ignore lint/suspicious/noThenProperty: the tested fault
          onUpdate: () => ({ then: culprit }),
        },
        { name: 'culprit' },
      ),
    'culprit',
  ],
};

describe('a consumer that throws', () => {
  it.each(Object.entries(named))(
    'I3, R22: %s: is reported by name and still called, and the others receive every change',
    async (_, [join, name]) => {
      const { witnesses, reported, informer, story } = rig(join);
      await story();
      expect(witnesses).toEqual([STORY, STORY]);
      expect(reported.length).toBeGreaterThan(0);
      expect(reported.length).toBe(thrown);
      expect(new Set(reported.map(({ subscriber }) => subscriber))).toEqual(new Set([name]));
      expect(await errors.reports()).toEqual([]);
      // A consumer that has thrown is still called for later changes.
      const before = thrown;
      if (!['deleted$', 'synced$', 'status$', 'added$'].includes(_))
        expect(before).toBeGreaterThan(2);
      await informer.stop();
    },
  );

  /** The consumers that the informer does not know. rxjs reports their errors. */
  const anonymous: Record<string, (informer: Informer) => unknown> = {
    'a view’s listener': (informer) => informer.changes$.pipe(toView()).subscribe(culprit),
    'a view’s rows': (informer) => informer.changes$.pipe(toView()).items$.subscribe(culprit),
    'a row’s listener': (informer) => {
      const view = informer.changes$.pipe(toView());
      return ['a', 'b', 'c'].map((uid) => view.select(uid).subscribe(culprit));
    },
    'a subscriber behind an operator': (informer) =>
      informer.changes$.pipe(mergeMap((set) => of(set))).subscribe(culprit),
    'a complete callback': (informer) => informer.changes$.subscribe({ complete: culprit }),
  };
  it.each(Object.entries(anonymous))(
    'I3: %s: is reported, and the others receive every change',
    async (_, join) => {
      const { witnesses, story, informer } = rig(join);
      await story();
      await informer.stop();
      expect(witnesses).toEqual([STORY, STORY]);
      expect(thrown).toBeGreaterThan(0);
      const reports = await errors.reports();
      expect(reports.every((error) => error instanceof ConsumerError)).toBe(true);
      expect(reports).toHaveLength(thrown);
    },
  );

  it('I3: an operator that throws ends only its own stream', async () => {
    const seen: unknown[] = [];
    const { witnesses, story } = rig((informer) =>
      informer.changes$
        .pipe(conflateByKey({ ready: () => culprit() }))
        .subscribe({ error: (error) => seen.push(error) }),
    );
    await story();
    expect(witnesses).toEqual([STORY, STORY]);
    expect(seen).toEqual([expect.any(ConsumerError)]);
  });
});

describe('an option that throws', () => {
  const options: Record<string, SharedInformerOptions<Pod>> = {
    onWarning: { onWarning: culprit, resyncPeriodMs: 60_000 },
    onUnhandledError: { onUnhandledError: culprit },
    'a metrics provider’s histogram': {
      metrics: metered({
        createCounter: () => ({ add: culprit }),
        createUpDownCounter: () => ({ add: culprit }),
        createHistogram: () => ({ record: culprit }),
        createObservableGauge: () => ({ addCallback: () => {}, removeCallback: () => {} }),
      }),
    },
    'a metrics provider’s gauge': {
      metrics: metered({
        createCounter: () => ({ add: () => {} }),
        createUpDownCounter: () => ({ add: () => {} }),
        createHistogram: () => ({ record: () => {} }),
        createObservableGauge: () => ({ addCallback: culprit, removeCallback: culprit }),
      }),
    },
    'a metrics provider that creates no instrument': {
      metrics: metered({
        createCounter: culprit,
        createUpDownCounter: culprit,
        createHistogram: culprit,
        createObservableGauge: culprit,
      }),
    },
  };
  it.each(Object.entries(options))('I3, I27: %s: stops no consumer', async (_, each) => {
    const { witnesses, story, informer } = rig((informer) => {
      addEventHandler(informer, {
        onAdd: () => {
          throw new Error('thrown by the handler');
        },
      });
    }, each);
    addEventHandler(informer, {}, { resyncPeriodMs: 5_000 });
    await story();
    await informer.stop();
    expect(witnesses).toEqual([STORY, STORY]);
    expect(thrown).toBeGreaterThan(0);
    expect(informer.status.phase).toBe('stopped');
  });

  const demands: Record<string, () => Observable<unknown>> = {
    throws: culprit,
    errors: () => throwError(() => new ConsumerError(String(thrown++))),
  };
  it.each(Object.entries(demands))(
    'R22: a demand that %s is reported, and counts as open',
    async (_, demand) => {
      const { witnesses, reported, story, informer } = rig(() => {}, { demand });
      await story();
      expect(witnesses).toEqual([STORY, STORY]);
      expect(reported.length).toBe(thrown);
      expect(new Set(reported.map(({ subscriber }) => subscriber))).toEqual(new Set(['demand']));
      expect(await errors.reports()).toEqual([]);
      await informer.stop();
    },
  );
});

describe('a listener of a stage that throws', () => {
  const listed = (onRefused: () => never) => {
    const server = createFakeApiServer();
    for (const name of ['bad', 'good']) {
      server.objects.create(configMaps, { metadata: { name, namespace: 'shop' } });
    }
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const transform = (object: ConfigMap) => {
      if (object.metadata?.name === 'bad') throw new Error('no');
      return object;
    };
    return createListWatch(client, configMaps, { transform, onRefused });
  };

  it.each(['pages', 'stream'] as const)(
    'D10: onRefused of a list-watch: the list is complete all the same (%s)',
    async (initialList) => {
      const informer = createSharedInformer(listed(culprit), { initialList });
      informer.start();
      await informer.whenSynced({ timeoutMs: 5_000 });
      expect(informer.indexer.listKeys()).toEqual(['shop/good']);
      expect([thrown, informer.status.relists, informer.status.error]).toEqual([1, 0, undefined]);
      await informer.stop();
      expect(await errors.reports()).toHaveLength(1);
    },
  );

  it('D10, R22: onRefused and onStatus of a reflector, and a method of the ListerWatcher: the list is complete all the same', async () => {
    const time = new VirtualTime();
    const types: string[] = [];
    const refusal = { reason: ApiError.local('Unexpected', 'none') };
    const listerWatcher: ListerWatcher<Pod> = {
      watchList: true,
      onWatchListUnsupported: culprit,
      list: ({ onRefused }) => {
        onRefused?.(refusal);
        return of({ items: [pod('a', 1)], metadata: { resourceVersion: '1' } });
      },
      watch: ({ sendInitialEvents }) =>
        sendInitialEvents ? throwError(() => ApiError.fromStatus({}, 400)) : NEVER,
    };
    const subscription = reflect(listerWatcher, {
      scheduler: time,
      onRefused: culprit,
      onStatus: culprit,
    }).subscribe((deltas) => types.push(...deltas.map(({ type }) => type)));
    await time.advance(1_000);
    subscription.unsubscribe();
    expect(types).toEqual(['replace-abort', 'replacing', 'replaced']);
    expect(await errors.reports()).toHaveLength(thrown);
  });

  it('R22: a demand of a reflector counts as open, also after a pause', async () => {
    const time = new VirtualTime();
    // Closed until the request times out, then failing at each read.
    const demand = () => {
      if (time.now() < 60_000) return NEVER;
      return throwError(() => {
        thrown++;
        return new ConsumerError();
      });
    };
    const server = createFakeApiServer({ scheduler: time });
    server.objects.create(configMaps, { metadata: { name: 'a', namespace: 'shop' } });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
    const types: string[] = [];
    const failed: unknown[] = [];
    const subscription = reflect(createListWatch(client, configMaps, { scheduler: time }), {
      scheduler: time,
      random: () => 0,
      demand,
      initialList: 'pages',
    }).subscribe({
      next: (deltas) => types.push(...deltas.map(({ type }) => type)),
      error: (error) => failed.push(error),
    });
    await time.advance(61_000);
    await time.advance(10_000);
    subscription.unsubscribe();
    expect(failed).toEqual([]);
    expect(types).toEqual(['replace-abort', 'replacing', 'replaced']);
    expect(thrown).toBeGreaterThan(1);
    expect(await errors.reports()).toHaveLength(thrown);
  });

  it('D10: a decoder: the response fails', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const decoding: Decoding = {
      watch: (context) => jsonDecoding().watch(context),
      list: () => ({ push: culprit, end: culprit, failure: undefined }),
    };
    const seen: unknown[] = [];
    createListWatch(client, configMaps, { decoding: () => decoding })
      .list({ resourceVersion: '0' })
      .subscribe({ error: (error) => seen.push(error) });
    await eventually(() => expect(seen).toEqual([expect.any(ApiError)]));
    expect(String(seen[0])).toMatch(/LIST v1\/configmaps: no/);
    expect(await errors.reports()).toEqual([]);
  });

  it('S22: onUnknownDeletion and onQueue of a queue: no delta is lost', async () => {
    const source = new Subject<readonly Delta<Pod>[]>();
    const out: string[] = [];
    source
      .pipe(
        deltaFifo<Pod>({
          known: rememberedObjects(),
          onUnknownDeletion: culprit,
          onQueue: culprit,
        }),
      )
      .subscribe((deltas) => out.push(...deltas.map((delta) => ('key' in delta ? delta.key : ''))));
    source.next([
      { type: 'added', key: 'shop/a', object: pod('a', 1) },
      { type: 'deleted', key: 'shop/unknown', finalStateUnknown: true },
      { type: 'added', key: 'shop/b', object: pod('b', 2) },
    ]);
    source.next([{ type: 'added', key: 'shop/c', object: pod('c', 3) }]);
    expect(out).toEqual(['shop/a', 'shop/b', 'shop/c']);
    expect([thrown, (await errors.reports()).length]).toEqual([2, 2]);
  });

  it('S22: an error of the store that the queue reads is an error of the stream', () => {
    const known = { size: 1, keys: () => [], get: culprit };
    const seen: unknown[] = [];
    const source = new Subject<readonly Delta<Pod>[]>();
    source.pipe(deltaFifo<Pod>({ known })).subscribe({ error: (error) => seen.push(error) });
    source.next([{ type: 'deleted', key: 'shop/a', finalStateUnknown: true }]);
    expect(seen).toEqual([expect.any(ConsumerError)]);
  });

  it('S22: an error of the store is an error of the stream, also while a part of a list is queued', async () => {
    const known = { size: 1, keys: culprit, get: () => undefined };
    const seen: unknown[] = [];
    const source = new Subject<readonly Delta<Pod>[]>();
    source.pipe(deltaFifo<Pod>({ known })).subscribe({ error: (error) => seen.push(error) });
    source.next([{ type: 'replacing', objects: [pod('a', 1)] }]);
    expect(seen).toEqual([expect.any(ConsumerError)]);
    expect(source.observed).toBe(false);
    expect(await errors.reports()).toEqual([]);
  });

  it('S22: onRefused and onCommitted of a store: the commit is complete', async () => {
    const indexer = createIndexer<Pod>({
      indexers: { picky: ({ metadata }) => (metadata.name === 'b' ? culprit() : []) },
    });
    const source = new Subject<readonly Delta<Pod>[]>();
    const sets: string[] = [];
    source
      .pipe(applyDeltas(indexer, { onRefused: culprit, onCommitted: culprit }))
      .subscribe((set) => sets.push(brief(set)));
    const objects = [pod('a', 1), pod('b', 1), pod('c', 1)];
    source.next([{ type: 'replaced', objects, resourceVersion: '1', trustVersions: true }]);
    source.next([{ type: 'added', key: 'shop/d', object: pod('d', 2) }]);
    expect(sets).toEqual(['initial*i +shop/a@1 +shop/c@1', 'watch* +shop/d@2']);
    expect(await errors.reports()).toHaveLength(thrown - 1);
  });
});

describe('an option that fails', () => {
  const backoffs: Record<string, () => number> = {
    throws: culprit,
    'returns NaN': () => Number.NaN * ++thrown,
    'returns a negative number': () => -++thrown,
  };
  it.each(Object.entries(backoffs))(
    'R22: a backoff that %s is replaced by the default wait',
    async (_, backoff) => {
      const time = new VirtualTime();
      const { source, informer } = scriptedInformer({ scheduler: time, random: () => 0, backoff });
      informer.start();
      source.listed(1, pod('a', 1));
      source.fail(new Error('lost'));
      await time.advance(799);
      expect([informer.status.phase, source.asked.length]).toEqual(['backoff', 2]);
      await time.advance(1);
      expect([informer.status.phase, source.asked.length]).toEqual(['watching', 3]);
      expect(thrown).toBe(1);
      await informer.stop();
      expect(await errors.reports()).toHaveLength(1);
    },
  );
});
