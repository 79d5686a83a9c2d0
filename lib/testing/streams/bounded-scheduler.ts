/**
 * rxjs's `TestScheduler` with limits. `TestScheduler.run` has no limits: an informer that is never unsubscribed
 * reconnects forever under it, until the memory is full.
 */
import { TestScheduler } from 'rxjs/testing';
import { checkedDuration, checkedLimit } from '../../checks/checked-option.ts';

/** The limits of a marble test. */
export interface MarbleLimits {
  /**
   * The maximum virtual time, in frames. One frame is one millisecond. `Infinity` means no limit.
   * @defaultValue 86400000, which is a day
   */
  readonly maxFrames?: number;
  /** The maximum number of scheduled actions. `Infinity` means no limit. @defaultValue 100000 */
  readonly maxActions?: number;
}

const DAY_MS = 86_400_000;

/** A `TestScheduler` whose `flush()` throws at a limit and then cancels everything that is still scheduled. */
export class BoundedScheduler extends TestScheduler {
  readonly #maxFrames: number;
  readonly #maxActions: number;
  #ran = 0;

  constructor(
    assertDeepEqual: (actual: unknown, expected: unknown) => void,
    { maxFrames = DAY_MS, maxActions = 100_000 }: MarbleLimits,
  ) {
    super(assertDeepEqual);
    this.#maxFrames = checkedDuration(maxFrames, 'marbles: maxFrames');
    this.#maxActions = checkedLimit(maxActions, 'marbles: maxActions');
  }

  /**
   * Like the `flush` of rxjs: sets up hot sources, runs actions in the order of their frames, compares expectations.
   */
  override flush(): void {
    for (const hot of this.hotObservables.splice(0)) hot.setup();
    for (let action = this.actions.shift(); action !== undefined; action = this.actions.shift()) {
      this.#ran++;
      let error: unknown;
      if (action.delay > this.#maxFrames || this.#ran > this.#maxActions) {
        action.unsubscribe();
        error = this.#limitReached(action.delay);
      } else {
        this.frame = action.delay;
        error = action.execute(action.state, action.delay);
      }
      if (error) {
        for (const left of this.actions.splice(0)) left.unsubscribe();
        throw error;
      }
    }
    // Nothing is scheduled at this point, so rxjs only compares the expectations.
    super.flush();
  }

  #limitReached(frame: number): Error {
    const limit =
      this.#ran > this.#maxActions
        ? `ran ${this.#maxActions} scheduled actions up to frame ${this.frame} (maxActions)`
        : `reached frame ${this.#maxFrames} (maxFrames), and the next action is due at frame ${frame}`;
    return new Error(
      `marbles: the test ${limit}, so something in it never ends. ` +
        'An informer, reflect() and interval() run until they are unsubscribed from. ' +
        "Give each expectation an unsubscription marble: expectObservable(informer.changes$, '^---!'). " +
        'Stop what was started: scheduler.schedule(() => void informer.stop(), 50). ' +
        'A test that needs more can raise the limit: marbles(run, { maxFrames, maxActions }).',
    );
  }
}
