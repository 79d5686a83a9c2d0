/** Live queries over informers that the server holds for all users. No query makes another informer, so none causes a request. */

import { planOfScope, type SourcePlan } from '../../factory/queries/plan.ts';
import { SharedQueries } from '../../factory/queries/shared-queries.ts';
import type { Hold, InformerPool } from '../../factory/shared-informers.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { type GroupVersionResource, type Resource, resourceName } from '../../meta/resource.ts';
import { checkedQuery, type LiveQuery } from '../../query/live-query/live-query.ts';
import { readable } from '../../wire/public-error.ts';
import { checkIndex } from '../users/user-session.ts';
import { namespacedRows } from './namespace-fan-out.ts';
import type { Versions } from './positions.ts';

type Kind = Resource<KubernetesObject>;

/** A kind without its version, of which the server has one. */
export const kindKey = ({ group, plural }: Pick<Kind, 'group' | 'plural'>): string =>
  JSON.stringify([group, plural]);

interface Held {
  readonly kind: Kind;
  readonly hold: Hold;
}

/** Reads the namespaces alone, which are few of those of all users. */
function readByNamespace(plan: SourcePlan): SourcePlan {
  const { namespaces } = plan.local;
  if (namespaces === undefined || plan.index !== undefined) return plan;
  return { ...plan, rows: (informer) => namespacedRows(informer, namespaces) };
}

export class HeldQueries extends SharedQueries {
  readonly #informers: InformerPool;
  readonly #held = new Map<string, Held>();

  /** Holds the informers of the kinds until `end`. Throws a `TypeError` if one of them is given twice. */
  constructor(informers: InformerPool, kinds: readonly Kind[], lingerMs: number) {
    super(informers, { lingerMs });
    this.#informers = informers;
    for (const kind of kinds) {
      const key = kindKey(kind);
      if (this.#held.has(key)) {
        throw new TypeError(
          `serveUsers: kinds: ${resourceName(kind)} is there twice; name it once`,
        );
      }
      const hold = informers.acquire(kind, kind.namespaced ? { namespace: '' } : {});
      this.#held.set(key, { kind, hold });
    }
  }

  /** The kind as the server has it. Throws a readable `TypeError` if the server does not have it. */
  kindOf(asked: GroupVersionResource): Kind {
    const held = this.#held.get(kindKey(asked));
    if (held !== undefined) return held.kind;
    const names = [...this.#held.values()].map(({ kind }) => resourceName(kind)).join(', ');
    throw readable(
      new TypeError(`the server does not have ${resourceName(asked)}; it has ${names}`),
    );
  }

  /** The query of the kind as the server has it. */
  known(query: LiveQuery): { readonly kind: Kind; readonly query: LiveQuery } {
    const kind = this.kindOf(query.from);
    if (query.from === kind) return { kind, query };
    return { kind, query: checkedQuery({ ...query, from: kind }) };
  }

  protected override plan(query: LiveQuery): readonly SourcePlan[] {
    const { kind, hold } = this.#held.get(kindKey(query.from)) as Held;
    checkIndex(query, this.#informers);
    const { as, fieldSelector } = query;
    const plan = as === undefined ? planOfScope(query, hold.scope, this.#informers) : undefined;
    if (plan !== undefined) return [readByNamespace(plan)];
    const what =
      as === undefined ? `fieldSelector ${JSON.stringify(fieldSelector)}` : `as: '${as}'`;
    const name = resourceName(kind);
    const next = as === undefined ? 'use where' : 'leave it out, and use select';
    const text = `the server has complete ${name}, and cannot answer ${what} from them; ${next}`;
    throw readable(new TypeError(text));
  }

  /** How far the informers are, by {@link kindKey}. */
  get versions(): Versions {
    const versions = new Map<string, string>();
    for (const [key, { hold }] of this.#held)
      versions.set(key, hold.informer.indexer.resourceVersion);
    return versions;
  }

  /** The informer of a kind, by {@link kindKey}. */
  informerOf(kind: string): Hold['informer'] {
    return (this.#held.get(kind) as Held).hold.informer;
  }

  /** Releases the informers. */
  end(): void {
    for (const { hold } of this.#held.values()) hold.release();
  }
}
