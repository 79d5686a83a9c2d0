/** The informers of a factory: one per scope, started once, stopped one by one or together. */
import {
  addEventHandler,
  createInformerFactory,
  formatLabelSelector,
  forResource,
  type InformerScope,
  type MetricsProvider,
  metered,
} from 'rx-informer';
import { configMaps, deployments, nodes, type Pod, pods, secrets } from 'rx-informer/resources';
import { describe, expect, it, vi } from 'vitest';
import { place, rig } from './rig.ts';

const where = (objects: readonly Pod[]) =>
  objects.map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`).sort();

describe('an informer factory', () => {
  it('G1: has one informer per resource, scope and projection, however it is requested', () => {
    const { factory } = rig();
    const { informer, acquire, informers } = factory({ namespace: 'shop' });
    const same: InformerScope[][] = [
      [{}, { namespace: 'shop' }, { namespaces: ['shop', 'shop'] }],
      [{ namespaces: ['a', 'b'] }, { namespaces: ['b', 'a'] }],
      [
        { labelSelector: 'b=2,a=1' },
        { labelSelector: ' a = 1 , b = 2 ' },
        { labelSelector: formatLabelSelector({ matchLabels: { a: '1', b: '2' } }) },
      ],
      [
        { fieldSelector: 'spec.nodeName=n,status.phase!=Failed' },
        { fieldSelector: 'status.phase!=Failed,spec.nodeName==n' },
      ],
      [{ namespace: '' }],
    ];
    expect(informers).toEqual([]);
    const distinct = new Set<unknown>();
    for (const scopes of same) {
      const found = new Set(scopes.map((scope) => informer(pods, scope as object)));
      expect(found.size).toBe(1);
      for (const each of found) distinct.add(each);
    }
    distinct.add(informer(pods, { as: 'metadata' }));
    distinct.add(informer(pods, { as: 'table' }));
    distinct.add(informer(secrets));
    expect(distinct.size).toBe(same.length + 3);
    expect(acquire(pods).informer).toBe(informer(pods));
    expect(informer(pods, { as: 'object' })).toBe(informer(pods));
  });

  it('G1: reads the selectors of a scope also from getters', () => {
    class Shop {
      get labelSelector() {
        return 'app=web';
      }
    }
    const { informer } = rig().factory();
    expect(informer(pods, new Shop())).toBe(informer(pods, { labelSelector: 'app=web' }));
    expect(informer(pods, new Shop())).not.toBe(informer(pods));
  });

  it('G1: refuses an impossible scope', () => {
    const { informer } = rig().factory();
    const refused: [InformerScope, string][] = [
      [{ namespaces: [] }, 'it must be a list of at least one namespace'],
      [{ namespaces: ['shop', ''] }, 'it must be a list of at least one namespace'],
      [{ namespace: 'shop', namespaces: ['shop'] }, 'not both'],
      [{ labelSelector: 'a in b' }, 'label selector'],
      [{ labelSelector: { matchLabels: { app: 'web' } } } as never, 'formatLabelSelector()'],
      [{ fieldSelector: 'name' }, 'field selector'],
      // For example from an object that lacks it. In client-go a nil selector selects nothing; here it would select everything.
      [{ labelSelector: undefined } as never, 'labelSelector is undefined'],
      [{ fieldSelector: null } as never, 'fieldSelector is null'],
      [{ as: 'rows' } as never, "'object', 'metadata' or 'table'"],
    ];
    for (const [scope, message] of refused) {
      expect(() => informer(pods, scope as object)).toThrow(message);
      expect(() => informer(pods, scope as object)).toThrow(TypeError);
    }
    expect(() => informer(nodes, { namespace: 'shop' })).toThrow('nodes is cluster-scoped');
    expect(() => informer(nodes, { namespaces: ['a', 'b'] })).toThrow('"a", "b"');
  });

  it('G2: sends nothing before start(), starts each informer once, and starts a later one when it is requested (E39)', async () => {
    const { server, factory, requestedPaths, time, until } = rig();
    const own = factory();
    const handled: string[] = [];
    addEventHandler(own.informer(pods), {
      onAdd: ({ metadata }) => handled.push(metadata?.namespace ?? ''),
    });
    own.lister(nodes);
    await time.advance(1_000);
    expect(server.requests).toEqual([]);
    own.start();
    own.start();
    await until(own.whenSynced());
    expect(requestedPaths()).toEqual(['/api/v1/nodes', '/api/v1/pods']);
    expect(handled).toHaveLength(3);

    const late = own.lister(configMaps, { namespace: 'shop' });
    await until(own.whenSynced());
    expect(late.list()).toEqual([]);
    own.start();
    own.informer(pods);
    await time.advance(1_000);
    // One streaming LIST each, and no further request.
    expect(server.requests).toHaveLength(3);
    expect(server.openWatches).toHaveLength(3);
  });

  it('G3: whenSynced names the missing informers and the causes; one that fails delays no other (TestWaitFor, TestSyncResult)', async () => {
    const { server, factory, time, until } = rig();
    const own = factory({ name: 'ui' });
    const podLister = own.lister(pods);
    own.informer(secrets, { namespace: 'shop' });
    own.informer(configMaps, { namespaces: ['shop', 'till'] });
    server.faults.failNext(
      { resource: secrets },
      { status: 403, message: 'no secrets', times: 99 },
    );
    server.faults.failNext(
      { resource: configMaps, namespace: 'till' },
      { status: 500, message: 'broken', times: 99 },
    );
    own.start();
    const limit = { timeoutMs: 60_000, whileBlocked: 'wait' } as const;
    const failure = own.whenSynced(limit).catch((error) => error);
    await until(own.informer(pods).whenSynced());
    expect(podLister.list()).toHaveLength(3);
    await time.advance(60_000);
    const error = await failure;
    expect(error).toMatchObject({ name: 'ApiError', code: 0, reason: 'NotObserved' });
    expect(error.message).toMatch(
      /^2 of 3 informers not synced after 60000 ms: ui\/secrets\/shop \(forbidden: .*no secrets\); ui\/configmaps\/shop\+till \(namespace till backoff: .*broken\)$/,
    );
    expect(error.missing.map(({ name }: { name: string }) => name)).toEqual([
      'ui/secrets/shop',
      'ui/configmaps/shop+till',
    ]);
    expect(error.missing[0].status.blocked).toBe('forbidden');
    // If there is one cause, the error is that cause.
    const one = own.stop(configMaps, { namespaces: ['shop', 'till'] });
    await one;
    const alone = own.whenSynced().catch((thrown) => thrown);
    await time.advance(1_000);
    expect(await alone).toMatchObject({ code: 403, reason: 'Forbidden' });
  });

  it('G3: refuses an invalid timeout', async () => {
    const own = rig().factory();
    own.informer(pods);
    for (const timeoutMs of [Number.NaN, -1]) {
      await expect(own.whenSynced({ timeoutMs })).rejects.toThrow(TypeError);
    }
    await own.stop();
  });

  it('G3: whenSynced without informers resolves; it says which informer was not started; a stop rejects it', async () => {
    const { factory, time } = rig();
    const own = factory();
    await own.whenSynced();
    own.informer(pods);
    const idle = own.whenSynced({ timeoutMs: 60_000 }).catch((error) => error.message);
    await time.advance(60_000);
    expect(await idle).toBe('pods is not synced after 60000 ms: pods (it was not started)');
    const waiting = own.whenSynced().catch((error) => error.message);
    await own.stop();
    expect(await waiting).toBe('pods is not synced: pods (stopped)');
  });

  it('G2: stop() waits for all informers and leaves nothing behind; start() continues with the same informers', async () => {
    const { server, factory, time, until } = rig();
    const own = factory();
    const informer = own.informer(pods);
    own.informer(nodes);
    const completed = vi.fn();
    own.start();
    informer.changes$.subscribe({ complete: completed });
    await until(own.whenSynced());
    expect(server.openWatches).toHaveLength(2);
    await own.stop();
    expect(completed).toHaveBeenCalledTimes(1);
    expect(server.openWatches).toHaveLength(0);
    await time.advance(200_000);
    expect(time.pending).toBe(0);
    expect(own.lister(pods).list()).toHaveLength(3);
    const requests = server.requests.length;
    own.informer(configMaps);
    await time.advance(1_000);
    expect(server.requests).toHaveLength(requests);

    server.objects.delete(pods, place('web-0'));
    own.start();
    await until(own.whenSynced());
    expect(own.informer(pods)).toBe(informer);
    expect(own.lister(pods).list()).toHaveLength(2);
    expect(server.openWatches).toHaveLength(3);
    await own.stop();
    await own.stop();
  });

  it('G1: several namespaces are one view, each with a watch of its own', async () => {
    const { server, factory, requestedPaths, until } = rig();
    const own = factory({ namespaces: ['till', 'shop'] });
    const lister = own.lister(pods);
    own.start();
    await until(own.whenSynced());
    expect(where(lister.list())).toEqual(['shop/web-0', 'till/web-0']);
    expect(where(lister.namespace('till').list('app=web'))).toEqual(['till/web-0']);
    expect(requestedPaths()).toEqual([
      '/api/v1/namespaces/shop/pods',
      '/api/v1/namespaces/till/pods',
    ]);
    const made = server.objects.create(pods, { metadata: place('web-1', 'till') });
    server.objects.create(pods, { metadata: place('web-1', 'other') });
    await until(lister.atLeast(made));
    expect(where(lister.list())).toEqual(['shop/web-0', 'till/web-0', 'till/web-1']);
    expect(Object.keys(own.informer(pods).status.scopes ?? {})).toEqual(['shop', 'till']);
  });

  it('G8: has a default scope; cluster-scoped resources ignore its namespaces', async () => {
    const { factory, requestedPaths, until } = rig();
    const own = factory({ namespace: 'shop', labelSelector: 'app=web' });
    const [lister, all] = [own.lister(pods), own.lister(pods, { namespace: '' })];
    const tills = own.lister(pods, { namespace: 'till', labelSelector: 'app=none' });
    own.informer(nodes);
    own.start();
    await until(own.whenSynced());
    expect(where(lister.list())).toEqual(['shop/web-0']);
    // With one namespace a bare name is enough.
    expect(lister.get('web-0').metadata?.namespace).toBe('shop');
    expect(all.list()).toHaveLength(3);
    expect(tills.list()).toEqual([]);
    expect(requestedPaths()).toEqual([
      '/api/v1/namespaces/shop/pods',
      '/api/v1/namespaces/till/pods',
      '/api/v1/nodes',
      '/api/v1/pods',
    ]);
  });

  it('G8: `tweak` is applied last to every LIST and WATCH, and receives the resource', async () => {
    const { server, factory, until } = rig();
    const own = factory({
      initialList: 'pages',
      tweak: (query, { plural }) => {
        if (plural === 'pods') query['labelSelector'] = 'of=till';
      },
    });
    const lister = own.lister(pods);
    own.informer(nodes);
    own.start();
    await until(own.whenSynced());
    expect(where(lister.list())).toEqual(['till/web-0']);
    const selectors = server.requests.map(({ path, query }) => `${path} ${query.labelSelector}`);
    expect(selectors.sort()).toEqual([
      '/api/v1/nodes undefined',
      '/api/v1/nodes undefined',
      '/api/v1/pods of=till',
      '/api/v1/pods of=till',
    ]);
  });

  it('G8: settings of a resource take precedence over those of the factory', async () => {
    const { factory, time, until } = rig();
    const own = factory({
      resyncPeriodMs: 60_000,
      indexers: { app: ({ metadata }) => [metadata?.labels?.app ?? ''] },
      transform: (object, { kind }) => ({
        ...object,
        metadata: { ...object.metadata, annotations: { of: kind } },
      }),
      resources: [
        forResource(pods, {
          resyncPeriodMs: 5_000,
          indexers: { phase: ({ status }) => [status?.phase ?? ''] },
          transform: ({ spec: _spec, ...pod }) => pod,
        }),
      ],
    });
    const resyncs = { pods: 0, nodes: 0 };
    own.informer(pods).updated$.subscribe(() => resyncs.pods++);
    own.informer(nodes).updated$.subscribe(() => resyncs.nodes++);
    const partial = own.lister(pods, { as: 'metadata' });
    own.start();
    await until(own.whenSynced());
    expect(own.lister(pods).byIndex('phase', 'Running')).toHaveLength(3);
    expect(own.lister(pods).byIndex('app', 'web')).toHaveLength(3);
    expect(own.lister(pods).byIndex('namespace', 'shop')).toHaveLength(1);
    expect(own.lister(pods).list()[0]).not.toHaveProperty('spec');
    expect(own.lister(pods).list()[0]?.metadata?.annotations).toBeUndefined();
    expect(own.lister(nodes).get('node-0').metadata?.annotations).toEqual({ of: 'Node' });
    // The settings of Pods do not apply to metadata, which has neither spec nor status; those of the factory do.
    expect(partial.list()[0]?.metadata.annotations).toEqual({ of: 'Pod' });
    expect(partial.list()[0]?.kind).toBe('PartialObjectMetadata');
    expect(() => partial.byIndex('phase', 'Running')).toThrow(TypeError);
    await time.advance(11_000);
    expect(resyncs).toEqual({ pods: 6, nodes: 0 });
    await time.advance(50_000);
    expect(resyncs.nodes).toBe(1);
    // Nor do they apply to a resource of another group, version or name.
    for (const other of [
      { group: 'example.com', apiVersion: 'example.com/v1' },
      { version: 'v2', apiVersion: 'v2' },
      { plural: 'others' },
    ])
      expect(() => own.lister({ ...pods, ...other }).byIndex('phase', 'Running')).toThrow(
        TypeError,
      );
  });

  it('G10: names its informers by factory, resource and scope, without duplicates', () => {
    const { factory } = rig();
    const own = factory({ name: 'ui' });
    own.informer(pods);
    own.informer(pods, { namespaces: ['till', 'shop'], labelSelector: 'app=web' });
    own.informer(pods, { namespace: 'shop', fieldSelector: 'spec.nodeName=n', as: 'table' });
    own.informer(deployments, { as: 'metadata' });
    own.informer(
      { ...deployments, version: 'v1beta1', apiVersion: 'apps/v1beta1' },
      { as: 'metadata' },
    );
    expect(own.informers).toEqual([
      'ui/pods',
      'ui/pods/shop+till/app=web',
      'ui/pods/shop/fields spec.nodeName=n/as table',
      'ui/deployments.apps/as metadata',
      'ui/deployments.apps@v1beta1/as metadata',
    ]);
    expect(own.informer(pods).name).toBe('ui/pods');
  });

  it('G10: reserves its name until it is stopped (TestNewInformerName)', async () => {
    const { client, factory } = rig();
    const first = factory({ name: 'mine' });
    expect(() => createInformerFactory(client, { name: 'mine' })).toThrow(
      /the name "mine" is in use.*await the stop\(\) of that factory/,
    );
    expect(() => createInformerFactory(client, { name: '' })).toThrow(TypeError);
    factory({ name: 'another' });
    factory();
    factory();
    await first.stop();
    const second = factory({ name: 'mine' });
    expect(() => first.start()).toThrow('in use');
    await second.stop();
    first.start();
    first.start();
    expect(() => second.start()).toThrow('in use');
  });

  it('G10: warnings of listers and informers are passed to `onWarning`, with their name', async () => {
    const onWarning = vi.fn();
    const { factory, until } = rig();
    const own = factory({ name: 'early', onWarning, resyncPeriodMs: 60_000 });
    own.lister(pods).list();
    own.lister(pods).list();
    expect(onWarning.mock.calls).toEqual([[expect.stringContaining('early/pods')]]);
    own.start();
    await until(own.whenSynced());
    addEventHandler(own.informer(pods), {}, { resyncPeriodMs: 5_000 });
    expect(onWarning.mock.calls.slice(1)).toEqual([
      [expect.stringMatching(/^early\/pods: .*resync/)],
    ]);
  });

  it('G10: passes the resource to the metrics of its informers (TestWithResource)', async () => {
    const seen = new Set<string>();
    const record = (_: number, attributes: object = {}) => seen.add(JSON.stringify(attributes));
    const metrics: MetricsProvider = {
      createCounter: () => ({ add: record }),
      createUpDownCounter: () => ({ add: record }),
      createHistogram: () => ({ record: record }),
      createObservableGauge: () => ({ addCallback: () => {}, removeCallback: () => {} }),
    };
    const { factory, until } = rig();
    const own = factory({ name: 'metered', metrics: metered(metrics) });
    addEventHandler(own.informer(pods), { onAdd: () => {} });
    own.informer(deployments);
    own.start();
    await until(own.whenSynced());
    const names = [...seen]
      .map((text) => JSON.parse(text))
      .filter(({ name }) => name !== undefined);
    const ofPods = { name: 'metered/pods', group: '', version: 'v1', resource: 'pods' };
    expect(names).toContainEqual(expect.objectContaining(ofPods));
    expect(names.every(({ resource }) => ['pods', 'deployments'].includes(resource))).toBe(true);
  });
});
