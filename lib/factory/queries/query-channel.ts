/** The stream and the view of one query, which outlive its pipelines. */
import { Observable, Subject, Subscription } from 'rxjs';
import { map } from 'rxjs/operators';
import type { InformerStatus } from '../../informer/status/status.ts';
import { type RefusedRow, RefusedRows } from '../../query/engine/refused-rows.ts';
import { type ToViewOptions, toView } from '../../query/view/to-view.ts';
import type { View } from '../../query/view/view.ts';
import type { Demand } from '../../rx/demand.ts';
import { type AnyChangeSet, withOrigin } from '../../store/change-set.ts';
import { conflateByKey } from '../../store/conflate-by-key.ts';
import { noteOrigin, type Origin } from '../../store/origin.ts';
import type { RunningQuery } from './running-query.ts';

/** Options of {@link createLiveQueries}. */
export interface LiveQueriesOptions extends Pick<ToViewOptions, 'mutationGuard'> {
  /** Asked before each update of the rows of a view, such as `animationFrames()`. @defaultValue always open */
  readonly ready?: Demand | undefined;
  /**
   * How long a pipeline stays after its last user has left, in milliseconds. @defaultValue the linger of the factory
   */
  readonly lingerMs?: number | undefined;
}

/** Higher than the rank of any pipeline of a query. */
const RANK = 10;

/** The pipelines by query. */
export interface RunningQueries {
  readonly isOverClusters: boolean;
  /** Emits when the factory has created an informer. */
  readonly created$: Observable<void>;
  /** Whether all informers of the query exist, so that using it creates none. */
  isReady(): boolean;
  /** Uses the running pipeline of the query, which is created if there is none. */
  enter(channel: QueryChannel): { readonly running: RunningQuery; readonly leave: () => void };
}

export class QueryChannel {
  readonly stream: Observable<AnyChangeSet<unknown>>;
  readonly view: View<unknown>;
  readonly #queries: RunningQueries;
  readonly #entered = new Subject<void>();
  readonly #refusedRows = new RefusedRows();

  constructor(queries: RunningQueries, { ready, mutationGuard }: LiveQueriesOptions) {
    this.#queries = queries;
    this.stream = new Observable((subscriber) => {
      const { running, leave } = queries.enter(this);
      subscriber.add(leave);
      subscriber.add(this.#mirrorRefusedRows(running));
      this.#entered.next();
      const own$ = running.answer.pipe(map((set) => withOrigin(set, origin)));
      subscriber.add(own$.subscribe(subscriber));
    });
    const informers = new Set([this.#status$]);
    const { isOverClusters } = queries;
    const refusedRows = new Set([this.#refusedRows]);
    const origin: Origin = { rank: RANK, informers, refusedRows, isOverClusters };
    noteOrigin(this.stream, origin);
    const paced =
      ready === undefined ? this.stream : conflateByKey<unknown, unknown>({ ready })(this.stream);
    this.view = toView(paced, { mutationGuard });
  }

  /**
   * The status of the informers that the query reads, as soon as it reads some. It uses the pipeline, so that a view
   * sees its informer stop and run again. If an informer is removed from the factory, nothing creates it here: the next
   * pipeline begins when the informer is requested elsewhere.
   */
  readonly #status$: Observable<InformerStatus> = new Observable((subscriber) => {
    let run = Subscription.EMPTY;
    let leaveFormer = () => {};
    const follow = () => {
      if (subscriber.closed || !run.closed || !this.#queries.isReady()) return;
      const { running, leave } = this.#queries.enter(this);
      // Afterwards, because a query that is in use keeps its view.
      leaveFormer();
      leaveFormer = leave;
      run = new Subscription();
      const own = run;
      const next = (status: InformerStatus) => subscriber.next(status);
      const complete = () => {
        own.unsubscribe();
        // A wider informer may be running. Not within the removal, of which others have not heard yet.
        queueMicrotask(follow);
      };
      own.add(running.status$.subscribe({ next, complete }));
    };
    subscriber.add(() => {
      run.unsubscribe();
      leaveFormer();
    });
    follow();
    subscriber.add(this.#entered.subscribe(follow));
    // Not within the request that creates the informer, which may be one of this query.
    subscriber.add(this.#queries.created$.subscribe(() => queueMicrotask(follow)));
  });

  #mirrorRefusedRows({ lineage }: RunningQuery): Subscription {
    const subscription = new Subscription();
    const publish = () => {
      const rows = [...lineage.refusedRows].flatMap((each) => each.rows);
      const byId = new Map<string, RefusedRow>(
        rows.map((row) => [`${row.operator}/${row.id}`, row]),
      );
      this.#refusedRows.publish(subscription, byId);
    };
    for (const { rows$ } of lineage.refusedRows) subscription.add(rows$.subscribe(publish));
    subscription.add(() => this.#refusedRows.publish(subscription, new Map()));
    return subscription;
  }
}
