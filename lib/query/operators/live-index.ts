/** `liveIndex`: the objects of an informer under one value of an index. */

import { isObservable, type Observable, Subscription } from 'rxjs';
import { checkedText } from '../../checks/checked-option.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { atEndOfTurn, inTurn } from '../../rx/drain.ts';
import {
  type AnyChangeSet,
  type ChangeSet,
  createChangeSet,
  headOf,
} from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import { type Origin, originating, originFrom, UNKNOWN } from '../../store/origin.ts';
import { SetSource } from '../../store/set-source.ts';
import { descend, type Lineage } from '../engine/lineage.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { LiveOptions, Param } from '../engine/machine.ts';
import { PassMachine } from '../engine/row-machine.ts';
import type { IndexedInformer } from './fan-out.ts';
import { indexedRows } from './index-fan-out.ts';

function checked(value: unknown): string {
  return checkedText(value, 'liveIndex: value', /^/, 'a string');
}

/** The objects under the latest value. Each new value gives a `reset` set. `known` is the origin before there is a value. */
function switched<T>(
  value$: Observable<string>,
  ofValue: (value: string) => Observable<ChangeSet<T>>,
  known: Origin,
): Observable<AnyChangeSet<T>> {
  return originating<AnyChangeSet<T>>((subscriber, tell) => {
    let own: Lineage | undefined;
    const changed = () => {
      own = undefined;
    };
    const values = new SetSource<T>(changed);
    const rows = new SetSource<T>(changed);
    const origin = () => {
      const above = [rows.origin === UNKNOWN ? known : rows.origin, values.origin];
      own ??= descend(above as Lineage[], [], subscriber);
      return own;
    };
    let latest: string | undefined;
    let shown: string | undefined;
    let current: Subscription | undefined;
    const show = () => {
      if (subscriber.closed || latest === undefined || latest === shown) return;
      shown = latest;
      const former = current;
      const run = new Subscription();
      current = run;
      const isFirst = former === undefined;
      subscriber.add(run);
      run.add(
        rows.subscribe(ofValue(latest), {
          next: (set) => {
            if (current !== run) return;
            const isNew = set.reset && !isFirst;
            const query = isNew ? ({ cause: 'query', initial: false } as const) : undefined;
            const head = { ...headOf(set), ...query, reset: set.reset, origin: origin() };
            subscriber.next(createChangeSet<T>(head, () => set.changes));
          },
          complete: () => subscriber.complete(),
        }),
      );
      // After the new subscription, so that the informer keeps running.
      former?.unsubscribe();
    };
    inTurn(() => {
      subscriber.add(
        values.subscribe(value$, {
          next: (value) => {
            try {
              latest = checked(value);
            } catch (error) {
              return subscriber.error(error);
            }
            atEndOfTurn(values.origin.rank + 1, show);
          },
          error: (error) => subscriber.error(error),
        }),
      );
      tell(origin());
    });
  });
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
  const known = originFrom({ emitter: informer, informers: new Set([informer.status$]) });
  return liveOperator<T, ChangeSet<T>>({
    ...options,
    name: 'liveIndex',
    sources: [switched(value, ofValue, known)],
    params: [],
    create: (_values, context) => new PassMachine<T>(context),
  }) as ChangeStream<T>;
}
