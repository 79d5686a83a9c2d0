/**
 * One connection of a user: nothing is answered before `signIn` has named the user, and nothing after it has named nobody or
 * somebody else.
 */
import { type SchedulerLike, Subscription } from 'rxjs';
import { looseTimer } from '../../rx/long-timer.ts';
import { publicCarriage } from '../../wire/query-feed.ts';
import { type Credentials, type FromWorker, PROTOCOL } from '../../worker/messages.ts';
import { ServedTab } from '../../worker/server/served-tab.ts';
import type { UserPort } from '../socket-port.ts';
import type { Turns } from '../turns/turns.ts';
import { type EndReason, endPort } from './ends.ts';
import { type Limits, messageRate, type Spending } from './limits.ts';
import { QueriesInTurn } from './queries-in-turn.ts';
import { type Hello, isMessageOfTab, isTooLarge } from './read-message.ts';
import { SIGN_IN, type SignIns } from './sign-ins.ts';
import { accountOf, checkedUser, keyOfUser, type ServedUser, type SignIn } from './user.ts';
import type { ConnectionSession, UserSession } from './user-session.ts';
import type { Entered, UserSessions } from './user-sessions.ts';

/** The parts of a connection. */
export interface UserConnectionParts {
  readonly port: UserPort;
  readonly incarnation: string;
  readonly sessions: UserSessions;
  readonly limits: Limits;
  readonly spending: Spending;
  readonly answers: Turns;
  /** The turns at messages about changed rows. */
  readonly frames: Turns;
  readonly signIns: SignIns;
  readonly address: string;
  readonly scheduler: SchedulerLike;
  signIn(first: SignIn): unknown;
  /** Tells the program of an error of its own. */
  report(error: unknown): void;
  /** The connection has signed in for the first time, or has ended before that. */
  onSignedIn(): void;
  onEnd(): void;
}

/** The most bytes that wait for a client that does not read. */
const MOST_WAITING = 16_777_216;
/** How many checks a client may miss, shown and hidden. Browsers wake a hidden page once a minute. */
const MISSED_SHOWN = 2;
const MISSED_HIDDEN = 20;

export class UserConnection {
  readonly #parts: UserConnectionParts;
  readonly #tab: ServedTab;
  readonly #mayCome: () => boolean;
  /** Of sign-ins, each of which may send a request. */
  readonly #maySignIn: () => boolean;
  /** Everything that ends with the connection. */
  readonly #life = new Subscription();
  /** Ends when the user was verified again, or has left. */
  #signed = new Subscription();
  /** The verification on its way, or that waits after a failure: of the newest credentials, because the former may have ended. */
  #trying = Subscription.EMPTY;
  /** Ends the wait for an answer of the page. */
  #cancelQuestion: (() => void) | undefined;
  #user: ServedUser | undefined;
  #entered: Entered | undefined;
  /** The session, as this connection asks it. */
  #asked: ConnectionSession | undefined;
  #hello: Hello | undefined;
  #hasSignedIn = false;
  /** The name and uid of the user, by which limits are counted. */
  #account: string | undefined;
  readonly #queries: QueriesInTurn;
  /** How many characters the port had carried when they were counted last. */
  #carried = 0;

