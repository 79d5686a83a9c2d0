/** The session of a worker's tabs that a server answers: the worker is one page of the server. */
import { of, type SchedulerLike, Subject, Subscription } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import { isFields } from '../../meta/json-fields.ts';
import type { ViewStatus } from '../../query/view/view.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import { type TokenReservations, tokenReservations } from '../../rx/token-bucket.ts';
import { carryError, readError } from '../../wire/carried-errors.ts';
import type { CarriedQuery, WorkerQuery } from '../../worker/carried-query.ts';
import type { CarriedEdit, Credentials } from '../../worker/messages.ts';
import type { AskedView } from '../../worker/page/asked-view.ts';
import { tabOf } from '../../worker/page/connect-peer.ts';
import { sendEdit } from '../../worker/page/edit-in-worker.ts';
import type { Change, TabPage } from '../../worker/page/page-life.ts';
import type { Tab } from '../../worker/page/tab.ts';
import type { WorkerCluster } from '../../worker/page/worker-cluster.ts';
import type { EditingTab } from '../../worker/server/edits.ts';
import type { FedAnswer } from '../../worker/server/served-tab.ts';
import type { SessionBeginning, SharedSession } from '../../worker/server/session.ts';
import { type ConnectServerOptions, connectPage } from '../page/connect-server.ts';
import { RelayedFeed } from './relayed-feed.ts';

/** How long the tabs may take that all sign in again, in milliseconds. The server takes one sign-in of a connection in a second. */
const RENEWAL_MS = 1_000;
/**
 * Limits of the questions of all tabs, and of the ids of one. Without them one tab could end the connection of all: the server ends a connection that sends
 * over 2,000 messages at once or 200 in a second, and the next connection asks everything again.
 */
const MOST_QUERIES = 1_000;
const QUESTIONS = { qps: 50, burst: 500 };

function tooMany(message: string): ApiError {
  return new ApiError({ code: 429, reason: 'TooManyRequests', message });
}

/** How a server is reached. */
export type ServerAddress = Omit<ConnectServerOptions, 'identity' | 'credentials' | 'lingerMs'>;

/** The parts of a {@link RelayedSession}. */
export interface RelayedSessionParts extends SessionBeginning {
  readonly address: ServerAddress;
  readonly scheduler: SchedulerLike;
  /** In place of the credentials of the tabs. */
  readonly credentials:
    | ((session: { readonly identity: string }) => Credentials | Promise<Credentials>)
    | undefined;
}

/** The worker, as a page of the server. */
export function connectTabs(
  address: ServerAddress,
  who: Pick<ConnectServerOptions, 'identity' | 'credentials'>,
  page: Omit<TabPage, 'frame'>,
): WorkerCluster {
  // The rows of closed queries stay in the tabs. Here they would be those of any number of queries, of refused ones, too.
  const parts = { ...address, ...who, lingerMs: 0 };
  // A worker paints nothing, and has folded by id what a slow tab has not taken.
  return connectPage(parts, { ...page, frame: () => of(0) });
}

export class RelayedSession implements SharedSession {
  readonly identity: string;
  readonly epoch: number;
  readonly #scheduler: SchedulerLike;
  readonly #cluster: WorkerCluster;
  readonly #tab: Tab;
  readonly #changes$ = new Subject<Change>();
  readonly #end = new AbortController();
  readonly #questions: TokenReservations;
  #renewal = Subscription.EMPTY;
  #isShown = true;
  /** The last status that the server had sent of each view when the view was asked. */
  readonly #asked = new WeakMap<AskedView, ViewStatus>();

