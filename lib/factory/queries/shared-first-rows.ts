/** The rows that come first, by what queries that differ in their windows alone have in common. */

import type { FirstRows } from '../../query/live-query/first-rows.ts';
import type { LiveQuery } from '../../query/live-query/live-query.ts';
import type { SourcePlan } from './plan.ts';

export class SharedFirstRows {
  readonly #byInformer = new WeakMap<object, Map<string, FirstRows>>();

  /** The rows of queries with this plan and order that read the informer. */
  of(
    informer: object,
    { index, local, where }: SourcePlan,
    { orderBy }: LiveQuery,
    make: () => FirstRows,
  ): FirstRows {
    const byKey = this.#byInformer.get(informer) ?? new Map<string, FirstRows>();
    this.#byInformer.set(informer, byKey);
    for (const [key, { isUnused }] of byKey) if (isUnused) byKey.delete(key);
    const key = JSON.stringify([index, local, where, orderBy]);
    const rows = byKey.get(key) ?? make();
    byKey.set(key, rows);
    return rows;
  }
}
