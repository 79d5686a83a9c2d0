/** Listers: reads of a store by key, namespace and selector, and reads of a minimum version. */
import {
  ApiError,
  byLabel,
  byNamespace,
  createIndexer,
  createLister,
  createSharedInformer,
  defineResource,
  type Indexer,
  parseFieldSelector,
  parseLabelSelector,
  selectEverything,
  selectNothing,
} from 'rx-informer';
import { describe, expect, it, vi } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { failureOf } from '../support/errors.ts';
import {
  added,
  bookmark,
  deleted,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

const define = (group: string, plural: string, kind: string, namespaced = true) =>
  defineResource<Pod>({ group, version: 'v1', plural, kind, namespaced });
const pods = define('', 'pods', 'Pod');
const deployments = define('apps', 'deployments', 'Deployment');
const nodes = define('', 'nodes', 'Node', false);

const labelled = (name: string, labels: Record<string, string>, namespace = 'shop'): Pod => {
  const { metadata } = pod(name, 5, name, namespace);
  return { metadata: { ...metadata, labels } };
};

function filled(options: Parameters<typeof createIndexer<Pod>>[0] = {}): Indexer<Pod> {
  const indexer = createIndexer<Pod>({ indexers: { namespace: byNamespace }, ...options });
  indexer.replace([
    labelled('a', { app: 'web' }),
    labelled('b', { app: 'db' }),
    labelled('c', { app: 'web' }, 'till'),
    pod('d', 5),
  ]);
  return indexer;
}

const names = (objects: readonly Pod[]) => objects.map(({ metadata }) => metadata.name).join('');

describe('list', () => {
  it('L4: find() returns undefined if get() throws, also in a namespace', () => {
    const lister = createLister(filled(), pods);
    const names = [lister.list()[0]].map((found) => found?.metadata.name ?? '');
    const shop = lister.namespace('shop');
    expect([lister.find('shop/missing'), shop.find('missing')]).toEqual([undefined, undefined]);
    for (const read of [() => lister.get('shop/missing'), () => shop.get('missing')]) {
      expect(read).toThrow(/pods "missing" not found/);
    }
    expect(shop.find(names[0] ?? '')).toBe(shop.get(names[0] ?? ''));
    expect(lister.find(`shop/${names[0]}`)).toBe(lister.get(`shop/${names[0]}`));
    expect(lister.namespace('').find(`shop/${names[0]}`)).toBe(shop.find(names[0] ?? ''));
  });

  it("L1: without a selection returns the store's array, reads nothing for a selector that matches nothing, and compares labels otherwise (TestListAll)", () => {
    const indexer = filled();
    const lister = createLister(indexer, pods);
    const all = vi.spyOn(indexer, 'list');
    const some = vi.spyOn(indexer, 'byIndex');
    expect(lister.list(selectNothing)).toEqual([]);
    expect(lister.namespace('shop').list(selectNothing)).toEqual([]);
    expect(all).not.toHaveBeenCalled();
    expect(some).not.toHaveBeenCalled();

    // No label is read.
    const matches = vi.fn(() => false);
    expect(lister.list({ ...selectEverything, matches })).toHaveLength(4);
    expect(matches).not.toHaveBeenCalled();
    expect(lister.list()).toBe(indexer.list());
    for (const everything of ['', {}, selectEverything, { fieldSelector: '' }]) {
      expect(lister.list(everything)).toBe(indexer.list());
    }
    expect(names(lister.list('app=web'))).toBe('ac');
    expect(names(lister.list('app=none'))).toBe('');
    expect(names(lister.list('app!=web'))).toBe('bd');
  });

  it('L2: accepts a selector as text, as an object or parsed, and fields in addition', () => {
    const lister = createLister(filled(), pods);
    const forms = [
      'app=web',
      { matchLabels: { app: 'web' } },
      { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] },
      parseLabelSelector('app=web'),
      { labelSelector: 'app=web' },
      { labelSelector: { matchLabels: { app: 'web' } } },
    ];
    for (const form of forms) expect(names(lister.list(form))).toBe('ac');
    expect(names(lister.list({ fieldSelector: 'metadata.name!=a' }))).toBe('bcd');
    const both = { labelSelector: 'app', fieldSelector: parseFieldSelector('metadata.name!=a') };
    expect(names(lister.list(both))).toBe('bc');
    expect(names(lister.namespace('shop').list(both))).toBe('b');
    expect(lister.list({ labelSelector: selectNothing, fieldSelector: 'a=b' })).toEqual([]);
  });

  it('L2: throws for an invalid selector, which would select everything', () => {
    const lister = createLister(filled(), pods);
    const slip = { app: 'web' } as object;
    expect(() => lister.list(slip)).toThrow(/"app" is not a field of a selector.*matchLabels/);
    expect(() => lister.list('app in web')).toThrow(TypeError);
    expect(() => lister.list({ fieldSelector: 'name' })).toThrow(TypeError);
  });

  it('L2: throws for a selection that is incomplete or ambiguous', () => {
    const lister = createLister(filled(), pods);
    const mistakes: [unknown, RegExp][] = [
      [{ labelSelector: 'app=web', matchLabels: { app: 'db' } }, /"matchLabels" .*labelSelector/],
      [{ labelSelector: { app: 'web' } }, /"app" is not a field of a selector/],
      [{ matchLabels: { app: 'web,team=b' } }, /value of "app"/],
      [{ fieldSelector: { 'metadata.name': 'a' } }, /fieldSelector is {.*text/],
      [[], /selector \[\]/],
      [7, /selector 7/],
    ];
    for (const [mistake, message] of mistakes) {
      expect(() => lister.list(mistake as string)).toThrow(TypeError);
      expect(() => lister.list(mistake as string)).toThrow(message);
      expect(() => lister.namespace('shop').list(mistake as string)).toThrow(message);
    }
  });

  it('M9: returns everything without a selection; for an undefined one it throws and says what to pass', () => {
    const lister = createLister(filled(), pods);
    const service: { spec: { selector?: Record<string, string> } } = { spec: {} };
    for (const list of [
      (selection: never) => lister.list(selection),
      (selection: never) => lister.namespace('shop').list(selection),
      (selection: never) => lister.namespace('').list(selection),
    ]) {
      for (const missing of [undefined, null]) {
        expect(() => list(missing as never)).toThrow(TypeError);
        expect(() => list(missing as never)).toThrow(
          `list: the selection is ${missing}; it must be text or an object; call list() or pass '' for everything, or selectNothing`,
        );
        const byLabels = { labelSelector: missing } as never;
        expect(() => list(byLabels)).toThrow(`list: labelSelector is ${missing}; give ''`);
        const byFields = { labelSelector: 'app', fieldSelector: missing } as never;
        expect(() => list(byFields)).toThrow(`list: fieldSelector is ${missing}; give ''`);
      }
      const selector = { matchLabels: service.spec.selector } as never;
      expect(() => list(selector)).toThrow(/matchLabels is undefined/);
    }
    // @ts-expect-error: it does not compile either
    expect(() => lister.list(service.spec.selector)).toThrow(TypeError);
    // @ts-expect-error
    expect(() => lister.namespace('shop').list(undefined)).toThrow(TypeError);
    expect(lister.list()).toHaveLength(4);
  });

  it('S4: results cannot be changed, and are the same array if nothing has changed', () => {
    const indexer = filled({ indexers: { namespace: byNamespace, app: byLabel('app') } });
    const lister = createLister(indexer, pods);
    const answers = [
      lister.list(),
      lister.list('app=web'),
      lister.namespace('shop').list(),
      lister.byIndex('app', 'web'),
      lister.list(selectNothing),
    ];
    for (const answer of answers) expect(Object.isFrozen(answer)).toBe(true);
    expect(lister.namespace('shop').list()).toBe(lister.namespace('shop').list());
    expect(lister.byIndex('app', 'web')).toBe(indexer.byIndex('app', 'web'));
    expect(names(lister.byIndex('app', 'web'))).toBe('ac');
    expect(() => lister.byIndex('no', 'web')).toThrow('Index with name "no" does not exist');
  });
});

describe('get', () => {
  it("L4: finds by key, and throws NotFound with client-go's message", async () => {
    const lister = createLister(filled(), pods);
    expect(lister.get('till/c').metadata.name).toBe('c');
    expect(lister.namespace('till').get('c').metadata.name).toBe('c');
    const error = await failureOf(() => lister.namespace('shop').get('c'));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      code: 404,
      reason: 'NotFound',
      isNotFound: true,
      message: 'pods "c" not found',
      status: { details: { name: 'c', group: '', kind: 'pods' } },
    });
    expect(() => lister.get('shop/web-0')).toThrow('pods "web-0" not found');
    const apps = createLister(filled(), deployments);
    expect(() => apps.get('shop/web')).toThrow('deployments.apps "web" not found');
    expect(() => lister.get('a/b/c')).toThrow(TypeError);
  });

  it('L4: accepts a bare name if the lister has a namespace or the resource is cluster-scoped', () => {
    const indexer = filled();
    const onWarning = vi.fn();
    const scoped = createLister(indexer, pods, { namespace: 'till', onWarning });
    expect(scoped.get('c').metadata.name).toBe('c');
    const cluster = createIndexer<Pod>();
    cluster.replace([pod('n1', 5, 'n1', '')]);
    expect(createLister(cluster, nodes, { onWarning }).get('n1').metadata.name).toBe('n1');
    expect(onWarning).not.toHaveBeenCalled();
    const lister = createLister(indexer, pods, { onWarning });
    for (let round = 0; round < 2; round++) {
      expect(() => lister.get('c')).toThrow('pods "c" not found');
    }
    expect(onWarning.mock.calls).toEqual([[expect.stringContaining('without a namespace')]]);
  });
});

