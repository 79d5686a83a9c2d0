/** Matches rows that have a key in common. */
import { refusal } from '../../checks/checked-option.ts';
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { uidOf } from '../../meta/kubernetes-object.ts';
import { Bucket, type LeftRow, type Matching, type RightRow } from './matching.ts';

/** The result of a key function: a key, several keys, or nothing. */
export type JoinKeys = string | readonly string[] | null | undefined;

type OwnerReferences = NonNullable<KubernetesObject['metadata']>['ownerReferences'];

type KeysOf = (object: never, nowMs: number, row: LeftRow | RightRow) => JoinKeys;

const NO_BUCKETS: readonly Bucket[] = [];

/** The keys for a join by owner: on one side the UID, on the other the UIDs of the owners. */
export function ownerKeys(owner: 'left' | 'right'): { left: KeysOf; right: KeysOf } {
  const own = (object: KubernetesObject, _nowMs: number, row: LeftRow | RightRow) =>
    uidOfRow(object, row);
  const owners = (object: KubernetesObject, _nowMs: number, { key }: LeftRow | RightRow) => {
    const references = ownersOf(object, key);
    // Most objects have one owner.
    return references?.length === 1 ? references[0]?.uid : references?.map(({ uid }) => uid);
  };
  return owner === 'left' ? { left: own, right: owners } : { left: owners, right: own };
}

/** The UID of a row, or of the object that it was made of. One without a UID has its key as the id. */
export function uidOfRow(object: KubernetesObject, { of, id }: LeftRow | RightRow): string {
  return uidOf(object) || of?.uid || id;
}

/** The owners of an object. A row that is no object is refused, because it would be joined with nothing in silence. */
export function ownersOf(object: KubernetesObject, key: string): OwnerReferences {
  const { metadata } = Object(object) as KubernetesObject;
  if (metadata !== undefined) return metadata.ownerReferences;
  throw new TypeError(
    `liveJoin: the row ${key} has no metadata, so its owners are not known; join by owner first, and make other rows behind the join`,
  );
}

export class KeyMatching implements Matching {
  readonly #buckets = new Map<string, Bucket>();
  readonly #left: KeysOf;
  readonly #right: KeysOf;

  constructor(left: KeysOf, right: KeysOf) {
    this.#left = left;
    this.#right = right;
  }

  ofLeft(row: LeftRow, object: never, nowMs: number): readonly Bucket[] {
    return this.#of('left', this.#left(object, nowMs, row), row.buckets);
  }

  ofRight(row: RightRow, object: never, nowMs: number): readonly Bucket[] {
    return this.#of('right', this.#right(object, nowMs, row), row.buckets);
  }

  removed(): void {
    // Its buckets are all that is known of a row.
  }

  vacated(bucket: Bucket): void {
    if (bucket.size === 0 && bucket.lefts === undefined) this.#buckets.delete(bucket.key);
  }

  fill(): undefined {
    return undefined;
  }

  /** The buckets of the keys: the list before if it is one bucket, which most rows stay in. */
  #of(side: 'left' | 'right', keys: JoinKeys, before: readonly Bucket[]): readonly Bucket[] {
    if (keys === undefined || keys === null) return NO_BUCKETS;
    if (typeof keys === 'string') return this.#ofOne(keys, before);
    if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string')) {
      const name = `liveJoin: what on.${side} returned`;
      throw refusal(name, keys, 'text, a list of texts, or undefined');
    }
    if (keys.length === 1) return this.#ofOne(keys[0] as string, before);
    return [...new Set(keys as readonly string[])].map((key) => this.#bucket(key));
  }

  #ofOne(key: string, before: readonly Bucket[]): readonly Bucket[] {
    return before.length === 1 && before[0]?.key === key ? before : [this.#bucket(key)];
  }

  #bucket(key: string): Bucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = new Bucket(key);
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }
}
