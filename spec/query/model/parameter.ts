/** A parameter of a step: a constant, or an Observable, which may be without a value at first. */
import type { Param } from 'rx-informer';
import { ReplaySubject } from 'rxjs';
import { pick } from './step.ts';

/** Every eighteenth value or so completes an Observable. */
const COMPLETES = 18;

export class Parameter<T> {
  readonly #values: readonly T[];
  readonly #subject = new ReplaySubject<T>(1);
  readonly #isConstant: boolean;
  readonly #varies: boolean;
  /** Values that wait until the present one was delivered to every subscriber. */
  readonly #waiting: number[] = [];
  #isDelivering = false;
  #isComplete = false;
  #value: T | undefined;

  /** `varies`: whether `start` also says what kind of parameter this is, else an Observable with a value. */
  constructor(values: readonly T[], start: number, varies: boolean, mayWait = true) {
    this.#values = values;
    this.#varies = varies;
    this.#isConstant = varies && start % 3 === 0;
    if (varies && mayWait && start % 7 === 1) return;
    this.#value = pick(values, start);
    this.#subject.next(this.#value);
  }

  /** What an operator takes. */
  get given(): Param<T> {
    return this.#isConstant ? this.value : this.#subject;
  }

  get isWaiting(): boolean {
    return !this.#isConstant && this.#value === undefined;
  }

  /** The value of the answer that must be shown. */
  get value(): T {
    return this.#value ?? pick(this.#values, 0);
  }

  turn(to: number): void {
    if (this.#isConstant || this.#isComplete) return;
    this.#waiting.push(to);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (this.#varies && next > COMPLETES && this.#value !== undefined) {
        this.#isComplete = true;
        this.#subject.complete();
        this.#waiting.length = 0;
        break;
      }
      this.#value = pick(this.#values, next);
      this.#subject.next(this.#value);
    }
    this.#isDelivering = false;
  }
}
