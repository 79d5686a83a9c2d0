/** What one subscription of a live operator needs of the Observable that it belongs to. */
import type { Subscriber } from 'rxjs';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { Ancestry } from './lineage.ts';
import type { Operator } from './machine.ts';
import type { RefusedRows } from './refused-rows.ts';

export interface ExecutionParts<Out> {
  readonly operator: Operator<Out>;
  readonly subscriber: Subscriber<AnyChangeSet<Out>>;
  readonly refusedRows: RefusedRows;
  readonly ancestry: Ancestry;
  /** Whether emissions wait for the end of the turn, because another input may still change in it. */
  readonly waits: boolean;
  /** Runs the task after those that were given before. What it throws is an error of the stream. */
  run(task: () => void): void;
  /** Subscribes to a source again, unless it has completed, and returns whether it could. */
  again(input: number): boolean;
}
