/** Tests what is stored, when it is used, and what is refused. */
import {
  createClient,
  createInformerFactory,
  createListWatch,
  createSharedInformer,
  type KubernetesObject,
  projectedDecoding,
  type SnapshotOptions,
  snapshotsIn,
} from 'rx-informer';
import { configMaps, deployments, pods, secrets } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/patience.ts';
import { MemoryStore } from './memory-store.ts';
import { contents, type LifeOptions, persistRig, type Rig, requestsOf, services } from './rig.ts';

const marked = (object: KubernetesObject): KubernetesObject => object;
const kept = (...project: string[]): LifeOptions => ({
  scopes: [{ decoding: () => projectedDecoding({ project }) }],
});

describe('a stored collection', () => {
  it.each<[string, LifeOptions, LifeOptions]>([
    ['server', {}, { baseUrl: 'http://other' }],
    ['identity', {}, { snapshots: { identity: 'bob' } }],
    ['namespace', {}, { scopes: [{ namespace: 'shop' }] }],
    ['label selector', {}, { scopes: [{ labelSelector: 'app!=web' }] }],
    ['field selector', {}, { scopes: [{ fieldSelector: 'metadata.name!=x' }] }],
    [
      'tweak',
      {},
      { scopes: [{ tweak: (query) => Object.assign(query, { labelSelector: 'a!=b' }) }] },
    ],
    ['program', { snapshots: { appVersion: '1' } }, { snapshots: { appVersion: '2' } }],
    ['choice about variables', {}, { snapshots: { env: 'stored' } }],
    [
      'transform',
      { scopes: [{ transform: marked }], snapshots: { transformVersion: '1' } },
      { scopes: [{ transform: marked }], snapshots: { transformVersion: '2' } },
    ],
    ['list of kept paths', kept('status.phase'), kept('status.phase', 'spec.nodeName')],
    ['lack of kept paths', kept('status.phase'), {}],
    [
      'lack of a transform',
      { scopes: [{ transform: marked }], snapshots: { transformVersion: '1' } },
      {},
    ],
  ])('P11: is not shown to an informer of another %s', async (_what, first, second) => {
    const rig = persistRig();
    rig.put('s0', 1);
    await rig.once(first);
    const { informer, end } = rig.life(second);
    const stale: unknown[] = [];
    informer.status$.subscribe((status) => stale.push(status.stale));
    informer.start();
    await rig.time.advance(3_000);
    expect(stale).not.toContain(true);
    expect(requestsOf(rig.server)[0]).toBe('S');
    await end();
    // With the same settings again it is.
    const again = rig.life(second);
    rig.server.objects.advance(5);
    again.informer.start();
    await rig.time.advance(10);
    expect(again.informer.status.stale).toBe(true);
    await again.end();
  });

  it('P11: is not shown, and is deleted, if the cluster was created again or cannot be told apart', async () => {
    const rig = persistRig();
    rig.put('s0', 1);
    await rig.once();
    const stored = rig.store.only;
    if (stored === undefined) throw new Error('nothing is stored');
    expect(JSON.parse(stored.head).cluster).toMatch(/-/);
    stored.head = stored.head.replace(/"cluster":"[^"]*"/, '"cluster":"another"');
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(10);
    expect(rig.store.only).toBeUndefined();
    expect(informer.indexer.size).toBe(1);
    expect(requestsOf(rig.server)).toEqual(['L1', 'S']);
    await end();
  });

  it.each([
    ['the server fails', { status: 500 }],
    ['a proxy answers with a page', { status: 200, body: '<html>', contentType: 'text/html' }],
    ['it hangs', undefined],
  ])(
    'P8, P11: is not shown if the cluster is not known, and a list follows at once: %s',
    async (_what, answer) => {
      const rig = persistRig();
      rig.put('s0', 1);
      await rig.once();
      rig.put('s1', 1);
      const uid = { use: 'call' } as const;
      const fault =
        answer === undefined
          ? rig.server.faults.neverAnswer(uid)
          : rig.server.faults.failNext(uid, { ...answer, times: 999 });
      const { informer, warnings, end } = rig.life();
      const shown: boolean[] = [];
      informer.status$.subscribe(({ stale }) => shown.push(stale === true));
      informer.start();
      await rig.time.advance(answer === undefined ? 5_100 : 100);
      expect(requestsOf(rig.server)).toEqual(['L1', 'S']);
      expect([informer.hasSynced, contents(informer)]).toEqual([true, ['shop/s0=1', 'shop/s1=1']]);
      expect(shown).not.toContain(true);
      await rig.time.advance(150_000);
      expect(rig.store.only).toBeUndefined();
      expect(warnings.map(({ type }) => type)).toEqual(['not-stored']);
      expect(warnings[0]?.message).toContain('the UID of the cluster is not known');
      const asked = () => rig.server.requests.filter(({ use }) => use === 'call').length;
      const before = asked();
      for (let revision = 2; revision < 20; revision++) {
        rig.put('s0', revision);
        await rig.time.advance(2_000);
      }
      expect(asked() - before).toBeLessThan(2);
      // When the cluster is known, everything is stored.
      fault.heal();
      await rig.time.advance(150_000);
      expect(rig.store.only?.objects.size).toBe(2);
      await end();
    },
  );

  it('P8: lists without a wait for the cluster if nothing is stored, and stores it when the cluster is known', async () => {
    const rig = persistRig();
    rig.put('s0', 1);
    const fault = rig.server.faults.neverAnswer({ use: 'call' });
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(100);
    expect([informer.hasSynced, contents(informer)]).toEqual([true, ['shop/s0=1']]);
    expect(rig.store.only).toBeUndefined();
    fault.heal();
    await rig.time.advance(200_000);
    expect(rig.store.only?.objects.size).toBe(1);
    await end();
  });

  it('P11: the cluster is asked for again if the server did not know the user', async () => {
    const rig = persistRig();
    rig.put('s0', 1);
    await rig.once();
    rig.server.faults.failNext({ use: 'call' }, { status: 401 });
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(10_000);
    expect(contents(informer)).toEqual(['shop/s0=1']);
    informer.stop();
    await rig.time.advance(10);
    informer.start();
    await rig.time.advance(10_000);
    expect(JSON.parse(rig.store.only?.head ?? '{}').cluster).toMatch(/-/);
    await end();
  });

  it.each([86_400_000 + 60_000, -86_400_000 - 60_000])(
    'P12: is deleted and not shown if it was confirmed longer ago than maxAgeMs, or by a clock as far ahead (%i ms)',
    async (ageMs) => {
      const rig = persistRig();
      rig.put('s0', 1);
      await rig.once();
      const stored = rig.store.only;
      if (stored !== undefined) stored.savedAtMs -= ageMs;
      const { informer, end } = rig.life();
      informer.start();
      await rig.time.advance(10);
      expect(requestsOf(rig.server)).toEqual(['S']);
      expect(rig.store.only).toBeUndefined();
      await end();
    },
  );

  it('P13: contains neither managed fields nor the applied configuration, and values of variables only if they are stored', async () => {
    const applied = 'kubectl.kubernetes.io/last-applied-configuration';
    const server = createFakeApiServer();
    server.objects.create(pods, {
      metadata: {
        namespace: 'shop',
        name: 'web',
        annotations: { [applied]: '{"secret":1}', kept: 'yes' },
        managedFields: [{ manager: 'kubectl' }],
      },
      spec: {
        containers: [{ name: 'web', env: [{ name: 'PASSWORD', value: 'hunter2' }] }],
      },
    });
    const stored = async (env: 'stored' | 'left-out') => {
      const store = new MemoryStore();
      const persist = snapshotsIn(store, { identity: 'alice', kinds: [pods], env });
      const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
      const informer = createSharedInformer(
        createListWatch(client, pods, { keepManagedFields: true }),
        { persist },
      );
      informer.start();
      await informer.whenSynced();
      expect(informer.indexer.list()[0]?.metadata?.annotations?.[applied]).toBeDefined();
      await informer.stop();
      await persist.close();
      return [...(store.only?.objects.values() ?? [])].join();
    };
    const [without, within] = [await stored('left-out'), await stored('stored')];
    expect(JSON.parse(without)).toMatchObject({
      metadata: { name: 'web', annotations: { kept: 'yes' } },
      spec: { containers: [{ name: 'web', env: [{ name: 'PASSWORD' }] }] },
    });
    expect(without).not.toMatch(/secret|managedFields|hunter2/);
    expect(within).not.toMatch(/secret|managedFields/);
    expect(within).toContain('hunter2');
  });

  it.each(['left-out', 'stored'] as const)(
    'P13: contains them at no depth and in no other form, with env: %s',
    async (env) => {
      const applied = 'kubectl.kubernetes.io/last-applied-configuration';
      const metadata = {
        annotations: { [applied]: 'NEVER', kept: 'yes' },
        managedFields: [{ manager: 'NEVER' }],
      };
      const spec = {
        env: { PASSWORD: 'SECRET', PORT: 8080 },
        envVars: [{ name: 'A', value: 'SECRET' }],
        extraEnv: [['A', 'SECRET'], 'A=SECRET=x'],
        environment: [{ name: 'A', value: 'SECRET', valueFrom: { kept: 'yes' } }],
        deep: [{ workload: { metadata } }],
        other: { environment: { region: 'kept' }, envoy: [{ name: 'x', value: 'kept' }] },
      };
      const rig = persistRig();
      const service = { metadata: { namespace: 'shop', name: 'a', ...metadata }, spec };
      rig.server.objects.create(services, service as KubernetesObject);
      await rig.once({ snapshots: { env }, scopes: [{ keepManagedFields: true }] });
      const [text = ''] = rig.store.only?.objects.values() ?? [];
      expect(text).toContain('"name":"a"');
      expect(text).not.toContain('NEVER');
      expect(text.includes('SECRET')).toBe(env === 'stored');
      expect(JSON.parse(text).spec.other).toEqual(spec.other);
      expect(JSON.parse(text).spec.deep[0].workload.metadata.annotations).toEqual({
        kept: 'yes',
      });
      if (env === 'stored') return;
      expect(JSON.parse(text).spec).toMatchObject({
        env: { PASSWORD: '', PORT: '' },
        envVars: [{ name: 'A' }],
        extraEnv: [['A'], 'A'],
        environment: [{ name: 'A', valueFrom: { kept: 'yes' } }],
      });
    },
  );

  it('P14: is deleted by forget, and not written again in this run', async () => {
    const rig = persistRig();
    rig.put('s0', 1);
    await rig.once();
    await rig.once({ snapshots: { identity: 'bob' } });
    const { informer, persist, end } = rig.life();
    informer.start();
    await rig.time.advance(3_000);
    rig.put('s0', 2);
    await persist.forget();
    rig.put('s0', 3);
    await rig.time.advance(3_000);
    expect(
      [...rig.store.collections.values()].map(({ head }) => JSON.parse(head).identity),
    ).toEqual(['bob']);
    await persist.forget('bob');
    expect(rig.store.collections.size).toBe(0);
    expect(contents(informer)).toEqual(['shop/s0=3']);
    await end();
    expect(rig.store.collections.size).toBe(0);
    await expect(persist.forget()).rejects.toThrow(/still in it; call forget\(\) before close\(\)/);
  });
});

