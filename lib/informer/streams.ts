/**
 * The streams of one informer. Each subscriber of a data stream holds the run and first receives the contents of the
 * store.
 */
import { Observable } from 'rxjs';
import { map, mergeMap } from 'rxjs/operators';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { type ChangeSet, stampOrigin } from '../store/change-set.ts';
import { originating, originFrom, readOrigins } from '../store/origin.ts';
import { contextOf, reportSubscriberErrors } from './handlers/report-subscriber-errors.ts';
import type { InformerLifecycle } from './lifecycle.ts';
import type { SharedInformer } from './shared-informer.ts';
import { mergePipeStatus } from './status/merge-status.ts';

type Streams =
  | 'changes$'
  | 'added$'
  | 'updated$'
  | 'deleted$'
  | 'snapshot$'
  | 'status$'
  | 'synced$';

/** Reports the errors of the stream's direct subscribers, with the key of the value if it has one. */
export function reporting<T extends KubernetesObject, V>(
  { report }: InformerLifecycle<T>,
  stream: Observable<V>,
  keyOf: (value: V) => string | undefined = () => undefined,
): Observable<V> {
  return reportSubscriberErrors(stream, (error, subscriber, value) =>
    report(error, contextOf(subscriber, keyOf(value))),
  );
}

export function createStreams<T extends KubernetesObject>(
  informer: InformerLifecycle<T>,
): Pick<SharedInformer<T>, Streams> {
  const { store, drain, board } = informer;
  const status$ = reporting(informer, board.status$);
  const origin = originFrom({
    emitter: informer,
    informers: new Set([status$]),
    merge: mergePipeStatus,
  });
  const joined$ = originating<ChangeSet<T>>((subscriber, tell) => {
    let next = tell(origin);
    // In the drain, so that a commit caused by the first set is delivered after it.
    drain.enter(() => {
      // Held before the first set, so that a stop made while that set is handled takes effect after the hold. A
      // subscriber that unsubscribes with the first set, like `firstValueFrom`, needs no run.
      let satisfied = false;
      const release = informer.hold(() => satisfied);
      const leave = informer.join({
        next: (set) => {
          const stamped = stampOrigin(set, next);
          next = origin;
          subscriber.next(stamped);
        },
        complete: () => subscriber.complete(),
      });
      satisfied = subscriber.closed;
      // In this order, so that the subscriber receives nothing that the release of the run causes.
      subscriber.add(leave);
      subscriber.add(release);
    });
  });
  // Its values are not sets of a reader, so no reader is told of it: it may be the notifier of another stream.
  const objects$ = new Observable<ChangeSet<T>>((subscriber) =>
    readOrigins(undefined, () => joined$.subscribe(subscriber)),
  );
  const stream = <V>(
    select: (set: ChangeSet<T>) => readonly V[],
    keyOf?: (value: V) => string | undefined,
  ) => reporting(informer, objects$.pipe(mergeMap(select)), keyOf);
  return {
    changes$: reporting(informer, joined$, ({ changes }) => changes[0]?.key),
    added$: stream(
      ({ added }) => added,
      (object) => store.keyOf(object),
    ),
    updated$: stream(
      ({ updated }) => updated,
      ({ object }) => store.keyOf(object),
    ),
    deleted$: stream(
      ({ deleted }) => deleted,
      ({ key }) => key,
    ),
    snapshot$: reporting(informer, objects$.pipe(map(() => store.snapshot$.value))),
    status$,
    synced$: reporting(informer, board.synced$),
  };
}
