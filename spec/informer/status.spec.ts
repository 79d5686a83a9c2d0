/** The status of an informer and its words: transitions, refused objects, several scopes, demand, and `live`. */
import {
  ApiError,
  addEventHandler,
  applyDeltas,
  createClient,
  createIndexer,
  createListWatch,
  createSharedInformer,
  deltaFifo,
  describeStatus,
  type InformerStatus,
  reflect,
} from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer, marbles } from 'rx-informer/testing';
import { firstValueFrom, Subject, timer } from 'rxjs';
import { filter, map } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { compressions } from '../delta/compressions.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../support/brief.ts';
import { eventually } from '../support/patience.ts';
import {
  added,
  bookmark,
  deleted,
  modified,
  type Pod,
  pod,
  scriptedInformer,
  scriptedListWatch,
} from '../support/scripted-list-watch.ts';

const expired = () => ApiError.fromStatus({ code: 410, reason: 'Expired' }, 410);
const word = (status: InformerStatus) =>
  `${status.phase}${status.synced ? '*' : ''}${status.error ? ` ${status.error.reason}` : ''}`;

describe('status', () => {
  it('I16: status$ emits transitions only; an advancing version is not a transition', () => {
    const { source, informer } = scriptedInformer();
    const words: string[] = [];
    informer.status$.subscribe((status) => words.push(word(status)));
    informer.start();
    source.listed(1, pod('web', 1));
    for (let version = 2; version < 50; version++) source.send(modified(pod('web', version)));
    source.send(bookmark(60));
    expect(words[0]).toBe('idle');
    expect(words.slice(1, 2)).toEqual(['listing']);
    expect(words.at(-1)).toBe('watching*');
    expect(words.length).toBeLessThan(7);
    expect(informer.status.resourceVersion).toBe('60');
  });

  for (const compression of ['none', 'latest'] as const) {
    it(`I16: synced is emitted if the demand opens after the last phase of the reflector (${compression})`, () =>
      marbles(({ scheduler }) => {
        const demand = () => timer(16, scheduler);
        const { source, informer } = scriptedInformer({
          scheduler,
          demand,
          compression: compressions[compression],
        });
        const synced: boolean[] = [];
        const words: string[] = [];
        informer.status$.subscribe((status) => words.push(word(status)));
        informer.synced$.subscribe((is) => synced.push(is));
        source.listed(1, pod('web', 1));
        informer.start();
        scheduler.schedule(() => {
          expect([informer.hasSynced, synced, words.at(-1)]).toEqual([
            true,
            [false, true],
            'watching*',
          ]);
          void informer.stop();
        }, 200);
      }));
  }

  it('I71: staleSinceMs is the time from which the copy in the store is stale, until a list replaces it or the store is emptied', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({
      scheduler: time,
      lingerMs: 0,
      random: () => 0,
    });
    const since = () => informer.status.staleSinceMs;
    informer.start();
    source.listed(1, pod('web', 1));
    await time.advance(100);
    expect(since()).toBeUndefined();
    source.fail(ApiError.local('Network', 'reset'));
    expect(since()).toBe(100);
    await time.advance(50);
    await informer.stop();
    expect(since()).toBe(100);
    await time.advance(50);
    await informer.stop();
    expect(since()).toBe(100);
    informer.start();
    expect([informer.indexer.size, informer.status.phase, since()]).toEqual([1, 'listing', 100]);
    await time.advance(50);
    await informer.stop();
    expect(since()).toBe(100);
    informer.start();
    // The first response is for the list of the previous run, and late.
    for (const version of [2, 3]) source.listed(version, pod('web', version));
    expect(since()).toBeUndefined();
    await time.advance(50);
    await informer.stop();
    expect(since()).toBe(300);
    informer.changes$.subscribe().unsubscribe();
    expect([informer.indexer.size, informer.status.phase, since()]).toEqual([0, 'idle', undefined]);
  });

  it('I16: the status shows a failure until a retry succeeds, and data streams do not error (TestSharedInformerErrorHandling)', () =>
    marbles(({ scheduler }) => {
      const { source, informer } = scriptedInformer({ scheduler, random: () => 0 });
      const words: string[] = [];
      const sets: string[] = [];
      let errors = 0;
      informer.status$.subscribe((status) => words.push(word(status)));
      informer.changes$.subscribe({ next: (set) => sets.push(brief(set)), error: () => errors++ });
      source.listed(1, pod('web', 1), pod('db', 1));
      scheduler.schedule(() => source.fail(ApiError.local('Network', 'reset')), 10);
      scheduler.schedule(() => {
        expect(informer.status.staleSinceMs).toBe(10);
        expect(informer.status.nextRetryAtMs).toBe(810);
      }, 20);
      scheduler.schedule(() => source.send({ type: 'ERROR', error: expired() }), 2000);
      scheduler.schedule(() => source.listed(9, pod('web', 1), pod('new', 8)), 2001);
      scheduler.schedule(() => {
        expect(words.filter((each) => each.startsWith('backoff'))).toEqual([
          'backoff* Network',
          'backoff* Expired',
        ]);
        expect(words.at(-1)).toBe('watching*');
        expect(informer.status).toMatchObject({ reconnects: 1, relists: 1 });
        expect(informer.status.staleSinceMs).toBeUndefined();
        expect(sets.at(-1)).toBe('relist* -db@1? +new@8');
        expect(errors).toBe(0);
        void informer.stop();
      }, 5000);
    }));

  it('I16: status$ emits if a different object is refused, but not for the same object again', () => {
    let refused = 'a';
    const picky = ({ metadata }: Pod) => {
      if (metadata.name === refused) throw new Error('no');
      return [];
    };
    const { source, informer } = scriptedInformer({ indexers: { picky } });
    source.listed(1, pod('a', 1), pod('b', 1));
    informer.start();
    const keys: (string | undefined)[] = [];
    informer.status$.subscribe(({ refusedObjects }) => keys.push(refusedObjects?.[0]?.key));
    source.send(modified(pod('a', 2)));
    refused = 'b';
    source.send(modified(pod('a', 3)), modified(pod('b', 3)));
    source.send(modified(pod('b', 4)));
    expect(keys).toEqual(['shop/a', 'shop/b']);
  });

  it('I13: a refused object is shown with its key and accepted at its next event', async () => {
    const server = createFakeApiServer();
    const at = { namespace: 'shop', name: 'bad' };
    server.objects.create(configMaps, { metadata: at, data: { size: 'huge' } });
    server.objects.create(configMaps, { metadata: { ...at, name: 'good' }, data: { size: '1' } });
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    const source = createListWatch(client, configMaps, {
      transform: (object) => {
        if (object.data?.['size'] === 'huge') throw new Error('too huge');
        return object;
      },
    });
    const informer = createSharedInformer(source);
    informer.start();
    await informer.whenSynced();
    expect(informer.indexer.listKeys()).toEqual(['shop/good']);
    expect(informer.status.refused).toBe(1);
    expect(informer.status.refusedObjects?.[0]).toMatchObject({
      key: 'shop/bad',
      error: { message: 'shop/bad: the transform threw: too huge' },
    });
    const version = server.objects.get(configMaps, at)?.metadata?.resourceVersion;
    server.objects.update(configMaps, {
      metadata: { ...at, ...(version === undefined ? {} : { resourceVersion: version }) },
      data: { size: '2' },
    });
    await informer.whenObserved('shop/bad', server.objects.resourceVersion);
    expect(informer.indexer.getByKey('shop/bad')).toBeDefined();
    expect(informer.status.refused).toBe(0);
    await informer.stop();
  });

  it('I13: no object is shown as refused once the informer is stopped or idle', async () => {
    const time = new VirtualTime();
    const strict = (): string[] => {
      throw new Error('refused');
    };
    const { source, informer } = scriptedInformer({
      scheduler: time,
      lingerMs: 0,
      indexers: { strict },
    });
    const refused = () => [informer.status.refused, informer.status.refusedObjects?.length];
    source.listed(1, pod('bad', 1));
    informer.start();
    expect(refused()).toEqual([1, 1]);
    await informer.stop();
    expect(refused()).toEqual([0, undefined]);
    addEventHandler(informer, {});
    source.listed(2, pod('bad', 1));
    const run = informer.changes$.subscribe();
    expect(refused()).toEqual([1, 1]);
    run.unsubscribe();
    expect([informer.status.phase, ...refused()]).toEqual(['idle', 0, undefined]);
  });

  it('F3, I16: deletions of unknown keys are counted, not delivered', () => {
    const { source, informer } = scriptedInformer();
    source.listed(1);
    informer.start();
    const sets: string[] = [];
    informer.changes$.subscribe((set) => sets.push(brief(set)));
    source.send(deleted(pod('ghost', 2)));
    expect(sets).toEqual(['snapshot*!']);
    expect(informer.status.unknownDeletions).toBe(1);
  });
});

