/** Which of the objects in trouble are the cause of others. */
import type { Kind, Row } from '../kinds/kind.ts';
import { namedIn } from '../kinds/named.ts';

/** An object in trouble. */
export interface Troubled {
  readonly kind: Kind;
  readonly row: Row;
}

/** An object in trouble, and those that are in trouble because of it. */
export interface RootCause extends Troubled {
  readonly effects: readonly Troubled[];
}

/** An object as messages name it. */
const nameOf = (kind: string, namespace: string, name: string) => `${kind} ${namespace}/${name}`;

/**
 * The objects in trouble without those whose owner says the same: the Pods of a Deployment, and its ReplicaSet. One whose reason
 * names another of them, such as a claim that is not bound, is an effect of that one.
 */
export function causesOf(all: readonly Troubled[]): readonly RootCause[] {
  const known = new Set(all.map(({ row }) => row.uid));
  const roots = all.filter(({ row }) => !known.has(row.ownerUid));
  const byName = new Map<string, Troubled>();
  for (const each of roots) {
    const { kind, row } = each;
    byName.set(nameOf(kind.resource.kind, row.namespace, row.name), each);
  }
  const blamed = new Map<Troubled, Troubled>();
  for (const each of roots) {
    const { why, namespace } = each.row;
    for (const { of } of namedIn(why, namespace)) {
      const named = of && byName.get(nameOf(of.kind, of.namespace, of.name));
      if (named !== undefined && named !== each) blamed.set(each, named);
    }
  }
  const effects = new Map<Troubled, Troubled[]>(roots.map((each) => [each, []]));
  for (const [effect, cause] of blamed) {
    // An effect of another object is not shown as a cause.
    if (blamed.has(cause)) continue;
    effects.get(cause)?.push(effect);
    effects.delete(effect);
  }
  return [...effects].map(([cause, of]) => ({ ...cause, effects: of }));
}
