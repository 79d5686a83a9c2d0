/**
 * A tab: its open queries and edits. Whenever another worker answers, every query is asked again. Rows stay meanwhile,
 * marked as stale, except those of a user who has signed out.
 */
import { type SchedulerLike, Subscription } from 'rxjs';
import { take } from 'rxjs/operators';
import { ApiError } from '../../meta/api-error.ts';
import { NO_VIEW_STATUS, type ViewStatus } from '../../query/view/view.ts';
import { inTurn } from '../../rx/drain.ts';
import { type CarriedError, carryError, readError } from '../../wire/carried-errors.ts';
import {
  type Credentials,
  type FromTab,
  type FromWorker,
  type OfSession,
  PROTOCOL,
  type Session,
} from '../messages.ts';
import type { AskedView } from './asked-view.ts';
import type { StartHost } from './hosts.ts';
import type { TabPage } from './page-life.ts';
import { type Peer, WorkerLink } from './worker-link.ts';

/** The parts of a tab. */
export interface TabParts {
  readonly hosts: readonly StartHost[];
  readonly peer: Peer;
  readonly identity?: string | undefined;
  readonly credentials?: (() => Credentials | Promise<Credentials>) | undefined;
  readonly page: TabPage;
  readonly scheduler: SchedulerLike;
  /** The rows of an identity may not be shown any longer. */
  dropped(): void;
}

/** What the worker answers to an edit. */
export type EditMessage =
  | Extract<FromWorker, { type: 'base' | 'edited' }>
  | { readonly type: 'ended'; readonly cause: ApiError };

const SIGNED_OUT =
  'signed out: nobody or another user is signed in; after a sign-in call signedIn(identity)';

export class Tab {
  readonly link: WorkerLink;
  readonly #parts: TabParts;
  readonly views: Map<number, AskedView> = new Map();
  /** The functions that receive the answers to the edits that were sent, by the id of the edit. */
  readonly edits: Map<number, (message: EditMessage) => void> = new Map();
  #lastId = 0;
  /** The name of the user whom the tab has signed in. */
  identity: string | undefined;
  /** Absent while there is no worker, and while nobody is signed in. */
  session: Session | undefined;
  /** The session in which the tab was last; while nobody is signed in, the one that has ended. */
  #former: Session | undefined;
  /**
   * The first user who has signed out since a worker has answered. The tab keeps it when another user signs in, because the
   * worker may end before it learns of the sign-out.
   */
  #signedOut: string | undefined;
  /** The acknowledgements that wait for a frame. */
  #acks = new Subscription();