describe('stages connected by hand', () => {
  it('I14: the same stages connected by hand give the same notifications', async () => {
    const story = async (subscribe: (source: ReturnType<typeof scriptedListWatch>) => string[]) => {
      const source = scriptedListWatch();
      const sets = subscribe(source);
      source.listed(1, pod('web', 1), pod('db', 1));
      source.send(modified(pod('web', 2)), modified(pod('web', 3)), added(pod('api', 4)));
      source.send(deleted(pod('db', 5)), added(pod('db', 6, 'second')), bookmark(7));
      source.listed(9, pod('db', 6, 'second'), pod('api', 8));
      source.send({ type: 'ERROR', error: expired() });
      await eventually(() => expect(sets.some((set) => set.startsWith('relist'))).toBe(true));
      return sets;
    };
    const shared = await story((source) => {
      const sets: string[] = [];
      createSharedInformer(source, { backoff: () => 0 }).changes$.subscribe((set) =>
        sets.push(brief(set)),
      );
      return sets;
    });
    const byHand = await story((source) => {
      const sets: string[] = [];
      const indexer = createIndexer<Pod>();
      reflect(source, { backoff: () => 0, known: indexer })
        .pipe(deltaFifo({ known: indexer }), applyDeltas(indexer), map(brief))
        .subscribe((set) => sets.push(set));
      return sets;
    });
    expect(byHand.length).toBeGreaterThan(5);
    expect(shared).toEqual(['snapshot!', ...byHand]);
  });
});