describe('a forgotten collection', () => {
  it('P14: is not written again when an informer that was there before runs again, and is by a new one', async () => {
    const rig = persistRig();
    rig.put('s0', 1);
    const { informer, persist, end } = rig.life({ informer: { lingerMs: 0 } });
    const first = informer.changes$.subscribe();
    await rig.time.advance(3_000);
    await persist.forget();
    first.unsubscribe();
    await rig.time.advance(1_000);
    informer.changes$.subscribe();
    await rig.time.advance(3_000);
    expect(contents(informer)).toEqual(['shop/s0=1']);
    expect(rig.store.collections.size).toBe(0);
    const client = createClient({ baseUrl: 'http://fake', fetch: rig.server.fetch });
    const next = createSharedInformer(createListWatch(client, services, { scheduler: rig.time }), {
      ...{ scheduler: rig.time, persist },
    });
    next.start();
    await rig.time.advance(3_000);
    expect(rig.store.collections.size).toBe(1);
    await next.stop();
    await end();
  });
});

describe('a store that fails', () => {
  it.each(['read', 'write'] as const)(
    'P18: an informer does not wait for ever for a store whose %s never ends',
    async (method) => {
      const rig = persistRig();
      rig.put('a', 1);
      const store = new MemoryStore();
      store[method] = () => new Promise<never>(() => undefined);
      const { informer, warnings } = rig.life({ store, informer: { lingerMs: 0 } });
      const first = informer.changes$.subscribe();
      await rig.time.advance(15_000);
      expect(contents(informer)).toEqual(['shop/a=1']);
      first.unsubscribe();
      await rig.time.advance(1);
      // The second run waits for the last write of the first one.
      informer.changes$.subscribe();
      await rig.time.advance(15_000);
      expect(contents(informer)).toEqual(['shop/a=1']);
      const message = expect.stringContaining('it has not answered within 10000 ms');
      expect(warnings[0]).toMatchObject({ type: 'not-stored', message });
      await informer.stop();
    },
  );
});

