/** The clusters that exist at present: follows `clients$`, and creates and stops the factory of each cluster. */
import { isObservable, type Observable } from 'rxjs';
import type { Drain } from '../../rx/drain.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import type { InformerFactory } from '../informer-factory.ts';

/** Clients by the names of their clusters. */
export type ClientsByName = ReadonlyMap<string, KubeClient> | Readonly<Record<string, KubeClient>>;

/** One cluster of a view over several. */
export interface Member {
  readonly name: string;
  readonly client: KubeClient;
  /** The informers of this cluster alone. It is stopped when the cluster leaves. */
  readonly factory: InformerFactory;
}

/** Told of clusters that come and go, in the drain. */
export interface MembersListener {
  joined(member: Member): void;
  left(name: string): void;
  /** The members, their problems, or whether they are known may have changed. */
  changed(): void;
}

function entriesOf(clients: unknown): readonly (readonly [string, unknown])[] {
  if (clients instanceof Map) return [...clients] as [string, unknown][];
  if (typeof clients === 'object' && clients !== null) return Object.entries(clients);
  throw new TypeError(
    `createClusters: clients$ emitted ${clients === null ? 'null' : typeof clients}; it must emit a Map or a record of clients by the names of clusters`,
  );
}

function checkMember(name: unknown, client: unknown): void {
  if (typeof name !== 'string' || name === '' || name.includes('/')) {
    throw new TypeError(
      `createClusters: ${JSON.stringify(name)} is not a name of a cluster; it must be text without '/', because it stands before '/' in ids and keys`,
    );
  }
  if (typeof (client as Partial<KubeClient> | undefined)?.send === 'function') return;
  throw new TypeError(
    `createClusters: the cluster ${JSON.stringify(name)} has no client; clients$ must emit clients as createClient returns them`,
  );
}

export class Members {
  readonly #clients$: Observable<ClientsByName>;
  readonly #drain: Drain;
  readonly #create: (client: KubeClient, name: string) => InformerFactory;
  readonly #listeners = new Set<MembersListener>();
  readonly #members = new Map<string, Member>();
  /** Clusters that cannot be shown, by name, with the reason. */
  readonly problems: Map<string, Error> = new Map();
  /** The error of `clients$`, or of its last value. The clusters stay as they were before it. */
  error: Error | undefined;
  /** Whether `clients$` has emitted a value in this run. */
  isKnown = false;
  /** The factories are started when they are created. */
  isStarted = false;

  constructor(
    clients$: Observable<ClientsByName>,
    drain: Drain,
    create: (client: KubeClient, name: string) => InformerFactory,
  ) {
    if (!isObservable(clients$)) {
      throw new TypeError(
        `createClusters: clients$ is ${typeof clients$}; it must be an Observable of clients by the names of clusters, such as of({ east: client })`,
      );
    }
    this.#clients$ = clients$;
    this.#drain = drain;
    this.#create = create;
  }

  get current(): ReadonlyMap<string, Member> {
    return this.#members;
  }

  listen(listener: MembersListener): void {
    this.#listeners.add(listener);
  }

  unlisten(listener: MembersListener): void {
    this.#listeners.delete(listener);
  }

  /** Follows `clients$` until the returned function is called. Both are called in the drain. */
  follow(): () => void {
    const failed = (error: unknown) =>
      this.#drain.run(() => {
        if (!isFollowed) return;
        this.error = error instanceof Error ? error : new Error(String(error));
        this.#changed();
      });
    let isFollowed = true;
    const run = this.#clients$.subscribe({
      next: (clients) =>
        this.#drain.run(() => {
          if (isFollowed) this.#become(clients);
        }),
      error: failed,
    });
    return () => {
      isFollowed = false;
      run.unsubscribe();
    };
  }

  start(): void {
    this.isStarted = true;
    for (const { factory } of this.#members.values()) factory.start();
  }

  /** Ends all clusters without telling that they have left. Resolves when their factories are stopped. */
  async stop(): Promise<void> {
    const members = [...this.#members.values()];
    this.#members.clear();
    this.problems.clear();
    [this.isKnown, this.isStarted, this.error] = [false, false, undefined];
    await Promise.all(members.map(({ factory }) => factory.stop()));
  }

  #become(clients: unknown): void {
    let entries: readonly (readonly [string, unknown])[];
    try {
      entries = entriesOf(clients);
    } catch (error) {
      this.error = error as Error;
      return this.#changed();
    }
    this.error = undefined;
    this.isKnown = true;
    const next = new Map(entries);
    for (const name of this.problems.keys()) if (!next.has(name)) this.problems.delete(name);
    for (const [name, { client }] of [...this.#members]) {
      if (next.get(name) !== client) this.#leave(name);
    }
    for (const [name, client] of next) if (!this.#members.has(name)) this.#join(name, client);
    this.#changed();
  }

  #join(name: string, client: unknown): void {
    try {
      checkMember(name, client);
      const factory = this.#create(client as KubeClient, name);
      const member: Member = { name, client: client as KubeClient, factory };
      this.#members.set(name, member);
      this.problems.delete(name);
      if (this.isStarted) factory.start();
      for (const listener of [...this.#listeners]) listener.joined(member);
    } catch (error) {
      this.problems.set(name, error instanceof Error ? error : new Error(String(error)));
    }
  }

  #leave(name: string): void {
    const member = this.#members.get(name);
    this.#members.delete(name);
    for (const listener of [...this.#listeners]) listener.left(name);
    // The client stays open, because its owner may use it for something else.
    member?.factory.stop().catch(reportUnhandled);
  }

  #changed(): void {
    for (const listener of [...this.#listeners]) listener.changed();
  }
}
