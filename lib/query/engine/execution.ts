/**
 * One subscription of a live operator: it holds the machine, recomputes the answer when a parameter changes, and emits
 * what has changed.
 */
import { asyncScheduler, type SchedulerLike, Subscription } from 'rxjs';
import type { Change } from '../../delta/net-change.ts';
import { atEndOfTurn } from '../../rx/drain.ts';
import type { AnyChangeSet, OrderedChangeSet } from '../../store/change-set.ts';
import { firstOf, inOne } from './answer-log.ts';
import { DueTimer } from './due-timer.ts';
import { Emission } from './emission.ts';
import type { ExecutionParts } from './execution-parts.ts';
import type { Arrangement, Machine, MachineContext, RowFedMachine } from './machine.ts';
import { contextFor } from './machine-context.ts';
import { type FedRows, Recomputation, rowsOf, rowsOfSet } from './recomputation.ts';
import type { RefusedRow } from './refused-rows.ts';
import { Parameters, RowStore } from './row-store.ts';
import { slicesOn } from './slice.ts';

/** A first set of more rows is computed in slices together with the rows of the other inputs. */
const ROWS_AT_ONCE = 512;

interface Computation<Out> {
  readonly of: Recomputation<Out>;
  readonly run: Subscription;
}

function isRowFed<Out>(machine: Machine<Out>): machine is RowFedMachine<Out> {
  return 'inputs' in machine;
}

export class Execution<Out> {
  readonly #parts: ExecutionParts<Out>;
  readonly #scheduler: SchedulerLike;
  readonly #params: Parameters;
  readonly #emission: Emission<Out>;
  #held: RowStore | undefined;
  /** The time of the running task, read once because a comparison asks for it many times. */
  #nowMs: number | undefined;
  /** The order of the source, if it has one. */
  #source: Arrangement<unknown> | undefined;
  #machine: Machine<Out> | undefined;
  #refusedRows: Map<string, RefusedRow> = new Map();
  #computation: Computation<Out> | undefined;
  /** Changes that the machine no longer knows of, because another machine has replaced it. */
  #pending: (readonly Change<Out>[])[] = [];
  /** Whether sets go to a new machine only: one that is computed in slices, and those after it, until all its rows are emitted. */
  #isBehind = false;
  /** The steps of the machine, while some are left. */
  #steps: Subscription | undefined;
  /** Whether the machine waits for all rows of its sources. */
  #isShort = false;
  #isRetuning = false;
  /** Whether the next machine has other parameters. */
  #hasRetuned = false;
  #isScheduled = false;
  #openSources: number;
  #hasCompleted = false;
  readonly #due: DueTimer;

