/** `connectPaintedWorker`: a page that shows the rows that it showed last, before its worker has answered. */
import { asyncScheduler, type SchedulerLike, Subscription } from 'rxjs';
import type { BrowserScope } from '../../persist/indexed-db/database.ts';
import { Ownership } from '../../persist/indexed-db/ownership.ts';
import { type StoredWindow, Windows } from '../../persist/indexed-db/windows.ts';
import {
  type CheckedSnapshotOptions,
  checkedSnapshotOptions,
  type SnapshotOptions,
} from '../../persist/snapshot-options.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import { inTurn } from '../../rx/drain.ts';
import { longInterval } from '../../rx/long-timer.ts';
import type { CarriedQuery, WorkerQuery } from '../carried-query.ts';
import type { AskedView } from './asked-view.ts';
import { connectTab } from './connect-peer.ts';
import { type TabPage, thisPage } from './page-life.ts';
import type { ConnectWorkerOptions, WorkerCluster } from './worker-cluster.ts';

/** Which rows are stored, and where. */
export interface PaintOptions
  extends Pick<SnapshotOptions, 'kinds' | 'env' | 'configMaps' | 'appVersion' | 'maxAgeMs'> {
  /**
   * The names of queries of the worker whose rows may be stored. The page does not know what these queries read, so name none that
   * shows Secrets. @defaultValue none
   */
  readonly queries?: readonly string[] | undefined;
  /** The name of the database, as for `indexedDbSnapshots`. @defaultValue 'rx-informer' */
  readonly name?: string | undefined;
}

/** The options of {@link connectPaintedWorker}. */
export interface ConnectPaintedWorkerOptions extends ConnectWorkerOptions {
  readonly paint: PaintOptions;
}

/** How often the rows that are shown are compared with those that are stored, in milliseconds. */
const WRITE_MS = 1_000;
const MOST_VIEWS = 200;

interface Painted {
  readonly view: AskedView;
  /** What was stored last of it. */
  stored: unknown;
  /** Whether the server has refused the rows, and no request has succeeded since then. */
  isRefused?: boolean;
}

/** Whether the rows of a query may be stored. */
function mayStore(
  query: CarriedQuery,
  { kinds, env }: CheckedSnapshotOptions,
  names: readonly string[],
): boolean {
  if ('named' in query) return names.includes(query['named'] as string);
  const { group, version, plural } = query['from'] as Record<string, unknown>;
  const isNamed = kinds.some(
    (kind) => kind.group === group && kind.version === version && kind.plural === plural,
  );
  // A column of one of these fields has another name, by which it is not recognized when it is stored.
  const paths = Object.values(query['select'] ?? {}).map(String);
  const isSafe = (path: string) =>
    !/managedFields|last-applied/.test(path) &&
    (env === 'stored' || /^metadata\.(labels|annotations)\b/.test(path) || !/\benv\b/.test(path));
  return isNamed && paths.every(isSafe);
}

class Painter {
  readonly #checked: CheckedSnapshotOptions;
  readonly #options: PaintOptions;
  readonly #scope: BrowserScope;
  readonly #scheduler: SchedulerLike;
  readonly #life = new Subscription();
  readonly #views = new Map<string, Painted>();
  #identity: string | undefined;
  /** Absent while nobody is signed in. */
  #windows: Windows | undefined;
  /** The windows that no view has shown yet. */
  #found: Map<string, StoredWindow> = new Map();

  /** Begins to read, so that it does not wait for the start of the worker. */
  constructor(options: ConnectPaintedWorkerOptions, scope: BrowserScope) {
    const { identity, paint, scheduler = asyncScheduler } = options;
    // Nobody may be signed in yet.
    const of = { ...paint, identity: identity ?? 'nobody' };
    this.#checked = checkedSnapshotOptions('connectPaintedWorker: paint', of);
    this.#options = paint;
    this.#scope = scope;
    this.#scheduler = scheduler;
    this.#begin(identity);
  }

