/** Two servers of users behind one address, whose informers read NATS: they are killed and drained while users look and objects change. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  createClient,
  createListWatch,
  createSharedInformer,
  type KubernetesObject,
  type LiveQuery,
  liveQuery,
  type SharedInformer,
} from 'rx-informer';
import { configMaps, pods } from 'rx-informer/resources';
import { connectServer } from 'rx-informer/server';
import { type Served, seededRandom } from 'rx-informer/testing';
import { namespaceOf, permittedTo } from '../bench/users/load.ts';
import { ShownHistory } from '../server/shown-history.ts';
import { eventually } from '../support/patience.ts';
import type { NatsServer } from './nats-server.ts';
import { Scene } from './scene.ts';

const script = fileURLToPath(new URL('./users-process.ts', import.meta.url));
const FLAGS = ['--conditions=rx-informer-source', '--disable-warning=ExperimentalWarning'];
const SECRET = 'a secret that all servers behind the address have';
const PODS = 120;
const MAPS = 40;
const CHANGES_A_SECOND = 20;

/** A server in a process of its own. */
class UserServer {
  readonly #child: ChildProcess;
  readonly sockets = new Set<Socket>();
  port = 0;

  constructor(api: string, nats: string) {
    this.#child = spawn(process.execPath, [...FLAGS, script, api, nats, SECRET], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  /** Resolves when it accepts users. */
  async ready(): Promise<this> {
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    const [line] = await once(lines, 'line');
    this.port = Number(line);
    return this;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.port = 0;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    await ended;
  }
}

interface Row {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly version?: string | undefined;
  readonly phase?: unknown;
}

type Kind = typeof pods | typeof configMaps;

/** A query, the kind, and the rows of it among those that the user may read. */
interface Asked {
  readonly query: LiveQuery<Row>;
  readonly kind: Kind;
  of(all: readonly Row[]): readonly Row[];
}

const select = {
  name: 'metadata.name',
  namespace: 'metadata.namespace',
  version: 'metadata.resourceVersion',
} as const;
const ofPods = {
  from: pods,
  select: { ...select, phase: 'status.phase' },
  orderBy: { path: 'metadata.name' },
} as const;
const running = { path: 'status.phase', eq: 'Running' } as const;

/** What each user asks. */
const QUERIES: readonly Asked[] = [
  { query: liveQuery(ofPods), kind: pods, of: (all) => all },
  {
    query: liveQuery({ ...ofPods, where: running, offset: 1, limit: 5 }),
    kind: pods,
    of: (all) => all.filter(({ phase }) => phase === 'Running').slice(1, 6),
  },
  {
    query: liveQuery({ from: configMaps, select, orderBy: { path: 'metadata.name' } }),
    kind: configMaps,
    of: (all) => all,
  },
];

const textOf = (rows: readonly Row[]) =>
  rows.map(({ name, version, phase = '' }) => `${name}@${version}${phase}`).join(' ');

/** A user with a page. */
interface User {
  readonly name: number;
  readonly cluster: ReturnType<typeof connectServer>;
  readonly views: readonly { readonly history: ShownHistory; isCurrent(): boolean }[];
  /** Why connections have ended. */
  readonly ends: string[];
}

/** Whether a user sees what there was after these changes, or something newer. */
function isRight({ views }: User, changes: readonly number[]): boolean {
  return views.every(
    ({ history, isCurrent }, at) => isCurrent() && history.isPast(changes[at] as number),
  );
}

/** How users and servers are at the beginning. */
export interface UserServersOptions {
  readonly seed: number;
  /** How much later than the first one the second server reads NATS, in milliseconds. */
  readonly lagMs: number;
}

export class UserServers {
  readonly #nats: NatsServer;
  readonly #scene: Scene;
  readonly #random: () => number;
  readonly #states = new Map<object, Row[][]>([pods, configMaps].map((kind) => [kind, []]));
  readonly #ends: (() => unknown)[] = [];
  #served: Served | undefined;
  #port = 0;
  /** The API server as the servers of users know it. */
  #api = '';
  #asked = 0;
  readonly #lagMs: number;
  /** The address of NATS at which everything comes late. */
  #late = '';
  servers: UserServer[] = [];
  /** How many users needed more than one try to connect again. */
  retried = 0;
  users: User[] = [];

  constructor(nats: NatsServer, { seed, lagMs }: UserServersOptions) {
    this.#nats = nats;
    this.#scene = new Scene(nats);
    this.#random = seededRandom(seed);
    this.#lagMs = lagMs;
  }

