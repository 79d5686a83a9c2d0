/**
 * One run of a reconciler: whatever it returns or throws, it ends once, and at once where it can.
 */
import { isObservable, type Observable, Subscription } from 'rxjs';
import { isThenable } from '../rx/is-thenable.ts';
import type { Reconcile, ReconcileContext, ReconcileResult } from './outcome.ts';

/** How a run came to its end. */
export type Ended = { readonly result: ReconcileResult } | { readonly error: unknown };
/** How a run ended, or that its Observable was let go of before. */
export type Answer = Ended | { readonly aborted: true };

/** A run under way. */
export class ReconcileRun<K> {
  readonly #running = new Subscription();
  readonly #settle: (answer: Answer) => void;
  #aborting: AbortController | undefined;
  #aborted = false;
  #settled = false;

  /** `settle` is called once: when the reconciler has ended, or its Observable has been let go of. */
  constructor(settle: (answer: Answer) => void) {
    this.#settle = settle;
  }

  /** Made when asked for: most reconcilers never do. */
  get signal(): AbortSignal {
    this.#aborting ??= new AbortController();
    if (this.#aborted) this.#aborting.abort();
    return this.#aborting.signal;
  }

  start(reconcile: Reconcile<K>, context: ReconcileContext<K>): void {
    let answer: ReturnType<Reconcile<K>>;
    try {
      answer = reconcile(context.key, context);
    } catch (error) {
      return this.#end({ error });
    }
    if (isObservable(answer)) return this.#follow(answer);
    if (isThenable<ReconcileResult>(answer)) {
      // A thenable of another library may throw, or answer at once: not so behind a Promise, unless it is one.
      try {
        Promise.resolve(answer).then(
          (result) => this.#end({ result }),
          (error: unknown) => this.#end({ error }),
        );
      } catch (error) {
        this.#end({ error });
      }
    } else this.#end({ result: answer });
  }

  /** Tells the reconciler to stop. A Promise is not over before it says so: its key stays taken until then. */
  abort(): void {
    this.#aborted = true;
    this.#aborting?.abort();
    this.#running.unsubscribe();
  }

  #follow(answer: Observable<ReconcileResult>): void {
    // Aborted while it was called: then its work must not begin.
    if (this.#aborted) return this.#end({ aborted: true });
    let last: ReconcileResult;
    let ended: Answer = { aborted: true };
    const following = answer.subscribe({
      next: (result) => {
        last = result;
      },
      error: (error: unknown) => {
        ended = { error };
      },
      complete: () => {
        ended = { result: last };
      },
    });
    this.#running.add(following);
    // The last of its finalizers: what it holds it has let go of before its key is begun anew.
    following.add(() => this.#end(ended));
  }

  #end(answer: Answer): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#settle(answer);
  }
}
