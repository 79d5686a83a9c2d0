/** The machine of `liveGroupBy`: the states of the aggregates of each group, and the rows made of their results. */
import type { Stored } from '../../meta/stored.ts';
import { reportUnhandled } from '../../rx/report-unhandled.ts';
import type { AnyChangeSet } from '../../store/change-set.ts';
import type { Aggregate, Aggregates } from '../aggregates/aggregate.ts';
import type { AnswerRows, HeldRow, Machine, MachineContext } from '../engine/machine.ts';
import { RowMachine } from '../engine/row-machine.ts';
import { type AnyGroupRow, groupRow } from './group-row.ts';

const GROUPS_A_STEP = 64;

/** A function from a row to the key of its group, or the keys of its groups. */
export type GroupKey<T> = (
  object: Stored<T>,
  nowMs: number,
) => string | undefined | readonly string[];

/** In which groups a row counts, and with which value in each aggregate. */
interface Membership {
  readonly groups: readonly string[];
  readonly values: readonly unknown[];
}

interface Grouped extends HeldRow<unknown> {
  readonly membership: Membership;
}

interface Group {
  /** The list of this group's key. */
  readonly alone: readonly string[];
  members: number;
  states: unknown[];
  row: HeldRow<AnyGroupRow> | undefined;
  /** Whether a result has thrown, so that its error is kept with the group. */
  isRejected: boolean;
}

const NOWHERE: Membership = { groups: [], values: [] };

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
  #former: Machine<AnyGroupRow> | undefined;
  #isFilling = true;
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
    const before = this.#rows.get(id)?.membership ?? NOWHERE;
    let hasLeft = false;
    const now = this.context.attempt(id, key, () => {
      const read = this.#read(object, before);
      hasLeft = true;
      this.#leave(before, read);
      this.#join(before, read);
      return read;
    });
    if (!hasLeft) this.#leave(before, NOWHERE);
    this.#rows.set(id, { key, object, membership: now ?? NOWHERE });
  }

  protected removed(_input: number, _id: string, { membership }: Grouped): void {
    this.#leave(membership, NOWHERE);
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
      if (++groups % GROUPS_A_STEP === 0) yield;
    }
    this.#former = undefined;
  }

  #read(object: Stored<T>, before: Membership): Membership {
    const nowMs = this.context.nowMs();
    const key = this.#key(object, nowMs);
    if (key === undefined) return NOWHERE;
    const groups = typeof key === 'string' ? this.#groupsOf(key, before) : checkedKeys(key);
    const aggregates = this.#aggregates;
    const values: unknown[] = [];
    for (let at = 0; at < aggregates.length; at++) {
      const read = aggregates[at]?.value;
      values.push(read === undefined ? object : read(object, nowMs));
    }
    return { groups, values };
  }

  /** The list of one key. Rows of a group share it, because most rows are in one group. */
  #groupsOf(key: string, { groups }: Membership): readonly string[] {
    if (groups.length === 1 && groups[0] === key) return groups;
    return this.#groups.get(key)?.alone ?? [key];
  }

  /** Takes a row out of its groups, except for what it has in common with its next membership. */
  #leave(before: Membership, now: Membership): void {
    for (const key of before.groups) {
      const group = this.#groups.get(key) as Group;
      const stays = now.groups === before.groups || now.groups.includes(key);
      if (!stays) {
        group.members--;
        this.#changed.add(key);
      }
      this.#remove(key, group, before.values, stays ? now.values : undefined);
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

  /** Counts a row in its groups, except for what it had in common with its membership before. */
  #join(before: Membership, now: Membership): void {
    try {
      for (const key of now.groups) {
        const stayed = now.groups === before.groups || before.groups.includes(key);
        const group = this.#groupOf(key);
        if (!stayed) {
          group.members++;
          this.#changed.add(key);
        }
        this.#add(key, group, now.values, stayed ? before.values : undefined);
      }
    } catch (error) {
      // The row stays out, but some states have it already.
      for (const key of now.groups) {
        this.#broken.add(key);
        this.#changed.add(key);
      }
      throw error;
    }
  }

  /** Adds a row's values to the states of a group, except for those that it has already. */
  #add(
    key: string,
    { states }: Group,
    values: readonly unknown[],
    had: readonly unknown[] | undefined,
  ): void {
    const aggregates = this.#aggregates;
    for (let at = 0; at < aggregates.length; at++) {
      const value = values[at];
      if (had !== undefined && Object.is(had[at], value)) continue;
      this.#changed.add(key);
      states[at] = aggregates[at]?.add(states[at], value);
    }
  }

  #groupOf(key: string): Group {
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { alone: [key], members: 0, states: [], row: undefined, isRejected: false };
      this.#groups.set(key, group);
    }
    // Of an empty group, the states of custom aggregates may have kept rounding errors.
    if (group.members === 0) group.states = this.#aggregates.map((each) => each.initial());
    return group;
  }

  /** Computes the states of a group from its rows. */
  #rebuild(key: string, group: Group): void {
    const members: Membership[] = [];
    for (const { membership } of this.#rows.values()) {
      if (membership.groups.includes(key)) members.push(membership);
    }
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
    if (group.isRejected) this.context.forget(key);
    group.isRejected = false;
    try {
      if (this.#broken.has(key)) this.#rebuild(key, group);
      if (group.members === 0) return undefined;
      const results = this.#aggregates.map((each, at) => each.result(group.states[at]));
      return groupRow(key, this.#names, results, group.row ?? this.#former?.answer.get(key));
    } catch (error) {
      group.isRejected = group.members > 0;
      const fail = () => {
        throw error;
      };
      if (group.isRejected) this.context.attempt(key, key, fail);
      return undefined;
    }
  }
}

/** The different keys of a row in several groups. */
function checkedKeys(keys: readonly string[]): readonly string[] {
  const list = Array.isArray(keys) ? [...new Set(keys)] : [keys];
  for (const key of list) {
    if (typeof key === 'string') continue;
    throw new TypeError(
      `liveGroupBy: a key is ${String(key)}; it must be text, undefined, or an array of texts`,
    );
  }
  return list as readonly string[];
}
