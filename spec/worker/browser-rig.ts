/**
 * A browser with tabs and workers in virtual time, for tests: ports that deliver copies in order after a delay and lose
 * their ends, workers that can be killed or cannot be loaded, and Web Locks.
 */
import {
  createClient,
  createInformerFactory,
  type InformerFactory,
  type InformerFactoryOptions,
  type LiveQuery,
} from 'rx-informer';
import { configMaps, deployments, pods } from 'rx-informer/resources';
import { createFakeApiServer, type FakeApiServer, seededRandom } from 'rx-informer/testing';
import type {
  ConnectWorkerOptions,
  Credentials,
  PaintOptions,
  ServeQueriesOptions,
  WorkerCluster,
  WorkerQueries,
  WorkerQuery,
  WorkerSession,
} from 'rx-informer/worker';
import { type SchedulerLike, Subject, timer } from 'rxjs';
import { expect } from 'vitest';
import type { BrowserScope } from '../../lib/persist/indexed-db/database.ts';
import { PROTOCOL } from '../../lib/worker/messages.ts';
import { connectPaintedTab } from '../../lib/worker/page/connect-painted-worker.ts';
import { connectTab } from '../../lib/worker/page/connect-peer.ts';
import type { TabPage } from '../../lib/worker/page/page-life.ts';
import { QueryServer } from '../../lib/worker/server/query-server.ts';
import { OwnSession, type SessionBeginning } from '../../lib/worker/server/session.ts';
import type { TabsParts } from '../../lib/worker/server/worker-scope.ts';
import { VirtualTime } from '../rx/virtual-time.ts';

type Listener = (message: unknown) => void;

/** Two ends of a channel. A message takes `delayMs`, and is lost if the end that it goes to is gone by then. */
class Channel {
  readonly #rig: BrowserRig;
  readonly #ends: { listener: Listener | undefined; waiting: unknown[]; isGone: boolean }[];
  /** When the last message arrives at each end. A later message arrives after it, whatever the delay is by then. */
  readonly #arrivals: [number, number] = [0, 0];
  /** The queries of the sets that the tab has not acknowledged, of those after its last hello. */
  readonly #sets = new Map<unknown, readonly number[]>();

  constructor(rig: BrowserRig) {
    this.#rig = rig;
    const end = () => ({ listener: undefined, waiting: [], isGone: false });
    this.#ends = [end(), end()];
  }

  /** Loses one end, as if its process had ended. */
  lose(at: 0 | 1): void {
    const end = this.#ends[at];
    if (end !== undefined) end.isGone = true;
  }

  send(to: 0 | 1, message: unknown): void {
    // A real port throws on a function, too.
    const copy = structuredClone(message);
    const from = this.#ends[1 - to];
    if (from?.isGone === true) return;
    this.#rig.sent.push(copy);
    const {
      type,
      set,
      differences = [],
    } = (copy ?? {}) as {
      readonly type?: string;
      readonly set?: number;
      readonly differences?: readonly { readonly id: number }[];
    };
    if (type === 'rows')
      this.#sets.set(
        set,
        differences.map(({ id }) => id),
      );
    else if (type === 'ack') this.#sets.delete(set);
    else if (type === 'hello' || type === 'welcome') this.#sets.clear();
    const asked = [...this.#sets.values()].flat();
    const most = asked.length === new Set(asked).size ? Math.min(asked.length, 1) : 2;
    this.#rig.mostUnacknowledged = Math.max(this.#rig.mostUnacknowledged, most);
    const now = this.#rig.scheduler.now();
    const arrival = Math.max(now + this.#rig.delayMs, this.#arrivals[to]);
    this.#arrivals[to] = arrival;
    this.#rig.scheduler.schedule(() => {
      const end = this.#ends[to];
      // A worker that loads gets its messages later.
      if (end?.listener === undefined || end.isGone || this.#rig.frozen.has(end)) {
        end?.waiting.push(copy);
        return;
      }
      end.listener(copy);
    }, arrival - now);
  }

  port(at: 0 | 1) {
    return {
      post: (message: unknown) => this.send(at === 0 ? 1 : 0, message),
      listen: (listener: Listener) => {
        const end = this.#ends[at];
        if (end === undefined) return;
        end.listener = listener;
        this.thaw(at);
      },
      close: () => this.lose(at),
    };
  }

  end(at: 0 | 1): object {
    return this.#ends[at] as object;
  }

  /** Delivers what has waited for a frozen end. */
  thaw(at: 0 | 1): void {
    const end = this.#ends[at];
    for (const message of end?.waiting.splice(0) ?? []) end?.listener?.(message);
  }
}

