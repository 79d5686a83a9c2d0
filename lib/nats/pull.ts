/**
 * Reads messages with a pull consumer of its own, in order and without gaps. The consumer is ephemeral: the server
 * removes it when nothing was requested for a while. Or it is one that was made for this reader. A lost message, a silent server and a lost connection are errors,
 * after which the caller resumes with a new consumer.
 */
import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamManager,
  jetstreamManager,
  ReplayPolicy,
} from '@nats-io/jetstream';
import { createInbox, type Msg, type NatsConnection, nanos, nuid } from '@nats-io/nats-core';
import { Observable, type SchedulerLike, Subscription } from 'rxjs';
import { ApiError } from '../meta/api-error.ts';
import { type Demand, untilOpen } from '../rx/demand.ts';
import { looseTimer } from '../rx/long-timer.ts';
import { connectionEvents } from './connection-events.ts';
import { natsError } from './failures.ts';
import { type Received, received } from './received.ts';

/** The request of a pull consumer. */
export interface PullRequest {
  readonly connection: NatsConnection;
  readonly stream: string;
  /** The prefix of the collection's subjects. */
  readonly prefix: string;
  readonly filter: string;
  /** A consumer that was made for this reader; absent for one that is created for this request. */
  readonly consumer?: GivenConsumer | undefined;
  /** The first sequence; absent for everything that the stream has. */
  readonly from?: number | undefined;
  readonly headersOnly?: boolean | undefined;
  readonly demand?: Demand | undefined;
  readonly scheduler: SchedulerLike;
  /** How many messages are requested at a time. */
  readonly batch: number;
  /** How often a server without messages says that it is alive, in milliseconds. Two missing signs are an error. */
  readonly idleMs: number;
  /** The request in words, for errors. */
  readonly where: string;
}

/** A consumer that exists, and how it is set to the first sequence of a request. */
export interface GivenConsumer {
  readonly name: string;
  open(request: PullRequest): Promise<PullSignal>;
}

/** A signal of a pull consumer. */
export type PullSignal =
  /** The consumer exists; `pending` messages wait. `serverMs` is the time of the server's clock. */
  | { readonly kind: 'opened'; readonly pending: number; readonly serverMs: number }
  | { readonly kind: 'message'; readonly message: Received }
  | { readonly kind: 'alive' }
  /** The demand has closed, so nothing more is requested until it opens. */
  | { readonly kind: 'paused' | 'resumed' };

/** How long the server keeps a consumer from which nothing is requested, in milliseconds. */
const INACTIVE_MS = 30_000;
/** How long the server keeps a pull request at least, in milliseconds. */
const EXPIRES_MS = 30_000;

/** The inbox prefix of a connection, which a user with narrow permissions has to set. */
function inboxOf(connection: NatsConnection): string {
  const { options } = connection as { readonly options?: { readonly inboxPrefix?: string } };
  return createInbox(options?.inboxPrefix);
}

/** The manager of JetStream, without a request for the account, which a reader may not be permitted to send. */
export function managerOf(connection: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(connection, { checkAPI: false });
}

/** The signal of a consumer that is open, from an answer of the server. */
export function opened(pending: number, time = ''): PullSignal {
  // biome-ignore lint/style/noRestrictedGlobals: parses a date of the server, reads no clock
  return { kind: 'opened', pending, serverMs: Date.parse(time) || 0 };
}

/** Creates the consumer. Its name is a secret: it is all that MSG.NEXT needs. */
async function createConsumer(request: PullRequest, name: string): Promise<PullSignal> {
  const manager = await managerOf(request.connection);
  const { from, headersOnly } = request;
  const info = await manager.consumers.add(request.stream, {
    name,
    filter_subject: request.filter,
    deliver_policy: from === undefined ? DeliverPolicy.All : DeliverPolicy.StartSequence,
    ...(from === undefined ? {} : { opt_start_seq: from }),
    ack_policy: AckPolicy.None,
    replay_policy: ReplayPolicy.Instant,
    mem_storage: true,
    num_replicas: 1,
    inactive_threshold: nanos(INACTIVE_MS),
    ...(headersOnly === true ? { headers_only: true } : {}),
  });
  return opened(info.num_pending, info.ts);
}

/** The receiver of a pull's signals. */
interface PullOutput {
  next(signal: PullSignal): void;
  error(error: ApiError): void;
}

/** One consumer: its inbox, its requests for messages and its watchdog. */
class Pull {
  readonly #request: PullRequest;
  readonly #name: string;
  readonly #inbox: string;
  readonly #work = new Subscription();
  readonly #wait: () => Observable<never> | null;
  readonly #out: PullOutput;
  /** How many messages were requested and have not arrived. */
  #due = 0;
  #delivered = 0;
  #isWaiting = false;
  #heard = true;
  #isCreated = false;

  constructor(request: PullRequest, out: PullOutput) {
    this.#request = request;
    this.#out = out;
    this.#name = request.consumer?.name ?? `rx${nuid.next()}${nuid.next()}`;
    this.#inbox = inboxOf(request.connection);
    this.#wait = untilOpen(request.demand);
  }

