/** Informers of a kind that is polled. */
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
  reflect,
  type SharedInformerOptions,
} from 'rx-informer';
import { defer, Observable, of, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';
import { brief } from '../store/sets.ts';
import { type Pod, pod } from '../support/scripted-list-watch.ts';

/** A collection that can only be listed. */
function collection() {
  let part: ListPart<Pod> = { items: [], metadata: { resourceVersion: '1' } };
  let asked = 0;
  return {
    get asked() {
      return asked;
    },
    holds(resourceVersion: string, ...items: Pod[]) {
      part = { items, metadata: { resourceVersion } };
    },
    list: () =>
      new Observable<ListPart<Pod>>((subscriber) => {
        asked++;
        return of(part).subscribe(subscriber);
      }),
  };
}

/** An informer that polls every second. */
function polled(
  source: Pick<ListerWatcher<Pod>, 'list' | 'scope'>,
  options: SharedInformerOptions<Pod> = {},
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
  informer.changes$.subscribe((set) => sets.push(brief(set)));
  informer.start();
  return { time, informer, errors, sets };
}

interface PodMetrics extends KubernetesObject {
  containers: { usage: { cpu: string } }[];
}

/** An object without UID and version, like a ComponentStatus. */
const bare = (name: string, kind: string): Pod =>
  ({ kind, metadata: { name, namespace: 'shop' } }) as Pod;

describe('a kind that is polled', () => {
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
    const source = createPollingListWatch<Pod>({ list, awake$ }, { scheduler: time });
    const informer = createSharedInformer(source, { scheduler: time, backoff: () => 60_000 });
    informer.start();
    await time.advance(10);
    expect(lists).toBe(1);
    awake$.next();
    await time.advance(10);
    expect(lists).toBe(2);
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