/** One start of a worker. */
interface RunningWorker {
  readonly server: QueryServer;
  readonly factories: InformerFactory[];
  readonly channels: Channel[];
  readonly lock: string;
}

/** A tab of the browser. */
export interface RigTab {
  readonly cluster: WorkerCluster;
  /** How often the tab has been asked for credentials. */
  readonly asked: () => number;
  readonly turn: (change: 'shown' | 'hidden' | 'left') => void;
  /** Whether the page has a port to a worker. The browser keeps no page in its cache that a worker sends something. */
  readonly isConnected: () => boolean;
  freeze(): void;
  thaw(): void;
  /** The process of the tab ends without a message. */
  vanish(): void;
}

export interface TabOptions extends Partial<ConnectWorkerOptions> {
  readonly hidden?: boolean;
  /** How long the shared worker of the page loads, in milliseconds. */
  readonly loadMs?: number;
  /** Whether the page has a worker of its own, as after a deployment, which ends with it. */
  readonly isAlone?: boolean;
  /** The folder of the file of a worker of its own. */
  readonly folder?: string;
  /** The page shows the rows of the former one first. */
  readonly painted?: { readonly paint: PaintOptions; readonly scope: BrowserScope };
}

export class BrowserRig {
  readonly scheduler: SchedulerLike;
  readonly server: FakeApiServer;
  /** How the workers reach the server. */
  fetch: typeof globalThis.fetch = (...request) => this.server.fetch(...request);
  readonly sent: unknown[] = [];
  readonly frozen = new Set<object>();
  /** Sessions in the order of their begin. */
  readonly sessions: WorkerSession[] = [];
  /** The most sets of one query that any tab had not acknowledged at one time: 2 stands for more, too. */
  mostUnacknowledged = 0;
  delayMs = 1;
  /** The version of the messages of the workers. */
  speaks = PROTOCOL;
  /** Whether a worker cannot be loaded. */
  isUnavailable = false;
  hasLocks = true;
  /** The factory's options besides those of the session. */
  factoryOptions: (session: WorkerSession) => InformerFactoryOptions = () => ({});
  /** Called with the factory of each session. */
  onFactory: (factory: InformerFactory) => void = () => undefined;
  queries: WorkerQueries = {};
  persist: ServeQueriesOptions['persist'];
  /** In place of informers: what answers the workers. */
  answering: TabsParts | undefined;
  isTokenRequired = false;
  token = 't1';
  #worker: RunningWorker | undefined;
  #starts = 0;
  readonly #waiting = new Map<string, Set<() => void>>();
  /** The locks of the workers that run. */
  readonly #living = new Set<string>();
  /** What each worker does with a message of another one, by its lock. */
  readonly #hears = new Map<string, Listener>();

  /** Another scheduler than that of a virtual time of its own is that of a page, whose clock lets time pass. */
  constructor(scheduler: SchedulerLike = new VirtualTime()) {
    this.scheduler = scheduler;
    this.server = createFakeApiServer({
      random: seededRandom(1),
      scheduler: this.scheduler,
      resources: [pods, deployments, configMaps] as never,
    });
  }

  get counts(): { readonly tabs: number; readonly pipelines: number } {
    return this.#worker?.server.counts ?? { tabs: 0, pipelines: 0 };
  }

  /** The running worker's server. */
  get served(): QueryServer {
    if (this.#worker === undefined) throw new Error('no worker runs');
    return this.#worker.server;
  }

  get starts(): number {
    return this.#starts;
  }

  /** Kills the worker without a message. */
  kill(): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#worker = undefined;
    this.#end(worker);
  }

