/** The worker's side: the tabs that are connected, and the session that they share. */
import type { SchedulerLike, Subscription } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import { longInterval, looseTimer } from '../../rx/long-timer.ts';
import type { Fetch } from '../../transport/fetch-transport.ts';
import type { WorkerQueries } from '../carried-query.ts';
import {
  type Credentials,
  type FromTab,
  isMessage,
  type Port,
  PROTOCOL,
  type Session,
} from '../messages.ts';
import { ServedTab } from './served-tab.ts';
import {
  OwnSession,
  type SessionFactory,
  type SessionParts,
  type WorkerSession,
} from './session.ts';

/** How often a tab must acknowledge a message, in milliseconds. One that misses two in a row has vanished. */
const CHECK_MS = 20_000;

/** The parts of a query server. */
export interface QueryServerParts {
  /** Differs from that of every other start of a worker. */
  readonly incarnation: string;
  /** The Web Lock that is held while the worker lives. */
  readonly lock: string | undefined;
  readonly queries: WorkerQueries;
  readonly scheduler: SchedulerLike;
  readonly fetch: Fetch;
  readonly lingerMs: number | undefined;
  /** How long the tabs may be hidden before the watches end, in milliseconds. */
  readonly hiddenGraceMs: number;
  /** How long one tab may take to give credentials, in milliseconds. */
  readonly credentialsTimeoutMs: number;
  createFactory(session: WorkerSession): SessionFactory;
  readonly persist: SessionParts['persist'];
}

/** Throws if `fetch` would refuse the headers, because its error contains the value, which is secret. */
function checkedHeaders(headers: Credentials): Credentials {
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue;
    const message = `the credential ${JSON.stringify(name)} is not the value of a header: it must be text without line breaks, in Latin-1`;
    throw ApiError.local('Credentials', message);
  }
  return headers;
}

export class QueryServer {
  readonly #parts: QueryServerParts;
  /** The tabs of the session. */
  readonly tabs: Set<ServedTab> = new Set();
  #session: OwnSession | undefined;
  #lastEpoch = 0;
  /** Sessions before this epoch were ended by another sign-in, or by a sign-out. */
  #lastChange = 0;
  /** The session, of this worker or of one before it, in which the tab that began the present one was before. */
  #origin: Session | undefined;
  /** Who has signed out while there was no worker. */
  readonly #signedOut = new Set<string>();
  #checks: Subscription | undefined;
  #grace: Subscription | undefined;

  constructor(parts: QueryServerParts) {
    this.#parts = parts;
  }