describe('writing', () => {
  it('P15: happens within a second after a commit, and contains what has changed, with the newest state per key', async () => {
    const rig = persistRig();
    for (const name of ['a', 'b', 'c']) rig.put(name, 1);
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(2_000);
    expect(rig.store.written).toMatchObject([{ replaces: true, deleted: [] }]);
    rig.put('a', 2);
    rig.put('a', 3);
    rig.put('d', 1);
    rig.put('d', 2);
    rig.delete('b');
    await rig.time.advance(1_001);
    const at = rig.server.objects.resourceVersion;
    expect(rig.store.written.at(-1)).toEqual({
      replaces: false,
      resourceVersion: at,
      keys: ['shop/a', 'shop/d'],
      deleted: ['shop/b'],
    });
    expect(rig.store.only?.objects.get('shop/a')).toContain('"revision":"3"');
    await end();
  });

  it.each([
    ['while the UID of the cluster is not known', 4_000, 1],
    ['and stores nothing if the UID stays unknown', 10_000, 0],
  ])('P15: ends a run %s', async (_, answerMs, stored) => {
    const rig = persistRig();
    rig.put('a', 1);
    rig.server.faults.delay(answerMs, { use: 'call' });
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(100);
    expect(informer.hasSynced).toBe(true);
    let isStopped = false;
    void informer.stop().then(() => {
      isStopped = true;
    });
    await rig.time.advance(5_000);
    expect([isStopped, rig.store.only?.objects.size ?? 0]).toEqual([true, stored]);
    await end();
  });

  it('P15: has at most one write in progress, and writes what has changed meanwhile together', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(2_000);
    let open: () => void = () => undefined;
    rig.store.gate = new Promise((resolve) => {
      open = resolve;
    });
    const before = rig.store.written.length;
    for (let revision = 2; revision < 30; revision++) {
      rig.put('a', revision);
      await rig.time.advance(1_000);
    }
    expect(rig.store.written.length).toBe(before);
    rig.store.gate = undefined;
    open();
    await rig.time.advance(3_000);
    expect(rig.store.mostWriting).toBe(1);
    expect(rig.store.written.length).toBe(before + 2);
    expect(rig.store.only?.objects.get('shop/a')).toContain('"revision":"29"');
    await end();
  });

  it('P15: writes what is due when the run ends, also if the store of the informer is emptied', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    const life = rig.life({ informer: { lingerMs: 0 } });
    const subscription = life.informer.changes$.subscribe();
    await rig.time.advance(2_000);
    rig.put('a', 2);
    await rig.time.advance(10);
    subscription.unsubscribe();
    expect(life.informer.indexer.size).toBe(0);
    await rig.time.advance(1);
    expect(rig.store.only?.objects.get('shop/a')).toContain('"revision":"2"');
    await life.end();
  });

  it.each([undefined, 'rewrite'] as const)(
    'P15: writes what is due when the run ends during a write that is answered with %s',
    async (answer) => {
      const rig = persistRig();
      for (const name of ['a', 'b', 'c']) rig.put(name, 1);
      const { informer, end } = rig.life();
      informer.start();
      await rig.time.advance(2_000);
      let open: () => void = () => undefined;
      rig.store.gate = new Promise((resolve) => {
        open = resolve;
      });
      rig.store.answer = answer;
      rig.put('a', 2);
      await rig.time.advance(2_000);
      rig.put('b', 2);
      await rig.time.advance(10);
      const ended = end();
      open();
      await ended;
      const keys = answer === undefined ? ['shop/b'] : ['shop/a', 'shop/b', 'shop/c'];
      const replaces = answer === 'rewrite';
      expect(rig.store.written.slice(1)).toMatchObject([{ keys: ['shop/a'] }, { keys, replaces }]);
      expect(rig.store.only?.objects.get('shop/b')).toContain('"revision":"2"');
    },
  );

  it('P15: a later list writes only what differs, and the store can ask for a complete collection', async () => {
    const rig = persistRig();
    for (const name of ['a', 'b', 'c']) rig.put(name, 1);
    const { informer, end } = rig.life();
    informer.start();
    await rig.time.advance(2_000);
    rig.put('a', 2);
    rig.server.objects.compact();
    rig.server.faults.expireWatches();
    await rig.time.advance(4_000);
    expect(informer.status.relists).toBe(1);
    expect(rig.store.written.at(-1)).toMatchObject({ replaces: false, keys: ['shop/a'] });
    rig.store.answer = 'rewrite';
    rig.put('b', 2);
    await rig.time.advance(2_000);
    rig.store.answer = undefined;
    rig.put('b', 3);
    await rig.time.advance(2_000);
    expect(rig.store.written.slice(-2)).toMatchObject([
      { replaces: false, keys: ['shop/b'] },
      { replaces: true, keys: ['shop/a', 'shop/b', 'shop/c'] },
    ]);
    await end();
  });

  it('P15: nothing is written between two pages of a later list, whose first objects are in the informer', async () => {
    const rig = persistRig();
    const { informer, end } = rig.life({ informer: { initialList: 'pages', pageSize: 1 } });
    informer.start();
    await rig.time.advance(3_000);
    expect(rig.store.written).toMatchObject([{ replaces: true, keys: [] }]);
    const held = rig.server.faults.silence();
    for (const name of ['a', 'b', 'c']) rig.put(name, 1);
    rig.server.faults.delay(2_000, { use: 'list' });
    void informer.refresh();
    await rig.time.advance(5_000);
    expect([contents(informer), rig.store.written.length]).toEqual([['shop/a=1', 'shop/b=1'], 1]);
    await rig.time.advance(5_000);
    expect(rig.store.written.at(-1)).toMatchObject({ keys: ['shop/a', 'shop/b', 'shop/c'] });
    held.heal();
    await end();
  });

  it('P15: stops at the last version before an object that is refused, so that its event arrives again', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    let refuses = true;
    const indexers = {
      odd: ({ metadata }: KubernetesObject) => {
        if (refuses && metadata?.annotations?.['revision'] === '2') throw new Error('odd');
        return [];
      },
    };
    const { informer, end } = rig.life({
      informer: { indexers, onUnhandledError: () => undefined },
    });
    informer.start();
    await rig.time.advance(2_000);
    const before = rig.store.only?.resourceVersion;
    rig.put('a', 2);
    rig.put('b', 1);
    await rig.time.advance(3_000);
    expect(informer.status.refused).toBe(1);
    expect(rig.store.only?.resourceVersion).toBe(before);
    await end();
    expect(rig.store.only?.resourceVersion).toBe(before);
    refuses = false;
    const next = rig.life({ informer: { indexers } });
    next.informer.start();
    await rig.time.advance(5_000);
    expect(contents(next.informer)).toEqual(['shop/a=2', 'shop/b=1']);
    await next.end();
  });

  it.each(['read', 'write'] as const)(
    'P18: if the store cannot %s, the informer starts with a list, and one warning says why',
    async (method) => {
      const rig = persistRig();
      rig.put('a', 1);
      rig.store.failing[method] = new Error('the disk is full');
      const { informer, warnings, end } = rig.life();
      informer.start();
      await rig.time.advance(3_000);
      rig.put('a', 2);
      await rig.time.advance(3_000);
      expect(contents(informer)).toEqual(['shop/a=2']);
      expect(warnings).toMatchObject([
        { type: 'not-stored', message: expect.stringContaining('the disk is full') },
      ]);
      expect(rig.store.only).toBeUndefined();
      await end();
    },
  );

  it.each([
    ['null', null, 0],
    ['an object without fields', {}, 1],
    ['a head that is no text', { head: 5 }, 1],
    ['a text', 'services', 1],
  ])('P18: a store that reads %s leads to a list', async (_what, read, warned) => {
    const rig = persistRig();
    rig.put('a', 1);
    rig.store.read = async () => read as never;
    const { informer, warnings, end } = rig.life();
    informer.start();
    await rig.time.advance(5_000);
    expect(contents(informer)).toEqual(['shop/a=1']);
    expect(informer.status.synced).toBe(true);
    expect(warnings).toHaveLength(warned);
    await end();
  });

  it('P18: the warning names an error that has no message, such as that of a full quota', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    rig.store.failing.write = new DOMException('', 'QuotaExceededError');
    const { informer, warnings, end } = rig.life();
    informer.start();
    await rig.time.advance(3_000);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/cannot be written: .*QuotaExceededError$/),
    ]);
    await end();
  });

  it('P18: a damaged object ends the warm start with a list and one difference', async () => {
    const rig = persistRig();
    for (const name of ['a', 'b', 'c', 'd']) rig.put(name, 1);
    await rig.once();
    rig.store.only?.objects.set('shop/d', '{"metadata":{');
    rig.put('a', 2);
    const { informer, warnings, end } = rig.life();
    informer.start();
    await rig.time.advance(3_000);
    expect(contents(informer)).toEqual(['shop/a=2', 'shop/b=1', 'shop/c=1', 'shop/d=1']);
    expect(warnings).toHaveLength(1);
    expect(requestsOf(rig.server).filter((each) => each === 'S')).toHaveLength(1);
    await end();
  });

  it('P18: one of two informers of the same collection stores it, and the other says that it does not', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    const client = createClient({
      baseUrl: 'http://fake',
      fetch: rig.server.fetch,
      scheduler: rig.time,
    });
    const persist = snapshotsIn(rig.store, { identity: 'alice', kinds: [services] });
    const messages: string[] = [];
    const two = [1, 2].map(() =>
      createSharedInformer(createListWatch(client, services, { scheduler: rig.time }), {
        ...{ persist, scheduler: rig.time },
        onWarning: ({ message }) => messages.push(message),
      }),
    );
    for (const each of two) each.start();
    await rig.time.advance(3_000);
    expect(messages).toEqual([expect.stringContaining('another informer of this program')]);
    expect(two.map((each) => each.hasSynced)).toEqual([true, true]);
    await Promise.all(two.map((each) => each.stop()));
    await persist.close();
    expect(rig.store.closed).toBe(true);
    expect(rig.store.only?.objects.size).toBe(1);
  });

  it('P35: a new informer of a collection stores it when the former one has ended, without a warning', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    const persist = snapshotsIn(rig.store, { identity: 'alice', kinds: [services] });
    const messages: string[] = [];
    // As a page does that has new credentials, or whose provider mounts again.
    const make = () => {
      const client = createClient({
        ...{ baseUrl: 'http://fake', fetch: rig.server.fetch, scheduler: rig.time },
      });
      return createSharedInformer(createListWatch(client, services, { scheduler: rig.time }), {
        ...{ persist, scheduler: rig.time },
        onWarning: ({ message }) => messages.push(message),
      });
    };
    const first = make();
    first.start();
    await rig.time.advance(3_000);
    const others = [make(), make()];
    for (const each of others) each.start();
    await rig.time.advance(100);
    expect(others.map((each) => each.hasSynced)).toEqual([true, true]);
    await first.stop();
    await others[0]?.stop();
    rig.put('b', 1);
    await rig.time.advance(3_000);
    expect(rig.store.only?.objects.size).toBe(2);
    rig.put('c', 1);
    await rig.time.advance(100);
    await others[1]?.stop();
    await persist.close();
    expect(rig.store.only?.objects.size).toBe(3);
    expect(messages).toEqual([]);
  });

  it('P35: an informer that left while it waited for the collection is not waited for', async () => {
    const rig = persistRig();
    rig.put('a', 1);
    const persist = snapshotsIn(rig.store, { identity: 'alice', kinds: [services] });
    const client = createClient({
      ...{ baseUrl: 'http://fake', fetch: rig.server.fetch, scheduler: rig.time },
    });
    const make = () =>
      createSharedInformer(createListWatch(client, services, { scheduler: rig.time }), {
        ...{ persist, scheduler: rig.time, onWarning: () => undefined },
      });
    const [first, second, third] = [make(), make(), make()];
    for (const each of [first, second, third]) each.start();
    await rig.time.advance(3_000);
    await second.stop();
    const writes = rig.store.written.length;
    rig.put('b', 1);
    await rig.time.advance(3_000);
    // Of the first one, which still has the collection.
    expect(rig.store.written.length).toBe(writes + 1);
    await first.stop();
    rig.put('c', 1);
    await rig.time.advance(3_000);
    expect(rig.store.only?.objects.size).toBe(3);
    await third.stop();
    await persist.close();
  });
});