const codesOf = (scopes: InformerStatus['scopes'] = {}) =>
  Object.values(scopes)
    .map(({ error }) => error?.code)
    .join(' ');

describe('several scopes', () => {
  it('I15: share one store, which is synced when all scopes are, and have one status each', async () => {
    const shop = scriptedListWatch('shop');
    const bank = scriptedListWatch('bank');
    const informer = createSharedInformer([shop, bank]);
    informer.start();
    shop.listed(5, pod('web', 1));
    expect([informer.hasSynced, informer.indexer.size]).toEqual([false, 1]);
    expect(informer.status.scopes?.['bank']?.phase).toBe('listing');
    bank.listed(7, pod('vault', 2, 'v', 'bank'));
    expect([informer.hasSynced, informer.lastSyncResourceVersion]).toEqual([true, '5']);
    expect(informer.indexer.listKeys()).toEqual(['shop/web', 'bank/vault']);
    shop.send(bookmark(9));
    expect(informer.lastSyncResourceVersion).toBe('7');
    await informer.stop();
    expect([shop.open, bank.open]).toEqual([0, 0]);
  });

  it('I15: staleSinceMs is that of the scope that became stale first, and absent if no scope is stale', async () => {
    const time = new VirtualTime();
    const scopes = ['shop', 'bank', 'mint'].map((scope) => scriptedListWatch(scope));
    const informer = createSharedInformer(scopes, { scheduler: time, random: () => 0 });
    informer.start();
    for (const scope of scopes) scope.listed(1);
    expect(informer.status.staleSinceMs).toBeUndefined();
    const [shop, bank] = scopes;
    await time.advance(100);
    bank?.fail(ApiError.local('Network', 'reset'));
    await time.advance(100);
    shop?.fail(ApiError.local('Network', 'reset'));
    expect(informer.status.staleSinceMs).toBe(100);
    // The watch of the scope bank is answered again.
    await time.advance(710);
    expect(informer.status.staleSinceMs).toBe(200);
    await time.advance(100);
    expect(informer.status.staleSinceMs).toBeUndefined();
    await informer.stop();
  });

  it('I15: a scope that is blocked takes precedence over one that waits, with its own error', async () => {
    const server = createFakeApiServer();
    const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
    server.faults.failNext({ namespace: 'bank' }, { status: 403, times: 9 });
    server.faults.failNext({ namespace: 'shop' }, { status: 503, times: 9 });
    const sources = ['shop', 'bank'].map((namespace) =>
      createListWatch(client, configMaps, { namespace }),
    );
    const informer = createSharedInformer(sources);
    informer.start();
    const both = informer.status$.pipe(
      map(({ scopes, ...status }) => ({ ...status, codes: codesOf(scopes) })),
    );
    // The denied streaming list does not block yet. The denied plain list after it does.
    const blocking = both.pipe(
      filter(({ codes, blocked }) => codes === '503 403' && blocked !== undefined),
    );
    const status = await firstValueFrom(blocking);
    expect(status).toMatchObject({ phase: 'backoff', blocked: 'forbidden', error: { code: 403 } });
    await informer.stop();
  });

  it('I15: several ListerWatchers with a missing or a shared scope are refused', () => {
    expect(() => createSharedInformer([scriptedListWatch('a'), scriptedListWatch('a')])).toThrow(
      /scope/,
    );
    expect(() => createSharedInformer([scriptedListWatch(), scriptedListWatch('a')])).toThrow(
      /scope/,
    );
    expect(() => createSharedInformer([])).toThrow(/no ListerWatcher/);
  });
});

