/**
 * One connection of a user: nothing is answered before `signIn` has named the user, and nothing after it has named nobody or
 * somebody else.
 */
import { type SchedulerLike, Subscription } from 'rxjs';
import { looseTimer } from '../../rx/long-timer.ts';
import { readable } from '../../wire/public-error.ts';
import { publicCarriage } from '../../wire/query-feed.ts';
import {
  type Credentials,
  type FromTab,
  type FromWorker,
  PROTOCOL,
} from '../../worker/messages.ts';
import { ServedTab } from '../../worker/server/served-tab.ts';
import type { UserPort } from '../socket-port.ts';
import { type Limits, messageRate } from './limits.ts';
import { type Hello, isMessageOfTab } from './read-message.ts';
import { checkedUser, type ServedUser, type SignIn } from './user.ts';
import type { ConnectionSession, UserSession } from './user-session.ts';
import type { Entered, UserSessions } from './user-sessions.ts';

/** The parts of a connection. */
export interface UserConnectionParts {
  readonly port: UserPort;
  readonly incarnation: string;
  readonly sessions: UserSessions;
  readonly limits: Limits;
  readonly scheduler: SchedulerLike;
  signIn(first: SignIn): unknown;
  /** Tells the program of an error of its own. */
  report(error: unknown): void;
  /** The connection has signed in for the first time, or has ended before that. */
  onSignedIn(): void;
  onEnd(): void;
}

/** How long a sign-in may take, in milliseconds, also until the first message comes. */
const SIGN_IN_MS = 10_000;
/** How often a user is verified again, in milliseconds. */
const REVIEW_MS = 60_000;
/** How long before the end of the credentials new ones are asked for, in milliseconds. */
const EARLY_MS = 30_000;
/** How long to wait at least before new ones are asked for, in milliseconds. */
const RENEWAL_MS = 5_000;
/** The most characters of a message with credentials. */
const MOST_OF_HELLO = 16_384;
/** The most bytes that wait for a client that does not read. */
const MOST_WAITING = 16_777_216;
/** How many checks a client may miss, shown and hidden. Browsers wake a hidden page once a minute. */
const MISSED_SHOWN = 2;
const MISSED_HIDDEN = 20;

/** Why a connection ends: codes of WebSockets, and reasons that a client may show. */
const ENDS = {
  malformed: [4400, 'a message is not one of this protocol'],
  nobody: [4401, 'the credentials are of nobody'],
  foreign: [4403, 'another origin'],
  late: [4408, 'no sign-in within 10 seconds'],
  silent: [4408, 'no answer'],
  many: [4429, 'too many connections'],
  flood: [4429, 'too many messages'],
  unread: [4429, 'messages are not read'],
  failed: [4500, 'the informers of the user could not be made'],
  unverified: [4503, 'the user could not be verified'],
  changed: [1012, 'the rights of the user have changed'],
  drained: [1012, 'the server restarts'],
  left: [1000, ''],
} as const;

export type EndReason = keyof typeof ENDS;

/** Ends a port for a reason. */
export function endPort(port: UserPort, reason: EndReason): void {
  const [code, text] = ENDS[reason];
  if (port.end !== undefined) port.end(code, text);
  else port.close();
}

export class UserConnection {
  readonly #parts: UserConnectionParts;
  readonly #tab: ServedTab;
  readonly #mayCome: () => boolean;
  /** Of sign-ins, each of which may send a request. */
  readonly #maySignIn: () => boolean;
  /** Everything that ends with the connection. */
  readonly #life = new Subscription();
  /** Ends when another sign-in begins, or the session ends. */
  #signed = new Subscription();
  #user: ServedUser | undefined;
  #entered: Entered | undefined;
  #session: UserSession | undefined;
  /** The same, as this connection asks it. */
  #asked: ConnectionSession | undefined;
  #hello: Hello | undefined;
  #hasSignedIn = false;

