/** A sharded informer over the fake API server, whose requests can be held back. */
import {
  type ChangeSet,
  createClient,
  createListWatch,
  createShardedInformer,
  type ListerWatcher,
  type ListRequest,
  type ListWatchOptions,
  type OwnedShards,
  type ShardedInformerOptions,
  type ShardRange,
  shardRanges,
  shardSlotOf,
  type WatchRequest,
} from 'rx-informer';
import { type ConfigMap, configMaps } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServerOptions } from 'rx-informer/testing';
import { BehaviorSubject, delayWhen, filter, type Observable, take } from 'rxjs';
import { expect, onTestFinished } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

/** The ranges of the slots of these namespaces. They have different slots. */
export const of = (...namespaces: string[]): readonly ShardRange[] =>
  shardRanges(namespaces.map(shardSlotOf));

const NAMESPACES = ['bar', 'cart', 'dock', 'shop'];

export interface ShardRigOptions {
  readonly server?: FakeApiServerOptions;
  readonly informer?: Omit<ShardedInformerOptions<ConfigMap>, 'shards'>;
  readonly listWatch?: ListWatchOptions<ConfigMap>;
  readonly own?: readonly string[];
  /** Other shards than the ranges. */
  readonly shards?: OwnedShards | undefined;
}

/** A gate that holds answers back while it is shut. */
export class Gate {
  readonly #open = new BehaviorSubject(true);

  shut(): void {
    this.#open.next(false);
  }

  open(): void {
    this.#open.next(true);
  }

  pass<V>(answer$: Observable<V>): Observable<V> {
    return answer$.pipe(delayWhen(() => this.#open.pipe(filter(Boolean), take(1))));
  }
}

/** How many ranges a request selects. */
const ranges = ({ shardSelector = '' }: { readonly shardSelector?: string | undefined }) =>
  shardSelector.split('||').length;

/** By `namespace`. `gates` holds lists and watches back, each that selects so many ranges. */
export function shardRig(options: ShardRigOptions = {}) {
  const time = new VirtualTime();
  const fake = createFakeApiServer({
    shardedListAndWatch: true,
    scheduler: time,
    ...options.server,
  });
  for (const namespace of NAMESPACES) {
    fake.objects.create(configMaps, { metadata: { namespace, name: 'one' } });
  }
  const ranges$ = new BehaviorSubject(of(...(options.own ?? ['bar', 'cart'])));
  const client = createClient({ baseUrl: 'http://fake', fetch: fake.fetch, scheduler: time });
  const source = createListWatch(client, configMaps, {
    scheduler: time,
    ...options.listWatch,
  });
  const gates = {
    lists: new Map<number, Gate>(),
    pages: new Gate(),
    watches: new Gate(),
  };
  const listerWatcher: ListerWatcher<ConfigMap> = {
    ...source,
    list: (request: ListRequest<ConfigMap>) => {
      const answer$ = source.list(request);
      const gate = request.continue === undefined ? gates.lists.get(ranges(request)) : gates.pages;
      return gate === undefined ? answer$ : gate.pass(answer$);
    },
    watch: (request: WatchRequest<ConfigMap>) => gates.watches.pass(source.watch(request)),
  };
  const informer = createShardedInformer(listerWatcher, {
    shards: options.shards ?? { by: 'namespace', ranges$ },
    backoff: () => 5,
    scheduler: time,
    ...options.informer,
  });
  onTestFinished(() => informer.stop());
  const told: string[] = [];
  const isLive = () => time.until(() => expect(informer.status.live).toBe(true));
  return {
    ...{ time, fake, client, informer, ranges$, gates, told, isLive },
    keys: () => [...informer.indexer.listKeys()].sort(),
    /** How many lists and watches have selected so many ranges. */
    requests: (use: 'list' | 'watch', of: number) =>
      fake.requests.filter(
        (request) =>
          request.use === use &&
          ranges({ shardSelector: request.query['shardSelector'] as string }) === of,
      ).length,
    start: async () => {
      informer.changes$.subscribe(({ cause, changes }: ChangeSet<ConfigMap>) => {
        for (const { key, previous, object, left } of changes) {
          const sign = object === undefined ? (left ? '<' : '-') : previous ? '~' : '+';
          told.push(`${cause} ${sign}${key}`);
        }
      });
      informer.start();
      await time.until(informer.whenSynced());
      await isLive();
      told.length = 0;
    },
  };
}
