/** A session of the worker: the informers of one identity, from its sign-in to its sign-out. */
import { Subject } from 'rxjs';
import type { Clusters } from '../../factory/clusters/create-clusters.ts';
import type { DynamicInformerFactory } from '../../factory/create-informer-factory.ts';
import { EditableLayer } from '../../factory/edits/editable-layer.ts';
import { informersOfFactory } from '../../factory/factory-informers.ts';
import type { InformerFactory } from '../../factory/informer-factory.ts';
import type { InformerPool } from '../../factory/shared-informers.ts';
import { ApiError } from '../../meta/api-error.ts';
import type { PersistPart } from '../../persist/snapshots-in.ts';
import type { Demand } from '../../rx/demand.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { Fetch, FetchInit, FetchResponse } from '../../transport/fetch-transport.ts';
import type { AskedAnswer } from '../../wire/query-feed.ts';
import type { CarriedQuery, WorkerQueries } from '../carried-query.ts';
import type { Credentials } from '../messages.ts';
import { Answers } from './answers.ts';
import type { Edits } from './edits.ts';
import type { TabSession } from './served-tab.ts';

/** What the informers of one identity are made with. */
export interface WorkerSession {
  /** The identity that the tabs have named. */
  readonly identity: string;
  /** Grows with each session of a worker. */
  readonly epoch: number;
  /** Aborted when the session ends, because the user has signed out or changed. */
  readonly signal: AbortSignal;
  /**
   * Asks the tabs of this identity for the headers of requests: that in which the user has signed in last, then the visible ones.
   * Resolves with the last answer until
   * the server has refused it, and without headers if no tab was connected with `credentials`. Rejects with an
   * {@link ApiError} of reason `Credentials` if no tab answers in time.
   */
  readonly credentials: () => Promise<Credentials>;
  /**
   * The `fetch` of the worker with the headers of {@link credentials}, which are asked for again once after a 401. Pass it
   * to `createClient`.
   */
  readonly fetch: Fetch;
  /**
   * Open while any tab is shown, and for a minute after the last one was hidden. Pass it to `createInformerFactory`, so
   * that the watches end while nobody looks, and resume from their versions.
   */
  readonly demand: Demand;
  /**
   * What the option `persist` of {@link serveQueries} returned. Pass it to `createInformerFactory`. When the session ends,
   * everything that was stored for the identity is deleted.
   */
  readonly persist: PersistPart | undefined;
}

/** A factory of a session. */
export type SessionFactory = InformerFactory | DynamicInformerFactory | Clusters;

/** The parts with which the session of an identity begins. */
export interface SessionBeginning {
  readonly identity: string;
  /** Grows with each session of a worker. */
  readonly epoch: number;
  /** Asks the tabs, one after the other. `undefined` if none of them has credentials. */
  ask(signal: AbortSignal): Promise<Credentials | undefined>;
  /** Whoever answers the session has signed the user out. */
  signedOut(): void;
}

/** The session that the tabs of a worker share. */
export interface SharedSession extends TabSession {
  readonly identity: string;
  /** Whether a tab is shown, or was a moment ago. */
  isShown: boolean;
  /** How many pipelines there are. */
  readonly pipelines: number;
  /** The user has signed in again, so there may be other credentials. */
  renew(): void;
  end(): void;
}

/** The parts of a session. */
export interface SessionParts extends SessionBeginning {
  readonly fetch: Fetch;
  readonly queries: WorkerQueries;
  readonly lingerMs: number | undefined;
  createFactory(session: WorkerSession): SessionFactory;
  readonly persist:
    | ((session: { readonly identity: string }) => PersistPart | undefined)
    | undefined;
}