describe('namespace', () => {
  it('L5: reads the index by namespace; without it the lister walks the store and warns once', () => {
    const onWarning = vi.fn();
    const indexed = filled();
    const walked = vi.spyOn(indexed, 'list');
    const fast = createLister(indexed, pods, { onWarning });
    expect(names(fast.namespace('shop').list())).toBe('abd');
    expect(names(fast.namespace('shop').list('app=web'))).toBe('a');
    expect(fast.namespace('none').list()).toEqual([]);
    expect(walked).not.toHaveBeenCalled();
    expect(onWarning).not.toHaveBeenCalled();

    const slow = createLister(filled({ indexers: {} }), pods, { onWarning });
    expect(names(slow.namespace('shop').list())).toBe('abd');
    expect(names(slow.namespace('till').list('app=web'))).toBe('c');
    expect(onWarning.mock.calls).toEqual([[expect.stringContaining('has no index "namespace"')]]);
  });

  it("L5: '' means all namespaces; for a cluster-scoped resource it throws", () => {
    const lister = createLister(filled(), pods);
    expect(names(lister.namespace('').list('app=web'))).toBe('ac');
    expect(lister.namespace('').get('till/c').metadata.name).toBe('c');
    expect(() => createLister(filled(), nodes).namespace('shop')).toThrow(
      'nodes is cluster-scoped, but namespace "shop" was given',
    );
  });
});

