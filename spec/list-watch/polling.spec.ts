/** Kinds that are polled: their requests, and their informers. */
import {
  ApiError,
  addEventHandler,
  createClient,
  createListWatch,
  createPollingListWatch,
  createSharedInformer,
  defineResource,
  type KubernetesObject,
  type ListerWatcher,
  type ListPart,
  type PollingOptions,
  reflect,
  type SharedInformerOptions,
  type WatchRequest,
  type WatchSignal,
} from 'rx-informer';
import { pods } from 'rx-informer/resources';
import { marbles } from 'rx-informer/testing';
import { defer, Observable, of, Subject, throwError, timer } from 'rxjs';
import { map, tap } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { answer, brief, listPart, type Pod, refusal, script } from '../reflector/script.ts';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief as briefSet } from '../store/sets.ts';
import { pod, type Pod as ScriptedPod } from '../support/scripted-list-watch.ts';

const REQUEST = { resourceVersion: '5', timeoutSeconds: 300 };

/** Returns the signals of a poll of these lists, each with its time. */
function polled(
  lists: Observable<ListPart<Pod>>[],
  untilMs: number,
  more: Pick<WatchRequest<Pod>, 'demand'> = {},
  options: PollingOptions = {},
): string[] {
  return marbles(({ scheduler, flush }) => {
    const polling = createPollingListWatch(script({ lists }).listerWatcher, {
      scheduler,
      random: () => 0,
      intervalMs: 1_000,
      ...options,
    });
    const lines: string[] = [];
    const record = (text: string) => lines.push(`${scheduler.now()} ${text}`);
    const run = polling.watch({ ...REQUEST, ...more }).subscribe({
      next: (signal: WatchSignal<Pod>) => {
        if (signal.kind !== 'listed') return record(signal.kind);
        const { items, refused = [], resourceVersion } = signal;
        const names = items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
        return record(
          [...names, ...refused.map(({ key }) => `?${key}`), `)${resourceVersion}`].join(' '),
        );
      },
      error: (error) => record(`# ${error.code}`),
    });
    scheduler.schedule(() => run.unsubscribe(), untilMs);
    flush();
    return lines.filter((line) => !line.endsWith('alive'));
  });
}

