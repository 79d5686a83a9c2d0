/** The link of a tab to its worker: starts a host, notices that it has died or cannot run, and tries again. */
import { BehaviorSubject, queueScheduler, type SchedulerLike, Subscription } from 'rxjs';
import { distinctUntilChanged } from 'rxjs/operators';
import { ApiError } from '../../meta/api-error.ts';
import { looseTimer } from '../../rx/long-timer.ts';
import type { EpochMs } from '../../rx/timing.ts';
import { type FromTab, type FromWorker, isMessage, PROTOCOL } from '../messages.ts';
import type { Host, StartHost } from './hosts.ts';
import { type TabPage, WorkerDeath } from './page-life.ts';
import type { WorkerConnection } from './worker-cluster.ts';

/** What the link is to: a worker, or a server. */
export interface Peer {
  /** What is said while another host is started. */
  readonly ended: string;
  /** What is said if no host can be started, and why. */
  unreachable(why: string): string;
  /** How long to wait before the next try after this many failures, in milliseconds. */
  waitMs(failures: number): number;
}

/** The parts of a link. */
export interface WorkerLinkParts {
  readonly hosts: readonly StartHost[];
  readonly peer: Peer;
  readonly page: TabPage;
  readonly scheduler: SchedulerLike;
  /** The answers to edits, which the worker that has them must give. */
  readonly edits: ReadonlyMap<number, unknown>;
  /** The first message to a worker. */
  hello(): FromTab;
  /** The worker has sent another message than those of the link itself. */
  received(message: FromWorker): void;
  /** No worker has the queries at present. */
  lost(): void;
}

/** How long a new worker may take to answer at the first try, in milliseconds. */
const HELLO_MS = 5_000;
/** How many times as long it may take at later tries. */
const MOST_HELLOS = 12;
const UNREAD =
  'a message of the worker cannot be read (messageerror), for example because it is nested too deeply; the tab connects again';

/** The worker may be alive, and a tab that it does not know to be gone would be asked for credentials. */
function leave(host: Host | undefined): void {
  host?.port.post({ type: 'bye' });
  host?.port.close();
}

export class WorkerLink {
  connection: WorkerConnection = { phase: 'connecting', workers: 0 };
  readonly connection$: BehaviorSubject<WorkerConnection> = new BehaviorSubject(this.connection);
  /** When the worker was last heard while the page was shown, or the link was made; until then the rows were right. */
  heardMs: EpochMs;
  readonly #parts: WorkerLinkParts;
  readonly #life = new Subscription();
  #host: Host | undefined;
  /** The first host while another one is used, because it has not answered in time. It may still load. */
  #late: Host | undefined;
  /** Whether it has answered since. */
  #isLoaded = false;
  /** The tab moves once, because a host that answers late each time would never show rows. */
  #mayMove = true;
  /** The host to try first. */
  #first = 0;
  #failures = 0;
  /** Whether the page was left, so that nothing is started before it is shown. */
  #isLeft = false;
  #death: WorkerDeath | undefined;
  #timer = Subscription.EMPTY;

  constructor(parts: WorkerLinkParts) {
    this.#parts = parts;
    this.heardMs = parts.scheduler.now();
    const { changes$ } = parts.page;
    this.#life.add(changes$.pipe(distinctUntilChanged()).subscribe((change) => this.#turn(change)));
  }