  constructor(parts: RelayedSessionParts) {
    const { identity, epoch, address, scheduler, credentials, ask, signedOut } = parts;
    this.identity = identity;
    this.epoch = epoch;
    this.#scheduler = scheduler;
    this.#questions = tokenReservations({ ...QUESTIONS, scheduler });
    const page = { isHidden: () => !this.#isShown, changes$: this.#changes$ };
    const given = async () => {
      // The tab that begins the session enters it first.
      await undefined;
      const found = await (credentials?.({ identity }) ?? ask(this.#end.signal));
      if (found !== undefined) return found;
      throw new Error('no tab is connected with credentials');
    };
    this.#cluster = connectTabs(address, { identity, credentials: given }, page);
    this.#tab = tabOf(this.#cluster);
    this.#cluster.connection$.subscribe(({ phase }) => {
      if (phase === 'signed-out') signedOut();
    });
  }

  /** Whether a tab is shown. The server hides the worker when none is. */
  get isShown(): boolean {
    return this.#isShown;
  }

  set isShown(isShown: boolean) {
    if (isShown === this.#isShown) return;
    this.#isShown = isShown;
    // Nothing was told meanwhile, and all is answered again.
    if (isShown) for (const view of this.#tab.views.values()) this.#asked.set(view, view.sent);
    this.#changes$.next(isShown ? 'shown' : 'hidden');
  }

  get pipelines(): number {
    return this.#tab.views.size;
  }

  /** Equal queries of all tabs are one query of the server. */
  answerOf(query: CarriedQuery, ofTab: number): FedAnswer {
    if (!isFields(query)) throw new TypeError('the query of a tab is not an object');
    const view = this.#cluster.view(query as CarriedQuery & WorkerQuery) as AskedView;
    this.#checkRoom(view, ofTab);
    if (view.id === undefined) this.#asked.set(view, view.sent);
    const isAwaited = () =>
      this.#asked.get(view) === view.sent &&
      view.shown.run === 'begun' &&
      this.#tab.link.connection.error === undefined;
    const scheduler = this.#scheduler;
    const mayAsk = () => this.#mayAsk(view);
    return {
      feed: (onWaiting) => new RelayedFeed({ view, scheduler, isAwaited, mayAsk, onWaiting }),
    };
  }

  /** Throws if the server would be asked too much. */
  #checkRoom(view: AskedView, ofTab: number): void {
    // A tab may ask one query under many ids.
    if (ofTab >= MOST_QUERIES || (view.id === undefined && this.pipelines >= MOST_QUERIES)) {
      throw tooMany(`the tabs of this browser have ${MOST_QUERIES} queries; close some first`);
    }
    if (!this.#mayAsk(view)) throw tooMany('the tabs of this browser ask too much at once');
  }

  /** Whether the server may be asked the query of a view, if it must be asked. */
  #mayAsk(view: AskedView): boolean {
    return (view.id !== undefined && view.shown.run === 'begun') || this.#maySend();
  }

  #maySend(): boolean {
    if (this.#questions() === 0) return true;
    this.#questions.giveBack();
    return false;
  }

  async edit(edit: CarriedEdit, { draftOf, signal }: EditingTab): Promise<unknown> {
    if (!isFields(edit)) throw new TypeError('the edit of a tab is not an object');
    if (!this.#maySend()) throw tooMany('the tabs of this browser edit too much at once');
    return await new Promise((resolve, reject) => {
      /** Of the tab, in its own words. */
      let failure: unknown;
      const sent = sendEdit(this.#tab, edit, (message) => {
        if (message.type === 'base') {
          const { question, base } = message;
          // Also if the draft cannot be sent.
          return void draftOf(base)
            .then((draft) => sent.send(question, { draft }))
            .catch((error) => {
              failure = error;
              sent.send(question, { error: carryError(error) });
            });
        }
        end();
        if (message.type === 'ended') reject(message.cause);
        else if (message.error === undefined) resolve(message.object);
        else reject(failure ?? readError(message.error));
      });
      const abort = () => {
        sent.abort();
        end();
        reject(
          ApiError.local('Aborted', 'the tab has aborted the edit, which may still take effect'),
        );
      };
      const end = () => {
        sent.end();
        signal.removeEventListener('abort', abort);
      };
      signal.addEventListener('abort', abort);
    });
  }

  /** Once for all tabs that say so within a moment. */
  renew(): void {
    if (!this.#renewal.closed) return;
    const renew = () => this.#cluster.signedIn(this.identity);
    this.#renewal = looseTimer(RENEWAL_MS, this.#scheduler, renew);
  }

  /** The server is told as by a page whose user has signed out. */
  end(): void {
    this.#end.abort();
    this.#renewal.unsubscribe();
    this.#cluster.signedOut();
    this.#cluster.close();
  }
}