describe('a kind that cannot be watched', () => {
  it('W5: the kind is listed repeatedly, and each list is emitted when it is complete', () => {
    const lists = [
      of(listPart('6', ['a@1', 'b@2'])),
      of({ ...listPart('7', ['a@7', 'c@7']), refused: [refusal('d@7')] }),
      of(listPart('7')),
    ];
    expect(polled(lists, 3_500)).toEqual([
      '0 opened',
      '1000 a@1 b@2 )6',
      '2000 a@7 c@7 ?d/d )7',
      '3000 )7',
    ]);
  });

  it('W5: the kind is listed in pages, and after an expired token the list starts again', () => {
    const lists = [
      of({ ...listPart('6', ['a@1'], 'C1'), refused: [refusal('b@6')] }),
      throwError(() => answer(410, 'Expired')),
      of(listPart('8', ['c@8'])),
    ];
    expect(polled(lists, 1_500)[1]).toBe('1000 c@8 )8');
    const pages = [of(listPart('6', ['a@1'], 'C1')), of(listPart('8', ['c@8']))];
    expect(polled(pages, 1_500)[1]).toBe('1000 a@1 c@8 )6');
  });

  it('W5: the kind is not listed while the consumer has no capacity', () => {
    const capacity = new Subject<void>();
    let asked = 0;
    const demand = () => {
      asked++;
      return asked === 2 ? capacity : null;
    };
    const received = polled([of(listPart('6'))], 9_500, { demand });
    expect([received, asked]).toEqual([['0 opened', '1000 )6'], 2]);
  });

  it('W5: the wait begins at the end of a list and is up to a fifth longer, at random', () => {
    const options = { intervalMs: 10_000, random: () => 0.5 };
    const times = polled([of(listPart('6'))], 40_000, {}, options).map(
      (line) => line.split(' ')[0],
    );
    expect(times).toEqual(['0', '11000', '22000', '33000']);
  });

  it('W5: a list that fails ends the watch with its error', () => {
    expect(polled([throwError(() => answer(403))], 5_000)).toEqual(['0 opened', '1000 # 403']);
  });

  it('W5: a poll does not count as silent, however long its interval is', () => {
    marbles(({ scheduler, flush }) => {
      const scripted = script({ lists: [of(listPart('5', ['a@1'])), of(listPart('9', ['a@9']))] });
      const options = { scheduler, random: () => 0 };
      const polling = createPollingListWatch(scripted.listerWatcher, {
        ...options,
        intervalMs: 3_600_000,
      });
      const received: string[] = [];
      const errors: unknown[] = [];
      const run = reflect(polling, { ...options, onError: (error) => void errors.push(error) });
      const subscription = run.subscribe((deltas) => received.push(brief(deltas)));
      scheduler.schedule(() => subscription.unsubscribe(), 4_000_000);
      flush();
      expect(errors).toEqual([]);
      expect(scripted.requested).toEqual(['L0', 'L']);
      expect(received).toEqual(['(a@1', ')@5', 'a@9)@9']);
    });
  });

  it('W5, R15: a poll does not count as silent while its list is queued', () => {
    marbles(({ scheduler, flush }) => {
      let lists = 0;
      const polling = createPollingListWatch<Pod>(
        {
          list: ({ onTurn }) =>
            lists++ === 0
              ? of(listPart('5', ['a@1']))
              : defer(() => {
                  onTurn?.('queued');
                  return timer(300_000).pipe(
                    tap(() => onTurn?.('sending')),
                    map(() => listPart('9', ['a@9'])),
                  );
                }),
        },
        { scheduler, random: () => 0, intervalMs: 10_000 },
      );
      const received: string[] = [];
      const run = reflect(polling, {
        scheduler,
        onError: (error) => void received.push(error.message),
        onStatus: ({ phase }) => received.push(`${scheduler.now()} ${phase}`),
      });
      const subscription = run.subscribe();
      scheduler.schedule(() => subscription.unsubscribe(), 311_000);
      flush();
      expect([...new Set(received)]).toEqual([
        '0 listing',
        '0 connecting',
        '0 watching',
        '10000 queued',
        '310000 watching',
      ]);
    });
  });

  it('W5, W6: unsubscribing ends the wait and the list in progress', () => {
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const list = cold<ListPart<Pod>>('-----');
      const polling = createPollingListWatch(script({ lists: [list] }).listerWatcher, {
        scheduler,
        random: () => 0,
        intervalMs: 3,
      });
      expectObservable(polling.watch(REQUEST), '^----!').toBe('o', { o: { kind: 'opened' } });
      expectSubscriptions(list.subscriptions).toBe('---^-!');
    });
  });

  it('W5: a polling ListerWatcher forwards lists, supports no streaming lists and keeps its scope', () => {
    const lists = [of(listPart('6', ['a@1']))];
    const { listerWatcher, requested } = script({ lists }, { scope: 'd' });
    const polling = createPollingListWatch(listerWatcher);
    expect([polling.watchList, polling.scope]).toEqual([false, 'd']);
    polling.list({ resourceVersion: '0' }).subscribe();
    expect(requested).toEqual(['L0']);
  });

  it('D18, S9: each of two watches notices that the server went back in time, and lists again without reuse', () => {
    marbles(({ scheduler, flush }) => {
      const reuses: unknown[] = [];
      const polling = createPollingListWatch<Pod>(
        {
          list: ({ reuse }) => {
            reuses.push(reuse);
            return of({ ...listPart('7', ['a@5']), ...(reuse === true ? { unparsed: true } : {}) });
          },
        },
        { scheduler, random: () => 0, intervalMs: 1_000 },
      );
      const watch = (resourceVersion: string) =>
        polling.watch({ ...REQUEST, resourceVersion, reuse: true }).subscribe();
      const runs = [watch('9'), watch('9'), watch('6')];
      scheduler.schedule(() => runs.forEach((run) => void run.unsubscribe()), 1_500);
      flush();
      expect(reuses).toEqual([true, false, true, false, true]);
    });
  });
});

