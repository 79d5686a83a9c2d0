/** What a provider holds: a client, a factory, and the live queries of its hooks. */
import { asyncScheduler, defer, EMPTY, type Subscription } from 'rxjs';
import { share } from 'rxjs/operators';
import { createInformerFactory } from '../factory/create-informer-factory.ts';
import { informersOfFactory } from '../factory/factory-informers.ts';
import type { InformerFactory } from '../factory/informer-factory.ts';
import type { InformerPool } from '../factory/informer-pool.ts';
import type { InformerFactoryOptions } from '../factory/options.ts';
import { type LiveQueries, layeredQueries } from '../factory/queries/create-live-queries.ts';
import type { InformerStatus } from '../informer/status/status.ts';
import type { LiveQuery } from '../query/live-query/live-query.ts';
import { shallowEqual } from '../query/operators/shallow-equal.ts';
import { mergeInformerStatus } from '../query/view/informers.ts';
import type { Demand } from '../rx/demand.ts';
import { animationFrames } from '../rx/demands/animation-frames.ts';
import { reportUnhandled } from '../rx/report-unhandled.ts';
import type { KubeClient } from '../transport/kube-client.ts';
import { Overlay } from './edit/overlay.ts';
import { blockingError, NO_RESULT, type StatusResult } from './row-result.ts';
import { ViewSource } from './row-source.ts';
import type { StatusSource } from './status-source.ts';

/** Options of the factory that a provider makes. Without `name`, because two of one name would exist for a moment. */
export type ProvidedFactoryOptions = Omit<InformerFactoryOptions, 'name'>;

/** How many sources there may be before those that are no longer referenced are looked for. */
const SWEEP_SIZE = 64;

/** The former value if the new one is equal to it; otherwise the new one, frozen. */
function kept<V extends object>(former: V, now: V): V {
  return shallowEqual(former, now) ? former : Object.freeze(now);
}

/** One frame for all queries, so that React renders all of their changes at once. */
function commonFrames(): Demand {
  const frames = animationFrames();
  const frame$ = defer(() => frames() ?? EMPTY).pipe(share());
  return () => frame$;
}

export class Provided {
  readonly client: KubeClient;
  readonly factory: InformerFactory;
  readonly queries: LiveQueries;
  /** The edits that the queries show before the watch has them. */
  readonly overlay: Overlay = new Overlay();
  readonly informers: InformerPool;
  readonly #isOwn: boolean;
  /** Weak, because nobody would remove the source of a render that was discarded. */
  readonly #known = new Map<string, WeakRef<ViewSource<unknown>>>();
  /** A source that hooks read, with the name of its informers. */
  readonly #used = new Set<readonly [StatusSource, () => unknown]>();
  readonly #listeners = new Set<() => void>();
  #sweepAt = SWEEP_SIZE;
  #stopping: Subscription | undefined;
  #holders = 0;
  /** That of the last reading. */
  #status: StatusResult = NO_RESULT;
  #isOutdated = false;

  constructor(client: KubeClient, given: InformerFactory | ProvidedFactoryOptions = {}) {
    const isFactory = 'acquire' in given;
    this.client = client;
    this.#isOwn = !isFactory;
    this.factory = isFactory ? given : createInformerFactory(client, given);
    this.informers = informersOfFactory('InformerProvider', this.factory);
    this.queries = layeredQueries(this.factory, { ready: commonFrames() }, this.overlay);
  }

  /** The source of a query: the same one for equal queries while it is used, and for the linger after that. */
  source<Row>(query: LiveQuery<Row>): ViewSource<Row> {
    const { key } = query;
    // A copy, because a query keeps its view, whose rows are outdated after the linger.
    const view = this.queries.view({ ...query } as LiveQuery);
    const known = this.#known.get(key)?.deref();
    if (known?.isCurrent === true || known?.view === view) return known as ViewSource<never>;
    const names = () => `${this.queries.explain(query).sources.map(({ informer }) => informer)}`;
    const source: ViewSource<unknown> = new ViewSource<unknown>(view, {
      used: () => this.#use(source, names),
      changed: () => this.#changed(),
    });
    if (this.#known.size >= this.#sweepAt) this.#sweep();
    this.#known.set(key, new WeakRef(source));
    return source as ViewSource<never>;
  }

  /** Merges the status of a source into that of the provider until the returned function is called. */
  watch(source: StatusSource, name: unknown): () => void {
    const leave = source.subscribe(() => this.#changed());
    const unuse = this.#use(source, () => name);
    return () => {
      leave();
      unuse();
    };
  }

  /** Calls the listener when the status of a query in use may have changed. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  };

  /** The status of all queries in use, merged. */
  readonly getStatus = (): StatusResult => {
    if (this.#isOutdated) this.#status = this.#mergedStatus(this.#status);
    this.#isOutdated = false;
    return this.#status;
  };

  /** Keeps the provider's own factory until the returned function is called. */
  hold(): () => void {
    this.#stopping?.unsubscribe();
    this.#holders++;
    return () => {
      this.#holders--;
      if (this.#holders > 0 || !this.#isOwn) return;
      // StrictMode runs effects twice in one task, and must not stop what the second run uses.
      this.#stopping = asyncScheduler.schedule(() => {
        this.factory.stop().catch(reportUnhandled);
      });
    };
  }

  #use(source: StatusSource, name: () => unknown): () => void {
    const entry = [source, name] as const;
    this.#used.add(entry);
    this.#changed();
    return () => {
      this.#used.delete(entry);
      this.#changed();
    };
  }

  #changed(): void {
    this.#isOutdated = true;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Returns the former result if nothing of it has changed, so that a change of rows renders nothing. */
  #mergedStatus(former: StatusResult): StatusResult {
    const sources = [...new Map(this.#used)];
    const used = sources.map(([source, name]) => [name(), source.getSnapshot()] as const);
    if (used.length === 0) return NO_RESULT;
    const results = used.map(([, result]) => result);
    // Once for all that read the same informers.
    const statuses = [...new Map(used).values()].map(({ status }) => status as InformerStatus);
    const known = statuses.filter(({ phase }) => phase !== undefined && phase !== 'idle');
    const all = results.flatMap(({ status }) => status.rejected);
    const rejected = kept(former.status.rejected, all);
    const status = kept(former.status, { ...mergeInformerStatus(known), rejected });
    const synced = results.every((result) => result.synced);
    const error =
      results.find((result) => result.error !== undefined)?.error ?? blockingError(status);
    return kept(former, { synced, status, error });
  }

  #sweep(): void {
    for (const [key, entry] of this.#known) {
      if (entry.deref() === undefined) this.#known.delete(key);
    }
    this.#sweepAt = Math.max(SWEEP_SIZE, 2 * this.#known.size);
  }
}
