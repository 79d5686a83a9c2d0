/**
 * Runs a pure state machine: `next(state, input)` says what to do, this does it. An effect either emits, or
 * fills a slot with a source of further inputs; a new effect in a slot cancels the one before, so that two
 * requests can never be under way where the machine knows of one.
 */
import { Observable, Subscription } from 'rxjs';
import { Drain } from './drain.ts';
import { told } from './report-unhandled.ts';

/** Emit a value, put a source in a slot, empty a slot (`run: null`), move a source, tell somebody, or end. */
export type MachineEffect<Input, Output> =
  | { readonly emit: Output }
  | { readonly slot: string; readonly run: (() => Observable<Input>) | null }
  | { readonly act: () => void }
  /** What runs in the slot `from` goes on in `slot`, in the place of what runs there. */
  | { readonly slot: string; readonly from: string }
  | { readonly complete: true };

/** A state and what to do on entering it, in order. */
export type Step<State, Effect> = readonly [state: State, effects: readonly Effect[]];

/** No slot of a machine: where its orders come in. */
const ORDERS = '';

/** What {@link machine} runs. */
export interface MachineDefinition<State, Input, Effect, Output> {
  start(): Step<State, Effect>;
  next(state: State, input: Input): Step<State, Effect>;
  perform(effect: Effect): MachineEffect<Input, Output>;
  /** Inputs from outside, beside those of the slots. */
  readonly orders$?: Observable<Input>;
  /** Told of every step, before its effects. */
  onEnter?(state: State): void;
  /** Told of every step once its effects are under way: what was emitted has been received. */
  onSettled?(state: State): void;
}

/**
 * Each subscription is a run of its own. Inputs pass a drain: a source that answers while it is being
 * subscribed does not recurse. Unsubscribing empties every slot; an error of a source is an error of the run.
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
      // A source that throws here is reported: the next effect must be performed, or the run stands still.
      told(() => running?.unsubscribe())();
    };
    const fill = (slot: string, source: () => Observable<Input>) => {
      // In its slot before it is subscribed: a source that answers at once may replace it.
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
