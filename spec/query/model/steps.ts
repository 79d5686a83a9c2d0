/** The operators that a random pipeline is made of. */

import { liveSort, liveTop, liveWindow } from 'rx-informer';
import { VirtualTimeScheduler } from 'rxjs';
import type { Item } from '../world.ts';
import { COMPARISONS, sorted } from './functions.ts';
import { Parameter } from './parameter.ts';
import { ROW_STEPS } from './row-steps.ts';
import { SEVERAL_STEPS } from './several-steps.ts';
import {
  type Make,
  type PipelineStep,
  pick,
  plainly,
  type Sets,
  type Surroundings,
} from './step.ts';

/** Positions and sizes, also none, and such beyond the end. */
const NUMBERS = [0, 1, 2, 3, 5, 10, 1_000, Number.POSITIVE_INFINITY];

const sort: Make = (start, { scheduler, varies }) => {
  const compare = new Parameter(COMPARISONS, start, varies);
  return {
    name: 'sort',
    takes: 'any',
    get isWaiting() {
      return compare.isWaiting;
    },
    apply: (source) => liveSort<Item>(compare.given, { scheduler })(source) as Sets,
    naive: ({ rows }) => {
      const left = sorted(rows, compare.value);
      return { rows: left, ordered: true, total: left.length };
    },
    turn: (to) => compare.turn(to),
  };
};

const window: Make = (start, { scheduler, varies }) => {
  const offset = new Parameter(NUMBERS, start >> 1, varies);
  const limit = new Parameter(NUMBERS, start + 4, varies);
  return {
    name: 'window',
    takes: 'ordered',
    get isWaiting() {
      return offset.isWaiting || limit.isWaiting;
    },
    apply: (source) =>
      liveWindow(offset.given, limit.given, { scheduler })(source as never) as Sets,
    naive: ({ rows, total }) => {
      const { value: from } = offset;
      return { rows: rows.slice(from, from + limit.value), ordered: true, total };
    },
    turn: (to) => (to % 2 === 0 ? offset : limit).turn(to >> 1),
  };
};

const top: Make = (start, { scheduler, varies }) => {
  const n = new Parameter(NUMBERS, start + 3, varies);
  const compare = new Parameter(COMPARISONS, start >> 1, varies);
  return {
    name: 'top',
    takes: 'any',
    get isWaiting() {
      return n.isWaiting || compare.isWaiting;
    },
    apply: (source) => liveTop<Item>(n.given, compare.given, { scheduler })(source) as Sets,
    naive: ({ rows }) => {
      const left = sorted(rows, compare.value);
      return { rows: left.slice(0, n.value), ordered: true, total: left.length };
    },
    // Of two parameters that change one after another, only the comparison is computed in slices.
    turn: (to) => (varies && to % 2 === 1 ? compare : n).turn(to >> 1),
  };
};

const ORDER_STEPS: readonly Make[] = [sort, window, top];

export const STEPS: readonly Make[] = [...ROW_STEPS, ...ORDER_STEPS, ...SEVERAL_STEPS];

/** What each maker's steps take. */
const takes = new Map<Make, PipelineStep['takes']>();
const anywhere = plainly(new VirtualTimeScheduler());
for (const make of STEPS) takes.set(make, make(0, anywhere).takes);

/** The steps that numbers choose, each among those that take what the step before gives. */
export function pipelineOf(
  choices: readonly (readonly [number, number])[],
  around: Surroundings,
  makes: readonly Make[] = STEPS,
): PipelineStep[] {
  const after = {
    rows: makes.filter((make) => takes.get(make) !== 'ordered'),
    order: makes.filter((make) => takes.get(make) !== 'unordered'),
  };
  let isOrdered = false;
  return choices.map(([which, start]) => {
    const step = pick(isOrdered ? after.order : after.rows, which)(start, around);
    isOrdered ||= step.name === 'sort' || step.name === 'top';
    return step;
  });
}
