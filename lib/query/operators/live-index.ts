/** `liveIndex`: the objects of an informer under one value of an index. */
import { isObservable, Observable, Subscription } from 'rxjs';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { atEndOfTurn, inTurn } from '../../rx/drain.ts';
import { type ChangeSet, createChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import { noteOrigin } from '../../store/origin.ts';
import { descend, lineageOf } from '../engine/lineage.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { LiveOptions, Param } from '../engine/machine.ts';
import { PassMachine } from '../engine/row-machine.ts';
import { type IndexedInformer, indexedRows } from './index-fan-out.ts';

function checked(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`liveIndex: value is ${String(value)}; it must be a string`);
}

/** The objects under the latest value. Each new value gives a `reset` set. */
function switched<T>(
  value$: Observable<string>,
  ofValue: (value: string) => Observable<ChangeSet<T>>,
  rank: number,
): Observable<ChangeSet<T>> {
  return new Observable<ChangeSet<T>>((subscriber) => {
    let latest: string | undefined;
    let shown: string | undefined;
    let current: Subscription | undefined;
    const show = () => {
      if (subscriber.closed || latest === undefined || latest === shown) return;
      shown = latest;
      const former = current;
      const run = new Subscription();
      current = run;
      let isFirst = former !== undefined;
      subscriber.add(run);
      run.add(
        ofValue(latest).subscribe({
          next: (set) => {
            if (current !== run) return;
            const isNew = isFirst;
            isFirst = false;
            const head = { ...headOf(set), cause: 'query', initial: false } as const;
            subscriber.next(isNew ? createChangeSet<T>(head, set.changes) : set);
          },
          complete: () => subscriber.complete(),
        }),
      );
      // After the new subscription, so that the informer keeps running.
      former?.unsubscribe();
    };
    inTurn(() => {
      subscriber.add(
        value$.subscribe({
          next: (value) => {
            try {
              latest = checked(value);
            } catch (error) {
              return subscriber.error(error);
            }
            atEndOfTurn(rank, show);
          },
          error: (error) => subscriber.error(error),
        }),
      );
    });
  });
}

function headOf<T>({ rev, resourceVersion, synced, reset, origin }: ChangeSet<T>) {
  return { rev, resourceVersion, synced, reset, origin };
}

/**
 * Emits the objects of an informer that an index has under one value, such as the Pods of one Node. It is a source, like
 * `informer.changes$`: it emits the present objects as one `reset` set on subscription, then each commit that touches
 * the value, and it keeps the informer running.
 *
 * A commit costs one call of the index function for each changed object, however many values are subscribed, and one
 * set for each value that it touches. Use it instead of a {@link liveFilter} for each value.
 *
 * An object that leaves the value is deleted from the answer. If `value` is an Observable, nothing is emitted until it
 * has a value; a new value gives one set with the difference between the objects of both; its completion keeps the last
 * value, and its error is passed on. Completes when the informer is stopped. Throws a `TypeError` if the informer has no
 * such index, or if the value is not a string.
 *
 * ```
 * informer   +a(node 1)---+b(node 2)---a(node 2)---|
 * node 2     (empty)------+b-----------+a----------|
 * ```
 *
 * @example
 * ```ts
 * import { createClient, createListWatch, createSharedInformer, liveIndex, toView } from 'rx-informer';
 * import { pods } from 'rx-informer/resources';
 * import { createFakeApiServer } from 'rx-informer/testing';
 *
 * const server = createFakeApiServer();
 * const spec = { nodeName: 'node-1', containers: [] };
 * server.objects.create(pods, { metadata: { namespace: 'shop', name: 'web' }, spec });
 * const client = createClient({ baseUrl: 'http://fake', fetch: server.fetch });
 * const informer = createSharedInformer(createListWatch(client, pods), {
 *   indexers: { byNode: ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []) },
 * });
 * const view = toView(liveIndex(informer, 'byNode', 'node-1'));
 * const leave = view.subscribe(() => undefined);
 * await informer.whenSynced({ timeoutMs: 5_000 });
 * view.getSnapshot().rows.map(({ metadata }) => metadata.name); // => ['web']
 * leave();
 * await informer.stop();
 * ```
 */
export function liveIndex<T extends KubernetesObject, Names extends string>(
  informer: IndexedInformer<T, Names>,
  indexName: NoInfer<Names>,
  value: Param<string>,
  options: LiveOptions = {},
): ChangeStream<T> {
  try {
    informer.indexer.byIndex(indexName, '');
  } catch (error) {
    throw new TypeError(`liveIndex: ${(error as Error).message}`);
  }
  const any = informer as IndexedInformer<T>;
  const ofValue = (each: string) => indexedRows<T>(any, indexName, each);
  if (!isObservable(value)) return ofValue(checked(value)) as ChangeStream<T>;
  const lineage = descend([value, informer.changes$].map(lineageOf), []);
  const source = switched(value, ofValue, lineage.rank);
  noteOrigin(source, lineage);
  return liveOperator<T, ChangeSet<T>>({
    ...options,
    name: 'liveIndex',
    sources: [source],
    params: [],
    create: (_values, context) => new PassMachine<T>(context),
  }) as ChangeStream<T>;
}
