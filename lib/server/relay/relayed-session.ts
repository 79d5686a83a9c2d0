/** The session of a worker's tabs that a server answers: the worker is one page of the server. */
import { of, type SchedulerLike, Subject } from 'rxjs';
import { ApiError } from '../../meta/api-error.ts';
import type { ViewStatus } from '../../query/view/view.ts';
import { carryError, readError } from '../../wire/carried-errors.ts';
import type { CarriedQuery } from '../../worker/carried-query.ts';
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
import type { Connect } from '../page/connect-server.ts';
import { RelayedFeed } from './relayed-feed.ts';

/** The parts of a {@link RelayedSession}. */
export interface RelayedSessionParts extends SessionBeginning {
  readonly connect: Connect;
  readonly scheduler: SchedulerLike;
  /** In place of the credentials of the tabs. */
  readonly credentials:
    | ((session: { readonly identity: string }) => Credentials | Promise<Credentials>)
    | undefined;
}

export class RelayedSession implements SharedSession {
  readonly identity: string;
  readonly epoch: number;
  readonly #scheduler: SchedulerLike;
  readonly #cluster: WorkerCluster;
  readonly #tab: Tab;
  readonly #changes$ = new Subject<Change>();
  readonly #end = new AbortController();
  #isShown = true;
  /** What the server had said of a view when it was asked. */
  readonly #asked = new WeakMap<AskedView, ViewStatus>();

  constructor(parts: RelayedSessionParts) {
    const { identity, epoch, connect, scheduler, credentials, ask, signedOut } = parts;
    this.identity = identity;
    this.epoch = epoch;
    this.#scheduler = scheduler;
    const page: TabPage = {
      isHidden: () => !this.#isShown,
      changes$: this.#changes$,
      // A worker paints nothing, and has folded by id what a slow tab has not taken.
      frame: () => of(0),
    };
    const given = async () => {
      // The tab that begins the session enters it first.
      await undefined;
      const found = await (credentials?.({ identity }) ?? ask(this.#end.signal));
      if (found !== undefined) return found;
      throw new Error('no tab is connected with credentials');
    };
    this.#cluster = connect({ identity, credentials: given }, page);
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
  answerOf(query: CarriedQuery): FedAnswer {
    const view = this.#cluster.view(query as never) as AskedView;
    if (view.id === undefined) this.#asked.set(view, view.sent);
    const isAwaited = () =>
      this.#asked.get(view) === view.sent &&
      view.shown.run === 'begun' &&
      this.#tab.link.connection.error === undefined;
    const scheduler = this.#scheduler;
    return { feed: (onWaiting) => new RelayedFeed({ view, scheduler, isAwaited, onWaiting }) };
  }

  async edit(edit: CarriedEdit, { draftOf, signal }: EditingTab): Promise<unknown> {
    return await new Promise((resolve, reject) => {
      const sent = sendEdit(this.#tab, edit, (message) => {
        if (message.type === 'base') {
          const { question, base } = message;
          return void draftOf(base).then(
            (draft) => sent.send(question, { draft }),
            (error) => sent.send(question, { error: carryError(error) }),
          );
        }
        end();
        if (message.type === 'ended') reject(message.cause);
        else if (message.error === undefined) resolve(message.object);
        else reject(readError(message.error));
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

  renew(): void {
    this.#cluster.signedIn(this.identity);
  }

  /** The server is told as by a page whose user has signed out. */
  end(): void {
    this.#end.abort();
    this.#cluster.signedOut();
    this.#cluster.close();
  }
}
