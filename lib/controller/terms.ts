/** The terms of a controller whose reconciles have not ended, including the current term. */
import type { SchedulerLike } from 'rxjs';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { longTimer } from '../rx/long-timer.ts';
import type { Term } from './term.ts';

/** Collects terms, and waits until none of them reconciles. */
export class Terms<T extends KubernetesObject> {
  readonly #scheduler: SchedulerLike;
  readonly #terms = new Set<Term<T>>();
  #onSettled: (() => void) | undefined;

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
  }

  /** The keys that are being reconciled. */
  get working(): readonly string[] {
    return [...this.#terms].flatMap((term) => term.working);
  }

  add(term: Term<T>): void {
    this.#terms.add(term);
  }

  /** Forgets a term that has ended, once its last reconcile has ended. */
  release(term: Term<T>): void {
    if (term.working.length === 0) this.#terms.delete(term);
  }

  /** Call this when a reconcile has ended. */
  settled(): void {
    this.#onSettled?.();
  }

  abort(reason: ApiError): void {
    for (const term of this.#terms) term.abort(reason);
  }

  clear(): void {
    this.#terms.clear();
  }

  /** Resolves with whether no reconcile runs, now or within this time in milliseconds. */
  idle(withinMs: number): Promise<boolean> {
    const idle = () => this.working.length === 0;
    if (idle()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = longTimer(withinMs, this.#scheduler).subscribe(() => {
        this.#onSettled = undefined;
        resolve(false);
      });
      this.#onSettled = () => {
        if (!idle()) return;
        this.#onSettled = undefined;
        timer.unsubscribe();
        resolve(true);
      };
    });
  }
}