  #end(worker: RunningWorker): void {
    this.#living.delete(worker.lock);
    this.#hears.delete(worker.lock);
    for (const channel of worker.channels) channel.lose(1);
    for (const factory of worker.factories) void factory.stop();
    const listeners = [...(this.#waiting.get(worker.lock) ?? [])];
    this.#waiting.delete(worker.lock);
    for (const listener of listeners) this.scheduler.schedule(listener, this.delayMs);
  }

  open({
    hidden = false,
    loadMs = 0,
    isAlone = false,
    folder,
    painted,
    ...options
  }: TabOptions = {}): RigTab {
    const openedMs = this.scheduler.now();
    let isHidden = hidden;
    let asked = 0;
    let channel: Channel | undefined;
    let connected: Channel | undefined;
    const changes$ = new Subject<'shown' | 'hidden' | 'left'>();
    const page: TabPage = {
      isHidden: () => isHidden,
      changes$,
      frame: () => timer(isHidden ? 0 : 16, this.scheduler),
      whenFree: this.hasLocks ? (lock, listener) => this.#whenFree(lock, listener) : undefined,
    };
    const shared = () => {
      const own = new Channel(this);
      channel = own;
      connected = own;
      const port = own.port(0);
      const alone = isAlone && !this.isUnavailable ? this.#start(folder) : undefined;
      const target = {
        postMessage: port.post,
        close: () => {
          if (connected === own) connected = undefined;
          port.close();
          if (alone !== undefined) this.#end(alone);
        },
        onmessage: null as ((event: never) => void) | null,
      };
      port.listen((data) => target.onmessage?.({ data } as never));
      const worker = { port: target, onerror: null as ((event: never) => void) | null };
      if (this.isUnavailable) {
        this.scheduler.schedule(() => worker.onerror?.({} as never), this.delayMs);
      } else if (alone !== undefined) this.#serve(own, alone);
      else if (this.scheduler.now() - openedMs >= loadMs) this.#connect(own);
      else this.scheduler.schedule(() => this.#connect(own), loadMs);
      return worker;
    };
    const { scheduler } = this;
    const given = { identity: 'ann', shared, scheduler, ...options };
    const { credentials } = given;
    const counted =
      credentials === undefined
        ? {}
        : {
            credentials: (): Credentials | Promise<Credentials> => {
              asked++;
              return credentials();
            },
          };
    const all = { ...given, ...counted };
    const cluster =
      painted === undefined
        ? connectTab(all, page)
        : connectPaintedTab({ ...all, paint: painted.paint }, page, painted.scope);
    return {
      cluster,
      asked: () => asked,
      isConnected: () => connected !== undefined,
      turn: (change) => {
        isHidden = change !== 'shown';
        changes$.next(change);
      },
      freeze: () => {
        isHidden = true;
        changes$.next('hidden');
        this.frozen.add(channel?.end(0) as object);
      },
      thaw: () => {
        this.frozen.delete(channel?.end(0) as object);
        channel?.thaw(0);
        isHidden = false;
        changes$.next('shown');
      },
      vanish: () => channel?.lose(0),
    };
  }

  /** A port to the worker without a tab, for messages that no tab sends. */
  connectRaw() {
    const channel = new Channel(this);
    const received: unknown[] = [];
    this.#connect(channel);
    const { post, listen } = channel.port(0);
    listen((message) => received.push(message));
    return { post, received };
  }

  /** A worker of one page, which loads for a while; `isAlone`: it is not the one that the other pages share. */
  dedicated(isAlone = false, loadMs = 0) {
    const channel = new Channel(this);
    const { post, listen, close } = channel.port(0);
    let own: RunningWorker | undefined;
    let isGone = false;
    const worker = {
      postMessage: post,
      terminate: () => {
        isGone = true;
        close();
        if (own !== undefined) this.#end(own);
      },
      onmessage: null as ((event: never) => void) | null,
      onerror: null as ((event: never) => void) | null,
    };
    listen((data) => worker.onmessage?.({ data } as never));
    const load = () => {
      if (isGone) return;
      own = isAlone ? this.#start() : undefined;
      if (own === undefined) this.#connect(channel);
      else this.#serve(channel, own);
    };
    if (loadMs === 0) load();
    else this.scheduler.schedule(load, loadMs);
    return worker;
  }

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    await (this.scheduler as VirtualTime).advance(ms);
  }

  /** The requests that the API server has received: their method, whether they watch, and their path. */
  get requests(): readonly string[] {
    return this.server.requests.map(({ method, path, query }) => {
      const kind = (query as Record<string, string>)['watch'] === undefined ? method : 'WATCH';
      return `${kind} ${path}`;
    });
  }

  #whenFree(lock: string, listener: () => void): () => void {
    if (!this.#living.has(lock)) {
      const action = this.scheduler.schedule(listener, this.delayMs);
      return () => action.unsubscribe();
    }
    const listeners = this.#waiting.get(lock) ?? new Set();
    let isWanted = true;
    // A request that was withdrawn gets nothing, even if the lock is free already.
    const wanted = () => {
      if (isWanted) listener();
    };
    this.#waiting.set(lock, listeners.add(wanted));
    return () => {
      isWanted = false;
      listeners.delete(wanted);
    };
  }

