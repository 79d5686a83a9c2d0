/** `serveUsers`, which answers the live queries of many users, by informers of each or of all. */
import { asyncScheduler, Subscription } from 'rxjs';
import {
  check,
  checkedDuration,
  checkedFunction,
  checkedList,
  ifGiven,
  refusal,
} from '../../checks/checked-option.ts';
import { isFields } from '../../meta/json-fields.ts';
import { longInterval } from '../../rx/long-timer.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import { timingOf } from '../../rx/timing.ts';
import { uniqueText } from '../../rx/unique-text.ts';
import { foreignRequest, type JudgedRequest } from '../foreign-request.ts';
import { sharedFactory } from '../shared/shared-factory.ts';
import type { UserPort } from '../socket-port.ts';
import { Turns } from '../turns/turns.ts';
import { boundedReport } from './bounded-report.ts';
import { endPort } from './ends.ts';
import { limitsOf, spendingOf } from './limits.ts';
import type {
  ServeFactoriesOptions,
  ServeSharedOptions,
  ServeUsersOptions,
} from './serve-options.ts';
import { SignIns } from './sign-ins.ts';
import type { ServedUser, SignIn } from './user.ts';
import { UserConnection, type UserConnectionParts } from './user-connection.ts';
import { OwnInformers, type UserInformers } from './user-session.ts';
import { UserSessions } from './user-sessions.ts';

/** Options of a connection. */
export interface ConnectUserOptions {
  /**
   * The request of the upgrade, whose `Host` and `Origin` are checked. `null` for a port that no page of another origin can open,
   * such as one within a program.
   */
  readonly request: JudgedRequest | null;
  /** Where the request comes from, such as `request.socket.remoteAddress`, to which a limit applies. @defaultValue no limit per address */
  readonly address?: string | undefined;
  /**
   * Names the user of the credentials that the client has sent, as a `TokenReview` does. Called for the first message, then every
   * minute, and for new credentials. `undefined` is nobody: the client drops its rows. If it throws, or takes over 10 seconds, the
   * connection ends, and the rows of the client are stale.
   */
  readonly signIn: (first: SignIn) => ServedUser | undefined | Promise<ServedUser | undefined>;
}

/** How many there are. */
export interface UsersCounts {
  readonly users: number;
  readonly connections: number;
  /** Connections without a user yet. */
  readonly signingIn: number;
}

/** What {@link serveUsers} returns. */
export interface ServedUsers {
  /** Serves the client behind a port, such as a `socketPort`. Throws a `TypeError` on an invalid option. */
  connect(port: UserPort, options: ConnectUserOptions): void;
  /** Ends all connections with the code 1012, so that clients connect to another server, and refuses new ones. Informers stop. */
  drain(): void;
  readonly counts: UsersCounts;
}

/** A factory for each user. */
function factoryOfEach(options: ServeFactoriesOptions, mostPipelines: number): UserInformers {
  const { createFactory, queries = {}, edits = false } = options;
  checkedFunction(
    createFactory,
    'serveUsers: createFactory',
    '(user) => createInformerFactory(…); or give factory, kinds and rights',
  );
  check(typeof edits === 'boolean', 'serveUsers: edits', edits, 'true or false');
  const begin: UserInformers['begin'] = async (user, beginning) => {
    const factory = await createFactory(user);
    const takesEdits = edits;
    return new OwnInformers({ ...beginning, factory, queries, mostPipelines, takesEdits });
  };
  return { begin, end: () => undefined };
}

/** The parts that all connections share. */
type SharedParts = Pick<
  UserConnectionParts,
  | 'incarnation'
  | 'sessions'
  | 'limits'
  | 'spending'
  | 'answers'
  | 'frames'
  | 'signIns'
  | 'scheduler'
>;

/** How many different errors the program is told in a minute. */
const MOST_TEXTS = 100;
/** How often a client must answer, in milliseconds. One that misses two in a row is gone. */
const CHECK_MS = 6_000;
/** In so many parts of that time connections are checked, so that few are at once. */
const CHECK_PARTS = 60;

class UsersServer implements ServedUsers {
  readonly #options: ServeUsersOptions;
  readonly #shared: SharedParts;
  /** Each with the part of the time in which it is checked. */
  readonly #connections = new Map<UserConnection, number>();
  #connected = 0;
  /** How many connections sign in, by address. */
  readonly #signingIn = new Map<string, number>();
  readonly #report: (error: unknown) => void;
  readonly #endFactory: () => void;
  #checks = Subscription.EMPTY;
  #isDrained = false;

