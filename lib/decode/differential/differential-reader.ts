/** Reads objects by comparing their bytes with those of their last change, as far as these are kept. */
import type { KnownObjects } from '../../meta/known-objects.ts';
import { type KubernetesObject, uidOf, versionOf } from '../../meta/kubernetes-object.ts';
import { reuseUnchanged } from '../../meta/reuse-unchanged.ts';
import type { DecodeContext } from '../decoding.ts';
import { isText } from '../json-scan.ts';
import { parseText } from '../json-text.ts';
import { ObjectHead } from '../object-head.ts';
import { type DecodeCounts, type ObjectReader, ObjectText } from '../object-reader.ts';
import { copyOf, Difference } from './difference.ts';
import type { KeptDocument } from './document.ts';
import type { RecentDocuments } from './recent-documents.ts';

/** Compares objects with those of the store. */
export interface StoredComparison {
  /** Returns the stored object with the name and UID of the one in which `head` was opened. */
  find(head: ObjectHead, bytes: Uint8Array): KubernetesObject | undefined;
  /**
   * Returns the value of the object between `from` and `to`, whose unchanged parts are those of `stored`; `undefined` if
   * it must be parsed completely.
   */
  read(stored: KubernetesObject, bytes: Uint8Array, from: number, to: number): unknown;
}

/** The part of a decoder's context that says which objects are stored, and how. */
export interface StoredObjects extends Pick<DecodeContext<never>, 'keepManagedFields'> {
  readonly known?: Pick<KnownObjects<KubernetesObject>, 'get' | 'size'> | undefined;
}

type CompareStored = (context: StoredObjects) => StoredComparison;
let compareStored: CompareStored | undefined;

/** Lets decoders compare objects with the stored ones. Pages do not, so that they do not load the code. */
export function setStoredComparison(compare: CompareStored): void {
  compareStored = compare;
}

/** Compares each object with the last kept text of the same UID, or with the stored object. */
export class DifferentialReader<T extends KubernetesObject> implements ObjectReader<T> {
  readonly #recent: RecentDocuments;
  readonly #counts: DecodeCounts;
  readonly #text: ObjectText;
  readonly #known: KnownObjects<T> | undefined;
  readonly #head = new ObjectHead();
  readonly #difference: Difference;
  readonly #stored: StoredComparison | undefined;
  /** The stored object whose unchanged parts the value that was read last has; `undefined` if it has none. */
  basis: T | undefined;
  readonly #hasTransform: boolean;
  /** The changes that the admission makes to every value: it may remove `managedFields`, and adds the type. */
  readonly #form: string;
  /** The start of hashes, so that objects of different forms do not displace each other. */
  readonly #formHash: number;

  constructor(context: DecodeContext<T>, recent: RecentDocuments, counts: DecodeCounts) {
    this.#recent = recent;
    this.#counts = counts;
    this.#difference = new Difference(recent.shapes);
    this.#text = new ObjectText(context.keepManagedFields);
    const { known, transform, resource, projection, keepManagedFields } = context;
    const { apiVersion, kind } = projection ?? resource;
    this.#form = `${keepManagedFields} ${apiVersion} ${kind}`;
    const form = new TextEncoder().encode(this.#form);
    this.#formHash = hashOf(0, form, 0, form.length);
    // With a transform the stored object is not what was received.
    this.#hasTransform = transform !== undefined;
    if (this.#hasTransform || known === undefined) return;
    this.#known = known;
    this.#stored = compareStored?.(context);
  }

  count(how: keyof DecodeCounts): void {
    this.#counts[how]++;
  }

  read(bytes: Uint8Array, from: number, to: number, isLast: boolean, isListed = false): unknown {
    const head = this.#head;
    const recent = this.#recent;
    this.basis = undefined;
    head.open(bytes, from, to);
    const { uid } = head;
    const hash =
      head.find(uid) && uid.to > uid.from
        ? hashOf(this.#formHash, bytes, uid.from, uid.to)
        : undefined;
    let earlier = hash === undefined ? undefined : recent.find(hash, this.#form);
    // Another object may have the same hash, and objects of different UIDs share no parts.
    const known = uidOf(earlier?.value as T | undefined);
    if (to - from > recent.longest || !isText(known, bytes, uid.from, uid.to)) earlier = undefined;
    let compared: unknown;
    if (earlier !== undefined) compared = this.#compare(earlier, bytes, from, to);
    // Objects of a list are parsed, because a list may repair stored objects.
    else if (!isListed) compared = this.#compareStored(bytes, from, to);
    this.count(compared === undefined ? 'parsed' : 'compared');
    const value = compared ?? parseText(this.#text.behind(head, bytes, from, to), 'an object');
    if (hash === undefined) return value;
    let isKept = compared !== undefined && earlier !== undefined;
    // Comparing with the stored object costs little more, so only an object that changes often is worth a copy of its text.
    const most = compared === undefined ? undefined : recent.longest;
    if (isLast) recent.drop(hash);
    else if (!isKept && (recent.isRecent(hash, to - from, most) || earlier !== undefined)) {
      recent.keep(hash, this.#form, bytes, from, to, value);
      isKept = true;
    }
    // A transform may change what it receives, also in parts of the kept value.
    return isKept && this.#hasTransform ? wholeCopy(value, 0) : value;
  }

  #compareStored(bytes: Uint8Array, from: number, to: number): unknown {
    const basis = this.#stored?.find(this.#head, bytes);
    const value = basis && this.#stored?.read(basis, bytes, from, to);
    if (value !== undefined) this.basis = basis as T;
    return value;
  }

  #compare(earlier: KeptDocument, bytes: Uint8Array, from: number, to: number): unknown {
    if (this.#known !== undefined) adoptStored(earlier, this.#known);
    const before = earlier.size;
    const basis = earlier.value as T;
    try {
      const value = this.#difference.read(earlier, bytes, from, to);
      if (value !== undefined && !this.#hasTransform) this.basis = basis;
      this.#recent.resized(earlier, before);
      return value;
    } catch {
      // A member is not JSON. Parsing the object completely gives the error.
      return undefined;
    }
  }
}

/** Copies a value of JSON at every depth. */
function wholeCopy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const copy = copyOf(value, depth);
  for (const name in copy) copy[name] = wholeCopy(copy[name], depth + 1);
  return copy;
}

/** A hash of bytes. */
function hashOf(start: number, bytes: Uint8Array, from: number, to: number): number {
  let hash = start;
  for (let at = from; at < to; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return hash;
}

/** How many states are read without another look at the store, after it held the value of the document. */
const TRUST = 16;

/**
 * The store may hold another JavaScript object than the one that was decoded, because it takes parts of earlier states
 * (S60). With the stored object as the value of the document, the next state has the same parts as the stored one, so
 * that the store need not compare them again. If it holds another object, the store compares them.
 */
function adoptStored<T extends KubernetesObject>(
  document: KeptDocument,
  known: KnownObjects<T>,
): void {
  if (document.unchecked > 0) {
    document.unchecked--;
    return;
  }
  const stored = known.get(document.key);
  if (stored === document.value) document.unchecked = TRUST;
  if (stored === undefined || stored === document.value || stored === document.other) return;
  const value = document.value as KubernetesObject;
  if (versionOf(stored) !== versionOf(value) || uidOf(stored) !== uidOf(value)) return;
  // A server that was restored from a backup assigns a version twice, so the content is compared once.
  if (reuseUnchanged(stored, value) === stored) document.value = stored;
  else document.other = stored;
}
