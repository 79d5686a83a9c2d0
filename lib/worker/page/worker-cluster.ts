/** What a page asks: a worker, or a server. */
import type { Observable, SchedulerLike } from 'rxjs';
import type { ApiError } from '../../meta/api-error.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import type { View } from '../../query/view/view.ts';
import type { WorkerQuery } from '../carried-query.ts';
import type { Credentials } from '../messages.ts';
import type { HostKind, HostMakers } from './hosts.ts';

/** The connection of a page to its worker. */
export interface WorkerConnection {
  /**
   * `connecting`: no worker has answered yet, or the tab moves to another one · `open` · `lost`: the worker has died or does
   * not answer, and another one is being started · `failed`: none can be started, so the page must be reloaded; it is tried
   * again nevertheless · `signed-out`: nobody is signed in, or another user is · `left`: the page was left.
   */
  readonly phase: 'connecting' | 'open' | 'lost' | 'failed' | 'signed-out' | 'left';
  /** Where the queries are answered. Absent before the first host was started. */
  readonly host?: HostKind | undefined;
  /** How many workers have answered so far. */
  readonly workers: number;
  /** Why the phase is `lost`, `failed` or `signed-out`, or that the page has closed the connection. */
  readonly error?: ApiError | undefined;
}

/** The options of {@link connectWorker}. */
export interface ConnectWorkerOptions extends HostMakers {
  /**
   * Who is signed in, such as the id of the user; `undefined` while nobody is. Rows of one identity are never shown
   * under another one.
   */
  readonly identity: string | undefined;
  /**
   * Returns the headers of requests, such as `authorization`. They go to the worker alone, and are asked for again after a
   * 401. @defaultValue requests are sent with the cookies of the browser
   */
  readonly credentials?: (() => Credentials | Promise<Credentials>) | undefined;
  /** How long the rows of a view stay after its last subscriber has left, in milliseconds. @defaultValue 30000 */
  readonly lingerMs?: number | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** The queries that a worker answers for a page. Its methods work without it. */
export interface WorkerCluster {
  /**
   * The rows of a query: the same view for equal queries while they are used. Throws a `TypeError` if the query
   * cannot be sent to a worker: it has a function, or neither `select` nor a `limit` of at most 200. What else is wrong with it
   * is the `error` of the view's status.
   */
  readonly view: <Row>(query: LiveQuery<Row> | WorkerQuery<Row>) => View<Row>;
  /** The connection to the worker, now and after each change. */
  readonly connection$: Observable<WorkerConnection>;
  readonly connection: WorkerConnection;
  /**
   * Says who has signed in. For all tabs: those of another identity show no rows from now on. Call it after a sign-in; a
   * changed cookie alone changes nothing that is open.
   */
  readonly signedIn: (identity: string) => void;
  /** Says that the user has signed out. No tab shows rows from now on, and the worker drops its stores. */
  readonly signedOut: () => void;
  /** Leaves the worker. Views keep their rows, marked as stale. */
  readonly close: () => void;
}
