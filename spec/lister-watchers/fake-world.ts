/** Worlds whose ListerWatchers send their requests to the fake API server, in virtual time. */
import {
  createClient,
  createListWatch,
  createMetadataListWatch,
  createPollingListWatch,
  createTableListWatch,
  type KubeClient,
  type KubernetesObject,
  type ListerWatcher,
  type ListWatchOptions,
} from 'rx-informer';
import { configMaps } from 'rx-informer/resources';
import { createFakeApiServer } from 'rx-informer/testing';
import { finalize } from 'rxjs';
import { VirtualTime } from '../rx/virtual-time.ts';
import type { Traits, World } from './world.ts';

type Source = ListerWatcher<KubernetesObject>;
type Options = ListWatchOptions<KubernetesObject>;

/** Creates the ListerWatcher of a world. */
export type MakeSource = (client: KubeClient, options: Options) => Source;

const EVENTS: Traits = {
  pages: true,
  streams: true,
  bookmarks: true,
  expires: true,
  timesOut: true,
  waitsForVersion: true,
  readAhead: 1,
};

/** The kinds of ListerWatcher that read an API server. Those of a projection have objects of another type. */
export const KINDS: Readonly<
  Record<string, { readonly make: MakeSource; readonly traits: Traits }>
> = {
  createListWatch: {
    make: (client, options) => createListWatch(client, configMaps as never, options),
    traits: EVENTS,
  },
  'createListWatch without streaming lists': {
    make: (client, options) =>
      createListWatch(client, configMaps as never, { ...options, watchList: false }),
    traits: { ...EVENTS, streams: false },
  },
  createMetadataListWatch: {
    make: (client, options) =>
      createMetadataListWatch(client, configMaps, options as never) as unknown as Source,
    traits: EVENTS,
  },
  createTableListWatch: {
    make: (client, options) =>
      createTableListWatch(client, configMaps, options as never) as unknown as Source,
    traits: EVENTS,
  },
  createPollingListWatch: {
    make: (client, options) =>
      createPollingListWatch(createListWatch(client, configMaps as never, options), {
        intervalMs: 50,
        ...(options.scheduler === undefined ? {} : { scheduler: options.scheduler }),
      }),
    traits: { polls: true, pages: true, waitsForVersion: true, readAhead: 5 },
  },
};

/** Creates a world with a fake API server. */
export function fakeWorld({ make, traits }: { make: MakeSource; traits: Traits }): World {
  const time = new VirtualTime();
  const server = createFakeApiServer({ scheduler: time, bookmarkIntervalMs: 500 });
  const plain = createClient({ baseUrl: 'http://fake', fetch: server.fetch, scheduler: time });
  let open = 0;
  const client: KubeClient = Object.create(plain, {
    send: {
      value: (request: Parameters<KubeClient['send']>[0]) => {
        open += 1;
        return plain.send(request).pipe(finalize(() => (open -= 1)));
      },
    },
  });
  const version = ({ metadata }: KubernetesObject) => ({
    uid: metadata?.uid ?? '',
    resourceVersion: metadata?.resourceVersion ?? '',
  });
  return {
    traits,
    scheduler: time,
    listerWatcher: (namespace) =>
      make(client, { scheduler: time, ...(namespace === undefined ? {} : { namespace }) }),
    async put(namespace, name, value) {
      const object = { metadata: { namespace, name, labels: { value } } };
      const [stored] = server.objects.apply(configMaps, [object]);
      return version(stored as KubernetesObject);
    },
    async remove(namespace, name) {
      server.objects.delete(configMaps, { namespace, name });
    },
    async advance() {
      server.objects.advance(3);
    },
    settle: () => time.advance(1),
    async compact() {
      server.objects.compact();
    },
    async disconnect() {
      server.faults.dropWatches();
    },
    openRequests: async () => Math.max(open, server.openWatches.length),
    pass: (ms) => time.advance(ms),
    async close() {
      server.faults.closeWatches();
      await time.advance(1_000);
    },
  };
}
