/** The Observable of a live operator: it subscribes to the sources and the parameters, and runs the machine. */
import { isObservable, type Observable, type Subscription } from 'rxjs';
import { Drain } from '../../rx/drain.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { originating } from '../../store/origin.ts';
import type { SetSource } from '../../store/set-source.ts';
import { Execution } from './execution.ts';
import { Ancestry, descend } from './lineage.ts';
import type { Operator } from './machine.ts';
import { checkOrder, setCheck } from './misuse.ts';
import { RefusedRows } from './refused-rows.ts';

type Source = Observable<AnyChangeSet<unknown>>;

/** Creates the Observable of an operator. Each subscription has a machine of its own. */
export function liveOperator<Out, S extends AnyChangeSet<Out> = AnyChangeSet<Out>>(
  operator: Operator<Out>,
): Observable<S> {
  const refusedRows = new RefusedRows();
  const { sources, params } = operator;
  const stream = originating<AnyChangeSet<Out>>((subscriber, tell) => {
    const drain = new Drain();
    const run = (task: () => void) =>
      drain.run(() => {
        if (subscriber.closed) return;
        try {
          task();
        } catch (error) {
          subscriber.error(error);
        }
      });
    const streams = params.filter(isObservable).length;
    const waits = operator.hasInnerStreams === true || sources.length + streams > 1;
    // Each change is told at once, so that a view shows rows that an operator refuses while the next one subscribes.
    const ancestry = new Ancestry(
      sources.length + streams,
      (above) => ({
        ...descend(above, [refusedRows], subscriber),
        subscription: subscriber,
      }),
      tell,
    );
    tell(ancestry.lineage);
    const sourceAt = (at: number) => ancestry.sources[at] as SetSource<unknown>;
    const followed: Subscription[] = [];
    const again = (input: number) => {
      const former = followed[input] as Subscription;
      if (former.closed) return false;
      run(() => {
        if (former.closed) return;
        // Before, because the sets of both would be those of two sources.
        former.unsubscribe();
        follow(input);
      });
      return true;
    };
    const parts = { operator, subscriber, refusedRows, ancestry, waits, run, again };
    const execution = new Execution<Out>(parts);
    // After the running task: a function that unsubscribes is called in the middle of a set, of which the rest is applied.
    subscriber.add(() => drain.run(() => execution.close()));
    const error = (cause: unknown) => subscriber.error(cause);
    const follow = (input: number) => {
      const check = setCheck(operator.name);
      const sets = sourceAt(input);
      const next = (set: AnyChangeSet<unknown>, isFirst: boolean) => {
        checkOrder(operator.name, sets.hasLostOrder);
        check(set, execution.rows(input), isFirst);
        execution.set(input, set);
      };
      const complete = () => run(() => execution.sourceCompleted());
      const subscription = sets.read(sources[input] as Source, { next, error, complete }, run);
      followed[input] = subscription;
      subscriber.add(subscription);
    };
    // One task, so that the first set answers the first sets of all sources.
    drain.enter(() => {
      let input = sources.length;
      for (const [at, param] of params.entries()) {
        if (!isObservable(param)) continue;
        const next = (value: unknown) => run(() => execution.parameter(at, value));
        subscriber.add(sourceAt(input++).subscribe(param, { next, error }));
      }
      for (let input = 0; input < sources.length && !subscriber.closed; input++) follow(input);
    });
  });
  return stream as Observable<S>;
}
