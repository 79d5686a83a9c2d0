/** Several pipelines on one queue, some of which unsubscribe, and runs that take a while to end. */
import {
  createPriorityQueue,
  type Outcome,
  type Reconcile,
  type ReconcileResult,
  TerminalError,
  workQueue,
} from 'rx-informer';
import { NEVER, Observable, Subject, throwError } from 'rxjs';
import { finalize } from 'rxjs/operators';
import { describe, expect, it } from 'vitest';
import { VirtualTime } from '../rx/virtual-time.ts';

/** A reconciler that reacts to its signal. */
const reactsToSignal =
  (end: 'rejects' | 'resolves'): Reconcile =>
  (_key, { signal }) =>
    new Promise<ReconcileResult>((resolve, reject) => {
      signal.addEventListener('abort', () => {
        if (end === 'rejects') reject(signal.reason);
        else resolve(undefined);
      });
    });

function shared(first: Reconcile) {
  const time = new VirtualTime();
  const queue = createPriorityQueue({ scheduler: time });
  const outcomes: Outcome[] = [];
  const leaver = NEVER.pipe(workQueue(first, { queue, scheduler: time })).subscribe();
  queue.addWithOptions('a', { priority: 3 });
  expect([queue.processing, queue.len]).toEqual([1, 0]);
  const stayer = () =>
    NEVER.pipe(
      workQueue(
        (key) => {
          // No other key precedes it in the queue.
          expect(queue.priorityOf(key)).toBe(3);
        },
        { queue, scheduler: time },
      ),
    ).subscribe((outcome) => outcomes.push(outcome));
  return { time, queue, outcomes, leaver, stayer };
}

describe('a pipeline that unsubscribes from a shared queue', () => {
  it.each([
    ['a Promise that rejects', reactsToSignal('rejects')],
    ['an Observable', () => new Observable<ReconcileResult>()],
  ])('K25: returns each key whose run it aborted to the queue: %s', async (_what, reconcile) => {
    const { time, queue, outcomes, leaver, stayer } = shared(reconcile);
    const staying = stayer();
    leaver.unsubscribe();
    await time.advance(0);
    expect(outcomes).toMatchObject([{ key: 'a', type: 'ok', attempt: 1 }]);
    expect([queue.len, queue.processing, queue.numRequeues('a'), time.pending]).toEqual([
      0, 0, 0, 0,
    ]);
    staying.unsubscribe();
  });

  it('K23: begins a key again when the teardown of its Observable is done', () => {
    const keys$ = new Subject<string>();
    const ends: Subject<ReconcileResult>[] = [];
    const log: string[] = [];
    const outcomes: string[] = [];
    keys$
      .pipe(
        workQueue(
          (_key, { attempt }) => {
            log.push('begins');
            const end = new Subject<ReconcileResult>();
            ends.push(end);
            return attempt === 1 && ends.length > 2
              ? throwError(() => new TerminalError('no')).pipe(
                  finalize(() => log.push('torn down')),
                )
              : end.pipe(finalize(() => log.push('torn down')));
          },
          { scheduler: new VirtualTime() },
        ),
      )
      .subscribe(({ type }) => outcomes.push(type));
    for (const key of ['a', 'a']) keys$.next(key);
    ends[0]?.complete();
    keys$.next('a');
    ends[1]?.complete();
    expect(log).toEqual(['begins', 'torn down', 'begins', 'torn down', 'begins', 'torn down']);
    expect(outcomes).toEqual(['ok', 'ok', 'gaveUp']);
  });

  it('K23: does not subscribe an Observable that is returned after the unsubscription', () => {
    let begun = 0;
    const keys$ = new Subject<string>();
    const run = keys$
      .pipe(
        workQueue(() => {
          run.unsubscribe();
          return new Observable<ReconcileResult>(() => void begun++);
        }),
      )
      .subscribe();
    keys$.next('a');
    expect([begun, keys$.observed]).toEqual([0, false]);
  });
});