  constructor(parts: TabParts) {
    this.#parts = parts;
    this.identity = parts.identity;
    this.link = new WorkerLink({
      ...parts,
      edits: this.edits,
      hello: () => this.#hello(),
      // In a turn, so that views tell their listeners after all that it changes.
      received: (message) => inTurn(() => this.#receive(message)),
      lost: () => inTurn(() => this.#lost()),
    });
    this.link.start();
  }

  /** A number that no query and no edit of the tab has had. */
  nextId(): number {
    return ++this.#lastId;
  }

  /** Asks the query of a view, or asks it again. */
  ask(view: AskedView): void {
    view.id ??= this.nextId();
    const { id, query } = view;
    this.views.set(id, view);
    const status = this.#status();
    if (status !== undefined) view.lose(status);
    this.post({ type: 'open', id, query });
  }

  leave(view: AskedView): void {
    const id = view.id as number;
    view.id = undefined;
    this.views.delete(id);
    view.lose(this.#status());
    this.post({ type: 'close', id });
  }

  /** Another identity, or none, for all tabs. */
  identify(identity: string | undefined): void {
    const isSame = identity === this.identity;
    const wasIdentity = this.identity;
    this.identity = identity;
    // A tab that is signed out knows which session has ended, and tells the next worker.
    if (!isSame && identity !== undefined) this.#former = undefined;
    if (identity === undefined) this.#signedOut ??= wasIdentity;
    else if (identity === this.#signedOut) this.#signedOut = undefined;
    const says = isSame || identity === undefined;
    // Before anybody is told, because a listener may sign in.
    this.link.post(says ? { type: 'identity', identity } : this.#hello());
    if (isSame) return;
    if (identity !== undefined) this.link.show('connecting');
    this.#drop(identity === undefined);
  }

  /** Sends a message of the session, if there is one. */
  post(message: OfSession): void {
    if (this.session !== undefined) this.link.post({ ...message, ...this.session });
  }

  #hello(): FromTab {
    const { page, credentials, scheduler } = this.#parts;
    return {
      type: 'hello',
      protocol: PROTOCOL,
      sentMs: scheduler.now(),
      identity: this.identity,
      former: this.#former,
      signedOut: this.#signedOut,
      isHidden: page.isHidden(),
      hasCredentials: credentials !== undefined,
    };
  }

  #receive(message: FromWorker): void {
    if (message.type === 'welcome') return this.#welcomed(message);
    if (message.type === 'signed-out') {
      // Another user, or the same one again, may have signed in here meanwhile.
      const isOwn = this.#former !== undefined || message.ofHello;
      if (message.identity === this.identity && isOwn) this.#signOut();
      return;
    }
    // A message of a worker or of a session that has ended.
    if (!('epoch' in message) || !this.#isCurrent(message)) return;
    if (message.type === 'rows') this.#take(message);
    else if (message.type === 'refused') {
      this.views.get(message.id)?.refuse(readError(message.error));
    } else if (message.type === 'credentials') void this.#giveCredentials(message);
    else this.edits.get(message.id)?.(message);
  }

  #isCurrent({ incarnation, epoch }: Session): boolean {
    return this.session?.incarnation === incarnation && this.session.epoch === epoch;
  }

  #welcomed({ incarnation, epoch }: Session): void {
    // The worker has answered the sign-out, or the hello that named it.
    if (epoch === 0 || this.identity !== undefined) this.#signedOut = undefined;
    if (this.identity === undefined) return this.#signOut();
    // Somebody has signed in since.
    if (epoch === 0) return;
    // The answer to a second hello, sent before the first was answered: everything was asked after both.
    if (this.#isCurrent({ incarnation, epoch })) return;
    this.#endEdits();
    const isNew = incarnation !== this.#former?.incarnation;
    this.session = { incarnation, epoch };
    this.#former = this.session;
    this.link.show('open', undefined, isNew);
    for (const [id, view] of this.views) this.post({ type: 'open', id, query: view.query });
  }

  #take({ differences, set }: Extract<FromWorker, { type: 'rows' }>): void {
    this.link.worked();
    for (const difference of differences) this.views.get(difference.id)?.take(difference);
    const { frame } = this.#parts.page;
    // Before anybody is told, because a listener may end the session.
    this.#acks.add(
      frame()
        .pipe(take(1))
        .subscribe(() => this.post({ type: 'ack', set })),
    );
  }

  async #giveCredentials(asked: Session & { readonly id: number }): Promise<void> {
    const { id } = asked;
    const give = (answer: { readonly headers?: Credentials; readonly error?: CarriedError }) => {
      // Only to the worker and the session that have asked.
      if (this.#isCurrent(asked)) this.post({ type: 'credentials', id, ...answer });
    };
    try {
      const headers = await this.#parts.credentials?.();
      // `Headers` and functions cannot be sent, which is an error, too.
      give(headers === undefined ? { error: carryError('no credentials') } : { headers });
    } catch (error) {
      give({ error: carryError(error) });
    }
  }

  #signOut(): void {
    // The answer to a sign-out of this tab changes nothing.
    if (this.link.connection.phase === 'signed-out') return;
    this.identity = undefined;
    this.#drop(true);
  }

  /** Drops all rows: they are those of another user, or of nobody. */
  #drop(isSignedOut: boolean): void {
    this.#leaveSession();
    if (isSignedOut) this.link.show('signed-out', ApiError.local('Stopped', SIGNED_OUT));
    this.#endEdits();
    const status = this.#status() ?? NO_VIEW_STATUS;
    inTurn(() => {
      for (const view of this.views.values()) view.clear(status);
    });
    this.#parts.dropped();
  }

  /** There is no worker. */
  #lost(): void {
    this.#leaveSession();
    this.#endEdits();
    const status = this.#status();
    for (const view of this.views.values()) view.lose(status);
  }

  #leaveSession(): void {
    this.session = undefined;
    this.#acks.unsubscribe();
    this.#acks = new Subscription();
  }

  #endEdits(): void {
    const { error } = this.link.connection;
    const reason = error?.reason === 'Network' ? 'Network' : 'Stopped';
    const why = error?.message ?? 'the session has ended';
    const cause = ApiError.local(reason, `${why}; the edit may still take effect`);
    const ended = [...this.edits.values()];
    this.edits.clear();
    for (const on of ended) on({ type: 'ended', cause });
  }

  /** What views say while the connection has an error. */
  #status(): ViewStatus | undefined {
    const { phase, error } = this.link.connection;
    if (error === undefined) return undefined;
    return {
      ...NO_VIEW_STATUS,
      phase: error.reason === 'Stopped' ? 'stopped' : 'backoff',
      live: false,
      error,
      ...(phase === 'signed-out' && { blocked: 'unauthorized' }),
    };
  }
}
