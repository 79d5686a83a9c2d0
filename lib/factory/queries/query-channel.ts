/** The stream and the view of one query, which outlive its pipelines. */
import { Observable, Subject, Subscription } from 'rxjs';
import type { InformerStatus } from '../../informer/status/status.ts';
import { carryLineage } from '../../query/engine/lineage.ts';
import { type RejectedRow, Rejections } from '../../query/engine/rejections.ts';
import { type ToViewOptions, toView } from '../../query/view/to-view.ts';
import type { View } from '../../query/view/view.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { RunningQuery } from './running-query.ts';

/** Higher than the rank of any pipeline of a query. */
const RANK = 10;

/** The pipelines by query. */
export interface RunningQueries {
  /** The running pipeline of the query, if there is one that can be used. */
  current(): RunningQuery | undefined;
  /** Uses the running pipeline of the query, which is created if there is none. */
  enter(channel: QueryChannel): { readonly running: RunningQuery; readonly leave: () => void };
}

export class QueryChannel {
  readonly stream: Observable<AnyChangeSet<unknown>>;
  readonly view: View<unknown>;
  readonly #queries: RunningQueries;
  readonly #entered = new Subject<void>();
  readonly #rejections = new Rejections();

  constructor(queries: RunningQueries, options: ToViewOptions) {
    this.#queries = queries;
    this.stream = new Observable((subscriber) => {
      const { running, leave } = queries.enter(this);
      subscriber.add(leave);
      subscriber.add(this.#mirrorRejections(running));
      this.#entered.next();
      subscriber.add(running.answer.subscribe(subscriber));
    });
    const informers = new Set([this.#status$]);
    carryLineage(this.stream, { rank: RANK, informers, rejections: new Set([this.#rejections]) });
    this.view = toView(this.stream, options);
  }

  /**
   * The status of the informers that the query reads, as soon as it reads some. It uses the pipeline, so that a view
   * sees its informer stop and run again.
   */
  readonly #status$: Observable<InformerStatus> = new Observable((subscriber) => {
    const follow = () => {
      if (this.#queries.current() === undefined) return false;
      const { running, leave } = this.#queries.enter(this);
      subscriber.add(leave);
      subscriber.add(running.status$.subscribe(subscriber));
      return true;
    };
    if (follow()) return;
    const entered = this.#entered.subscribe(() => {
      if (follow()) entered.unsubscribe();
    });
    subscriber.add(entered);
  });

  #mirrorRejections({ lineage }: RunningQuery): Subscription {
    const subscription = new Subscription();
    const publish = () => {
      const rows = [...lineage.rejections].flatMap((each) => each.rows);
      const byId = new Map<string, RejectedRow>(
        rows.map((row) => [`${row.operator}/${row.id}`, row]),
      );
      this.#rejections.publish(subscription, byId);
    };
    for (const { rows$ } of lineage.rejections) subscription.add(rows$.subscribe(publish));
    subscription.add(() => this.#rejections.publish(subscription, new Map()));
    return subscription;
  }
}
