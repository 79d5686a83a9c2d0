/**
 * The cost of joins in milliseconds: medians over batches of 500 events. Run with
 * `node --conditions=rx-informer-source --disable-warning=ExperimentalWarning --expose-gc spec/bench/query/join.ts`.
 */
import {
  type Change,
  type ChangeSet,
  createChangeSet,
  type KubernetesObject,
  type LiveJoinOptions,
  liveJoin,
} from 'rx-informer';
import { Observable, Subject } from 'rxjs';

const OWNERS = 1_000;
const PODS = 100_000;
const EVENTS = 500;
const BATCHES = 250;

interface Thing extends KubernetesObject {
  readonly metadata: NonNullable<KubernetesObject['metadata']> & { name: string; uid: string };
  readonly owner?: number;
}

class Source {
  readonly objects: Thing[];
  readonly #sets = new Subject<ChangeSet<Thing>>();
  #rev = 0;

  constructor(objects: Thing[]) {
    this.objects = objects;
  }

  readonly changes$: Observable<ChangeSet<Thing>> = new Observable((subscriber) => {
    const all = this.objects.map((object) => ({
      id: object.metadata.uid,
      key: object.metadata.name,
      object,
    }));
    subscriber.next(this.#set(true, all as Change<Thing>[]));
    return this.#sets.subscribe(subscriber);
  });

  /** Replaces objects, and returns how long that took in milliseconds. */
  update(positions: readonly number[], next: (before: Thing) => Thing): number {
    const changes = positions.map((at) => {
      const previous = this.objects[at] as Thing;
      const object = next(previous);
      this.objects[at] = object;
      return { id: object.metadata.uid, key: object.metadata.name, previous, object };
    });
    const set = this.#set(false, changes as Change<Thing>[]);
    const start = performance.now();
    this.#sets.next(set);
    return performance.now() - start;
  }

  #set(reset: boolean, changes: Change<Thing>[]): ChangeSet<Thing> {
    this.#rev++;
    const head = { rev: this.#rev, cause: 'watch', synced: true, initial: false, reset };
    return createChangeSet<Thing>({ ...head, resourceVersion: '' } as never, changes);
  }
}

const namespace = 'shop';

function owners(): Thing[] {
  return Array.from({ length: OWNERS }, (_, at) => ({
    metadata: { name: `${namespace}/rs-${at}`, uid: `owner-${at}`, namespace },
    owner: at,
  }));
}

function pods(): Thing[] {
  return Array.from({ length: PODS }, (_, at) => {
    const owner = at % OWNERS;
    const labels = {
      app: 'shop',
      component: `c${owner}`,
      tier: `t${owner % 3}`,
      hash: `h${at % 50}`,
    };
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ReplicaSet', name: 'x', uid: `owner-${owner}` },
    ];
    const uid = `pod-${at}`;
    return {
      metadata: { name: `${namespace}/${uid}`, uid, namespace, labels, ownerReferences },
      owner,
    };
  });
}

const again = (before: Thing): Thing => ({ ...before, metadata: { ...before.metadata } });
const elsewhere = (before: Thing): Thing => {
  const owner = ((before.owner ?? 0) + 1) % OWNERS;
  const { metadata } = before;
  return {
    owner,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, component: `c${owner}` },
      ownerReferences: [{ apiVersion: 'v1', kind: 'ReplicaSet', name: 'x', uid: `owner-${owner}` }],
    },
  };
};

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function median(values: number[]): number {
  values.sort((one, other) => one - other);
  return values[values.length >> 1] as number;
}

function at95(values: number[]): number {
  return values[Math.floor(values.length * 0.95)] as number;
}

async function measure(
  title: string,
  make: (left: Source, right: Source) => Observable<ChangeSet<unknown>>,
): Promise<void> {
  const [left, right] = [new Source(owners()), new Source(pods())];
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed;
  const start = cpuMs();
  let rows = 0;
  let answered: () => void = () => undefined;
  const answer = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const subscription = make(left, right).subscribe((set) => {
    rows += set.changes.length;
    answered();
  });
  const slice = cpuMs() - start;
  await answer;
  const first = cpuMs() - start;
  globalThis.gc?.();
  const held = (process.memoryUsage().heapUsed - heap) / 1e6;
  const run = (source: Source, next: (before: Thing) => Thing) => {
    const times: number[] = [];
    const before = cpuMs();
    for (let batch = 0; batch < BATCHES; batch++) {
      // A stride that is coprime to the number of objects, so that the events are spread over all.
      const positions = Array.from(
        { length: EVENTS },
        (_, at) => ((batch * EVENTS + at) * 7_919) % source.objects.length,
      );
      times.push(source.update(positions, next));
    }
    const cpu = (cpuMs() - before) / BATCHES;
    return `${median(times).toFixed(2)} (95 %: ${at95(times).toFixed(2)}; CPU with the making of the events: ${cpu.toFixed(2)})`;
  };
  const podEvents = run(right, again);
  const moves = run(right, elsewhere);
  const ownerEvents = run(left, again);
  console.log(
    `${title}: first ${first.toFixed(0)} ms (${slice.toFixed(0)} within subscribe), heap ${held.toFixed(0)} MB, 500 pod events ${podEvents} ms, 500 pods that move ${moves} ms, 500 owner events ${ownerEvents} ms, ${rows} rows`,
  );
  subscription.unsubscribe();
}

type On = LiveJoinOptions<Thing, Thing>['on'];
const joined = (on: On) => (left: Source, right: Source) =>
  liveJoin<Thing, Thing>(right.changes$, { on })(left.changes$);

await measure('warm up', joined({ owner: 'left' }));
await measure('owner', joined({ owner: 'left' }));
await measure('owner, projected', (left, right) =>
  liveJoin<Thing, Thing, 'left', false, { readonly name: string; readonly pods: number }>(
    right.changes$,
    {
      on: { owner: 'left' },
      project: ({ metadata }, owned) => ({ name: metadata.name, pods: owned.length }),
    },
  )(left.changes$),
);
await measure(
  'selectors',
  joined({
    selectorOf: ({ owner }) => ({ matchLabels: { app: 'shop', component: `c${owner}` } }),
  }),
);
await measure('pods with their owner', (left, right) =>
  liveJoin<Thing, Thing, 'left', true>(left.changes$, { on: { owner: 'right' }, one: true })(
    right.changes$,
  ),
);
