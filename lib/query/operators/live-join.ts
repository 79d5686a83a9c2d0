/** `liveJoin`: each row with the rows of another stream that belong to it. */

import { isObservable, type Observable } from 'rxjs';
import { check, checkedWord, refusal } from '../../checks/checked-option.ts';
import type { Stored } from '../../meta/kubernetes-object.ts';
import type { ChangeSet } from '../../store/change-set.ts';
import type { ChangeStream } from '../../store/change-stream.ts';
import type { Lineage } from '../engine/lineage.ts';
import { liveOperator } from '../engine/live-operator.ts';
import type { LiveOptions, Param } from '../engine/machine.ts';
import { checkFunction } from '../engine/misuse.ts';
import { JoinMachine, type JoinParts } from '../join/join-machine.ts';
import { type JoinKeys, KeyMatching, ownerKeys } from '../join/key-matching.ts';
import {
  type Matching,
  RELATION,
  type Relation,
  type RightRow,
  type Sides,
} from '../join/matching.ts';
import { type AnySelector, SelectorMatching } from '../join/selector-matching.ts';
import type { JoinThrough } from '../join/through.ts';

export type { AnySelector, JoinKeys };

/** A join by owner reference: which side owns the other. An owner is found by its UID, whatever its kind and name. */
export interface JoinByOwner {
  readonly owner: 'left' | 'right';
}

/**
 * A join by equal keys. A key function returns a key, several, or `undefined` for a row that is joined with nothing.
 * `nowMs` is the scheduler's time, in milliseconds since the Unix epoch. `key` is the key of the row, which begins with
 * the name of the cluster if the row is one of many clusters.
 */
export interface JoinByKeys<L, R> {
  readonly left: (object: Stored<L>, nowMs: number, key: string) => JoinKeys;
  readonly right: (object: Stored<R>, nowMs: number, key: string) => JoinKeys;
}

/** A join by the labels of the right rows. If both sides are of many clusters, a row selects rows of its own cluster. */
export interface JoinBySelector<L> {
  /**
   * The selector of a left row, as text or as objects contain it. The labels of a Service go into `matchLabels`, because they
   * are a plain map. `undefined` selects nothing; an empty selector, such as `{}`, selects everything.
   * `nowMs` is the scheduler's time, in milliseconds since the Unix epoch.
   */
  readonly selectorOf: (left: Stored<L>, nowMs: number) => AnySelector | null | undefined;
  /** Whether a left row selects right rows of all namespaces, not of its own only. @defaultValue false */
  readonly acrossNamespaces?: boolean | undefined;
}

/** The relation that {@link liveJoin} joins by. */
export type JoinOn<L, R> = JoinByOwner | JoinByKeys<L, R> | JoinBySelector<L>;

/** Whether a join keeps a left row without a right one (`left`), or not (`inner`). */
export type JoinType = 'left' | 'inner';

/** The right side of a joined row. */
export type JoinedRight<R, Type extends JoinType, One extends boolean> = One extends true
  ? Type extends 'inner'
    ? Stored<R>
    : Stored<R> | undefined
  : readonly Stored<R>[];

/** A row of a join. The same object until one of its sides changes. */
export interface JoinedRow<L, R, Type extends JoinType = 'left', One extends boolean = false> {
  readonly left: Stored<L>;
  /**
   * The right rows, ordered by id in code units: the same array until one of them changes. With `one`, the row with the
   * lowest id.
   */
  readonly right: JoinedRight<R, Type, One>;
}

/** Makes a row of a join; `undefined` keeps it out. */
export type JoinProjection<L, R, Type extends JoinType, One extends boolean, B> = (
  left: Stored<L>,
  right: JoinedRight<R, Type, One>,
  nowMs: number,
) => B | undefined;

/** The options of {@link liveJoin}. */
export interface LiveJoinOptions<
  L,
  R,
  Type extends JoinType = 'left',
  One extends boolean = false,
  B = JoinedRow<L, R, Type, One>,
> extends LiveOptions {
  /** The relation between the rows of both sides. */
  readonly on: Param<JoinOn<L, R>> | JoinThrough;
  /** @defaultValue 'left' */
  readonly type?: Type | undefined;
  /** Whether a row has one right row or none, instead of a list. @defaultValue false */
  readonly one?: One | undefined;
  /**
   * Makes the row, when a side has changed or is to be evaluated again. A result that has the same fields as the former
   * one is the former one. @defaultValue a {@link JoinedRow}
   */
  readonly project?: Param<JoinProjection<L, R, Type, One, B>> | undefined;
}

function sidesOf(above: readonly Lineage[]): Sides {
  const [left, right] = above as readonly [Lineage, Lineage];
  return {
    isOverClusters: left.isOverClusters === true && right.isOverClusters === true,
  };
}

type Match = (rights: ReadonlyMap<string, RightRow>, sides: Sides) => Matching;

