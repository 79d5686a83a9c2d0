/** The worker's side: the tabs that are connected, and the session that they share. */
import { type SchedulerLike, Subscription } from 'rxjs';
import { inTurn } from '../../rx/drain.ts';
import { longInterval, looseTimer } from '../../rx/long-timer.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import {
  type BetweenWorkers,
  type FromTab,
  isMessage,
  type Port,
  PROTOCOL,
  type Session,
} from '../messages.ts';
import { askForCredentials } from './credentials.ts';
import { ServedTab } from './served-tab.ts';
import type { SessionBeginning, SharedSession } from './session.ts';

/** How often a tab must acknowledge a message, in milliseconds. One that misses two in a row has vanished. */
const CHECK_MS = 20_000;
/** How old a hello may be when it arrives, in milliseconds. */
const LATE_MS = 4_000;

/** The parts of a query server. */
export interface QueryServerParts {
  /** Differs from that of every other start of a worker. */
  readonly incarnation: string;
  /** The Web Lock that is held while the worker lives. */
  readonly lock: string | undefined;
  /** The channel to all other workers of the origin. */
  readonly others: Port | undefined;
  /** The folder of the worker's file. Absent in a page, whose address does not identify its application. */
  readonly folder: string | undefined;
  readonly scheduler: SchedulerLike;
  /** How long the tabs may be hidden before the session is, in milliseconds. */
  readonly hiddenGraceMs: number;
  /** How long one tab may take to give credentials, in milliseconds. */
  readonly credentialsTimeoutMs: number;
  begin(beginning: SessionBeginning): SharedSession;
}

export class QueryServer {
  readonly #parts: QueryServerParts;
  /** The tabs of the session. */
  readonly tabs: Set<ServedTab> = new Set();
  #session: SharedSession | undefined;
  #lastEpoch = 0;
  /** The last session of each worker, this one or one before it, that a sign-out or another sign-in has ended. */
  readonly #ended = new Map<string, number>();
  /** Whether a sign-out or another sign-in has ended a session of this worker. */
  #hasChanged = false;
  /** The user who has signed in last in another worker of the application, and has not signed out. */
  #elsewhere: string | undefined;
  /** The sessions in which the tabs of the present session were before: the last epoch of each worker. */
  readonly #origins = new Map<string, number>();
  /** The identities that have signed out in a tab of any worker, and have not signed in again since. */
  readonly #signedOut = new Set<string>();
  #checks: Subscription | undefined;
  #grace = Subscription.EMPTY;

  constructor(parts: QueryServerParts) {
    this.#parts = parts;
    parts.others?.listen((message) => {
      if (isMessage(message)) this.#hear(message as BetweenWorkers);
    });
  }

  /** How many tabs are served, and how many pipelines they share. */
  get counts(): { readonly tabs: number; readonly pipelines: number } {
    return { tabs: this.tabs.size, pipelines: this.#session?.pipelines ?? 0 };
  }

  /** Serves the tab behind a port. */
  connect(port: Port): void {
    const { incarnation, scheduler } = this.#parts;
    const tab = new ServedTab(port, incarnation, { operator: 'serveQueries', scheduler });
    port.listen(
      (message) => {
        if (isMessage(message)) this.#receive(tab, message as FromTab);
      },
      () => reportUnhandled(new Error('a message of a tab cannot be read (messageerror)')),
    );
  }

  /** Handles a message of another worker: a sign-out, a sign-in, or the return of a tab with its former user. */
  #hear({ type, identity, folder }: BetweenWorkers): void {
    if (type === 'signed-out') {
      if (identity === this.#elsewhere) this.#elsewhere = undefined;
      return this.#signOut(identity);
    }
    const own = this.#session?.identity;
    const isSameApplication = folder !== undefined && folder === this.#parts.folder;
    const isOther = isSameApplication && own !== undefined && own !== identity;
    if (type === 'signed-in') {
      this.#signedOut.delete(identity);
      if (isSameApplication) this.#follow(identity, identity);
      // Announced, because a page that returns later may ask only workers that have not had this session.
      if (isOther) this.#announceSignOut(own);
    } else if (this.#signedOut.has(identity)) this.#tell('signed-out', identity);
    else if (isOther) this.#tell('signed-in', own);
    else if (isSameApplication) this.#follow(identity, identity);
  }

  /** A user has signed in: one who was signed in in another worker is not any longer, also if that worker has ended. */
  #follow(identity: string, elsewhere: string | undefined): void {
    const former = this.#elsewhere;
    this.#elsewhere = elsewhere;
    if (former !== undefined && former !== identity) this.#signOut(former);
  }

  #tell(type: BetweenWorkers['type'], identity: string): void {
    const { others, folder } = this.#parts;
    others?.post({ type, identity, folder });
  }