  constructor(parts: ExecutionParts<Out>) {
    const { operator } = parts;
    this.#parts = parts;
    this.#scheduler = operator.scheduler ?? asyncScheduler;
    this.#due = new DueTimer(this.#scheduler, () =>
      this.#run(() => {
        this.#emission.because('time');
        this.#machine?.wake?.();
        this.#schedule();
      }),
    );
    this.#params = new Parameters(operator.params);
    this.#emission = new Emission(operator.sources.length);
    this.#openSources = operator.sources.length;
    this.#held = this.#params.complete ? undefined : new RowStore(operator.sources.length);
  }

  /** Runs a task at the time that it begins. */
  #run(task: () => void): void {
    this.#parts.run(() => {
      this.#nowMs = undefined;
      task();
    });
  }

  /** The rows of an input that the answer is based on; `undefined` if they are not held, or not all yet. */
  rows(input: number): ReadonlyMap<string, unknown> | undefined {
    if (this.#held !== undefined) return this.#held.inputs[input];
    if (this.#machine === undefined || this.#isBehind || !isRowFed(this.#machine)) return undefined;
    return this.#machine.inputs[input];
  }

  parameter(at: number, value: unknown): void {
    if (!this.#params.set(at, value) || !this.#params.complete || this.#isRetuning) return;
    // At the end of the turn, so that parameters that change together change the answer once.
    this.#isRetuning = true;
    atEndOfTurn(this.#parts.ancestry.lineage.rank, () =>
      this.#run(() => {
        this.#isRetuning = false;
        this.#retune();
        // Emits the changes of the sources in this turn, unless the new parameter is part of the same set.
        this.#schedule();
        this.#completeIfDone();
      }),
    );
  }

  set(input: number, set: AnyChangeSet<unknown>): void {
    this.#nowMs = undefined;
    const { order, total } = set as Partial<OrderedChangeSet<unknown>>;
    if (order !== undefined) this.#source = { order, total: total ?? order.size };
    const isFirst = this.#emission.arrived(input, set, this.#isShort);
    this.#isShort = false;
    if (this.#parts.operator.readsClusters) this.#readClusters();
    if (this.#held !== undefined) return this.#held.apply(input, set);
    if (isFirst && !this.#emission.hasEmitted) return this.#first(input, set);
    const machine = this.#machine;
    const next = this.#computation?.of.next;
    if (this.#source !== undefined) {
      machine?.arranged?.(this.#source);
      next?.arranged?.(this.#source);
    }
    if (this.#isSliced(input, set)) {
      this.#isBehind = true;
      return this.#compute([this.#allRows()], { input, set });
    }
    if (!this.#isBehind) machine?.apply(input, set);
    this.#computation?.of.apply(input, set);
    this.#proceed();
  }

  /** Lets the machine take what was applied. Then its answer is emitted. */
  #proceed(): void {
    if (this.#isUnfinished) return;
    const steps = this.#machine?.steps?.();
    if (steps === undefined) return this.#schedule();
    const run = new Subscription();
    this.#steps = run;
    this.#inSlices(steps, run, () => {
      this.#steps = undefined;
      this.#schedule();
    });
  }

  /**
   * Whether the set is computed in slices: the first list of an informer, or what a new parameter of an operator before
   * this one has changed, which was computed in slices, too.
   */
  #isSliced(input: number, { reset, cause, changes }: AnyChangeSet<unknown>): boolean {
    const rows = this.rows(input);
    if (this.#computation !== undefined || rows === undefined || reset) return false;
    if (changes.length <= ROWS_AT_ONCE) return false;
    if (rows.size === 0) return true;
    // A new machine calls the functions for all rows. A few changes take less time than the rows that stay.
    const { isRemembering } = this.#parts.operator;
    return cause === 'query' && !isRemembering && changes.length > rows.size / 32;
  }

  /** Takes the first set of an input before the first answer was emitted. */
  #first(input: number, set: AnyChangeSet<unknown>): void {
    if (this.#computation !== undefined) return this.#computation.of.add(input, set);
    const machine = this.#machine;
    if (machine === undefined) return this.#compute([rowsOfSet(input, set)], undefined, set);
    if (set.changes.length <= ROWS_AT_ONCE) {
      machine.apply(input, set);
      return this.#schedule();
    }
    // Computed anew with the rows of the other inputs, because nobody has seen that answer yet.
    const rows = this.#allRows();
    machine.close?.();
    this.#machine = undefined;
    this.#compute([rows], { input, set });
  }

  /** A source is over clusters, or no longer, other than the machine was made for. */
  #readClusters(): void {
    const machine = this.#machine;
    if (machine === undefined || !this.#parts.ancestry.hasOtherClusters) return;
    const rows = this.#allRows();
    if (!this.#emission.hasEmitted) {
      machine.close?.();
      this.#machine = undefined;
    }
    this.#compute([rows]);
  }

  sourceCompleted(): void {
    this.#openSources--;
    // It has no rows for a machine that waits for them.
    this.#isShort = false;
    this.#completeIfDone();
  }

  close(): void {
    this.#computation?.run.unsubscribe();
    this.#computation?.of.next.close?.();
    this.#steps?.unsubscribe();
    this.#machine?.close?.();
    this.#due.close();
    this.#parts.refusedRows.end(this, this.#hasCompleted);
  }

  #retune(): void {
    if (!this.#emission.hasInput) {
      this.#held = undefined;
      return;
    }
    const { values } = this.#params;
    if (this.#computation === undefined && this.#machine?.retune?.(values)) {
      this.#emission.because('query');
      return this.#schedule();
    }
    const rows = this.#allRows();
    this.#held = undefined;
    this.#hasRetuned = true;
    this.#compute([rows]);
  }

  #allRows(): Generator<FedRows, void, void> {
    if (this.#held !== undefined) return rowsOf(this.#held.inputs);
    const machine = this.#machine;
    if (machine === undefined || (this.#isBehind && this.#computation !== undefined)) {
      return this.#computation?.of.allRows() ?? rowsOf([]);
    }
    return rowsOf(isRowFed(machine) ? machine.inputs : []);
  }

  /** Computes the answer for the parameters as they are now, and abandons an earlier computation. */
  #compute(
    rows: readonly Generator<FedRows, void, void>[],
    change?: { readonly input: number; readonly set: AnyChangeSet<unknown> },
    first?: AnyChangeSet<unknown>,
  ): void {
    const abandoned = this.#computation;
    abandoned?.run.unsubscribe();
    abandoned?.of.next.close?.();
    this.#computation = undefined;
    const refusedRows: Map<string, RefusedRow> = new Map();
    const former = this.#machine;
    const values = this.#params.values as never[];
    const next = this.#parts.operator.create(values, this.#contextFor(refusedRows), former);
    if (this.#source !== undefined) next.arranged?.(this.#source);
    if (!isRowFed(next)) {
      if (first !== undefined) next.apply(0, first);
      return this.#install(next, refusedRows);
    }
    const of = new Recomputation(next, rows, former, abandoned?.of);
    if (change !== undefined) of.begin(change.input, change.set);
    const run = new Subscription();
    this.#computation = { of, run };
    this.#inSlices(of.steps(), run, () => {
      // The next machine ignores the times that have passed.
      this.#machine?.wake?.();
      this.#pending.push(this.#take(), of.difference());
      this.#computation = undefined;
      this.#install(next, refusedRows);
    });
  }

  #inSlices(steps: Iterator<void, void>, run: Subscription, done: () => void): void {
    const isOver = () => run.closed || this.#parts.subscriber.closed;
    const enter = (task: () => void) => this.#run(task);
    run.add(slicesOn(this.#scheduler).advance({ steps, isOver, enter, done }));
  }

  #install(machine: Machine<Out>, refusedRows: Map<string, RefusedRow>): void {
    if (this.#hasRetuned && this.#machine !== undefined) this.#emission.because('query');
    this.#hasRetuned = false;
    this.#isBehind = false;
    this.#machine?.close?.();
    this.#machine = machine;
    this.#refusedRows = refusedRows;
    this.#proceed();
  }

  #contextFor(refusedRows: Map<string, RefusedRow>): MachineContext {
    const change = (task: () => void) =>
      this.#run(() => {
        task();
        this.#proceed();
      });
    const nowMs = () => {
      this.#nowMs ??= this.#scheduler.now();
      return this.#nowMs;
    };
    const above = this.#parts.ancestry.forMachine();
    return contextFor(this.#parts.operator.name, refusedRows, { change, nowMs, above });
  }

  #schedule(): void {
    if (!this.#parts.waits) return this.#emit();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    atEndOfTurn(this.#parts.ancestry.lineage.rank, () =>
      this.#run(() => {
        this.#isScheduled = false;
        // A new parameter changes the answer in this turn, too, and then emits both as one set.
        if (!this.#isRetuning) this.#emit();
      }),
    );
  }

  /** The changes of the answer that stands. A computation compares these rows, too. */
  #take(): readonly Change<Out>[] {
    const changes = this.#machine?.take() ?? [];
    this.#computation?.of.changed(changes);
    return changes;
  }

  #emit(): void {
    const machine = this.#machine;
    if (machine === undefined || this.#isBehind || this.#isUnfinished) return;
    this.#isShort = machine.isShort === true && this.#parts.again(0);
    if (this.#isShort) return;
    const changed = inOne([...this.#pending, this.#take()]);
    this.#pending = [];
    const arrangement = machine.arrangement?.();
    const changes = this.#emission.hasEmitted ? changed : firstOf(machine, arrangement);
    const set = this.#emission.next(changes, arrangement, this.#parts.ancestry.lineage);
    // Before the set, so that a view that shows it shows what was refused, too.
    this.#parts.refusedRows.publish(this, this.#refusedRows);
    this.#due.await(machine.dueMs);
    if (set !== undefined) this.#parts.subscriber.next(set);
    this.#completeIfDone();
  }

  get #isUnfinished(): boolean {
    return this.#steps !== undefined || this.#isShort;
  }

  #completeIfDone(): void {
    if (this.#openSources > 0 || this.#isRetuning || this.#isScheduled) return;
    if (this.#computation !== undefined || this.#isUnfinished) return;
    this.#hasCompleted = true;
    this.#parts.subscriber.complete();
  }
}
