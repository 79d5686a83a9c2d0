/** A query of one user over the informers of all: the answer of what the user may read, which changes with the rights. */
import { EMPTY, Observable, Subscription } from 'rxjs';
import { distinctUntilChanged, switchMap } from 'rxjs/operators';
import { QueryChannel } from '../../factory/queries/query-channel.ts';
import type { InformerStatus } from '../../informer/status/status.ts';
import { shallowEqual } from '../../query/operators/shallow-equal.ts';
import { inTurn } from '../../rx/drain.ts';
import { type AnyChangeSet, createChangeSet } from '../../store/change-set.ts';
import { originating } from '../../store/origin.ts';
import { SetSource } from '../../store/set-source.ts';
import { statusOfAwaited } from '../rights/narrowed.ts';
import type { Decision } from '../rights/user-rights.ts';

/** What the user may read at present: an answer that others share, as the user may see it, or why there is none. */
export type PermittedAnswer =
  | {
      readonly answer: Observable<AnyChangeSet<unknown>>;
      readonly status$: Observable<InformerStatus>;
      /** Keeps the answer until the returned function is called. */
      readonly enter?: (() => () => void) | undefined;
    }
  | { readonly nothing: InformerStatus };

/** Takes away all rows that were shown. If it is synced, that is the answer. */
const noRows = (synced: boolean): AnyChangeSet<unknown> =>
  createChangeSet<unknown>(
    { rev: 0, cause: 'query', reset: true, synced, initial: false, resourceVersion: '' },
    [],
  );

/** The answers, of which the last one is followed. The rows of the former one are gone before those of the next come. */
function followed(permitted$: Observable<PermittedAnswer>): Observable<AnyChangeSet<unknown>> {
  return originating((subscriber, tell) => {
    let hasBegun = false;
    let run = Subscription.EMPTY;
    const follow = (permitted: PermittedAnswer) => {
      run.unsubscribe();
      const nothing = 'nothing' in permitted ? permitted.nothing : undefined;
      if (hasBegun || nothing) subscriber.next(noRows(nothing?.synced === true));
      hasBegun = true;
      if (!('answer' in permitted)) return;
      const { enter } = permitted;
      const source: SetSource<unknown> = new SetSource<unknown>(() => tell(source.origin));
      run = source.subscribe(permitted.answer, {
        next: (set) => subscriber.next(set),
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
      if (enter !== undefined) run.add(enter());
    };
    subscriber.add(permitted$.subscribe((permitted) => inTurn(() => follow(permitted))));
    subscriber.add(() => run.unsubscribe());
  });
}

/** Whether one decision permits all that another one has permitted, of each kind. */
function isMore(before: readonly Decision[], now: readonly Decision[]): boolean {
  return before.every(({ permitted: former }, at) => {
    const permitted = now[at]?.permitted ?? [];
    if (permitted === 'all') return true;
    return former !== 'all' && former.every((each) => permitted.includes(each));
  });
}

/**
 * The answers for decisions, each when it is the turn of the user, because it may be a first answer. While one waits that permits less than
 * the one before, nothing is shown.
 */
export function answersInTurn(
  decisions$: Observable<readonly Decision[]>,
  answerFor: (decisions: readonly Decision[]) => PermittedAnswer,
  takeTurn: (answer: () => void) => Subscription,
): Observable<PermittedAnswer> {
  return new Observable((subscriber) => {
    let waiting = Subscription.EMPTY;
    let shown: readonly Decision[] | undefined;
    subscriber.add(() => waiting.unsubscribe());
    subscriber.add(
      decisions$.subscribe((decisions) => {
        waiting.unsubscribe();
        waiting = takeTurn(() => {
          shown = decisions;
          // The status and the rows that follow from a decision are one message.
          inTurn(() => subscriber.next(answerFor(decisions)));
        });
        if (waiting.closed || shown === undefined || isMore(shown, decisions)) return;
        shown = undefined;
        inTurn(() => subscriber.next({ nothing: statusOfAwaited() }));
      }),
    );
  });
}

/** The channel of a query whose answer changes with the rights. `permitted$` begins with what is known, for each subscriber. */
export function permittedChannel(permitted$: Observable<PermittedAnswer>): QueryChannel {
  const status$ = permitted$.pipe(
    switchMap((permitted) => ('nothing' in permitted ? [permitted.nothing] : permitted.status$)),
    distinctUntilChanged<InformerStatus>(shallowEqual),
  );
  const running = { answer: followed(permitted$), status$ };
  const enter = () => ({ running, leave: () => undefined });
  return new QueryChannel(
    { isOverClusters: false, created$: EMPTY, isReady: () => true, enter },
    {},
  );
}