  constructor(parts: UserConnectionParts) {
    this.#parts = parts;
    const { port, incarnation, limits, scheduler } = parts;
    this.#mayCome = messageRate(limits.messagesPerSecond, scheduler);
    this.#maySignIn = messageRate(1, scheduler);
    const frameMs = 1_000 / limits.framesPerSecond;
    const carriage = { ...publicCarriage('serveUsers', scheduler), frameMs };
    const post = (message: unknown) => this.#post(this.#withPosition(message as FromWorker));
    this.#tab = new ServedTab({ post }, incarnation, carriage);
    this.#life.add(() => this.#leave());
    this.#limitSignIn();
    port.onEnd?.(() => this.#close());
    port.listen(
      (message) => {
        try {
          this.#receive(message);
        } catch {
          // Such as one that is nested too deep for what reads it. Whoever sends it must not end the process of all.
          this.end('malformed');
        }
      },
      () => this.end('malformed'),
    );
  }

  /** Ends the connection. */
  end(reason: EndReason): void {
    if (this.#life.closed) return;
    this.#close();
    endPort(this.#parts.port, reason);
  }

  /** Ends a connection whose client does not answer. */
  check(): void {
    if (this.#entered === undefined) return;
    const most = this.#tab.isHidden ? MISSED_HIDDEN : MISSED_SHOWN;
    if (!this.#tab.check(most)) this.end('silent');
  }

  #close(): void {
    if (this.#life.closed) return;
    this.#life.unsubscribe();
    this.#markSignedIn();
    this.#parts.onEnd();
  }

  #markSignedIn(): void {
    if (this.#hasSignedIn) return;
    this.#hasSignedIn = true;
    this.#parts.onSignedIn();
  }

  /** Rows say how far they are, which the page tells the next server. */
  #withPosition(message: FromWorker): FromWorker {
    if (message.type !== 'rows' || message.differences.length === 0) return message;
    const position = this.#asked?.position?.();
    return position === undefined ? message : { ...message, position };
  }

  #post(message: unknown): void {
    const { port } = this.#parts;
    if (this.#life.closed) return;
    try {
      port.post(message);
    } catch {
      // A port whose other side is gone, as that of a window of Electron.
      return this.#close();
    }
    if ((port.waiting ?? 0) > MOST_WAITING) this.end('unread');
  }

  #receive(message: unknown): void {
    if (this.#life.closed) return;
    if (!this.#mayCome()) return this.end('flood');
    if (!isMessageOfTab(message)) return this.end('malformed');
    const isSignIn = message.type === 'hello' || message.type === 'identity';
    if (isSignIn && !this.#maySignIn()) return this.end('flood');
    if (message.type === 'hello') return this.#greet(message);
    if (this.#hello === undefined) return this.end('malformed');
    if (message.type === 'bye') return this.end('left');
    if (message.type === 'ping') return this.#post({ type: 'pong' });
    if (message.type === 'hidden') return this.#tab.hide(message.isHidden);
    if (message.type === 'identity') {
      if (message.identity === undefined) return this.end('left');
      return void this.#renew();
    }
    if (message.incarnation !== this.#parts.incarnation) return this.#post({ type: 'unknown' });
    // A message of a session that has ended meanwhile.
    if (message.epoch !== this.#tab.session?.epoch) return;
    this.#take(message);
  }

  #take(message: Extract<FromTab, { readonly epoch: number }>): void {
    const { asked } = this.#tab;
    const { queries } = this.#parts.limits;
    if (message.type === 'open' && !asked.has(message.id) && asked.size >= queries) {
      const error = new RangeError(`a connection may have ${queries} queries; close some first`);
      return this.#tab.refuse(message.id, readable(error));
    }
    this.#tab.receive(message);
  }

  #greet(hello: Hello): void {
    if (JSON.stringify(hello).length > MOST_OF_HELLO) return this.end('malformed');
    this.#hello = hello;
    if (hello.protocol !== PROTOCOL) {
      return this.#post({ type: 'incompatible', protocol: PROTOCOL });
    }
    this.#tab.hide(hello.isHidden);
    this.#leave();
    this.#user = undefined;
    void this.#signIn(hello.credentials);
  }

  /** Ends the connection unless it has signed in by then. */
  #limitSignIn(): void {
    this.#signed.add(looseTimer(SIGN_IN_MS, this.#parts.scheduler, () => this.end('late')));
  }

  /** Verifies the user, for the first time or again. */
  async #signIn(credentials: unknown): Promise<void> {
    const own = this.#signed;
    const { sessions, limits } = this.#parts;
    this.#limitSignIn();
    const identity = this.#hello?.identity ?? '';
    let given: unknown;
    try {
      given = await this.#parts.signIn({ credentials, identity });
    } catch {
      // The program knows it; whoever is not verified is not answered.
      if (!own.closed) this.end('unverified');
      return;
    }
    if (own.closed) return;
    let user: ServedUser | undefined;
    try {
      user = checkedUser(given);
    } catch (error) {
      this.#parts.report(error);
      return this.end('unverified');
    }
    const before = this.#user;
    const isOther = before !== undefined && (user?.name !== before.name || user.uid !== before.uid);
    if (user === undefined || isOther || this.#isOver(user)) return this.#signOut();
    const isFull = sessions.connectionsOf(user) >= limits.connectionsOfUser;
    if (before === undefined && isFull) return this.end('many');
    const entered = sessions.enter(user);
    // Also while the factory is made, which may never happen.
    own.add(() => {
      if (this.#entered !== entered) entered.leave();
    });
    let session: UserSession;
    try {
      session = await entered.session;
    } catch (error) {
      this.#parts.report(error);
      if (!own.closed) this.end('failed');
      return;
    }
    if (!own.closed) this.#begin(user, entered, session, credentials);
  }

  #isOver({ expiresMs = Number.POSITIVE_INFINITY }: ServedUser): boolean {
    return expiresMs <= this.#parts.scheduler.now();
  }

  /** The user is verified: the first time, or again, perhaps with other rights. */
  #begin(user: ServedUser, entered: Entered, session: UserSession, credentials: unknown): void {
    const { scheduler, incarnation } = this.#parts;
    this.#markSignedIn();
    this.#user = user;
    const before = this.#entered;
    this.#entered = entered;
    this.#signed.unsubscribe();
    const signed = new Subscription();
    this.#signed = signed;
    signed.add(looseTimer(REVIEW_MS, scheduler, () => void this.#signIn(credentials)));
    const { expiresMs } = user;
    if (expiresMs !== undefined) {
      const leftMs = expiresMs - scheduler.now();
      signed.add(
        looseTimer(Math.max(RENEWAL_MS, leftMs - EARLY_MS), scheduler, () => void this.#renew()),
      );
      signed.add(looseTimer(leftMs, scheduler, () => this.#signOut()));
    }
    before?.leave();
    const former = this.#session;
    if (former === session) return;
    // The client connects again, and its rows are stale until it is answered with the other rights.
    if (former !== undefined) return this.end('changed');
    this.#session = session;
    this.#asked = session.askedAfter?.(this.#hello?.position) ?? session;
    this.#tab.enter(this.#asked);
    this.#post({ type: 'welcome', incarnation, epoch: session.epoch });
  }

  /** Asks the client for new credentials. */
  async #renew(): Promise<void> {
    const own = this.#signed;
    if (this.#hello?.hasCredentials !== true || this.#tab.session === undefined) return;
    let credentials: Credentials;
    try {
      credentials = await this.#tab.ask().answer;
    } catch {
      // The present ones are right until they end.
      return;
    }
    if (!own.closed) await this.#signIn(credentials);
  }

  /** The credentials are of nobody, or of somebody else: the client drops its rows. */
  #signOut(): void {
    this.#post({ type: 'signed-out', identity: this.#hello?.identity ?? '' });
    this.end('nobody');
  }

  #leave(): void {
    this.#signed.unsubscribe();
    this.#signed = new Subscription();
    this.#tab.leave();
    this.#session = undefined;
    this.#asked = undefined;
    this.#entered?.leave();
    this.#entered = undefined;
  }
}