  /** Starts everything, and resolves when all users see what they may. */
  async start(users: number): Promise<void> {
    for (let at = 0; at < PODS; at++) this.#write(pods, at);
    for (let at = 0; at < MAPS; at++) this.#write(configMaps, at);
    this.#served = await this.#scene.api.serve({ port: 0 });
    const client = createClient({ baseUrl: this.#served.url });
    const upstream = (kind: Kind) => {
      const listWatch = createListWatch(client, kind as typeof pods);
      return createSharedInformer(listWatch) as SharedInformer<KubernetesObject>;
    };
    for (const kind of [pods, configMaps]) {
      const informer = upstream(kind);
      this.#ends.push(() => informer.stop());
      await this.#scene.publisher({ resource: kind, heartbeatMs: 1_000 }, informer);
    }
    const listener = createServer((socket) => {
      this.#asked++;
      socket.destroy();
    });
    this.#api = `http://127.0.0.1:${await this.#listen(listener)}`;
    const late = createServer((socket) => {
      const upstream = connect(this.#nats.port, '127.0.0.1');
      for (const [one, other] of [[socket, upstream] as const, [upstream, socket] as const]) {
        one.on('error', () => undefined).on('close', () => other.destroy());
      }
      socket.pipe(upstream);
      upstream.on('data', (bytes) => setTimeout(() => socket.write(bytes), this.#lagMs));
    });
    this.#late = `nats://127.0.0.1:${await this.#listen(late)}`;
    await this.#balance();
    this.servers = await Promise.all([this.#begin(0), this.#begin(1)]);
    for (let user = 0; user < users; user++) this.users.push(this.#user(user));
    await this.current();
    const timer = setInterval(() => {
      if (this.#below(4) === 0) this.#write(configMaps, this.#below(MAPS));
      else this.#write(pods, this.#below(PODS));
    }, 1_000 / CHANGES_A_SECOND);
    this.#ends.push(() => clearInterval(timer));
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  /** Creates, changes or deletes an object, and notes what there is afterwards. */
  #write(kind: Kind, at: number): void {
    const { objects } = this.#scene.api;
    const metadata = { namespace: namespaceOf(at), name: `o-${String(at).padStart(3, '0')}` };
    const status = { phase: this.#below(3) === 0 ? 'Pending' : 'Running' };
    const object = { metadata, ...(kind === pods && { status }) };
    const known = objects.get(kind as typeof pods, metadata);
    if (known === undefined) objects.create(kind as typeof pods, object as never);
    else if (this.#below(4) === 0) objects.delete(kind as typeof pods, metadata);
    else {
      const labels = { at: String(this.#random()) };
      const changed = { ...known, ...object, metadata: { ...known.metadata, labels } };
      objects.update(kind as typeof pods, changed as never);
    }
    const rows = objects.list(kind as typeof pods).map((each) => ({
      ...{ name: each.metadata?.name, namespace: each.metadata?.namespace },
      ...{ version: each.metadata?.resourceVersion, phase: each.status?.phase },
    }));
    rows.sort((one, other) => (String(one.name) < String(other.name) ? -1 : 1));
    this.#states.get(kind)?.push(rows as Row[]);
  }

  /** One address: a connection goes to the server with the fewest, and to the next one if that is gone. */
  async #balance(): Promise<void> {
    const balancer = createServer((page) => {
      const left = this.servers.filter(({ port }) => port !== 0);
      left.sort((one, other) => one.sockets.size - other.sockets.size);
      page.on('error', () => undefined);
      const next = () => {
        const server = left.shift();
        if (server === undefined) return page.destroy();
        const socket = connect(server.port, '127.0.0.1');
        server.sockets.add(page);
        const refused = () => {
          server.sockets.delete(page);
          next();
        };
        socket.once('error', refused);
        socket.once('connect', () => {
          socket.off('error', refused);
          socket.on('error', () => undefined);
          page.pipe(socket).pipe(page);
          for (const [one, other] of [[page, socket] as const, [socket, page] as const]) {
            one.once('close', () => {
              server.sockets.delete(page);
              other.destroy();
            });
          }
        });
        return undefined;
      };
      next();
    });
    this.#port = await this.#listen(balancer);
  }

  async #listen(server: Server): Promise<number> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#ends.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  #begin(at: number): Promise<UserServer> {
    const isLate = at === 1 && this.#lagMs > 0;
    return new UserServer(this.#api, isLate ? this.#late : this.#nats.url).ready();
  }

  #user(name: number): User {
    const cluster = connectServer({
      url: `ws://127.0.0.1:${this.#port}/`,
      ...{ identity: String(name), credentials: () => ({ user: String(name) }) },
    });
    this.#ends.push(() => cluster.close());
    const ends: string[] = [];
    cluster.connection$.subscribe(({ error }) => {
      if (error !== undefined) ends.push(error.message);
    });
    const permitted = permittedTo(name);
    const views = QUERIES.map(({ query, kind, of }) => {
      const states = this.#states.get(kind) as Row[][];
      const mayRead = ({ namespace = '' }: Row) =>
        permitted === 'all' || permitted.includes(namespace);
      const history = new ShownHistory(
        (change) => textOf(of((states[change] ?? []).filter(mayRead))),
        () => states.length - 1,
      );
      const view = cluster.view(query);
      // Before it is acknowledged.
      const leave = view.subscribe(() => {
        const { rows, synced, stale } = view.getSnapshot();
        history.take({ rows: textOf(rows), isWhole: synced || stale === true });
      });
      this.#ends.push(leave);
      const isCurrent = () => {
        const { synced, stale, status } = view.getSnapshot();
        return synced && stale !== true && status.live === true;
      };
      return { history, isCurrent };
    });
    return { name, cluster, views, ends };
  }

  /** Resolves when all users see what there is now, or something newer. */
  async current(): Promise<void> {
    const isCurrent = async (user: User) => {
      const changes = user.views.map(({ history }) => history.last);
      await eventually(() => isRight(user, changes), `user ${user.name} is right`);
    };
    await Promise.all(this.users.map(isCurrent));
  }

  /**
   * Ends servers while users look. Resolves when those who were there see elsewhere what there was, or something newer, with how long
   * each of them waited, in milliseconds.
   */
  async end(
    signal: NodeJS.Signals,
    servers: readonly number[],
    then: () => unknown = () => undefined,
  ): Promise<number[]> {
    const ended = servers.map((at) => this.servers[at] as UserServer);
    const size = ended.reduce((sum, { sockets }) => sum + sockets.size, 0);
    const before = this.users.map((user) => ({
      ...{ user, workers: user.cluster.connection.workers, ends: user.ends.length },
      changes: user.views.map(({ history }) => history.last),
    }));
    const sinceMs = performance.now();
    await Promise.all(ended.map((server) => server.end(signal)));
    await then();
    const waits = new Map<User, number>();
    const haveMoved = () => {
      for (const { user, workers, changes, ends } of before) {
        const hasMoved = user.cluster.connection.workers > workers;
        if (!hasMoved || waits.has(user) || !isRight(user, changes)) continue;
        waits.set(user, performance.now() - sinceMs);
        if (user.ends.length > ends + 1) this.retried++;
      }
      return waits.size >= size;
    };
    await eventually(haveMoved, `${size} users move`);
    return [...waits.values()];
  }

  /** Starts a server in the place of one that has ended. */
  async replace(at: number): Promise<void> {
    this.servers[at] = await this.#begin(at);
  }

  /** Moves half of the users to a server that has none, as a balancer does. */
  async share(at: number): Promise<void> {
    const [other] = this.servers.filter((_server, each) => each !== at);
    const moved = [...(other?.sockets ?? [])].filter((_socket, each) => each % 2 === 0);
    for (const socket of moved) socket.destroy();
    await eventually(() => (this.servers[at]?.sockets.size ?? 0) >= moved.length, 'users move');
    await this.current();
  }

  /** What users were shown that there was not, or that was older than what they had been shown. */
  get wrong(): readonly string[] {
    return this.users.flatMap(({ name, views }) =>
      views.flatMap(({ history }, at) =>
        history.wrong.map((each) => `user ${name}, query ${at}: ${each}`),
      ),
    );
  }

  /** How often the servers have asked the API server, and how many watches there are: those of the publishers. */
  get asked(): { readonly ofServers: number; readonly watches: number } {
    return { ofServers: this.#asked, watches: this.#scene.api.openWatches.length };
  }

  async stop(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
    await Promise.all(
      this.servers.filter(({ port }) => port !== 0).map((server) => server.end('SIGKILL')),
    );
    await this.#scene.stop();
    await this.#served?.close();
  }
}