  #receive(tab: ServedTab, message: FromTab): void {
    if (message.type === 'hello') return this.#welcome(tab, message);
    if (!tab.isKnown) return tab.post({ type: 'unknown' });
    if (message.type === 'bye') return this.#forget(tab);
    if (message.type === 'ping') return tab.post({ type: 'pong' });
    if (message.type === 'hidden') {
      // In a turn, so that the session is shown before the tab is told anything.
      return inTurn(() => {
        tab.hide(message.isHidden);
        this.#look();
      });
    }
    if (message.type === 'identity') return this.#identify(tab, message.identity);
    if (message.incarnation !== this.#parts.incarnation) return tab.post({ type: 'unknown' });
    // A message of a session that has ended meanwhile.
    if (message.epoch === tab.session?.epoch) tab.receive(message);
  }

  #welcome(tab: ServedTab, hello: Extract<FromTab, { type: 'hello' }>): void {
    if (hello.protocol !== PROTOCOL) return tab.post({ type: 'incompatible', protocol: PROTOCOL });
    const { identity, signedOut } = hello;
    // Of no tab, and it would end the session of the others.
    if (identity !== undefined && (typeof identity !== 'string' || identity === '')) return;
    // Another user may have signed in since. Once for each tab, whose clock may be another one.
    const isLate = this.#parts.scheduler.now() - (hello.sentMs ?? Infinity) > LATE_MS;
    if (isLate && !tab.wasLate) {
      tab.wasLate = true;
      return tab.post({ type: 'unknown' });
    }
    tab.isKnown = true;
    tab.hasCredentials = hello.hasCredentials;
    tab.hide(hello.isHidden);
    // A tab may send anything.
    const former = hello.former ?? undefined;
    tab.wasInSession ||= former !== undefined;
    if (signedOut !== undefined) this.#announceSignOut(signedOut);
    if (identity === undefined && former !== undefined) this.#learnEnd(former);
    if (identity !== undefined && !this.#isOutdated(identity, former)) {
      return this.#enter(tab, identity, former);
    }
    this.#leave(tab);
    if (identity !== undefined) tab.post({ type: 'signed-out', identity });
    this.#greet(tab);
  }

  /**
   * Whether another user has signed in, or this one has signed out, since the tab was in its session. A page that was frozen or
   * in the back/forward cache does not know it.
   */
  #isOutdated(identity: string, former: Session | undefined): boolean {
    const session = this.#session;
    if (former === undefined || identity === session?.identity) return false;
    if (this.#hasEnded(former)) return true;
    if (former.incarnation === this.#parts.incarnation) return false;
    // The worker of that session has ended, or the tab has moved. Of two tabs of it, the one of the later session is right.
    if ((this.#origins.get(former.incarnation) ?? Infinity) < former.epoch) return false;
    const hasChanged = this.#hasChanged && this.#elsewhere !== identity;
    return session !== undefined || hasChanged || this.#signedOut.has(identity);
  }

  #hasEnded({ incarnation, epoch }: Session): boolean {
    return epoch <= (this.#ended.get(incarnation) ?? 0);
  }

  /** A tab that is signed out knows that its session has ended. A tab that did not know it may have brought it back. */
  #learnEnd({ incarnation, epoch }: Session): void {
    if (!this.#hasEnded({ incarnation, epoch })) this.#ended.set(incarnation, epoch);
    if ((this.#origins.get(incarnation) ?? Infinity) > epoch) return;
    this.#origins.delete(incarnation);
    // This worker has seen no change: a tab that was in a later session of the other one may still return.
    if (this.#origins.size === 0) this.#dropSession();
  }

  /** Notes in which session a tab was before. A session that was brought back ends when all of these have ended. */
  #noteOrigin(session: SharedSession, former: Session | undefined): void {
    const own = this.#parts.incarnation;
    if (former !== undefined && (former.incarnation === own || this.#hasEnded(former))) return;
    const { incarnation, epoch } = former ?? { incarnation: own, epoch: session.epoch };
    this.#origins.set(incarnation, Math.max(epoch, this.#origins.get(incarnation) ?? 0));
  }

  /** Somebody has signed out, or in again; another user says hello. */
  #identify(tab: ServedTab, identity: string | undefined): void {
    const { session } = tab;
    const present = this.#session;
    // The same user has signed in again: what is open stays open.
    if (identity !== undefined) {
      if (session !== present || present?.identity !== identity) return;
      for (const each of this.tabs) each.isNewest = each === tab;
      present.renew();
      return;
    }
    // A tab whose session has ended does not end that of the next user.
    const mayEnd = session === present || !tab.wasInSession;
    if (present !== undefined && mayEnd) this.#announceSignOut(present.identity);
    this.#greet(tab);
  }

  /** The identity of one tab is that of all: tabs of another one are signed out. */
  #enter(tab: ServedTab, identity: string, former: Session | undefined): void {
    if (this.#session?.identity !== identity) {
      if (this.#session !== undefined) this.#announceSignOut(this.#session.identity, tab);
      this.#follow(identity, undefined);
      this.#session = this.#begin(identity);
      this.#signedOut.delete(identity);
      // A tab that returns may not know of a sign-out that another worker knows.
      this.#tell(former === undefined ? 'signed-in' : 'returned', identity);
    }
    this.#noteOrigin(this.#session, former);
    tab.enter(this.#session);
    this.tabs.add(tab);
    const { scheduler } = this.#parts;
    this.#checks ??= longInterval(CHECK_MS, scheduler).subscribe(() => this.#check());
    this.#greet(tab);
    this.#look();
  }

  /** Somebody has signed out in a tab of this worker, or another user has signed in. */
  #announceSignOut(identity: string, except?: ServedTab): void {
    this.#signOut(identity, except);
    this.#tell('signed-out', identity);
  }

  #signOut(identity: string, except?: ServedTab): void {
    this.#signedOut.add(identity);
    if (identity !== this.#session?.identity) return;
    this.#hasChanged = true;
    this.#dropSession(except);
  }

  #dropSession(except?: ServedTab): void {
    const former = this.#session;
    if (former === undefined) return;
    this.#session = undefined;
    this.#grace.unsubscribe();
    this.#ended.set(this.#parts.incarnation, this.#lastEpoch);
    this.#origins.clear();
    for (const tab of [...this.tabs]) {
      this.#leave(tab);
      if (tab !== except) tab.post({ type: 'signed-out', identity: former.identity });
    }
    former.end();
  }

  /** The tab has no part in the session any more. */
  #leave(tab: ServedTab): void {
    tab.leave();
    this.tabs.delete(tab);
    if (this.tabs.size > 0) return;
    this.#checks?.unsubscribe();
    this.#checks = undefined;
  }

  #greet(tab: ServedTab): void {
    const { incarnation, lock } = this.#parts;
    const epoch = tab.session?.epoch ?? 0;
    tab.post({ type: 'welcome', incarnation, epoch, ...(lock !== undefined && { lock }) });
  }

  #begin(identity: string): SharedSession {
    const session: SharedSession = this.#parts.begin({
      identity,
      epoch: ++this.#lastEpoch,
      ask: async (signal) => await askForCredentials(this.tabs, signal, this.#parts),
      signedOut: () => {
        if (this.#session === session) this.#signOut(identity);
      },
    });
    return session;
  }

  #forget(tab: ServedTab): void {
    this.#leave(tab);
    tab.isKnown = false;
    this.#look();
  }

  #check(): void {
    for (const tab of [...this.tabs]) if (!tab.check()) this.#forget(tab);
  }

  /** Notes whether a tab is shown. */
  #look(): void {
    if (this.#session === undefined) return;
    if ([...this.tabs].some((tab) => !tab.isHidden)) {
      this.#grace.unsubscribe();
      this.#session.isShown = true;
    } else if (this.#grace.closed) {
      // The grace counts from the last tab that was shown, whichever hidden tabs come and go.
      const { hiddenGraceMs, scheduler } = this.#parts;
      this.#grace = looseTimer(hiddenGraceMs, scheduler, () => {
        if (this.#session !== undefined) this.#session.isShown = false;
      });
    }
  }
}
