/** The options of `serveUsers`. */
import type { SchedulerLike } from 'rxjs';
import type { DynamicInformerFactory } from '../../factory/create-informer-factory.ts';
import type { InformerFactory } from '../../factory/informer-factory.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import type { Resource } from '../../meta/resource.ts';
import type { KubeClient } from '../../transport/kube-client.ts';
import type { WorkerQueries } from '../../worker/carried-query.ts';
import type { SessionFactory } from '../../worker/server/session.ts';
import type { Rights, RightsDecision } from '../rights/rights.ts';
import type { SharedQueriesByName } from '../shared/shared-query.ts';
import type { ServeUsersLimits } from './limits.ts';
import type { ServedUser } from './user.ts';

/** Options of {@link serveUsers} of both kinds. */
export interface ServeOptions {
  /** What may be asked. @defaultValue the values at each limit */
  readonly limits?: ServeUsersLimits | undefined;
  /** The values of `Host` to which the server answers, such as `dashboard.example.com`. @defaultValue `localhost` and addresses */
  readonly hosts?: readonly string[] | undefined;
  /** Other origins whose pages may connect, such as `https://portal.example.com`. @defaultValue only that of the `Host` */
  readonly origins?: readonly string[] | undefined;
  /** How long the informers of a user stay after the last connection has ended, in milliseconds. @defaultValue 30000 */
  readonly lingerMs?: number | undefined;
  /**
   * Receives what `createFactory` has thrown, and that `signIn` has returned no user, as a `TypeError`. With one factory, also what `rights`,
   * `onDecision`, `edits` and the functions of named queries have thrown. @defaultValue the first two are uncaught errors, which end a program of
   * Node; the others are dropped. It is told the same text once a minute.
   */
  readonly onUnhandledError?: ((error: unknown) => void) | undefined;
  /** @defaultValue rxjs's `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
  /** Makes the name of this start of the server. @defaultValue `Math.random` */
  readonly random?: (() => number) | undefined;
}

/** Options of {@link serveUsers} with a factory for each user. */
export interface ServeFactoriesOptions extends ServeOptions {
  /**
   * Makes the factory of informers of one user, with a client that has the user's own rights: the API server decides what the user
   * sees. It is called with the first connection of the user, and again for other groups. The factory is stopped when the user has
   * left. If it throws, the connection ends with the code 4500, and `onUnhandledError` receives the error.
   */
  readonly createFactory: (user: ServedUser) => SessionFactory | Promise<SessionFactory>;
  /**
   * The queries that clients may ask by name ({@link workerQuery}). A client may send any parameters, so check them.
   * @defaultValue none
   */
  readonly queries?: WorkerQueries | undefined;
  /** Whether pages may edit ({@link useEdit}), with the client of the user's factory: the API server decides. @defaultValue false */
  readonly edits?: boolean | undefined;
}

/** Options of {@link serveUsers} with one factory for all users. */
export interface ServeSharedOptions extends ServeOptions {
  /** The factory of the informers of all users. Its client must be allowed to list and watch the kinds in all namespaces. Start it yourself. */
  readonly factory: InformerFactory | DynamicInformerFactory;
  /** The kinds that users may ask, each once. Their informers, of all namespaces, are held from the start. */
  readonly kinds: readonly Resource<KubernetesObject>[];
  /** Decides what each user may read, such as {@link accessReviews}. */
  readonly rights: Rights;
  /** The queries that clients may ask by name ({@link workerQuery}), with the kinds that they read. @defaultValue none */
  readonly queries?: SharedQueriesByName | undefined;
  /**
   * Makes the client with which the edits of a user are written, such as one that sends the user's token: the API server decides. Only objects of
   * `kinds` are edited. The rows show an edit when the watch has brought it. @defaultValue edits are refused
   */
  readonly edits?: ((user: ServedUser) => KubeClient | Promise<KubeClient>) | undefined;
  /** Receives each change of what a user may read of a kind, for an audit log. It names no object. */
  readonly onDecision?: ((decision: RightsDecision) => unknown) | undefined;
  /**
   * A secret of at least 32 characters that all servers behind one address have. Pages then carry from one server to the next how far their rows
   * are, in a text that only these servers read, and rows never go back. Needs Node, Bun or Deno. @defaultValue the rows of the next server may be a moment older than those of the last one
   */
  readonly sharedSecret?: string | undefined;
}

/** Options of {@link serveUsers}. */
export type ServeUsersOptions = ServeFactoriesOptions | ServeSharedOptions;
