/** Matches rows that have a key in common. */
import type { KubernetesObject } from '../../meta/kubernetes-object.ts';
import { uidOf } from '../../meta/kubernetes-object.ts';
import { Bucket, type LeftRow, type Matching, type RightRow } from './matching.ts';

/** What a key function may return: a key, several keys, or nothing. */
export type JoinKeys = string | readonly string[] | null | undefined;

type KeysOf = (object: never, nowMs: number, id: string) => JoinKeys;

const NO_BUCKETS: readonly Bucket[] = [];

/** The keys for a join by owner: on one side the UID, on the other the UIDs of the owners. */
export function ownerKeys(owner: 'left' | 'right'): { left: KeysOf; right: KeysOf } {
  // A row that is no object any more still has the UID as its id.
  const own = (object: KubernetesObject, _nowMs: number, id: string) => uidOf(object) || id;
  const owners = (object: KubernetesObject) =>
    object.metadata?.ownerReferences?.map(({ uid }) => uid);
  return owner === 'left' ? { left: own, right: owners } : { left: owners, right: own };
}

export class KeyMatching implements Matching {
  readonly #buckets = new Map<string, Bucket>();
  readonly #left: KeysOf;
  readonly #right: KeysOf;

  constructor(left: KeysOf, right: KeysOf) {
    this.#left = left;
    this.#right = right;
  }

  ofLeft({ id }: LeftRow, object: never, nowMs: number): readonly Bucket[] {
    return this.#of('left', this.#left(object, nowMs, id));
  }

  ofRight({ id }: RightRow, object: never, nowMs: number): readonly Bucket[] {
    return this.#of('right', this.#right(object, nowMs, id));
  }

  rightRemoved(): void {
    // Its buckets are all that is known of a right row.
  }

  vacated(bucket: Bucket): void {
    if (bucket.size === 0 && bucket.lefts === undefined) this.#buckets.delete(bucket.key);
  }

  fill(): undefined {
    return undefined;
  }

  #of(side: 'left' | 'right', keys: JoinKeys): readonly Bucket[] {
    if (keys === undefined || keys === null) return NO_BUCKETS;
    if (typeof keys === 'string') return [this.#bucket(keys)];
    if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string')) {
      throw new TypeError(
        `liveJoin: on.${side} returned ${Array.isArray(keys) ? 'a list that is not of text' : typeof keys}; it must return text, a list of texts, or undefined`,
      );
    }
    if (keys.length === 1) return [this.#bucket(keys[0] as string)];
    return [...new Set(keys as readonly string[])].map((key) => this.#bucket(key));
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