describe('before the store is synced', () => {
  it("L5: the first read warns with the informer's name; later reads and reads of a synced store do not", async () => {
    const { source, informer } = scriptedInformer({ name: 'ui/pods' });
    const onWarning = vi.fn();
    const lister = createLister(informer, pods, { onWarning });
    expect(lister.list()).toEqual([]);
    expect(() => lister.get('shop/a')).toThrow(ApiError);
    expect(lister.namespace('shop').list()).toEqual([]);
    expect(onWarning.mock.calls).toEqual([
      [expect.stringMatching(/\(informer ui\/pods\) was read before its store was synced/)],
    ]);
    source.listed(9, pod('a', 5));
    informer.start();
    await informer.whenSynced({ timeoutMs: 5_000 });
    const late = createLister(informer, pods, { onWarning });
    expect(names(late.list())).toBe('a');
    expect(onWarning).toHaveBeenCalledTimes(1);
  });

  it('L5: a warning function that throws fails no read', () => {
    vi.useFakeTimers();
    try {
      const thrown = new Error('from onWarning');
      const onWarning = () => {
        throw thrown;
      };
      const lister = createLister(createIndexer<Pod>(), pods, { onWarning });
      expect(lister.list()).toEqual([]);
      expect(() => lister.get('a')).toThrow(ApiError);
      expect(lister.namespace('shop').list()).toEqual([]);
      // The error is not lost either.
      expect(() => vi.runAllTimers()).toThrow(thrown);
    } finally {
      vi.useRealTimers();
    }
  });

  it('L5: warns on the console by default', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    createLister(createIndexer<Pod>(), pods).list();
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });
});

/** The state of a promise so far. */
async function state(promise: Promise<unknown>): Promise<string> {
  const settled = promise.then(
    () => 'there',
    (error: Error) => error.message,
  );
  const pending = new Promise<string>((resolve) => setImmediate(resolve, 'pending'));
  return Promise.race([settled, pending]);
}

function running(time = new VirtualTime()) {
  const { source, informer } = scriptedInformer({ name: 'pods', scheduler: time });
  const lister = createLister(informer, pods);
  source.listed(10, pod('a', 5));
  informer.start();
  return { time, source, informer, lister };
}