  /** Paints the views of a cluster. The cluster stays the same object, because edits look for its connection. */
  over(cluster: WorkerCluster, { changes$ }: TabPage): WorkerCluster {
    const { view: viewOf, signedIn, signedOut, close, connection$ } = cluster;
    const look = (isLeaving: boolean) => {
      for (const [key, painted] of this.#views) this.#look(key, painted, isLeaving);
    };
    this.#life.add(longInterval(WRITE_MS, this.#scheduler).subscribe(() => look(false)));
    // A quiet page is up to date until it is hidden or left.
    this.#life.add(changes$.subscribe((change) => look(change !== 'shown')));
    this.#life.add(
      connection$.subscribe(({ phase }) => {
        if (phase === 'signed-out') this.#end();
      }),
    );
    const view = (given: LiveQuery | WorkerQuery) => this.#known(viewOf(given) as AskedView);
    return Object.assign(cluster, {
      view: view as WorkerCluster['view'],
      signedIn: (identity: string) => {
        signedIn(identity);
        if (identity === this.#identity) return;
        this.#end();
        if (!this.#life.closed) this.#begin(identity);
      },
      // Also after a close.
      signedOut: () => {
        signedOut();
        this.#end();
      },
      close: () => {
        this.#life.unsubscribe();
        this.#windows?.close();
        close();
      },
    });
  }

  #known(view: AskedView): AskedView {
    const key = JSON.stringify(view.query);
    const isNew = this.#views.get(key)?.view !== view;
    if (isNew && mayStore(view.query, this.#checked, this.#options.queries ?? [])) {
      this.#views.set(key, { view, stored: undefined });
      const [oldest] = this.#views.keys();
      if (this.#views.size > MOST_VIEWS && oldest !== undefined) this.#views.delete(oldest);
      this.#paint(key, view);
    }
    return view;
  }

  #begin(identity: string | undefined): void {
    this.#identity = identity;
    if (identity === undefined) return;
    const { name = 'rx-informer' } = this.#options;
    const windows = new Windows(new Ownership(name, identity, this.#scope).beside, this.#checked);
    this.#windows = windows;
    windows.read(this.#scheduler.now()).then(
      (found) => {
        // The user may have signed out meanwhile.
        if (this.#windows !== windows) return;
        this.#found = new Map(found);
        for (const [key, { view }] of this.#views) this.#paint(key, view);
      },
      // Without a database nothing is painted.
      () => undefined,
    );
  }

  /** The user has signed out, or another one has signed in: nothing of the former is kept. */
  #end(): void {
    const windows = this.#windows;
    this.#windows = undefined;
    this.#identity = undefined;
    this.#found.clear();
    windows
      ?.forget()
      .catch(() => undefined)
      .finally(() => windows.close());
  }

  /** Shows the rows of the last page as those of a worker that was lost, unless the worker has answered already. */
  #paint(key: string, view: AskedView): void {
    const window = this.#found.get(key);
    if (window === undefined) return;
    this.#found.delete(key);
    const { rows, synced, status } = view.getSnapshot();
    if (rows.length > 0 || synced || status.blocked !== undefined) return;
    const { total, savedAtMs } = window;
    const painted = window.rows.map(([id, row], at) => [id, at, row] as const);
    inTurn(() => {
      view.take({ reset: true, rows: painted, total, synced: true });
      view.lose(status.error && status, savedAtMs);
    });
  }

  /** Stores what a view shows if it has changed, and deletes what its user may not see any longer. */
  #look(key: string, painted: Painted, isLeaving: boolean): void {
    const { view } = painted;
    const windows = this.#windows;
    const snapshot = view.getSnapshot();
    if (windows === undefined || (snapshot === painted.stored && !isLeaving)) return;
    const { synced, stale, status, total } = snapshot;
    const isCurrent = synced && stale !== true && snapshot.error === undefined;
    // Not of the snapshot, whose status is that of the connection when a page is left.
    const { blocked, error } = view.sent;
    if (blocked !== undefined && blocked !== 'wrong-kind') painted.isRefused = true;
    else if (isCurrent && error === undefined) painted.isRefused = false;
    // Rows are already stale when a page is left, and their status says until when they were right.
    const isWhole = isLeaving ? view.rows.synced : isCurrent;
    if (!painted.isRefused && !isWhole) return;
    painted.stored = snapshot;
    const savedAtMs = status.staleSinceMs ?? this.#scheduler.now();
    const done = painted.isRefused
      ? windows.delete(key)
      : windows.write(key, {
          rows: view.rows.ids.map((id) => [id, view.rows.get(id)]),
          total,
          savedAtMs,
        });
    // The next page starts without these rows.
    done.catch(() => undefined);
  }
}

/** The cluster of a page, whose life and whose browser are given. The types of browsers stay out of the declarations. */
export function connectPaintedTab(
  options: ConnectPaintedWorkerOptions,
  page: TabPage,
  scope: object,
): WorkerCluster {
  const painter = new Painter(options, scope);
  return painter.over(connectTab(options, page), page);
}

/**
 * Connects a page to its worker as {@link connectWorker} does, and shows the rows that a page of this origin showed last until
 * the worker has answered. They are `stale: true` and `synced: false`, and `status.staleSinceMs` says how old they are. Rows
 * that have not changed stay the same objects when the answer comes.
 *
 * Every second, the rows of complete answers are stored in IndexedDB if they have changed: those of the kinds and names that
 * `paint` lists, at most 500 rows of each of 24 queries. A refusal of the server, a sign-out and another identity delete them.
 *
 * Throws a `TypeError` on an invalid option, and if `paint` could store what it must not.
 *
 * @example
 * ```ts no-run
 * import { liveQuery } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { connectPaintedWorker } from 'rx-informer/worker';
 *
 * const cluster = connectPaintedWorker({
 *   identity: 'user-7',
 *   paint: { kinds: [pods], env: 'left-out', appVersion: '7' },
 *   shared: () => new SharedWorker(new URL('./cluster.worker.ts', import.meta.url), { type: 'module' }),
 * });
 * const view = cluster.view(liveQuery({ from: pods, select: { name: 'metadata.name' } }));
 * view.subscribe(() => console.log(view.getSnapshot().rows));
 * ```
 */
export function connectPaintedWorker(options: ConnectPaintedWorkerOptions): WorkerCluster {
  return connectPaintedTab(options, thisPage(options.scheduler), globalThis);
}
