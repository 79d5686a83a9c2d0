/** The machine of `liveGroupBy`: the states of the aggregates of each group, and the rows made of their results. */

import type { Stored } from '../../meta/kubernetes-object.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import { ownGuard } from '../../store/mutation-guard.ts';
import type { Aggregate, Aggregates } from '../aggregates/aggregate.ts';
import type { AnswerRows, HeldRow, Machine, MachineContext } from '../engine/machine.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { ROWS_A_STEP } from '../engine/slice.ts';
import { type AnyGroupRow, checkedKeys, type GroupKey, groupRow } from './group-row.ts';

/** Tells the refused groups from the refused rows, because a row may have the id of a group. */
const GROUPS = 1;

/** A row, the groups that it counts in, and its value in each aggregate. */
interface Grouped extends HeldRow<unknown> {
  object: Stored<unknown>;
  groups: readonly string[];
  values: unknown[];
}

interface Group {
  /** The list of this group's key. */
  readonly alone: readonly string[];
  members: number;
  states: unknown[];
  row: HeldRow<AnyGroupRow> | undefined;
  /** Whether the results may differ from the row. */
  isChanged: boolean;
  /** Whether a result has thrown, so that its error is kept with the group. */
  isRefused: boolean;
}

const NOWHERE: readonly string[] = [];
const NO_VALUES: readonly unknown[] = [];

export class GroupMachine<T> extends RowMachine<AnyGroupRow, Grouped> {
  readonly #key: GroupKey<T>;
  readonly #names: readonly string[];
  readonly #aggregates: readonly Aggregate<T, unknown, unknown>[];
  readonly #rows = this.inputs[0] as Map<string, Grouped>;
  readonly #groups = new Map<string, Group>();
  /** Groups whose results may differ from their rows. */
  readonly #changed = new Set<string>();
  /** Groups with a state that `add` or `remove` left unknown by throwing. */
  readonly #broken = new Set<string>();
  /** The values that were read last, in a list that is used again for each row. */
  readonly #values: unknown[] = [];
  #former: Machine<AnyGroupRow> | undefined;
  #isFilling = true;
  readonly #guarded = ownGuard();
  readonly answer: AnswerRows<AnyGroupRow>;

  constructor(
    key: GroupKey<T>,
    aggregates: Aggregates<T>,
    context: MachineContext,
    former: Machine<AnyGroupRow> | undefined,
  ) {
    super(context);
    this.#key = key;
    this.#names = Object.keys(aggregates);
    this.#aggregates = Object.values(aggregates);
    this.#former = former;
    const groups = this.#groups;
    this.answer = {
      get: (id) => groups.get(id)?.row,
      *entries() {
        for (const [id, { row }] of groups) if (row !== undefined) yield [id, row] as const;
      },
    };
  }

  put(_input: number, id: string, key: string, object: Stored<T>): void {
    let row = this.#rows.get(id);
    if (row === undefined) {
      row = { key, object, groups: NOWHERE, values: [] };
      this.#rows.set(id, row);
    }
    const placed = row;
    placed.object = object;
    let isRead = false;
    const isIn = this.context.attempt(id, key, () => {
      const groups = this.#read(object, placed.groups);
      isRead = true;
      this.#place(placed, groups);
      return true;
    });
    if (isIn) return;
    if (!isRead) this.#leave(placed, NOWHERE, NO_VALUES);
    placed.groups = NOWHERE;
    placed.values = [];
  }

  protected removed(_input: number, _id: string, row: Grouped): void {
    this.#leave(row, NOWHERE, NO_VALUES);
  }

  override apply(input: number, set: AnyChangeSet<unknown>): void {
    super.apply(input, set);
    if (this.#isFilling) return;
    for (const key of this.#changed) this.#show(key);
    this.#changed.clear();
  }

  *settle(): Generator<void, void, void> {
    this.#isFilling = false;
    let groups = 0;
    for (const key of this.#changed) {
      this.#changed.delete(key);
      this.#show(key);
      if (++groups % ROWS_A_STEP === 0) yield;
    }
    this.#former = undefined;
  }

  /** Reads the values of a row into `#values`, and returns the keys of its groups. */
  #read(object: Stored<T>, before: readonly string[]): readonly string[] {
    const nowMs = this.context.nowMs();
    const key = this.#key(object, nowMs);
    if (key === undefined) return NOWHERE;
    const groups = typeof key === 'string' ? this.#groupsOf(key, before) : checkedKeys(key);
    const aggregates = this.#aggregates;
    for (let at = 0; at < aggregates.length; at++) {
      const read = aggregates[at]?.value;
      this.#values[at] = read === undefined ? object : read(object, nowMs);
    }
    return groups;
  }

  /** The list of one key. Rows of a group share it, because most rows are in one group. */
  #groupsOf(key: string, before: readonly string[]): readonly string[] {
    if (before.length === 1 && before[0] === key) return before;
    return this.#groups.get(key)?.alone ?? [key];
  }