  /** Starts the host that has answered before, or the first one. */
  start(at: number = this.#first): void {
    this.#isLeft = false;
    this.#timer.unsubscribe();
    if (at === 0) this.#endLate();
    const { hosts } = this.#parts;
    let host: Host | undefined;
    const failed = (error: Error, hasEnded = false) => {
      if (host !== this.#host) return;
      // A worker that has answered runs, whatever one of its callbacks throws later.
      if (this.#death === undefined) this.#failed(at, error);
      else if (hasEnded) this.#lose(error.message);
    };
    try {
      host = (hosts[at] as StartHost)(failed);
    } catch (error) {
      return this.#failed(at, error as Error);
    }
    this.#use(host, at);
  }

  #use(host: Host, at: number): void {
    const { scheduler, hello } = this.#parts;
    this.#host = host;
    host.port.listen(
      (message) => {
        if (this.#host === host && isMessage(message)) this.#receive(message as FromWorker, at);
      },
      () => {
        if (this.#host !== host) return;
        // Its rows are lost, and the worker would wait for their acknowledgement.
        this.#end();
        this.#again('lost', ApiError.local('Unexpected', UNREAD));
      },
    );
    // Longer with each try, because a worker of the page begins to load again.
    const limitMs = HELLO_MS * Math.min(1 + this.#failures, MOST_HELLOS);
    this.#timer = looseTimer(limitMs, scheduler, () => {
      if (at === 0 && this.#mayMove) this.#expect(host);
      this.#failed(at, new Error(`it has not answered within ${limitMs} ms`));
    });
    // Last, because a host may fail at once.
    this.post(hello());
  }

  /** Goes on without the first host, until it answers. */
  #expect(late: Host): void {
    this.#mayMove = false;
    this.#host = undefined;
    this.#late = late;
    late.port.listen((message) => {
      if (!isMessage(message)) return;
      if (message.type === 'incompatible') return this.#endLate();
      this.#isLoaded = true;
      this.#move();
    });
  }

  /**
   * Moves to the first host once it has answered, so that tabs share a worker that has loaded slowly. The present worker ends, so
   * that it must have answered the edits, and only it may know of a sign-out.
   */
  #move(): void {
    const { edits, lost } = this.#parts;
    const late = this.#late;
    const mayEnd = edits.size === 0 && this.connection.phase !== 'signed-out';
    if (late === undefined || !this.#isLoaded || !mayEnd) return;
    this.#end();
    this.#late = undefined;
    this.#use(late, 0);
    this.show('connecting');
    lost();
  }

  #endLate(): void {
    leave(this.#late);
    this.#late = undefined;
  }

  post(message: FromTab): void {
    this.#host?.port.post(message);
  }

  /** A worker that has answered a query can be relied on. */
  worked(): void {
    this.#failures = 0;
  }

  show(phase: WorkerConnection['phase'], error?: ApiError, isNew = false): void {
    // A connection that was closed stays so.
    if (this.#life.closed && phase !== 'left') return;
    const { workers, host: before } = this.connection;
    const host = this.#host?.kind ?? before;
    const count = workers + (isNew ? 1 : 0);
    const shown = Object.freeze({ phase, host, workers: count, error });
    this.connection = shown;
    // In the queue, so that what a listener causes comes later for all listeners.
    queueScheduler.schedule(() => this.connection$.next(shown));
  }

  /** Leaves the worker for good. */
  close(): void {
    if (this.#life.closed) return;
    this.#life.unsubscribe();
    this.#leave(ApiError.local('Stopped', 'the connection was closed'));
  }

  #receive(message: FromWorker, at: number): void {
    const { page, scheduler, hello, lost, received } = this.#parts;
    this.#death?.answered();
    if (message.type === 'unknown') {
      // The worker has dropped the queries and the edits.
      lost();
      return this.post(hello());
    }
    // A hidden page receives no rows.
    if (!page.isHidden()) this.heardMs = scheduler.now();
    if (message.type === 'pong') return;
    if (message.type === 'incompatible') {
      const other = `it speaks version ${message.protocol}, and this page version ${PROTOCOL}`;
      return this.#failed(at, new Error(other));
    }
    if (message.type === 'welcome') this.#watch(message.lock, at);
    received(message);
    this.#move();
  }

  /** The worker has answered: from now on its death is noticed. */
  #watch(lock: string | undefined, at: number): void {
    this.#timer.unsubscribe();
    this.#first = at;
    this.#death?.stop();
    const { page, scheduler } = this.#parts;
    const ping = () => this.post({ type: 'ping' });
    this.#death = new WorkerDeath({ page, lock, scheduler, ping }, () =>
      this.#lose(this.#parts.peer.ended),
    );
    if (!page.isHidden()) this.#death.start();
  }

  /** The page is shown, hidden or left. */
  #turn(change: 'shown' | 'hidden' | 'left'): void {
    if (change === 'left') return this.#leave();
    if (this.#isLeft) {
      // Browsers hide a page after it was left, and drop a page of their cache that has a worker.
      if (change === 'shown') this.start();
      return;
    }
    const isHidden = change === 'hidden';
    // A worker that has dropped the tab says so.
    this.post({ type: 'hidden', isHidden });
    if (isHidden) this.#death?.stop();
    else this.#death?.start();
  }

  #leave(error?: ApiError): void {
    this.#end();
    this.#endLate();
    this.#isLeft = true;
    this.show('left', error);
    this.#parts.lost();
  }

  #end(): void {
    this.#timer.unsubscribe();
    this.#death?.stop();
    this.#death = undefined;
    const host = this.#host;
    this.#host = undefined;
    leave(host);
  }

  /** The host has ended after it has answered. */
  #lose(message: string): void {
    this.#end();
    this.#again('lost', ApiError.local('Network', message));
  }

  #failed(at: number, cause: Error): void {
    this.#end();
    if (at + 1 < this.#parts.hosts.length) return this.start(at + 1);
    this.#first = 0;
    const message = this.#parts.peer.unreachable(cause.message);
    this.#again('failed', ApiError.local('Network', message, { cause }));
  }

  #again(phase: 'lost' | 'failed', error: ApiError): void {
    const waitMs = this.#parts.peer.waitMs(this.#failures++);
    // Before anybody is told, because a listener may close the connection.
    this.#timer = looseTimer(waitMs, this.#parts.scheduler, () => this.start());
    this.show(phase, error);
    this.#parts.lost();
  }
}
