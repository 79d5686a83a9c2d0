/** The stream and the view of one query, which outlive its pipelines. */
import { Observable, Subject, Subscription } from 'rxjs';
import { mergePipeStatus } from '../../informer/status/merge-status.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import type { Lineage } from '../../query/engine/lineage.ts';
import { type RefusedRow, RefusedRows } from '../../query/engine/refused-rows.ts';
import { type ToViewOptions, toView } from '../../query/view/to-view.ts';
import type { View } from '../../query/view/view.ts';
import type { Demand } from '../../rx/demand.ts';
import { type AnyChangeSet, withOrigin } from '../../store/change-set.ts';
import { conflateByKey } from '../../store/conflate-by-key.ts';
import { type Origin, originating } from '../../store/origin.ts';
import { SetSource } from '../../store/set-source.ts';
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
  enter(channel: QueryChannel): {
    readonly running: Pick<RunningQuery, 'answer' | 'status$'>;
    readonly leave: () => void;
  };
}

export class QueryChannel {
  readonly stream: Observable<AnyChangeSet<unknown>>;
  readonly view: View<unknown>;
  readonly #queries: RunningQueries;
  readonly #entered = new Subject<void>();
  readonly #refusedRows = new RefusedRows();

  constructor(queries: RunningQueries, { ready, mutationGuard }: LiveQueriesOptions) {
    this.#queries = queries;
    const origin: Origin = {
      ...{ emitter: this, rank: RANK, isOverClusters: queries.isOverClusters },
      informers: new Set([this.status$]),
      merge: mergePipeStatus,
      refusedRows: new Set([this.#refusedRows]),
    };
    this.stream = originating((subscriber, tell) => {
      const own = tell(origin);
      const { running, leave } = queries.enter(this);
      subscriber.add(leave);
      this.#entered.next();
      let mirrored = Subscription.EMPTY;
      let hasCompleted = false;
      const answer = new SetSource<unknown>(() => {
        mirrored.unsubscribe();
        mirrored = this.#mirror(answer.origin as Lineage, () => hasCompleted);
      });
      subscriber.add(() => mirrored.unsubscribe());
      subscriber.add(
        answer.subscribe(running.answer, {
          next: (set) => subscriber.next(withOrigin(set, own)),
          error: (error) => subscriber.error(error),
          complete: () => {
            hasCompleted = true;
            subscriber.complete();
          },
        }),
      );
    });
    const paced =
      ready === undefined ? this.stream : conflateByKey<unknown, unknown>({ ready })(this.stream);
    this.view = toView(paced, { mutationGuard });
  }

  /**
   * The status of the informers that the query reads, as soon as it reads some. It uses the pipeline, so that a view
   * sees its informer stop and run again. If an informer is removed from the factory, nothing creates it here: the next
   * pipeline begins when the informer is requested elsewhere.
   */
  readonly status$: Observable<InformerStatus> = new Observable((subscriber) => {
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

  /** Shows the rows that the pipeline refuses as those of the channel. */
  #mirror({ refusedRows }: Lineage, hasCompleted: () => boolean): Subscription {
    const subscription = new Subscription();
    const publish = () => {
      const rows = [...refusedRows].flatMap((each) => each.rows);
      const byId = new Map<string, RefusedRow>(
        rows.map((row) => [`${row.operator}/${row.id}`, row]),
      );
      this.#refusedRows.publish(subscription, byId);
    };
    for (const { rows$ } of refusedRows) subscription.add(rows$.subscribe(publish));
    subscription.add(() => this.#refusedRows.end(subscription, hasCompleted()));
    return subscription;
  }
}