describe('collections that nobody asks for', () => {
  const scope = (name: string) => ({ scopes: [{ namespace: name }] });
  const namespacesOf = (rig: Rig) =>
    [...rig.store.collections.keys()].map((id) => /namespaces.([^/]+)/.exec(id)?.[1]).sort();
  const swept = async (rig: Rig, options: LifeOptions) => {
    const life = rig.life(options);
    life.informer.start();
    await rig.time.advance(9_000);
    const before = namespacesOf(rig);
    await rig.time.advance(2_000);
    await life.end();
    return [before, namespacesOf(rig)];
  };

  it('P36: are deleted if they are too old, ten seconds after the start', async () => {
    const rig = persistRig();
    await rig.once(scope('old'));
    await rig.time.advance(60_000);
    await rig.once(scope('young'));
    const snapshots = { maxAgeMs: 30_000 };
    expect(await swept(rig, { ...scope('own'), snapshots })).toEqual([
      ['old', 'own', 'young'],
      ['own', 'young'],
    ]);
  });

  it('P36: are deleted if another program or another format has stored them', async () => {
    const rig = persistRig();
    await rig.once({ ...scope('other'), snapshots: { appVersion: '1' } });
    await rig.once({ ...scope('same'), snapshots: { appVersion: '2' } });
    const [id] = [...rig.store.collections].find(([each]) => each.includes('same')) ?? [''];
    const same = rig.store.collections.get(id);
    if (same === undefined) throw new Error('nothing is stored');
    const head = same.head.replace('"format":1', '"format":0');
    rig.store.collections.set(id.replace('same', 'former'), { ...same, head });
    expect(await swept(rig, { ...scope('own'), snapshots: { appVersion: '2' } })).toEqual([
      ['former', 'other', 'own', 'same'],
      ['own', 'same'],
    ]);
  });

  it('P36: are at most 100, with those that informers have, and the oldest go first', async () => {
    const rig = persistRig();
    await rig.once(scope('n0'));
    const [[id, stored] = ['', undefined]] = rig.store.collections;
    for (let at = 1; at < 120 && stored !== undefined; at++) {
      rig.store.collections.set(id.replace('n0', `n${at}`), {
        ...stored,
        savedAtMs: stored.savedAtMs + at,
      });
    }
    const [, after] = await swept(rig, scope('own'));
    expect(after).toHaveLength(100);
    expect(after).toContain('n119');
    expect(after).not.toContain('n20');
    expect(after).toContain('own');
  });

  it('P36: are swept again after 50 more collections of one run', async () => {
    const rig = persistRig();
    const client = createClient({
      ...{ baseUrl: 'http://fake', fetch: rig.server.fetch, scheduler: rig.time, qps: 0 },
    });
    const snapshots = { identity: 'alice', kinds: [services], maxAgeMs: 30_000 };
    const persist = snapshotsIn(rig.store, snapshots);
    const factory = createInformerFactory(client, { persist, scheduler: rig.time, lingerMs: 1 });
    factory.start();
    const ask = async (name: string) => {
      const { release } = factory.acquire(services, { namespace: name });
      await rig.time.advance(3_000);
      release();
    };
    for (let at = 0; at < 60; at++) await ask(`n${at}`);
    await rig.time.advance(20_000);
    // The first sweep was after ten seconds, and the second one after 50 claims.
    expect(namespacesOf(rig).length).toBeLessThan(25);
    await factory.stop();
    await persist.close();
  });
});