function matchOf(on: JoinOn<never, never>): Match {
  const given = Object(on) as Partial<JoinByOwner & JoinByKeys<never, never>> &
    Partial<JoinBySelector<never>>;
  const { owner, left, right, selectorOf, acrossNamespaces = false } = given;
  if (owner === 'left' || owner === 'right') {
    const keys = ownerKeys(owner);
    return () => new KeyMatching(keys.left, keys.right);
  }
  if (typeof left === 'function' && typeof right === 'function') {
    return () =>
      new KeyMatching(
        (object, nowMs, { key }) => left(object, nowMs, key),
        (object, nowMs, { key }) => right(object, nowMs, key),
      );
  }
  if (typeof selectorOf === 'function') {
    return (rights, sides) => new SelectorMatching(selectorOf, acrossNamespaces, rights, sides);
  }
  throw refusal(
    'liveJoin: on',
    on,
    "{ owner: 'left' | 'right' }, two key functions { left, right }, { selectorOf }, or through(…)",
  );
}

/**
 * Joins each row with the rows of another stream that belong to it: by owner reference, by equal keys, or by a label
 * selector; {@link through} joins owners with what their own objects own. The answer has one row for each left row, with the id and the key of the left row: `{ left, right }`, or
 * the result of `project`.
 *
 * The sides may arrive in any order. A left row to which nothing belongs has an empty list (with `one`: `undefined`), or
 * is not in the answer if `type` is `inner`. A key function, a `selectorOf` or a `project` that throws keeps its row out,
 * and the row stands in the view's `status.refusedRows`. The answer is emitted at the end of a turn, so that two streams of
 * one informer never show a state that is half new. Completes when both streams have completed; the rows of a stream
 * that has completed stay. Errors if either stream or the Observable of a parameter does. Throws a `TypeError` if `on`,
 * `type` or `right$` is invalid.
 *
 * A changed row costs the rows that it is joined with: its left rows get a copy of their lists, once a turn. A selector
 * that is new costs one pass over the right rows of its namespace. A right row is tested against the selectors of its
 * namespace that require one of its labels to have its value, and those that require no value.
 *
 * ```
 * left     +L----------------(-L)--|
 * right    ---+r1---r1'---------------|
 * result   L[]-L[r1]-L[r1']--(-L)-----|
 * ```
 *
 * @example
 * ```ts
 * import { of } from 'rxjs';
 * import { liveJoin, toView } from 'rx-informer';
 * import { changeSet } from 'rx-informer/testing';
 *
 * const web = { metadata: { name: 'web', uid: 'u1' } };
 * const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u1' };
 * const pod = { metadata: { name: 'web-0', uid: 'u2', ownerReferences: [owner] } };
 * const replicaSets$ = of(changeSet({ added: [web] })); // with an informer: informer.changes$
 * const pods$ = of(changeSet({ added: [pod] }));
 * const view = toView(
 *   replicaSets$.pipe(
 *     liveJoin(pods$, {
 *       on: { owner: 'left' },
 *       project: (set, owned) => ({ name: set.metadata.name, pods: owned.length }),
 *     }),
 *   ),
 * );
 * view.subscribe(() => undefined);
 * view.getSnapshot().rows; // => [{ name: 'web', pods: 1 }]
 * ```
 */
export function liveJoin<
  L,
  R,
  Type extends JoinType = 'left',
  One extends boolean = false,
  B = JoinedRow<L, R, Type, One>,
>(
  right$: Observable<ChangeSet<R>>,
  options: LiveJoinOptions<L, R, Type, One, B>,
): (source: Observable<ChangeSet<L>>) => ChangeStream<B> {
  check(isObservable(right$), 'liveJoin: right$', right$, 'a stream of change sets');
  check(Object(options) === options, 'liveJoin: options', options, '{ on: … }');
  const { on, type = 'left', one = false, project, ...timing } = options;
  checkedWord(type, 'liveJoin: type', ['left', 'inner']);
  const relation = (on as Partial<JoinThrough> | undefined)?.[RELATION] as Relation | undefined;
  const constant =
    relation?.match ?? (isObservable(on) ? undefined : matchOf(on as JoinOn<never, never>));
  if (project !== undefined) checkFunction('liveJoin: project', project);
  return (source) => {
    return liveOperator<B, ChangeSet<B>>({
      ...timing,
      name: 'liveJoin',
      isRemembering: true,
      readsClusters: true,
      sources: relation === undefined ? [source, right$] : [source, right$, relation.between$],
      params: [on, project],
      create: (values: readonly unknown[], context, former) => {
        const match = constant ?? matchOf(values[0] as JoinOn<never, never>);
        const parts: JoinParts = {
          isInner: type === 'inner',
          isOne: one,
          match: (rights) => match(rights, sidesOf(context.above)),
          project: values[1] as JoinParts['project'],
        };
        return new JoinMachine<B>(parts, context, former);
      },
    }) as ChangeStream<B>;
  };
}
