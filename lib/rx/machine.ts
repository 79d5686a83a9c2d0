/**
 * Runs a pure state machine: `next(state, input)` decides, and this operator performs the effects. An effect emits a
 * value, or fills a slot with a source of further inputs. A new effect in a slot cancels the previous source, so two
 * requests can never be open where the machine knows of one.
 */
import { Observable, Subscription } from 'rxjs';
import { Drain } from './drain.ts';
import { reportingErrors } from './report-unhandled.ts';

/**
 * Emit a value, fill a slot with a source, empty a slot (`run: null`), move a source, call a function, or complete.
 */
export type MachineEffect<Input, Output> =
  | { readonly emit: Output }
  | { readonly slot: string; readonly run: (() => Observable<Input>) | null }
  | { readonly act: () => void }
  /** Moves the source in the slot `from` to `slot`, and cancels the source that was there. */
  | { readonly slot: string; readonly from: string }
  | { readonly complete: true };

/** A state, and the effects to perform on entering it, in order. */
export type Step<State, Effect> = readonly [state: State, effects: readonly Effect[]];

/** The slot of `orders$`; no machine uses this name. */
const ORDERS = '';

/** The definition of a machine. */
export interface MachineDefinition<State, Input, Effect, Output> {
  start(): Step<State, Effect>;
  next(state: State, input: Input): Step<State, Effect>;
  perform(effect: Effect): MachineEffect<Input, Output>;
  /** Inputs from outside, in addition to those of the slots. */
  readonly orders$?: Observable<Input>;
  /** Called for every step, before its effects. */
  onEnter?(state: State): void;
  /** Called for every step after its effects were performed, so its emissions have been received. */
  onSettled?(state: State): void;
}

/**
 * Creates an Observable of the machine's output. Each subscription is a separate run. Inputs pass a drain, so a
 * source that emits while it is being subscribed does not recurse. Unsubscribing empties every slot. If a source
 * errors, the run errors.
 */
export function machine<State, Input, Effect, Output>(
  definition: MachineDefinition<State, Input, Effect, Output>,
): Observable<Output> {
  return new Observable<Output>((subscriber) => {
    const slots = new Map<string, Subscription>();
    const drain = new Drain();
    let state: State;
    const clear = (slot: string) => {
      const running = slots.get(slot);
      slots.delete(slot);
      // An error thrown here is reported and not rethrown, because otherwise the next effect would not be performed
      // and the run would hang.
      reportingErrors(() => running?.unsubscribe())();
    };
    const fill = (slot: string, source: () => Observable<Input>) => {
      // Stored in its slot before it is subscribed, because a source that emits synchronously may replace it.
      const running = new Subscription();
      slots.set(slot, running);
      running.add(
        source().subscribe({
          next: (input) =>
            drain.run(() => {
              if (!running.closed) enter(definition.next(state, input));
            }),
          error: (error) => subscriber.error(error),
        }),
      );
    };
    const move = (from: string, to: string) => {
      const running = slots.get(from);
      slots.delete(from);
      if (running !== undefined) slots.set(to, running);
    };
    const enter = ([entered, effects]: Step<State, Effect>) => {
      state = entered;
      definition.onEnter?.(entered);
      for (const effect of effects) {
        if (subscriber.closed) return;
        const task = definition.perform(effect);
        if ('emit' in task) {
          subscriber.next(task.emit);
          if (subscriber.closed) return;
        } else if ('act' in task) task.act();
        else if ('complete' in task) subscriber.complete();
        else {
          clear(task.slot);
          if ('from' in task) move(task.from, task.slot);
          else if (task.run !== null) fill(task.slot, task.run);
        }
      }
      definition.onSettled?.(entered);
    };
    subscriber.add(() => {
      for (const slot of [...slots.keys()]) clear(slot);
    });
    drain.run(() => enter(definition.start()));
    const { orders$ } = definition;
    if (orders$ !== undefined && !subscriber.closed) fill(ORDERS, () => orders$);
  });
}
