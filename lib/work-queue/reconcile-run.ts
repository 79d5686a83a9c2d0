/** One run of a reconciler, which ends exactly once, whatever the reconciler returns or throws. */
import { isObservable, type Observable, type Subscription } from 'rxjs';
import { isThenable } from '../rx/is-thenable.ts';
import type { Reconcile, ReconcileContext, ReconcileResult } from './outcome.ts';

/** The reconciler returned a result or failed. */
export type Settled = { readonly result: ReconcileResult } | { readonly error: unknown };
/** How a run ended. It is `aborted` if its Observable was unsubscribed before it ended. */
export type RunEnd = Settled | { readonly aborted: true };

/** A run in progress. */
export class ReconcileRun<K> {
  #following: Subscription | undefined;
  readonly #settle: (end: RunEnd) => void;
  #aborting: AbortController | undefined;
  #aborted = false;
  #settled = false;

  /** `settle` is called once: when the reconciler has ended, or when its Observable has been unsubscribed. */
  constructor(settle: (end: RunEnd) => void) {
    this.#settle = settle;
  }

  /** Created when it is first read, because most reconcilers never read it. */
  get signal(): AbortSignal {
    this.#aborting ??= new AbortController();
    if (this.#aborted) this.#aborting.abort();
    return this.#aborting.signal;
  }

  start(reconcile: Reconcile<K>, context: ReconcileContext<K>): void {
    let returned: ReturnType<Reconcile<K>>;
    try {
      returned = reconcile(context.key, context);
    } catch (error) {
      return this.#end({ error });
    }
    if (isObservable(returned)) return this.#follow(returned);
    if (isThenable<ReconcileResult>(returned)) {
      // The thenable of another library may throw, or call back synchronously. Promise.resolve() prevents that, except for a native Promise.
      try {
        Promise.resolve(returned).then(
          (result) => this.#end({ result }),
          (error: unknown) => this.#end({ error }),
        );
      } catch (error) {
        this.#end({ error });
      }
    } else this.#end({ result: returned });
  }

  /** Aborts the signal. A Promise cannot be cancelled, so its key stays in progress until it settles. */
  abort(): void {
    this.#aborted = true;
    this.#aborting?.abort();
    this.#following?.unsubscribe();
  }

  #follow(returned: Observable<ReconcileResult>): void {
    // The run was aborted during the call, so the work must not begin.
    if (this.#aborted) return this.#end({ aborted: true });
    let last: ReconcileResult;
    let ended: RunEnd = { aborted: true };
    const following = returned.subscribe({
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
    this.#following = following;
    // Added last, so that the Observable's own finalizers have released their resources before the key begins again.
    following.add(() => this.#end(ended));
  }

  #end(end: RunEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#settle(end);
  }
}