describe('demand', () => {
  it('F11: deltas gather while the demand is closed, and are taken as one batch', async () => {
    const shown = new Subject<void>();
    let hidden = false;
    const { source, informer } = scriptedInformer({
      demand: () => (hidden ? shown : null),
      compression: compressions.latest,
    });
    source.listed(1, pod('web', 1));
    informer.start();
    const sets: string[] = [];
    informer.changes$.subscribe((set) => sets.push(brief(set)));
    hidden = true;
    for (let version = 2; version < 100; version++) source.send(modified(pod('web', version)));
    expect(sets).toHaveLength(1);
    hidden = false;
    shown.next();
    expect(sets).toEqual(['snapshot*! +web@1', 'watch* ~web@1>99']);
    await informer.stop();
    await expect(firstValueFrom(informer.status$)).resolves.toMatchObject({ phase: 'stopped' });
  });
});

describe('live', () => {
  const later = () => added(pod('late', 99));

  it('I80: is true from the response to a watch until its end, and false while the informer does not run', async () => {
    const time = new VirtualTime();
    const { source, informer } = scriptedInformer({ scheduler: time, random: () => 0 });
    const shown: string[] = [];
    informer.status$.subscribe(({ phase, live }) => shown.push(`${phase}${live ? ' live' : ''}`));
    informer.start();
    source.listed(1, pod('web', 1));
    expect(informer.status.live).toBe(true);
    source.fail(ApiError.local('Network', 'lost'));
    expect(informer.status.live).toBe(false);
    await time.advance(1_000);
    expect(informer.status.live).toBe(true);
    await informer.stop();
    expect(shown).toEqual([
      'idle',
      'listing',
      'listing',
      'connecting',
      'watching live',
      'backoff',
      'connecting',
      'watching live',
      'stopped',
    ]);
  });

  it('I80: is true once every one of several scopes has an answered watch', () => {
    const shop = scriptedListWatch('shop');
    const bank = scriptedListWatch('bank');
    const informer = createSharedInformer([shop, bank]);
    informer.start();
    shop.listed(1, pod('web', 1));
    expect(informer.status).toMatchObject({ live: false, scopes: { shop: { live: true } } });
    bank.listed(1);
    expect(informer.status.live).toBe(true);
    shop.fail(ApiError.local('Network', 'lost'));
    expect(informer.status).toMatchObject({ live: false, scopes: { bank: { live: true } } });
    void informer.stop();
  });

  it('I80: is false before the list is in the store', () => {
    const time = new VirtualTime();
    const door = new Subject<void>();
    let open = false;
    const demand = () => (open ? null : door);
    const { source, informer } = scriptedInformer({
      scheduler: time,
      demand,
      pauseLimitMs: 60_000,
    });
    informer.start();
    source.listed(1, pod('web', 1));
    expect(informer.status).toMatchObject({ live: false, synced: false });
    open = true;
    door.next();
    expect(informer.status).toMatchObject({ live: true, synced: true });
    source.send(later());
    expect(informer.indexer.size).toBe(2);
    void informer.stop();
  });
});