  /** Counts a row in these groups with the values that were read, and no longer in those before. */
  #place(row: Grouped, groups: readonly string[]): void {
    const values = this.#values;
    const isSame = groups === row.groups;
    if (!isSame) this.#leave(row, groups, values);
    this.#join(row, groups, values, isSame);
    row.groups = groups;
    const length = groups === NOWHERE ? 0 : values.length;
    for (let at = 0; at < length; at++) row.values[at] = values[at];
    row.values.length = length;
  }

  /** Takes a row out of its groups, except for what it has in common with its next groups and values. */
  #leave(before: Grouped, groups: readonly string[], values: readonly unknown[]): void {
    for (const key of before.groups) {
      const group = this.#groups.get(key) as Group;
      const stays = groups.includes(key);
      if (!stays) {
        group.members--;
        this.#note(key, group);
      }
      this.#remove(key, group, before.values, stays ? values : undefined);
    }
  }

  /** Removes a row's values from the states of a group, except for those that stay. */
  #remove(
    key: string,
    { states }: Group,
    values: readonly unknown[],
    staying: readonly unknown[] | undefined,
  ): void {
    const aggregates = this.#aggregates;
    for (let at = 0; at < aggregates.length; at++) {
      const value = values[at];
      if (staying !== undefined && Object.is(value, staying[at])) continue;
      try {
        states[at] = aggregates[at]?.remove(states[at], value);
      } catch (error) {
        this.#broken.add(key);
        reportUnhandled(error);
      }
    }
  }

  /**
   * Counts a row in its next groups, except for what it had in common with its groups and values before. With `isSame`
   * it is still in all of its groups, with the values before.
   */
  #join(
    before: Grouped,
    groups: readonly string[],
    values: readonly unknown[],
    isSame: boolean,
  ): void {
    try {
      for (const key of groups) {
        const stayed = isSame || before.groups.includes(key);
        const group = this.#groupOf(key);
        if (isSame) this.#remove(key, group, before.values, values);
        if (!stayed) {
          group.members++;
          this.#note(key, group);
        }
        this.#add(key, group, values, stayed ? before.values : undefined);
      }
    } catch (error) {
      // The row stays out, but some states have it already.
      for (const key of groups) {
        this.#broken.add(key);
        this.#note(key, this.#groups.get(key));
      }
      throw error;
    }
  }

  /** Adds a row's values to the states of a group, except for those that it has already. */
  #add(
    key: string,
    group: Group,
    values: readonly unknown[],
    had: readonly unknown[] | undefined,
  ): void {
    const { states } = group;
    const aggregates = this.#aggregates;
    for (let at = 0; at < aggregates.length; at++) {
      const value = values[at];
      if (had !== undefined && Object.is(had[at], value)) continue;
      this.#note(key, group);
      states[at] = aggregates[at]?.add(states[at], value);
    }
  }

  /** Notes that the results of a group may differ from its row. */
  #note(key: string, group: Group | undefined): void {
    if (group?.isChanged === true) return;
    if (group !== undefined) group.isChanged = true;
    this.#changed.add(key);
  }

  #groupOf(key: string): Group {
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = {
        alone: [key],
        members: 0,
        states: [],
        row: undefined,
        isChanged: false,
        isRefused: false,
      };
      this.#groups.set(key, group);
    }
    // Of an empty group, the states of custom aggregates may have kept rounding errors.
    if (group.members === 0) group.states = this.#aggregates.map((each) => each.initial());
    return group;
  }

  /** Computes the states of a group from its rows. */
  #rebuild(key: string, group: Group): void {
    const members: Grouped[] = [];
    for (const row of this.#rows.values()) if (row.groups.includes(key)) members.push(row);
    group.members = members.length;
    group.states = this.#aggregates.map((each) => each.initial());
    for (const { values } of members) {
      for (const [at, each] of this.#aggregates.entries()) {
        group.states[at] = each.add(group.states[at], values[at]);
      }
    }
    this.#broken.delete(key);
  }

  /** Brings the row of a group up to date. */
  #show(key: string): void {
    const group = this.#groups.get(key);
    if (group === undefined) return;
    group.isChanged = false;
    const row = this.#rowOf(key, group);
    if (row !== group.row) {
      this.log.touch(key, group.row);
      group.row = row;
    }
    if (group.members > 0) return;
    this.#groups.delete(key);
    this.#broken.delete(key);
  }

  #rowOf(key: string, group: Group): HeldRow<AnyGroupRow> | undefined {
    if (group.isRefused) this.context.forget(key, GROUPS);
    group.isRefused = false;
    try {
      if (this.#broken.has(key)) this.#rebuild(key, group);
      if (group.members === 0) return undefined;
      const results = this.#aggregates.map((each, at) => each.result(group.states[at]));
      const before = group.row ?? this.#former?.answer.get(key);
      const row = groupRow(key, this.#names, results, before);
      this.#guarded(row.object);
      return row;
    } catch (error) {
      group.isRefused = group.members > 0;
      const fail = () => {
        throw error;
      };
      if (group.isRefused) this.context.attempt(key, key, fail, GROUPS);
      return undefined;
    }
  }
}
