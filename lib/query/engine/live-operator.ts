/** The Observable of a live operator: it subscribes to the sources and the parameters, and runs the machine. */
import { isObservable, Observable } from 'rxjs';
import { Drain } from '../../rx/drain.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { noteOrigin } from '../../store/origin.ts';
import { Ancestry } from './ancestry.ts';
import { Execution } from './execution.ts';
import { descend, type Lineage, lineageOf } from './lineage.ts';
import type { Operator } from './machine.ts';
import { setCheck } from './misuse.ts';
import { RefusedRows } from './refused-rows.ts';

/** Creates the Observable of an operator. Each subscription has a machine of its own. */
export function liveOperator<Out, S extends AnyChangeSet<Out> = AnyChangeSet<Out>>(
  operator: Operator<Out>,
): Observable<S> {
  const refusedRows = new RefusedRows();
  const params$ = operator.params.filter(isObservable);
  const above = [...operator.sources, ...params$].map(lineageOf);
  const descendants = (of: readonly Lineage[]) => descend(of, [refusedRows], operator.ids);
  const lineage = descendants(above);
  const stream = new Observable<AnyChangeSet<Out>>((subscriber) => {
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
    const waits = operator.hasInnerStreams === true || operator.sources.length + params$.length > 1;
    const ancestry = new Ancestry(above, lineage, descendants);
    const parts = { operator, subscriber, refusedRows, ancestry, waits, run };
    const execution = new Execution<Out>(parts);
    // After the running task: a function that unsubscribes is called in the middle of a set, of which the rest is applied.
    subscriber.add(() => drain.run(() => execution.close()));
    const error = (cause: unknown) => subscriber.error(cause);
    // One task, so that the first set answers the first sets of all sources.
    drain.enter(() => {
      for (const [at, param] of operator.params.entries()) {
        if (!isObservable(param)) continue;
        const next = (value: unknown) => run(() => execution.parameter(at, value));
        subscriber.add(param.subscribe({ next, error }));
      }
      for (const [input, source] of operator.sources.entries()) {
        if (subscriber.closed) return;
        const check = setCheck(operator.name);
        let isSubscribing = true;
        const next = (set: AnyChangeSet<unknown>) => {
          const isFirst = isSubscribing;
          run(() => {
            check(set, execution.rows(input), isFirst);
            execution.set(input, set);
          });
        };
        const complete = () => run(() => execution.sourceCompleted());
        subscriber.add(source.subscribe({ next, error, complete }));
        isSubscribing = false;
      }
    });
  });
  noteOrigin(stream, lineage);
  return stream as Observable<S>;
}