const said = (status: Parameters<typeof describeStatus>[0]) =>
  describeStatus(status, { nowMs: 100_000 }).text;
const error = ApiError.local('Network', 'the connection was lost');
const stale = { synced: true, staleSinceMs: 40_000 } as const;

describe('describeStatus', () => {
  it.each<[Partial<InformerStatus>, string]>([
    [{}, 'Starting: nothing was requested yet'],
    [{ phase: 'idle' }, 'Starting: nothing was requested yet'],
    [{ phase: 'stopped', ...stale, synced: false }, 'Stopped'],
    [
      { phase: 'queued', waitingFor: 'the tab is hidden' },
      'Waiting for a connection: the tab is hidden',
    ],
    [{ phase: 'listing' }, 'Loading: waiting for the server'],
    [{ phase: 'streaming', loaded: 1_500 }, 'Loading: 1,500'],
    [{ phase: 'listing', loaded: 500, remaining: 500 }, 'Loading: 500 of 1,000'],
    [
      { phase: 'listing', ...stale },
      'Reading the list again: waiting for the server; the data is 60 s old',
    ],
    [{ phase: 'connecting' }, 'Connecting'],
    [
      { phase: 'connecting', ...stale, staleSinceMs: -500_000 },
      'Connecting: the data is 10 min old',
    ],
    // Of a warm start.
    [
      { phase: 'listing', loaded: 800, stale: true, staleSinceMs: 40_000 },
      'Loading: 800; the data is 60 s old',
    ],
    [{ phase: 'paused', ...stale, staleSinceMs: -1e7 }, 'Paused: the data is 3 h old'],
    [
      { phase: 'backoff', nextRetryAtMs: 103_001, error },
      'Reconnecting in 4 s: the connection was lost',
    ],
    // The clock was set back two hours during a wait of 2 s.
    [{ phase: 'backoff', sinceMs: 7_300_000, nextRetryAtMs: 7_302_000 }, 'Reconnecting in 2 s'],
    [{ phase: 'backoff', nextRetryAtMs: 99_000 }, 'Reconnecting'],
    [{ phase: 'backoff', blocked: 'forbidden', error }, 'Forbidden: the connection was lost'],
    [{ phase: 'listing', blocked: 'unauthorized' }, 'Not signed in'],
    [{ phase: 'watching', live: true, synced: true }, 'Live'],
    [{ phase: 'watching', live: true, refused: 1 }, 'Live: 1 object left out'],
    [
      { phase: 'watching', live: true, access: { message: 'not till' } } as Partial<InformerStatus>,
      'Live: not till',
    ],
    [{ phase: 'watching', live: false, ...stale }, 'Catching up: the data is 60 s old'],
    // A cluster of several has failed, or the way to the server is dead.
    [
      { phase: 'watching', live: false, error, ...stale },
      'Not live: the connection was lost; the data is 60 s old',
    ],
    [
      { phase: 'watching', live: false, heldBack: { sinceMs: 0, message: 'a proxy buffers' } },
      'Late: a proxy buffers',
    ],
    // An error whose text ends with a mark.
    [
      {
        phase: 'backoff',
        ...stale,
        error: ApiError.local('Network', 'it was lost. Did a proxy end it?'),
      },
      'Reconnecting: it was lost. Did a proxy end it? The data is 60 s old',
    ],
  ])('I110: %o is %s', (status, text) => {
    expect(said(status)).toBe(text);
    expect(describeStatus(status).tone === 'live').toBe(status.live === true);
  });

  it('I110: accepts what a view and a hook return, with the error of a pipe', () => {
    const status = { phase: 'watching', live: true, synced: true, refusedRows: [{}, {}] } as const;
    expect(said({ status, error: undefined })).toBe('Live: 2 rows left out');
    expect(said({ status, error: new Error('the pipe broke') })).toBe('Not live: the pipe broke');
    const blocked = { phase: 'backoff', blocked: 'forbidden', error, refusedRows: [] } as const;
    expect(said({ status: blocked, error })).toBe('Forbidden: the connection was lost');
  });

  it('I110: is live in words only if it is live', () => {
    expect(describeStatus({ phase: 'watching', live: false })).toEqual({
      tone: 'busy',
      headline: 'Catching up',
      detail: '',
      text: 'Catching up',
    });
  });
});
