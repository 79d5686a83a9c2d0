/** The scene of the soak test: one server under constant change, one informer, and every kind of consumer. */
import {
  addEventHandler,
  audit,
  byLabel,
  byNamespace,
  type ChangeSet,
  conflateByKey,
  createClient,
  createInformerFactory,
  createListWatch,
  createMutationCache,
  createRateLimitingQueue,
  createSharedInformer,
  type DeletedObject,
  type DeliveryPolicy,
  defineResource,
  deliver,
  exponentialBackoff,
  forResource,
  type KubernetesObject,
  metaNamespaceKeyFunc,
  metricsOf,
  type SharedInformer,
  toView,
  type UpdatedObject,
  workQueue,
} from 'rx-informer';
import { createFakeApiServer, type FakeApiServer } from 'rx-informer/testing';
import { firstValueFrom, type SchedulerLike, Subscription, timer } from 'rxjs';
import { mergeMap } from 'rxjs/operators';
import { differentialOverUndici } from '../support/decodings.ts';
import { projections } from '../support/projections.ts';

export interface Pod extends KubernetesObject {
  readonly spec?: { readonly nodeName: string; readonly image: string };
  readonly status?: { readonly phase: string; readonly step: number };
}

export const pods = defineResource<Pod>({
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
});

const NAMESPACES = ['a', 'b', 'c', 'd'];

export interface SceneOptions {
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
  /** The number of object names. */
  readonly keys: number;
  /** The factor by which all times are shorter, for runs on a real clock. */
  readonly haste: number;
  reach?(server: FakeApiServer): Promise<{ baseUrl: string; fetch: typeof globalThis.fetch }>;
}

export interface Scene {
  readonly server: FakeApiServer;
  readonly informer: SharedInformer<Pod>;
  readonly counts: Record<string, number>;
  /** Makes this many writes synchronously. */
  write(count: number): void;
  readonly writes: number;
  /** Adds one temporary consumer of random type. */
  visit(): void;
  /** The most changes that waited for one slow consumer at any time. */
  readonly mostPending: number;
  /** The number of changes that wait now. */
  readonly lag: number;
  /** Describes each difference from the server. */
  wrong(): string[];
  /** Unsubscribes all consumers and stops all informers. */
  end(): Promise<void>;
}

/** The state that a consumer derives from its notifications. */
class Follower {
  readonly #objects = new Map<string, string>();
  readonly name: string;
  inconsistent = 0;

  constructor(name: string) {
    this.name = name;
  }

