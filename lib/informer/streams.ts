/**
 * The streams of one informer. Each subscriber of a data stream holds the run and first receives the contents of the
 * store.
 */
import { Observable } from 'rxjs';
import { map, mergeMap } from 'rxjs/operators';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { ChangeStream } from '../store/change-stream.ts';
import type { Assembly } from './assembly.ts';
import { snapshotSet } from './fan-out.ts';
import { deliver } from './handlers/delivery.ts';
import { reportSubscriberErrors } from './handlers/report-subscriber-errors.ts';
import type { SharedInformer } from './shared-informer.ts';
import { carryStatus } from './status/carried-status.ts';

type Streams =
  | 'changes$'
  | 'added$'
  | 'updated$'
  | 'deleted$'
  | 'snapshot$'
  | 'status$'
  | 'metrics$'
  | 'synced$'
  | 'deliver';

export function createStreams<T extends KubernetesObject>(
  parts: Assembly<T>,
): Pick<SharedInformer<T>, Streams> {
  const { indexer, drain, hub, lifecycle, board, meter, pause, report } = parts;
  const joined = (): Observable<ChangeSet<T>> =>
    new Observable<ChangeSet<T>>((subscriber) => {
      // In the drain, so that a commit caused by the first set is delivered after it.
      drain.enter(() => {
        // Held before the first set, so that a stop made while that set is handled takes effect after the hold. A
        // subscriber that unsubscribes with the first set, like `firstValueFrom`, needs no run.
        let satisfied = false;
        const release = lifecycle.hold(() => satisfied);
        const leave = hub.join({
          next: (set) => subscriber.next(set),
          complete: () => subscriber.complete(),
        });
        satisfied = subscriber.closed;
        // In this order, so that the subscriber receives nothing that the release of the run causes.
        subscriber.add(leave);
        subscriber.add(release);
      });
    });
  const reporting =
    <V>(keyOf: (value: V) => string | undefined) =>
    (error: unknown, subscriber: string, value: V) => {
      const key = keyOf(value);
      report(error, { subscriber, ...(key === undefined ? {} : { key }) });
    };
  const stream = <V>(of: Observable<V>, keyOf: (value: V) => string | undefined) =>
    reportSubscriberErrors(of, reporting(keyOf));
  const firstKey = (set: ChangeSet<T>) => set.changes[0]?.key;
  const status$ = stream(board.status$, () => undefined);
  const changes$: ChangeStream<T> = carryStatus(stream(joined(), firstKey), status$);

  return {
    changes$,
    added$: stream(joined().pipe(mergeMap((set) => set.added)), (object) => indexer.keyOf(object)),
    updated$: stream(joined().pipe(mergeMap((set) => set.updated)), ({ object }) =>
      indexer.keyOf(object),
    ),
    deleted$: stream(joined().pipe(mergeMap((set) => set.deleted)), ({ key }) => key),
    snapshot$: stream(joined().pipe(map(() => indexer.snapshot$.value)), () => undefined),
    status$,
    metrics$: stream(meter.metrics$, () => undefined),
    synced$: stream(board.synced$, () => undefined),
    deliver: (policy) => {
      const delivered = deliver(
        {
          changes$: joined(),
          drain,
          snapshot: () => snapshotSet(indexer),
          pause,
          report: reporting(firstKey),
        },
        policy,
      );
      carryStatus(delivered.changes$, status$);
      return delivered;
    },
  };
}
