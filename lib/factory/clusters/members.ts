/** The clusters that exist at present: follows `clients$`, and creates and stops the factory of each cluster. */

import { isObservable, type Observable } from 'rxjs';
import { check } from '../../checks/checked-option.ts';
import { shownError } from '../../meta/shown-text.ts';
import { checkSourceName } from '../../meta/source-name.ts';
import type { Drain } from '../../rx/drain.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { Hub } from '../../rx/sharing/hub.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import type { InformerFactory } from '../informer-factory.ts';

const errorOf = (thrown: unknown) =>
  thrown instanceof Error ? thrown : new Error(shownError(thrown));

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

/** The built-in type of a value, also of one from another realm: `Map`, `Promise`, `Array`. */
function typeOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function entriesOf(clients: unknown): readonly (readonly [string, unknown])[] {
  const type = typeOf(clients);
  if (type === 'Map') return [...(clients as Map<string, unknown>)];
  if (type === 'Object') return Object.entries(clients as object);
  // A Promise or a Set has no entries of its own, and would remove all clusters.
  const shown = typeof clients === 'object' && clients !== null ? type : String(typeof clients);
  throw new TypeError(
    `createClusters: clients$ emitted ${clients === null ? 'null' : shown}; it must emit a Map or a record of clients by the names of clusters`,
  );
}

function checkMember(name: unknown, client: unknown): void {
  checkSourceName('createClusters', 'a cluster', name);
  if (typeof (client as Partial<KubeClient> | undefined)?.send === 'function') return;
  throw new TypeError(
    `createClusters: the cluster ${JSON.stringify(name)} has no client; clients$ must emit clients as createClient returns them`,
  );
}

export class Members {
  readonly #clients$: Observable<ClientsByName>;
  readonly #drain: Drain;
  readonly #create: (client: KubeClient, name: string) => InformerFactory;
  readonly #listeners = new Hub<MembersListener>();
  readonly #members = new Map<string, Member>();
  /** Clusters that cannot be shown, by name, with the reason. */
  readonly problems: Map<string, Error> = new Map();
  /** The error of `clients$`, or of its last value. The clusters stay as they were before it. */
  error: Error | undefined;
  /** Whether `clients$` has emitted a value in this run. */
  isKnown = false;
  /** The factories are started when they are created. */
  isStarted = false;
  /** A value of `clients$` has been applied in part. */
  #isChanging = false;
  /** The ends of factories whose clusters have left. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(
    clients$: Observable<ClientsByName>,
    drain: Drain,
    create: (client: KubeClient, name: string) => InformerFactory,
  ) {
    const must = 'an Observable of clients by the names of clusters, such as of({ east: client })';
    check(isObservable(clients$), 'createClusters: clients$', clients$, must);
    this.#clients$ = clients$;
    this.#drain = drain;
    this.#create = create;
  }

  get current(): ReadonlyMap<string, Member> {
    return this.#members;
  }

  /** Whether all clusters are known at this moment. */
  get isSettled(): boolean {
    return this.isKnown && !this.#isChanging;
  }

  /** Tells the listener, until the returned function is called. */
  listen(listener: MembersListener): () => void {
    return this.#listeners.add(listener);
  }

  /** Follows `clients$` until the returned function is called. Both are called in the drain. */
  follow(): () => void {
    const failed = (error: unknown) =>
      this.#drain.run(() => {
        if (!isFollowed) return;
        this.error = errorOf(error);
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
    for (const { name, factory } of [...this.#members.values()]) {
      try {
        factory.start();
      } catch (error) {
        this.#leave(name);
        this.#refuse(name, error);
        this.#changed();
      }
    }
  }

  /** Ends all clusters without telling that they have left. Resolves when their factories are stopped. */
  async stop(): Promise<void> {
    const members = [...this.#members.values()];
    this.#members.clear();
    this.problems.clear();
    [this.isKnown, this.isStarted, this.error] = [false, false, undefined];
    for (const { factory } of members) this.#end(factory);
    await Promise.all(this.#leaving);
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
    this.#isChanging = true;
    const next = new Map(entries);
    for (const name of this.problems.keys()) if (!next.has(name)) this.problems.delete(name);
    for (const [name, { client }] of [...this.#members]) {
      if (next.get(name) !== client) this.#leave(name);
    }
    for (const [name, client] of next) if (!this.#members.has(name)) this.#join(name, client);
    this.#isChanging = false;
    this.#changed();
  }

  #join(name: string, client: unknown): void {
    let member: Member;
    try {
      checkMember(name, client);
      const factory = this.#create(client as KubeClient, name);
      member = { name, client: client as KubeClient, factory };
    } catch (error) {
      return this.#refuse(name, error);
    }
    try {
      if (this.isStarted) member.factory.start();
    } catch (error) {
      this.#end(member.factory);
      return this.#refuse(name, error);
    }
    this.#members.set(name, member);
    this.problems.delete(name);
    this.#listeners.tell((listener) => listener.joined(member));
  }

  #refuse(name: string, error: unknown): void {
    this.problems.set(name, errorOf(error));
  }

  #leave(name: string): void {
    const member = this.#members.get(name);
    this.#members.delete(name);
    this.#listeners.tell((listener) => listener.left(name));
    // The client stays open, because its owner may use it for something else.
    if (member !== undefined) this.#end(member.factory);
  }

  /** Stops a factory. A failure concerns no other cluster, so it is reported. */
  #end(factory: InformerFactory): void {
    const end = (async () => factory.stop())()
      .catch(reportUnhandled)
      .finally(() => this.#leaving.delete(end));
    this.#leaving.add(end);
  }

  #changed(): void {
    this.#listeners.tell((listener) => listener.changed());
  }
}