  start(): Subscription {
    const { connection } = this.#request;
    const events = connectionEvents(connection);
    this.#work.add(events.lost$.subscribe((words) => this.#failWith(words)));
    if (events.isLost) {
      this.#failWith(
        'there is no connection to NATS at the moment; the client reconnects, unless it was closed',
      );
      return this.#work;
    }
    let inbox: { unsubscribe(): void } | undefined;
    this.#work.add(() => {
      inbox?.unsubscribe();
      this.#remove();
    });
    try {
      inbox = connection.subscribe(this.#inbox, {
        callback: (error, message) => {
          if (this.#work.closed) return;
          if (error) this.#out.error(natsError(error, this.#request.where));
          else this.#take(message);
        },
      });
    } catch (error) {
      this.#out.error(natsError(error, this.#request.where));
      return this.#work;
    }
    const { consumer } = this.#request;
    const open = consumer?.open(this.#request) ?? createConsumer(this.#request, this.#name);
    open.then(
      (opened) => {
        this.#isCreated = consumer === undefined;
        if (this.#work.closed) return this.#remove();
        this.#out.next(opened);
        this.#watch();
        this.#pull();
      },
      (error) => {
        if (!this.#work.closed) this.#out.error(natsError(error, this.#request.where));
      },
    );
    return this.#work;
  }

  #failWith(words: string): void {
    this.#out.error(ApiError.local('Network', `${this.#request.where}: ${words}`));
  }

  /** Removes the consumer, without waiting for an answer. Otherwise the server removes it when it has been idle. */
  #remove(): void {
    const { connection, stream } = this.#request;
    if (!this.#isCreated || connection.isClosed()) return;
    try {
      connection.publish(`$JS.API.CONSUMER.DELETE.${stream}.${this.#name}`);
    } catch {
      // The connection is being closed.
    }
  }

  /** Requests more messages if the consumer has capacity. */
  #pull(): void {
    const { batch, connection, stream, idleMs } = this.#request;
    if (this.#work.closed || this.#isWaiting || this.#due > batch / 2) return;
    const wait = this.#wait();
    if (wait !== null) {
      this.#isWaiting = true;
      this.#out.next({ kind: 'paused' });
      const open = wait.subscribe({
        complete: () => {
          this.#isWaiting = false;
          this.#out.next({ kind: 'resumed' });
          this.#pull();
        },
      });
      this.#work.add(open);
      return;
    }
    // The server refuses a heartbeat that is longer than half of the request's life.
    const expiresMs = Math.max(EXPIRES_MS, 2 * idleMs);
    const request = { batch, expires: nanos(expiresMs), idle_heartbeat: nanos(idleMs) };
    this.#due += batch;
    this.#heard = true;
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#name}`;
    try {
      connection.publish(subject, JSON.stringify(request), { reply: this.#inbox });
    } catch (error) {
      this.#out.error(natsError(error, this.#request.where));
    }
  }

  /** Errors if nothing arrives in two periods although messages are requested: the connection may be half-open. */
  #watch(): void {
    const { scheduler, idleMs, where } = this.#request;
    let silent = 0;
    const check = (): void => {
      silent = this.#heard || this.#due === 0 ? 0 : silent + 1;
      this.#heard = false;
      if (silent < 2) {
        this.#work.add(looseTimer(idleMs * 1.25, scheduler, check));
        return;
      }
      const words = `NATS sent nothing for ${Math.round(2.5 * idleMs)} ms; look at the connection`;
      this.#out.error(ApiError.local('Network', `${where}: ${words}`));
    };
    this.#work.add(looseTimer(idleMs * 1.25, scheduler, check));
  }

  #take(message: Msg): void {
    this.#heard = true;
    const code = message.headers?.code ?? 0;
    if (code === 0) this.#takeMessage(message);
    else if (code === 100) this.#out.next({ kind: 'alive' });
    else if (code === 404 || code === 408) {
      // The request has expired; the header says how many of its messages were not sent.
      const left = Number(message.headers?.get('Nats-Pending-Messages') ?? '');
      this.#due = Math.max(0, this.#due - (left > 0 ? left : this.#due));
    } else {
      const words = `NATS ended the request for messages with ${code} ${message.headers?.description ?? ''}`;
      this.#failWith(words);
    }
    this.#pull();
  }

  #takeMessage(message: Msg): void {
    const got = received(message, this.#request.prefix, this.#name);
    if (got === undefined) return;
    this.#due = Math.max(0, this.#due - 1);
    this.#delivered++;
    if (got.delivery === this.#delivered) this.#out.next({ kind: 'message', message: got });
    else {
      const words = `message ${got.delivery} followed message ${this.#delivered - 1}, so messages were lost on the way, or the consumer ${this.#name} has two readers`;
      this.#failWith(words);
    }
  }
}

/**
 * Reads the messages of a filter: emits `opened`, then the messages in the order of the stream. Never completes. Errors
 * with an `ApiError`. Unsubscribing ends the requests; the server removes the consumer by itself.
 */
export function pull(request: PullRequest): Observable<PullSignal> {
  return new Observable<PullSignal>((subscriber) => {
    const work = new Pull(request, {
      next: (signal) => subscriber.next(signal),
      error: (error) => subscriber.error(error),
    }).start();
    return work;
  });
}