  constructor(parts: UserConnectionParts) {
    this.#parts = parts;
    const { port, incarnation, limits, scheduler, answers, frames } = parts;
    this.#mayCome = messageRate(limits.messagesPerSecond, scheduler);
    this.#maySignIn = messageRate(1, scheduler);
    const frameMs = 1_000 / limits.framesPerSecond;
    const takeTurn = (send: () => void) => frames.take(this.#account ?? '', send);
    const carriage = { ...publicCarriage('serveUsers', scheduler), frameMs, takeTurn };
    const post = (message: unknown) => this.#post(this.#withPosition(message as FromWorker));
    this.#tab = new ServedTab({ post }, incarnation, carriage);
    this.#queries = new QueriesInTurn({ tab: this.#tab, answers, most: limits.queries });
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
    if ((port.waiting ?? 0) > MOST_WAITING) return this.end('unread');
    if (!this.#hasRoom()) this.end('bytes');
  }

  /** Counts what the port has carried since the last count. Returns whether the user may go on. */
  #hasRoom(): boolean {
    const { port, spending } = this.#parts;
    const { carried = 0 } = port;
    const since = carried - this.#carried;
    if (this.#account === undefined || since === 0) return true;
    this.#carried = carried;
    return spending.bytes.use(this.#account, since);
  }

  #receive(message: unknown): void {
    if (this.#life.closed) return;
    if (!this.#mayCome()) return this.end('flood');
    const { messages } = this.#parts.spending;
    if (this.#account !== undefined && !messages.use(this.#account, 1)) {
      return this.end('floodOfUser');
    }
    if (!this.#hasRoom()) return this.end('bytes');
    if (!isMessageOfTab(message)) return this.end('malformed');
    const isSignIn = message.type === 'hello' || message.type === 'identity';
    if (isSignIn && !this.#maySignIn()) return this.end('flood');
    if (isTooLarge(message)) return this.end('large');
    if (message.type === 'hello') return this.#greet(message);
    if (this.#hello === undefined) return this.end('malformed');
    if (message.type === 'bye') return this.end('left');
    if (message.type === 'ping') return this.#post({ type: 'pong' });
    const account = this.#account ?? '';
    if (message.type === 'hidden') return this.#queries.hide(account, message.isHidden);
    if (message.type === 'identity') {
      if (message.identity === undefined) return this.end('left');
      return void this.#renew();
    }
    if (message.incarnation !== this.#parts.incarnation) return this.#post({ type: 'unknown' });
    // A message of a session that has ended meanwhile.
    if (message.epoch !== this.#tab.session?.epoch) return;
    if (message.type === 'open') return this.#queries.open(account, message);
    if (message.type === 'close') this.#queries.close(message.id);
    this.#tab.receive(message);
  }

  #greet(hello: Hello): void {
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
    this.#signed.add(looseTimer(SIGN_IN.limitMs, this.#parts.scheduler, () => this.end('late')));
  }

  /** Verifies the user, for the first time or again. */
  async #signIn(credentials: unknown): Promise<void> {
    const own = new Subscription();
    this.#trying.unsubscribe();
    this.#trying = own;
    this.#signed.add(own);
    const { sessions, limits } = this.#parts;
    let given: unknown;
    try {
      given = await this.#verified(credentials, own);
    } catch {
      // The program knows it; whoever is not verified is not answered.
      if (!own.closed) this.#unverified(credentials, own);
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
    if (before !== undefined) {
      // The client connects again, and its rows are stale until it is answered with the other rights.
      if (keyOfUser(user) !== keyOfUser(before)) return this.end('changed');
      return this.#follow(user, credentials);
    }
    if (sessions.connectionsOf(user) >= limits.connectionsOfUser) return this.end('many');
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
    if (own.closed) return;
    this.#entered = entered;
    this.#follow(user, credentials);
    this.#begin(session);
  }

  /** What `signIn` says. */
  #verified(credentials: unknown, own: Subscription): Promise<unknown> {
    const { signIn, signIns, address } = this.#parts;
    const ask = () => signIn({ credentials, identity: this.#hello?.identity ?? '' });
    if (this.#user !== undefined) return signIns.again(own, ask);
    this.#limitSignIn();
    return signIns.first(address, own, ask);
  }

  /** `signIn` has failed. A user who was verified a moment ago stays so for another one. */
  #unverified(credentials: unknown, own: Subscription): void {
    if (this.#user === undefined) return this.end('unverified');
    const { scheduler } = this.#parts;
    own.add(looseTimer(SIGN_IN.retryMs, scheduler, () => void this.#signIn(credentials)));
  }

  #isOver({ expiresMs = Number.POSITIVE_INFINITY }: ServedUser): boolean {
    return expiresMs <= this.#parts.scheduler.now();
  }

  /** The user is verified, until the user must be verified again. */
  #follow(user: ServedUser, credentials: unknown): void {
    const { scheduler } = this.#parts;
    this.#markSignedIn();
    this.#user = user;
    this.#account = accountOf(user);
    this.#signed.unsubscribe();
    const signed = new Subscription();
    this.#signed = signed;
    const after = (ms: number, then: () => void) => signed.add(looseTimer(ms, scheduler, then));
    after(SIGN_IN.againMs, () => {
      // Newer credentials are not put off by these.
      if (this.#trying.closed) void this.#signIn(credentials);
    });
    after(SIGN_IN.validMs, () => this.end('unverified'));
    const { expiresMs } = user;
    if (expiresMs === undefined) return;
    const leftMs = expiresMs - scheduler.now();
    after(Math.max(SIGN_IN.renewalMs, leftMs - SIGN_IN.earlyMs), () => void this.#renew());
    after(leftMs, () => this.#signOut());
  }

  #begin(session: UserSession): void {
    this.#asked = session.askedAfter?.(this.#hello?.position) ?? session;
    this.#tab.enter(this.#asked);
    const { incarnation } = this.#parts;
    this.#post({ type: 'welcome', incarnation, epoch: session.epoch });
  }

  /** Asks the client for new credentials. The answer to the last question counts, because those to former ones may be older. */
  async #renew(): Promise<void> {
    const { session } = this.#tab;
    if (this.#hello?.hasCredentials !== true || session === undefined) return;
    this.#cancelQuestion?.();
    const { answer, cancel } = this.#tab.ask();
    this.#cancelQuestion = cancel;
    let credentials: Credentials;
    try {
      credentials = await answer;
    } catch {
      // The present ones are right until they end.
      return;
    }
    if (this.#tab.session === session) await this.#signIn(credentials);
  }

  /** The credentials are of nobody, or of somebody else: the client drops its rows. */
  #signOut(): void {
    this.#post({ type: 'signed-out', identity: this.#hello?.identity ?? '' });
    this.end('nobody');
  }

  #leave(): void {
    this.#signed.unsubscribe();
    this.#signed = new Subscription();
    this.#queries.leave();
    this.#tab.leave();
    this.#asked = undefined;
    this.#entered?.leave();
    this.#entered = undefined;
  }
}