describe('the options', () => {
  const make = (options: object) => () =>
    snapshotsIn(new MemoryStore(), {
      ...{ identity: 'alice', kinds: [services] },
      ...options,
    } as unknown as SnapshotOptions);

  it.each([
    [
      'no identity',
      { identity: undefined },
      /identity is undefined; it must be the name of the user/,
    ],
    ['an empty identity', { identity: '' }, /identity is ""; it must be/],
    ['no kinds', { kinds: undefined }, /kinds is undefined; it must be a list/],
    ['Secrets', { kinds: [services, secrets] }, /Secrets are never stored/],
    ['ConfigMaps without an opt-in', { kinds: [configMaps] }, /configMaps: 'stored'/],
    ['Pods without a choice about variables', { kinds: [pods] }, /env: 'left-out'/],
    ['Deployments without that choice', { kinds: [deployments] }, /deployments.*env/],
    ['an unknown choice', { kinds: [pods], env: 'leftout' }, /env is "leftout"; it must be/],
    ['an age of none', { maxAgeMs: 0 }, /maxAgeMs is 0/],
  ])('P19: %s is refused', (_what, options, message) => {
    expect(make(options)).toThrow(message);
    expect(make({ kinds: [configMaps], configMaps: 'stored' })).not.toThrow();
  });

  it('P19: a transform without a version, and a ListerWatcher that does not say what it reads, are refused', () => {
    const rig = persistRig();
    expect(() => rig.life({ scopes: [{ transform: marked }] })).toThrow(/transformVersion/);
    const { collection: _collection, ...foreign } = createListWatch(
      createClient({ baseUrl: 'http://fake' }),
      services,
    );
    const persist = snapshotsIn(rig.store, { identity: 'alice', kinds: [services] });
    expect(() => createSharedInformer(foreign, { persist })).toThrow(/set its member collection/);
  });

  it.each([
    ['group', { group: 'example.com', apiVersion: 'example.com/v1' }],
    ['version', { version: 'v2', apiVersion: 'v2' }],
    ['name', { plural: 'others' }],
  ])(
    'P9: nothing is stored of a kind whose %s is not that of the named one',
    async (_what, other) => {
      const rig = persistRig();
      rig.put('a', 1);
      await rig.once({ snapshots: { kinds: [{ ...services, ...other }] } });
      expect(rig.store.calls).toEqual(['close']);
    },
  );

  it('P9: informers of other kinds, and tables, run as without a store', async () => {
    const server = createFakeApiServer();
    server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' } });
    const store = new MemoryStore();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const factory = createInformerFactory(client, {
      persist: snapshotsIn(store, { identity: 'alice', kinds: [services] }),
    });
    factory.informer(pods);
    factory.informer(services, { namespace: 'shop' });
    factory.start();
    await factory.whenSynced();
    await factory.stop();
    await eventually(() =>
      expect([...store.collections.keys()]).toEqual([expect.stringContaining('services')]),
    );
  });
});