  constructor(options: ServeUsersOptions) {
    const { lingerMs = 30_000, scheduler = asyncScheduler } = options;
    ifGiven(checkedFunction, options.onUnhandledError, 'serveUsers: onUnhandledError');
    for (const name of ['hosts', 'origins'] as const) {
      const list = options[name];
      if (list !== undefined) checkedList(list, `serveUsers: ${name}`, 'a list of texts');
    }
    this.#options = options;
    this.#report = boundedReport(
      options.onUnhandledError ?? reportUnhandled,
      MOST_TEXTS,
      scheduler,
    );
    const limits = limitsOf(options.limits);
    const spending = spendingOf(limits, scheduler);
    const answers = new Turns(scheduler, spending.answers);
    const frames = new Turns(scheduler);
    const { random } = timingOf(options);
    const incarnation = uniqueText(random);
    checkedDuration(lingerMs, 'serveUsers: lingerMs');
    const surroundings = {
      ...{ scheduler, lingerMs, mostPipelines: limits.pipelines, random },
      // A client, or an API server that is away, causes them, and must not end the program.
      report: options.onUnhandledError === undefined ? () => undefined : this.#report,
    };
    const { begin, end } =
      (options as Partial<ServeSharedOptions>).factory === undefined
        ? factoryOfEach(options as ServeFactoriesOptions, limits.pipelines)
        : sharedFactory(options as ServeSharedOptions, surroundings);
    this.#endFactory = end;
    const sessions = new UserSessions({ begin, scheduler, lingerMs, answers });
    const signIns = new SignIns(scheduler);
    const turns = { answers, frames, signIns };
    this.#shared = { incarnation, sessions, limits, spending, ...turns, scheduler };
  }

  get counts(): UsersCounts {
    const signingIn = [...this.#signingIn.values()].reduce((sum, count) => sum + count, 0);
    return { users: this.#shared.sessions.count, connections: this.#connections.size, signingIn };
  }

  connect(port: UserPort, options: ConnectUserOptions): void {
    const { request, address: given, signIn } = options ?? {};
    const must = '(first) => the user, or undefined';
    checkedFunction(signIn, 'serveUsers: connect: signIn', must);
    if (request !== null && !isFields(request?.headers)) {
      throw refusal('serveUsers: connect: request', request, 'the request of the upgrade, or null');
    }
    if (this.#isDrained) return endPort(port, 'drained');
    if (request !== null && this.#isForeign(request)) return endPort(port, 'foreign');
    const { connections, signingIn, signingInOfAddress } = this.#shared.limits;
    const address = given ?? '';
    const ofAddress = this.#signingIn.get(address) ?? 0;
    const counts = this.counts;
    if (counts.connections >= connections) return endPort(port, 'full');
    const isOften = given !== undefined && ofAddress >= signingInOfAddress;
    if (isOften || counts.signingIn >= signingIn) return endPort(port, 'signingIn');
    this.#signingIn.set(address, ofAddress + 1);
    const connection: UserConnection = new UserConnection({
      ...{ ...this.#shared, port, address, signIn },
      report: this.#report,
      onSignedIn: () => this.#signedIn(address),
      onEnd: () => this.#forget(connection),
    });
    this.#connections.set(connection, this.#connected++ % CHECK_PARTS);
    if (!this.#checks.closed) return;
    let now = 0;
    this.#checks = longInterval(CHECK_MS / CHECK_PARTS, this.#shared.scheduler).subscribe(() => {
      now = (now + 1) % CHECK_PARTS;
      for (const [each, part] of this.#connections) if (part === now) each.check();
    });
  }

  drain(): void {
    this.#isDrained = true;
    for (const each of [...this.#connections.keys()]) each.end('drained');
    this.#shared.sessions.end();
    this.#endFactory();
  }

  #isForeign(request: JudgedRequest): boolean {
    const { hosts, origins = [] } = this.#options;
    const { headers } = request;
    const { origin, 'sec-fetch-site': _site, ...others } = headers;
    const isAllowed =
      typeof origin === 'string' && origins.some((each) => each.toLowerCase() === origin);
    const judged = isAllowed ? { headers: others } : { headers };
    return foreignRequest(judged, { hosts }) !== undefined;
  }

  #signedIn(address: string): void {
    const left = (this.#signingIn.get(address) ?? 1) - 1;
    if (left === 0) this.#signingIn.delete(address);
    else this.#signingIn.set(address, left);
  }

  #forget(connection: UserConnection): void {
    this.#connections.delete(connection);
    if (this.#connections.size === 0) this.#checks.unsubscribe();
  }
}

/**
 * Answers the live queries of many users over sockets: informers live in this process, and a page receives the rows of its queries as
 * differences. Pages connect with {@link connectServer}. Queries with a `limit` are answered first.
 *
 * Nothing is answered before `signIn` has named the user. With `createFactory` each user is answered by informers of its own, whose client
 * has the user's rights. With `factory` all users are answered by the same informers, within what `rights` permits each of them; equal queries of
 * users with equal rights share a pipeline. Edits are refused without the option `edits`. Errors say a code and a reason, without stacks, addresses
 * and messages of functions.
 *
 * Throws a `TypeError` on an invalid option.
 *
 * @example
 * ```ts
 * import { createClient, createInformerFactory } from 'rx-informer';
 * import { serveUsers } from 'rx-informer/server';
 *
 * const users = serveUsers({
 *   createFactory: ({ name }) =>
 *     createInformerFactory(createClient({
 *       baseUrl: 'http://localhost:8001',
 *       headers: { 'impersonate-user': name },
 *     })),
 * });
 * // for each socket: users.connect(socketPort(socket), { request, signIn: tokenReviews(client) })
 * users.counts; // => { users: 0, connections: 0, signingIn: 0 }
 * ```
 */
export function serveUsers(options: ServeUsersOptions): ServedUsers {
  return new UsersServer(options);
}