describe('a kind that is polled', () => {
  /** A collection that can only be listed. */
  function collection() {
    let part: ListPart<ScriptedPod> = { items: [], metadata: { resourceVersion: '1' } };
    let asked = 0;
    return {
      get asked() {
        return asked;
      },
      holds(resourceVersion: string, ...items: ScriptedPod[]) {
        part = { items, metadata: { resourceVersion } };
      },
      list: () =>
        new Observable<ListPart<ScriptedPod>>((subscriber) => {
          asked++;
          return of(part).subscribe(subscriber);
        }),
    };
  }

  /** An informer that polls every second. */
  function polled(
    source: Pick<ListerWatcher<ScriptedPod>, 'list' | 'scope'>,
    options: SharedInformerOptions<ScriptedPod> = {},
  ) {
    const time = new VirtualTime();
    const listWatch = createPollingListWatch(source, {
      scheduler: time,
      random: () => 0,
      intervalMs: 1_000,
    });
    const errors: ApiError[] = [];
    const informer = createSharedInformer(listWatch, {
      scheduler: time,
      random: () => 0,
      onError: (error) => void errors.push(error),
      ...options,
    });
    const sets: string[] = [];
    informer.changes$.subscribe((set) => sets.push(briefSet(set)));
    informer.start();
    return { time, informer, errors, sets };
  }

  interface PodMetrics extends KubernetesObject {
    containers: { usage: { cpu: string } }[];
  }

  /** An object without UID and version, like a ComponentStatus. */
  const bare = (name: string, kind: string): ScriptedPod =>
    ({ kind, metadata: { name, namespace: 'shop' } }) as ScriptedPod;

  it('W13, S9: an update of an object without a resourceVersion is detected by its content', async () => {
    const source = collection();
    source.holds('', bare('etcd', 'well'), bare('scheduler', 'well'));
    const { time, informer, errors, sets } = polled(source);
    await time.advance(1_500);
    source.holds('', bare('etcd', 'ill'), bare('scheduler', 'well'));
    await time.advance(2_000);
    expect(informer.indexer.getByKey('shop/etcd')?.kind).toBe('ill');
    source.holds('', bare('scheduler', 'well'));
    await time.advance(2_000);
    expect(sets.slice(-2)).toEqual([
      'relist* ~shop/etcd@undefined>undefined',
      'relist* -shop/etcd@undefined?',
    ]);
    expect(errors).toEqual([]);
    await informer.stop();
  });

  it('W13: pod metrics, which have neither versions nor UIDs, are updated by each poll that differs', async () => {
    const time = new VirtualTime();
    let cpu = '10m';
    const fetch = async () => {
      const metadata = { namespace: 'shop', name: 'web', labels: { app: 'web' } };
      const containers = [{ name: 'c', usage: { cpu, memory: '1Mi' } }];
      const items = [{ metadata, timestamp: '2026-01-01T00:00:00Z', window: '15s', containers }];
      const body = {
        kind: 'PodMetricsList',
        apiVersion: 'metrics.k8s.io/v1beta1',
        metadata: {},
        items,
      };
      return Response.json(body);
    };
    const client = createClient({ baseUrl: 'http://metrics', fetch, scheduler: time });
    const podMetrics = defineResource<PodMetrics>({
      group: 'metrics.k8s.io',
      version: 'v1beta1',
      plural: 'pods',
      kind: 'PodMetrics',
      namespaced: true,
    });
    const polling = { scheduler: time, random: () => 0, intervalMs: 15_000 };
    const listed = createListWatch(client, podMetrics, { scheduler: time });
    const informer = createSharedInformer(createPollingListWatch(listed, polling), polling);
    const seen: string[] = [];
    addEventHandler(informer, {
      onAdd: ({ containers }) => seen.push(`+${containers[0]?.usage.cpu}`),
      onUpdate: (_, { containers }) => seen.push(`~${containers[0]?.usage.cpu}`),
    });
    informer.start();
    await time.advance(16_000);
    cpu = '90m';
    await time.advance(30_000);
    cpu = '20m';
    await time.advance(15_000);
    expect(seen).toEqual(['+10m', '~90m', '~20m']);
    expect(informer.status).toMatchObject({ live: true, synced: true });
    await informer.stop();
    expect(time.pending).toBe(0);
  });

  it('W13, R21: several changes in one poll may have any order of versions, and no change is a failure', async () => {
    const source = collection();
    source.holds('5', pod('a', 1), pod('b', 2), pod('c', 3));
    const { time, informer, errors, sets } = polled(source);
    await time.advance(500);
    source.holds('9', pod('a', 9), pod('b', 8), pod('c', 7), pod('d', 6), pod('late', 4));
    await time.advance(1_000);
    expect(sets.at(-1)).toBe('relist* ~shop/a@1>9 ~shop/b@2>8 ~shop/c@3>7 +shop/d@6 +shop/late@4');
    expect([errors, source.asked]).toEqual([[], 2]);
    expect(informer.status).toMatchObject({ phase: 'watching', resourceVersion: '9', relists: 0 });
    await informer.stop();
  });

  it('W13: a poll without a change emits no change set and no status', async () => {
    const source = Object.assign(collection(), { scope: 'shop' });
    source.holds('5', pod('a', 1));
    const { time, informer, sets } = polled(source);
    await time.advance(500);
    const before = sets.length;
    const words: string[] = [];
    informer.status$.subscribe(({ phase }) => words.push(phase));
    await time.advance(60_000);
    expect([sets.length, words, source.asked > 50]).toEqual([before, ['watching'], true]);
    await informer.stop();
  });

  it('W13: older versions replace newer ones if the server went back in time, also if the list has no version', async () => {
    const source = collection();
    source.holds('', pod('a', 9), pod('b', 9));
    const { time, informer, errors } = polled(source);
    await time.advance(500);
    source.holds('', pod('a', 3));
    await time.advance(1_000);
    expect(informer.indexer.list()).toEqual([pod('a', 3)]);
    source.holds('7', pod('a', 5));
    await time.advance(1_000);
    source.holds('6', pod('a', 5, 'other'));
    await time.advance(1_000);
    expect([informer.indexer.list(), errors]).toEqual([[pod('a', 5, 'other')], []]);
    await informer.stop();
  });

  it('R29, W13: a poll that waits after a failure is tried again when the network may have changed', async () => {
    const time = new VirtualTime();
    const awake$ = new Subject<void>();
    let lists = 0;
    const list = () => {
      lists++;
      return throwError(() => ApiError.local('Network', 'reset'));
    };
    const source = createPollingListWatch<ScriptedPod>({ list, awake$ }, { scheduler: time });
    const informer = createSharedInformer(source, { scheduler: time, backoff: () => 60_000 });
    informer.start();
    await time.advance(10);
    expect(lists).toBe(1);
    awake$.next();
    await time.advance(10);
    expect(lists).toBe(2);
    await informer.stop();
  });

  it('D7, W13: what a poll cannot read is counted, and its other objects are stored', async () => {
    const time = new VirtualTime();
    const items: unknown[] = [pod('a', 1)];
    const fetch = async () =>
      Response.json({ kind: 'PodList', metadata: { resourceVersion: '5' }, items });
    const client = createClient({ baseUrl: 'http://fake', fetch, scheduler: time, qps: 0 });
    const options = { scheduler: time, random: () => 0 };
    const source = createListWatch(client, pods, options);
    const listWatch = createPollingListWatch(source, { ...options, intervalMs: 1_000 });
    const informer = createSharedInformer(listWatch, options);
    informer.start();
    await time.advance(500);
    expect(informer.status).toMatchObject({ synced: true, refusedItems: 0 });
    items.push(7, pod('b', 1));
    await time.advance(1_000);
    expect(informer.indexer.listKeys()).toEqual(['shop/a', 'shop/b']);
    expect(informer.status.refusedItems).toBe(1);
    await informer.stop();
  });

  it('W13: polling works without the known objects of the consumer', async () => {
    const source = collection();
    source.holds('5', pod('b', 1), pod('a', 4));
    const time = new VirtualTime();
    const options = { scheduler: time, random: () => 0 };
    const listWatch = createPollingListWatch(source, { ...options, intervalMs: 1_000 });
    const errors: ApiError[] = [];
    const types: string[] = [];
    const run = reflect(listWatch, { ...options, onError: (error) => void errors.push(error) });
    const subscription = run.subscribe((deltas) => types.push(...deltas.map(({ type }) => type)));
    await time.advance(3_500);
    subscription.unsubscribe();
    expect(errors).toEqual([]);
    expect(types).toEqual(['replacing', 'replaced', 'replaced', 'replaced', 'replaced']);
  });

  it('I80, W5: a polled informer is live while its last poll has succeeded, and after a failed poll the next watch lists immediately', async () => {
    const source = collection();
    source.holds('5', pod('a', 1));
    let fails = false;
    const failing = {
      list: () =>
        defer(() =>
          fails ? throwError(() => ApiError.local('Network', 'refused')) : source.list(),
        ),
    };
    const { time, informer } = polled(failing);
    const shown: string[] = [];
    informer.status$.subscribe(({ phase, live }) => {
      shown.push(`${time.now()} ${phase}${live ? ' live' : ''}`);
    });
    await time.advance(500);
    fails = true;
    await time.advance(4_000);
    fails = false;
    source.holds('6', pod('a', 2));
    await time.advance(5_000);
    expect(shown).toEqual([
      '0 watching live',
      '1000 backoff',
      '1800 connecting',
      '1800 backoff',
      '3400 connecting',
      '3400 backoff',
      '6600 connecting',
      '6600 watching live',
    ]);
    expect(informer.indexer.list()).toEqual([pod('a', 2)]);
    await informer.stop();
  });
});
