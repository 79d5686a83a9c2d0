/** Operators that treat each row by itself. */
import {
  conflateByKey,
  liveFilter,
  liveFlatMap,
  liveMap,
  liveMergeMap,
  liveShare,
  liveUntil,
} from 'rx-informer';
import { defer, isObservable, of } from 'rxjs';
import { map } from 'rxjs/operators';
import type { Item } from '../world.ts';
import { PARTS, PREDICATES, PROJECTIONS } from './functions.ts';
import { Parameter } from './parameter.ts';
import { answerOf, attempt, type Make, type NaiveAnswer, type Sets, unordered } from './step.ts';

const filter: Make = (start, { scheduler, varies }) => {
  const predicate = new Parameter(PREDICATES, start, varies);
  return {
    name: 'filter',
    takes: 'unordered',
    get isWaiting() {
      return predicate.isWaiting;
    },
    apply: (source) => liveFilter<Item>(predicate.given, { scheduler })(source as never) as Sets,
    naive: (before) => {
      const holds = predicate.value;
      return unordered(before.rows.filter(({ object }) => attempt(() => holds(object)) === true));
    },
    turn: (to) => predicate.turn(to),
  };
};

/** The rows that a projection makes. */
function projected(
  before: NaiveAnswer,
  project: (object: Item) => Item | undefined,
): NaiveAnswer['rows'] {
  return before.rows.flatMap(({ id, key, object }) => {
    const made = attempt(() => project(object));
    return made === undefined ? [] : [{ id, key, object: made }];
  });
}

const mapRows: Make = (start, { scheduler, varies }) => {
  const project = new Parameter(PROJECTIONS, start, varies);
  return {
    name: 'map',
    takes: 'any',
    get isWaiting() {
      return project.isWaiting;
    },
    apply: (source) =>
      liveMap<Item, Item, unknown>(project.given, { scheduler })(source) as unknown as Sets,
    naive: (before) => answerOf(before, projected(before, project.value)),
    turn: (to) => project.turn(to),
  };
};

/** The name of a part in an id, by Q50. */
const escaped = (name: string) =>
  name.includes('/') ? `${name.split('%').join('%25').split('/').join('%2F')}/` : name;

const flatMap: Make = (start, { scheduler, varies }) => {
  const project = new Parameter(PARTS, start, varies);
  return {
    name: 'flatMap',
    takes: 'unordered',
    get isWaiting() {
      return project.isWaiting;
    },
    apply: (source) =>
      liveFlatMap<Item, Item>(project.given, { scheduler, idOf: ({ group }) => group })(
        source as never,
      ) as unknown as Sets,
    naive: ({ rows }) =>
      unordered(
        rows.flatMap(({ id, key, object }) => {
          const parts = project.value(object) ?? [];
          const ids = new Set(parts.map(({ group }) => group));
          // Two rows with one id, or a row without one: the object is refused.
          if (ids.size < parts.length || ids.has('')) return [];
          return parts.map((part) => ({
            id: `${id}/${escaped(part.group)}`,
            key: `${key}/${part.group}`,
            object: part,
          }));
        }),
      ),
    turn: (to) => project.turn(to),
  };
};

type Project = (typeof PROJECTIONS)[number];
/** Each state of an object has an Observable of its own, so the row is a function of the object. */
const deferred = (project: Project) => (object: Item) => defer(() => of(project(object) as Item));

const mergeMap: Make = (start, { scheduler, varies }) => {
  const project = new Parameter<Project>(PROJECTIONS, start, varies);
  return {
    name: 'mergeMap',
    takes: 'unordered',
    get isWaiting() {
      return project.isWaiting;
    },
    apply: (source) => {
      const { given } = project;
      const streams = isObservable(given) ? given.pipe(map(deferred)) : deferred(given);
      return liveMergeMap<Item, Item>(streams, { scheduler, key: (object) => object })(
        source as never,
      ) as unknown as Sets;
    },
    naive: (before) => unordered(projected(before, project.value)),
    turn: (to) => project.turn(to),
  };
};

const until: Make = (_start, { scheduler }) => ({
  name: 'until',
  takes: 'any',
  apply: (source) =>
    liveUntil<Item, unknown>(
      ({ n }, nowMs) => {
        if (n === 8) throw new Error('eight');
        return nowMs + n - 4;
      },
      { scheduler },
    )(source) as unknown as Sets,
  naive: (before) =>
    answerOf(
      before,
      before.rows.filter(({ object: { n } }) => n !== 8),
    ),
  turn: () => undefined,
});

/** When a row is due: within the time that a scenario lasts. */
const dueMs = ({ n }: Item) => 1_000 + 10 * n;

const due: Make = (_start, { scheduler }) => ({
  name: 'due',
  takes: 'unordered',
  apply: (source) => {
    const timed = liveUntil<Item>(dueMs, { scheduler })(source as never);
    return liveFilter<Item>((object, nowMs) => nowMs >= dueMs(object), { scheduler })(
      timed,
    ) as Sets;
  },
  naive: ({ rows }) => unordered(rows.filter(({ object }) => scheduler.now() >= dueMs(object))),
  turn: () => undefined,
  dues: ({ rows }) => rows.map(({ object }) => dueMs(object)),
});

const conflate: Make = (_start, { ready }) => ({
  name: 'conflate',
  takes: 'any',
  apply: (source) => conflateByKey<Item, unknown>({ ready })(source) as unknown as Sets,
  naive: (before) => before,
  turn: () => undefined,
});

const share: Make = () => ({
  name: 'share',
  takes: 'any',
  apply: (source) => liveShare()(source) as unknown as Sets,
  naive: (before) => before,
  turn: () => undefined,
});

export const ROW_STEPS: readonly Make[] = [
  filter,
  mapRows,
  flatMap,
  mergeMap,
  until,
  due,
  conflate,
  share,
];