  /** How many tabs are served, and how many pipelines they share. */
  get counts(): { readonly tabs: number; readonly pipelines: number } {
    return { tabs: this.tabs.size, pipelines: this.#session?.pipelines ?? 0 };
  }

  /** Serves the tab behind a port. */
  connect(port: Port): void {
    const tab = new ServedTab(port, this.#parts.incarnation);
    port.listen((message) => {
      if (isMessage(message)) this.#receive(tab, message as FromTab);
    });
  }

  #receive(tab: ServedTab, message: FromTab): void {
    if (message.type === 'hello') return this.#welcome(tab, message);
    if (!tab.isKnown) return tab.post({ type: 'unknown' });
    if (message.type === 'bye') return this.#forget(tab);
    if (message.type === 'ping') return tab.post({ type: 'pong' });
    if (message.type === 'hidden') {
      tab.hide(message.isHidden);
      return this.#look();
    }
    if (message.type === 'identity') return this.#identify(tab, message.identity);
    if (message.incarnation !== this.#parts.incarnation) return tab.post({ type: 'unknown' });
    // A message of a session that has ended meanwhile.
    if (message.epoch === tab.session?.epoch) tab.receive(message);
  }

  #welcome(tab: ServedTab, hello: Extract<FromTab, { type: 'hello' }>): void {
    if (hello.protocol !== PROTOCOL) return tab.post({ type: 'incompatible', protocol: PROTOCOL });
    tab.isKnown = true;
    tab.hasCredentials = hello.hasCredentials;
    tab.hide(hello.isHidden);
    const { identity, former, signedOut } = hello;
    if (signedOut !== undefined) {
      this.#signedOut.add(signedOut);
      if (signedOut === this.#session?.identity) this.#endSession();
    }
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
    if (former.incarnation === this.#parts.incarnation) return former.epoch < this.#lastChange;
    // The worker of that session has ended. Of two tabs that return from it, the one that was in the later session is right.
    const origin = session && this.#origin;
    if (origin?.incarnation === former.incarnation && origin.epoch < former.epoch) return false;
    return session !== undefined || this.#lastChange > 0 || this.#signedOut.has(identity);
  }

  /** Somebody has signed out, or in again; another user says hello. */
  #identify(tab: ServedTab, identity: string | undefined): void {
    const { session } = tab;
    // The same user has signed in again: what is open stays open.
    if (identity !== undefined) {
      if (session?.identity === identity) session.renew();
      return;
    }
    this.#endSession();
    this.#greet(tab);
  }

  /** The identity of one tab is that of all: tabs of another one are signed out. */
  #enter(tab: ServedTab, identity: string, former: Session | undefined): void {
    if (this.#session?.identity !== identity) {
      this.#endSession(tab);
      this.#session = this.#begin(identity);
      this.#origin = former;
      this.#signedOut.delete(identity);
    }
    tab.enter(this.#session);
    this.tabs.add(tab);
    const { scheduler } = this.#parts;
    this.#checks ??= longInterval(CHECK_MS, scheduler).subscribe(() => this.#check());
    this.#greet(tab);
    this.#look();
  }

  #endSession(except?: ServedTab): void {
    const former = this.#session;
    if (former === undefined) return;
    this.#session = undefined;
    this.#lastChange = this.#lastEpoch + 1;
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

  #begin(identity: string): OwnSession {
    const { fetch, queries, lingerMs, createFactory, persist } = this.#parts;
    return new OwnSession({
      identity,
      epoch: ++this.#lastEpoch,
      fetch,
      queries,
      lingerMs,
      createFactory,
      persist,
      ask: async (signal) => await this.#ask(signal),
    });
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
    const session = this.#session;
    this.#grace?.unsubscribe();
    if (session === undefined) return;
    const isShown = [...this.tabs].some((tab) => !tab.isHidden);
    if (isShown) session.isShown = true;
    else {
      const { hiddenGraceMs, scheduler } = this.#parts;
      this.#grace = looseTimer(hiddenGraceMs, scheduler, () => {
        session.isShown = false;
      });
    }
  }

  async #ask(signal: AbortSignal): Promise<Credentials | undefined> {
    const asked = new Set<ServedTab>();
    let failure: unknown;
    while (!signal.aborted) {
      const able = [...this.tabs].filter((tab) => tab.hasCredentials);
      const left = able.filter((tab) => !asked.has(tab));
      const tab = left.find(({ isHidden }) => !isHidden) ?? left[0];
      if (tab === undefined) {
        if (asked.size === 0) return undefined;
        const message = `none of ${asked.size} tabs has given credentials for the requests of the worker`;
        throw ApiError.local('Credentials', message, { cause: failure });
      }
      asked.add(tab);
      try {
        return await this.#askOne(tab);
      } catch (error) {
        failure = error;
      }
    }
    throw signal.reason;
  }

  async #askOne(tab: ServedTab): Promise<Credentials> {
    const { credentialsTimeoutMs, scheduler } = this.#parts;
    const { answer, cancel } = tab.ask();
    let timer: Subscription | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = looseTimer(credentialsTimeoutMs, scheduler, () => {
        cancel();
        const message = `a tab has not given credentials within ${credentialsTimeoutMs} ms`;
        reject(ApiError.local('Credentials', message));
      });
    });
    try {
      return checkedHeaders(await Promise.race([answer, late]));
    } finally {
      timer?.unsubscribe();
    }
  }
}