describe('reads of a minimum version', () => {
  it('L7: wait until an object or a bookmark brings the store to the version', async () => {
    const { source, lister } = running();
    expect(await lister.atLeast('10')).toBe(lister);
    const twelve = lister.atLeast('12');
    expect(await state(twelve)).toBe('pending');
    source.send(added(pod('b', 11)));
    expect(await state(twelve)).toBe('pending');
    source.send(bookmark(12));
    const fresh = await twelve;
    expect(fresh.get('shop/b').metadata.resourceVersion).toBe('11');
    // Also for versions that exceed the safe integers.
    const far = lister.atLeast('90071992547409931');
    source.send(added(pod('c', 13)));
    expect(await state(far)).toBe('pending');
    source.send({
      type: 'BOOKMARK',
      resourceVersion: '90071992547409932',
      initialEventsEnd: false,
    });
    expect(await state(far)).toBe('there');
  });

  it('L7: wait for one object, by key or as a write returned it', async () => {
    const { source, informer, lister } = running();
    const written = pod('w', 15);
    const waits = [
      lister.atLeast(written),
      lister.atLeast({ key: 'shop/w', resourceVersion: '15' }),
    ];
    for (const wait of waits) expect(await state(wait)).toBe('pending');
    source.send(added(pod('w', 14)));
    for (const wait of waits) expect(await state(wait)).toBe('pending');
    source.send(added(pod('w', 15)));
    for (const wait of waits) expect(await state(wait)).toBe('there');
    await informer.stop();
    const sent = { metadata: { name: 'w', namespace: 'shop' } };
    await expect(lister.atLeast(sent)).rejects.toThrow(/has no resourceVersion.*returned/);
    for (const none of ['', '0']) await expect(lister.atLeast(none)).rejects.toThrow(TypeError);
  });

  it('L7: wait for a custom resource with own fields called key, uid or deleted', async () => {
    const { source, informer, lister } = running();
    const fields = { key: 'value', uid: 'another', deleted: true, resourceVersion: '3' };
    const written = { ...pod('w', 15), ...fields };
    const wait = lister.atLeast(written);
    expect(await state(wait)).toBe('pending');
    source.send(added(pod('w', 15)));
    expect(await state(wait)).toBe('there');
    await informer.stop();
    for (const invalid of [{}, null, 7, { key: 7, resourceVersion: '1' }, { kind: 'Pod' }]) {
      const failure = await lister.atLeast(invalid as never).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(TypeError);
      expect((failure as Error).message).toMatch(/^atLeast: .*give/);
    }
  });

  it('L7: for one object do not wait for the rest: with several namespaces the store is as old as the oldest one', async () => {
    const [shop, till] = [scriptedListWatch('shop'), scriptedListWatch('till')];
    const informer = createSharedInformer([shop, till]);
    shop.listed(10);
    till.listed(10);
    informer.start();
    const lister = createLister(informer, pods);
    shop.send(added(pod('w', 15)));
    expect(await state(lister.atLeast(pod('w', 15)))).toBe('there');
    const all = lister.atLeast('15');
    expect(await state(all)).toBe('pending');
    till.send(bookmark(15));
    expect(await state(all)).toBe('there');
    await informer.stop();
  });

  it('L7: wait for the deletion of an object by its UID, and never resolve before the initial list is complete', async () => {
    const { source, informer, lister } = running();
    const gone = lister.atLeast({ key: 'shop/a', uid: 'a', deleted: true });
    expect(await state(gone)).toBe('pending');
    source.send(deleted(pod('a', 11)), added(pod('a', 12, 'another')));
    const fresh = await gone;
    expect(fresh.get('shop/a').metadata.uid).toBe('another');
    await informer.stop();

    const late = scriptedListWatch();
    const starting = createSharedInformer(late);
    const early = createLister(starting, pods).atLeast({ key: 'shop/a', uid: 'a', deleted: true });
    starting.start();
    expect(await state(early)).toBe('pending');
    late.listed(10, pod('a', 5));
    expect(await state(early)).toBe('pending');
    late.send(deleted(pod('a', 11)));
    expect(await state(early)).toBe('there');
    await starting.stop();
  });

  it('L9: reject when the timeout has passed, when the informer is stopped, and if there is no informer', async () => {
    const { time, informer, lister } = running();
    const outcome: unknown[] = [];
    lister.atLeast('99', { timeoutMs: 2_000 }).catch((error) => outcome.push(error));
    await time.advance(1_999);
    expect(outcome).toEqual([]);
    await time.advance(1);
    expect(outcome).toMatchObject([
      {
        reason: 'NotObserved',
        message: 'pods has not observed version 99 within 2000 ms; it is at 10',
      },
    ]);
    const stopped = lister.atLeast('99');
    await informer.stop();
    await expect(stopped).rejects.toMatchObject({ reason: 'Stopped' });
    const bare = createLister(filled(), pods);
    await expect(bare.atLeast('1')).rejects.toThrow(/reads a store.*createLister\(informer/);
    await expect(bare.atLeast('1')).rejects.toBeInstanceOf(TypeError);
  });
});