  #is(uid: string | undefined): boolean {
    return uid !== undefined && this.#objects.has(uid);
  }

  add({ metadata }: Pod): void {
    if (this.#is(metadata?.uid)) this.inconsistent++;
    this.#objects.set(metadata?.uid ?? '', metadata?.resourceVersion ?? '');
  }

  update({ metadata }: Pod): void {
    if (!this.#is(metadata?.uid)) this.inconsistent++;
    this.#objects.set(metadata?.uid ?? '', metadata?.resourceVersion ?? '');
  }

  remove(uid: string): void {
    if (!this.#objects.delete(uid)) this.inconsistent++;
  }

  receive({ reset, changes }: ChangeSet<Pod>): void {
    if (reset) this.#objects.clear();
    for (const { id, previous, object } of changes) {
      if (object === undefined) this.remove(id);
      else if (previous === undefined) this.add(object);
      else this.update(object);
    }
  }

  differs(truth: readonly Pod[]): string | undefined {
    if (this.inconsistent > 0)
      return `${this.name} received ${this.inconsistent} inconsistent notifications`;
    const wrong = truth.filter(
      ({ metadata }) => this.#objects.get(metadata?.uid ?? '') !== metadata?.resourceVersion,
    );
    if (wrong.length === 0 && this.#objects.size === truth.length) return undefined;
    return `${this.name} holds ${this.#objects.size} of ${truth.length}, ${wrong.length} of them wrong`;
  }
}

export async function createScene(options: SceneOptions): Promise<Scene> {
  const { scheduler, random, keys, haste } = options;
  const below = (bound: number) => Math.floor(random() * bound);
  const counts: Record<string, number> = {};
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const server = createFakeApiServer({
    resources: [pods],
    scheduler,
    random,
    historyLimit: 2_000,
    requestsKept: 200,
    bookmarkIntervalMs: 60_000 / haste,
  });
  const { baseUrl, fetch } = (await options.reach?.(server)) ?? {
    baseUrl: 'http://fake',
    fetch: server.fetch,
  };
  const client = createClient({ baseUrl, fetch, scheduler });
  const timing = {
    scheduler,
    random,
    backoff: exponentialBackoff({ baseMs: 800 / haste, capMs: 30_000 / haste }),
    idleTimeoutMs: 85_000 / haste,
    requestTimeoutMs: 30_000 / haste,
    resyncPeriodMs: 30_000,
  };
  const informer = createSharedInformer(
    createListWatch(client, pods, { scheduler, decoding: differentialOverUndici }),
    {
      ...timing,
      name: 'soak',
      indexers: { namespace: byNamespace, node: byLabel('node') },
      mutationGuard: 'off',
      audit: audit({ periodMs: 60_000 }),
      onUnhandledError: (error, { subscriber }) => count(`unhandled by ${subscriber}: ${error}`),
      onWarning: ({ type }) => count(`warning ${type}`),
    },
  );
  const factory = createInformerFactory(client, {
    ...timing,
    lingerMs: 2_000,
    projections,
    resources: [forResource(pods, { transform: (pod) => pod })],
  });

  let writes = 0;
  let last: { key: string; resourceVersion: string } | undefined;
  const wrote = ({ metadata }: KubernetesObject) => {
    writes++;
    const { namespace = '', name = '', resourceVersion = '' } = metadata ?? {};
    last = { key: `${namespace}/${name}`, resourceVersion };
  };
  const writeOne = () => {
    const at = below(keys);
    const ref = { namespace: NAMESPACES[at % NAMESPACES.length] as string, name: `pod-${at}` };
    const there = server.objects.get(pods, ref) !== undefined;
    if (there && random() < 0.05) {
      server.objects.delete(pods, ref);
      writes++;
      return;
    }
    const object: Pod = {
      metadata: { ...ref, labels: { node: `node-${below(20)}` } },
      spec: { nodeName: `node-${at % 20}`, image: 'registry.example/web:1.27.3' },
      status: { phase: 'Running', step: writes },
    };
    wrote(there ? server.objects.update(pods, object) : server.objects.create(pods, object));
  };

  const all = new Subscription();
  const followers: Follower[] = [];
  const follower = (name: string) => {
    const one = new Follower(name);
    followers.push(one);
    return one;
  };
  const wait = (ms: number) => firstValueFrom(timer(ms / haste, scheduler));

  const direct = follower('changes$');
  all.add(informer.changes$.subscribe((set) => direct.receive(set)));
  all.add(informer.added$.subscribe(() => count('added$')));
  all.add(informer.updated$.subscribe((_: UpdatedObject<Pod>) => count('updated$')));
  all.add(informer.deleted$.subscribe((_: DeletedObject<Pod>) => count('deleted$')));
  all.add(informer.snapshot$.subscribe(({ size }) => size));
  all.add(informer.status$.subscribe(({ phase }) => count(`status ${phase}`)));
  all.add(metricsOf(informer).metrics$.subscribe(() => count('metrics$')));

  const handling = (one: Follower, answer: () => unknown) => ({
    onAdd: (object: Pod) => {
      one.add(object);
      return answer();
    },
    onUpdate: (_previous: Pod, object: Pod) => {
      one.update(object);
      return answer();
    },
    onDelete: ({ uid }: DeletedObject<Pod>) => {
      one.remove(uid);
      return answer();
    },
  });
  const registrations = [
    addEventHandler(
      informer,
      handling(follower('a handler'), () => undefined),
      { name: 'quick' },
    ),
    addEventHandler(
      informer,
      handling(follower('an async handler'), () => Promise.resolve()),
      { name: 'async' },
    ),
    addEventHandler(
      informer,
      handling(follower('a slow handler'), () => wait(2)),
      { name: 'slow' },
    ),
  ];

  const policies: readonly DeliveryPolicy<Pod>[] = [
    { kind: 'conflate', ready: () => timer(16 / haste, scheduler) },
    { kind: 'conflate', ready: () => timer(5_000 / haste, scheduler) },
    { kind: 'drop', limit: 16, ready: () => timer(50 / haste, scheduler) },
    { kind: 'buffer', limit: 16, overflow: 'conflate', ready: () => timer(50 / haste, scheduler) },
    { kind: 'drop', limit: 4, ready: () => timer(1_000 / haste, scheduler) },
  ];
  const deliveries = policies.map((policy) => {
    const delivery = deliver(informer, policy);
    const one = follower(`deliver ${policy.kind}`);
    all.add(delivery.changes$.subscribe((set) => one.receive(set)));
    return delivery;
  });
  const folded = follower('conflateByKey');
  let calls = 0;
  all.add(
    informer.changes$
      .pipe(
        conflateByKey({
          ready: () => (calls++ % 2 === 0 ? null : timer(100 / haste, scheduler)),
        }),
      )
      .subscribe((set) => folded.receive(set)),
  );
  const view = deliver(informer, {
    kind: 'conflate',
    ready: () => timer(50 / haste, scheduler),
  }).changes$.pipe(toView<Pod>({ status$: informer.status$ }));
  all.add(view.subscribe(() => count('view')));
  all.add(view.items$.subscribe(() => count('items$')));

  const queue = createRateLimitingQueue({ scheduler, name: 'soak' });
  all.add(queue.metrics$.subscribe(() => count('queue metrics$')));
  all.add(
    informer.changes$
      .pipe(
        mergeMap(({ changes }) => changes.map(({ key }) => key)),
        workQueue(
          async (key, { signal }) => {
            await wait(1);
            if (random() < 0.01) throw new Error(`${key} failed`);
            if (random() < 0.01) return { requeueAfterMs: 1_000 / haste };
            if (signal.aborted) count('aborted');
            return undefined;
          },
          { scheduler, queue, concurrency: 4, maxRetries: 3 },
        ),
      )
      .subscribe(({ type }) => count(`work ${type}`)),
  );
  const cache = createMutationCache(informer.indexer, { scheduler, includeAdds: true });
  all.add(cache.connect(informer.changes$));

  const later = (ms: number, leave: () => void) => {
    const stay = new Subscription(leave);
    all.add(stay);
    scheduler.schedule(() => {
      stay.unsubscribe();
      all.remove(stay);
    }, ms / haste);
  };
  const look = async (rounds: number) => {
    for await (const rows of view) {
      count('iterated');
      if (rows.length < 0 || --rounds <= 0) return;
    }
  };
  let held = 0;
  const visitors: readonly (() => void)[] = [
    () => {
      const visitor = informer.changes$.subscribe();
      later(3_000 * random(), () => visitor.unsubscribe());
    },
    () => {
      const visitor = informer.added$.subscribe();
      visitor.add(informer.snapshot$.subscribe());
      visitor.add(metricsOf(informer).metrics$.subscribe());
      visitor.add(informer.synced$.subscribe());
      later(3_000 * random(), () => visitor.unsubscribe());
    },
    () => {
      const handler = { onAdd: () => wait(5), onUpdate: () => undefined };
      const registration = addEventHandler(informer, handler, { resyncPeriodMs: 60_000 });
      const pending = random() < 0.5 ? 'drain' : 'drop';
      later(2_000 * random(), () => {
        registration.remove({ pending });
      });
    },
    () => {
      const row = view.select(informer.indexer.list()[0]?.metadata?.uid ?? '');
      later(
        2_000,
        row.subscribe(() => undefined),
      );
    },
    () => {
      look(3);
    },
    () => {
      if (held > 0) return;
      held++;
      const handle = factory.acquire(pods, { namespace: 'a' });
      const rows = factory.acquire(pods, { namespace: 'b', as: 'metadata' });
      const visitor = handle.informer.changes$.subscribe();
      factory.start();
      later(5_000, () => {
        count('held');
        held--;
        if (handle.informer.hasSynced) handle.lister.list('node=node-1');
        visitor.unsubscribe();
        handle.release();
        rows.release();
      });
    },
    () => {
      if (last === undefined) return;
      const { key, resourceVersion } = last;
      informer.whenObserved(key, resourceVersion, { timeoutMs: 60_000 / haste }).then(
        () => count('observed'),
        () => count('not observed in time'),
      );
      const object = server.objects.get(pods, {
        namespace: key.split('/')[0] ?? '',
        name: key.split('/')[1] ?? '',
      });
      if (object !== undefined) cache.mutation(object);
      cache.getByKey(key);
    },
  ];

  let mostPending = 0;
  const pending = () => {
    const waiting = [...registrations, ...deliveries].map(({ lag }) => lag);
    return [...waiting, queue.len + queue.waiting];
  };
  informer.start();
  return {
    server,
    informer,
    counts,
    get writes() {
      return writes;
    },
    get mostPending() {
      return mostPending;
    },
    get lag() {
      return pending().reduce((sum, lag) => sum + lag, 0);
    },
    write(times) {
      for (let at = 0; at < times; at++) writeOne();
    },
    visit() {
      mostPending = Math.max(mostPending, ...pending());
      visitors[below(visitors.length)]?.();
    },
    wrong() {
      const truth = server.objects.list(pods);
      const wrong = followers.flatMap((one) => one.differs(truth) ?? []);
      const store = informer.indexer.list();
      const version = ({ metadata }: Pod) => metadata?.resourceVersion;
      for (const [name, held] of [
        ['the store', store],
        ['the view', view.getSnapshot().rows],
      ] as const) {
        const there = new Map(held.map((pod) => [metaNamespaceKeyFunc(pod), version(pod)]));
        const same = truth.every((pod) => there.get(metaNamespaceKeyFunc(pod)) === version(pod));
        if (!same || there.size !== truth.length) wrong.push(`${name} differs from the server`);
      }
      for (const what of Object.keys(counts)) if (what.startsWith('unhandled')) wrong.push(what);
      const { audit } = informer.status;
      if (typeof audit !== 'object' || audit.differed > 0) {
        wrong.push(`the audit reports ${JSON.stringify(audit)}, but no event was lost`);
      }
      return wrong;
    },
    async end() {
      all.unsubscribe();
      queue.shutDown();
      for (const registration of registrations) registration.remove();
      await factory.stop();
      await informer.stop();
    },
  };
}