  #connect(channel: Channel): void {
    this.#worker ??= this.#start();
    this.#serve(channel, this.#worker);
  }

  #serve(channel: Channel, { server, channels }: RunningWorker): void {
    channels.push(channel);
    const port = channel.port(1);
    const listen = (listener: Listener) =>
      port.listen((message) => {
        const { type } = (message ?? {}) as { readonly type?: string };
        if (type !== 'hello' || this.speaks === PROTOCOL) return listener(message);
        port.post({ type: 'incompatible', protocol: this.speaks });
      });
    server.connect({ ...port, listen });
  }

  /** The channel between the workers of an origin. */
  #othersOf(lock: string) {
    return {
      post: (message: unknown) => {
        for (const [each, hear] of this.#hears) {
          if (each === lock) continue;
          this.scheduler.schedule(() => {
            if (this.#hears.has(each)) hear(structuredClone(message));
          }, this.delayMs);
        }
      },
      listen: (listener: Listener) => void this.#hears.set(lock, listener),
      close: () => undefined,
    };
  }

  #start(folder = '/assets/'): RunningWorker {
    const incarnation = `worker-${++this.#starts}`;
    this.#living.add(incarnation);
    const factories: InformerFactory[] = [];
    const { scheduler } = this;
    const server = new QueryServer({
      incarnation,
      lock: this.hasLocks ? incarnation : undefined,
      others: this.#othersOf(incarnation),
      folder,
      ...(this.answering ?? {
        scheduler,
        hiddenGraceMs: 60_000,
        credentialsTimeoutMs: 10_000,
        begin: (beginning) => this.#begin(beginning, factories),
      }),
    });
    return { server, factories, channels: [], lock: incarnation };
  }

  #begin(beginning: SessionBeginning, factories: InformerFactory[]): OwnSession {
    const { scheduler, queries, persist } = this;
    return new OwnSession({
      ...beginning,
      queries,
      persist,
      fetch: async (input, init) => {
        const given = (init?.headers as Record<string, string> | undefined)?.['authorization'];
        if (this.isTokenRequired && given !== `Bearer ${this.token}`) {
          return new Response('{"kind":"Status","code":401,"reason":"Unauthorized"}', {
            status: 401,
          }) as never;
        }
        return await this.fetch(input, init);
      },
      lingerMs: undefined,
      createFactory: (session) => {
        this.sessions.push(session);
        const { fetch, demand } = session;
        const client = createClient({ baseUrl: 'http://fake', fetch, scheduler });
        const factory = createInformerFactory(client, {
          ...{ demand, scheduler, random: () => 0, persist: session.persist },
          ...this.factoryOptions(session),
        });
        factories.push(factory);
        this.onFactory(factory);
        return factory;
      },
    });
  }
}

/** Follows a view, and returns what it shows. It never shows rows as stale and live at once, or without their age. */
export function follow<Row>(cluster: WorkerCluster, query: LiveQuery<Row> | WorkerQuery<Row>) {
  const view = cluster.view(query);
  let calls = 0;
  const shown = () => {
    const snapshot = view.getSnapshot();
    const { live, staleSinceMs } = snapshot.status;
    if (snapshot.stale)
      expect({ live, staleSinceMs }).toEqual({ live: false, staleSinceMs: expect.any(Number) });
    return snapshot;
  };
  const leave = view.subscribe(() => {
    calls++;
    shown();
  });
  return {
    view,
    leave,
    calls: () => calls,
    get shown() {
      return shown();
    },
  };
}