export class OwnSession implements WorkerSession, SharedSession {
  readonly identity: string;
  readonly epoch: number;
  readonly #parts: SessionParts;
  readonly #end = new AbortController();
  readonly #shown = new Subject<void>();
  #isShown = true;
  #credentials: Promise<Credentials> | undefined;
  #factory: SessionFactory | undefined;
  #persist: PersistPart | undefined;
  #answers: Answers | undefined;
  readonly #layer = new EditableLayer();
  #edits: Edits | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.identity = parts.identity;
    this.epoch = parts.epoch;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  set isShown(isShown: boolean) {
    if (isShown === this.#isShown) return;
    this.#isShown = isShown;
    if (isShown) this.#shown.next();
  }

  /** The answer of a query: the same for equal queries. Throws if the query is invalid or unknown. */
  answerOf(query: CarriedQuery): AskedAnswer {
    const { queries, lingerMs } = this.#parts;
    const informers = this.#informers;
    this.#answers ??= new Answers({ informers, queries, lingerMs, layer: this.#layer });
    return this.#answers.of(query);
  }

  /** The edits of all tabs. The code is loaded with the first of them. */
  async edit(...args: Parameters<Edits['edit']>): ReturnType<Edits['edit']> {
    if (this.signal.aborted) throw ended();
    const loaded = await import('./edits.ts');
    this.#edits ??= new loaded.Edits(this.#informers, this.#layer);
    return await this.#edits.edit(...args);
  }

  get #informers(): InformerPool {
    if (this.signal.aborted) throw ended();
    this.#factory ??= this.#parts.createFactory(this);
    return informersOfFactory('serveQueries: createFactory', this.#factory);
  }

  get pipelines(): number {
    return this.#answers?.size ?? 0;
  }

  renew(): void {
    this.#credentials = undefined;
  }

  get persist(): PersistPart | undefined {
    this.#persist ??= this.#parts.persist?.(this);
    return this.#persist;
  }

  /** Aborts all requests, drops the stores, and deletes what was stored on disk. */
  end(): void {
    this.#credentials = undefined;
    this.#end.abort(ended());
    // First, so that the factory does not write what is due. Also what another worker has stored is deleted.
    this.#forgetStored().catch(reportUnhandled);
    this.#factory?.stop().catch(reportUnhandled);
    this.#answers?.end();
  }

  async #forgetStored(): Promise<void> {
    const { persist } = this;
    await persist?.forget();
    await persist?.close();
  }

  readonly demand: Demand = () => (this.#isShown ? null : this.#shown);

  readonly credentials = async (): Promise<Credentials> => {
    if (this.signal.aborted) throw ended();
    const known = this.#credentials;
    if (known !== undefined) return await known;
    const asked = this.#parts.ask(this.signal).then((headers) => {
      // The tabs that are there by the next request may have some.
      if (headers === undefined) this.#forget(asked);
      return headers ?? {};
    });
    this.#credentials = asked;
    try {
      return await asked;
    } catch (error) {
      // The next request asks again.
      this.#forget(asked);
      throw error;
    }
  };

  readonly fetch: Fetch = async (input, init = {}) => {
    const first = await this.credentials();
    const known = this.#credentials;
    const response = await this.#send(input, init, first);
    if (response.status !== 401 || Object.keys(first).length === 0) return response;
    // Another request may have asked for new ones meanwhile.
    if (known !== undefined) this.#forget(known);
    const second = await this.credentials();
    if (JSON.stringify(first) === JSON.stringify(second)) return response;
    const unread = response.body as { cancel?(): Promise<void> } | null;
    await unread?.cancel?.();
    return await this.#send(input, init, second);
  };

  #forget(asked: Promise<Credentials>): void {
    if (this.#credentials === asked) this.#credentials = undefined;
  }

  async #send(input: string, init: FetchInit, given: Credentials): Promise<FetchResponse> {
    if (this.signal.aborted) throw ended();
    const headers: Record<string, string> = { ...init.headers };
    for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value;
    // The end of the session stops the factory, which aborts its requests.
    return await this.#parts.fetch(input, { ...init, headers });
  }
}

function ended(): ApiError {
  return ApiError.local(
    'Stopped',
    'the session of the worker has ended, because the user has signed out or changed',
  );
}
