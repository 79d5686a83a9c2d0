/** The terms of a controller: the present one, and those whose reconciles still run. */
import type { SchedulerLike } from 'rxjs';
import type { ApiError } from '../meta/api-error.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import { longTimer } from '../rx/long-timer.ts';
import type { Term } from './term.ts';

/** Collects terms, and waits until none of them reconciles. */
export class Terms<T extends KubernetesObject> {
  readonly #scheduler: SchedulerLike;
  readonly #terms = new Set<Term<T>>();
  /** Ended terms whose reconciles ignore their signals. They still count as working, but nothing waits for them in vain. */
  readonly #abandoned = new Set<Term<T>>();
  #onSettled: (() => void) | undefined;
  /** What the last term has not reconciled, if it was lost. */
  #unreached: readonly string[] = [];
  /** Called when no reconcile runs any more. */
  #onEnded: (() => void)[] = [];

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
  }

  /** The keys that are being reconciled. */
  get working(): readonly string[] {
    return [...this.#terms, ...this.#abandoned].flatMap((term) => term.working);
  }

  add(term: Term<T>): void {
    this.#terms.add(term);
  }

  /** Ends a term because the lead was lost. */
  lose(term: Term<T>, reason: ApiError): void {
    this.#unreached = term.unreached;
    term.end(reason);
    this.release(term);
  }

  /** Returns once what the term that was lost last has not reconciled. */
  takeUnreached(): readonly string[] {
    const unreached = this.#unreached;
    this.#unreached = [];
    return unreached;
  }

  /** Resolves when no reconcile runs; `undefined` if none does. */
  ended(): Promise<void> | undefined {
    if (this.working.length === 0) return undefined;
    return new Promise((resolve) => {
      this.#onEnded.push(resolve);
    });
  }

  /** Forgets a term that has ended, once its last reconcile has ended. */
  release(term: Term<T>): void {
    if (term.working.length > 0) return;
    this.#terms.delete(term);
    this.#abandoned.delete(term);
  }

  /** Call this when a reconcile has ended. */
  settled(): void {
    this.#onSettled?.();
    if (this.working.length === 0) for (const ended of this.#onEnded.splice(0)) ended();
  }

  abort(reason: ApiError): void {
    for (const term of this.#terms) term.abort(reason);
  }

  /** Waits no longer for the terms, which have ended. */
  abandon(): void {
    for (const term of this.#terms) if (term.working.length > 0) this.#abandoned.add(term);
    this.#terms.clear();
  }

  /** Resolves with whether no reconcile runs that was not abandoned, now or within this time in milliseconds. */
  idle(withinMs: number): Promise<boolean> {
    const idle = () => [...this.#terms].every((term) => term.working.length === 0);
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
