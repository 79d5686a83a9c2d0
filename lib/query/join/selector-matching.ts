/** Matches a left row with the right rows that its label selector selects. Left rows with equal selectors share a bucket. */
import { type KubernetesObject, metadataOf, uidOf } from '../../meta/kubernetes-object.ts';
import {
  type LabelRequirement,
  type LabelSelector,
  type LabelSelectorObject,
  parseLabelSelector,
} from '../../meta/label-selector.ts';
import { ROWS_A_STEP } from '../engine/slice.ts';
import { Bucket, type LeftRow, type Matching, type RightRow, type Sides } from './matching.ts';

/** A label selector in any of its forms. */
export type AnySelector = string | LabelSelectorObject | LabelSelector;

type SelectorOf = (object: never, nowMs: number) => AnySelector | null | undefined;

const NO_BUCKETS: readonly Bucket[] = [];
const NO_LABELS: Readonly<Record<string, string>> = /* @__PURE__ */ Object.freeze({});
/** The rows of one namespace, or of all. */
class Scope {
  readonly name: string;
  readonly rights = new Set<RightRow>();
  /** By the text of the selector. */
  readonly buckets = new Map<string, SelectorBucket>();
  readonly index = new SelectorIndex<SelectorBucket>();
  /** Buckets that right rows were not put into yet. */
  unfilled: SelectorIndex<SelectorBucket> | undefined;

  constructor(name: string) {
    this.name = name;
  }
}

class SelectorBucket extends Bucket {
  readonly selector: LabelSelector;
  readonly scope: Scope;
  /** The selector as it was given, so that an equal one is not parsed again. */
  readonly given: string;

  constructor(selector: LabelSelector, scope: Scope, given: string) {
    super(selector.toString());
    this.selector = selector;
    this.scope = scope;
    this.given = given;
  }
}

function isParsed(selector: AnySelector): selector is LabelSelector {
  return typeof selector === 'object' && 'matches' in selector;
}

/** The namespace of a row, or of the object that it was made of. Only an object without one is in none: the metadata of a template say nothing. */
function namespaceOf(object: KubernetesObject, { of }: LeftRow | RightRow): string {
  const { namespace } = metadataOf(object) ?? {};
  return namespace ?? (uidOf(object) === '' ? (of?.namespace ?? '') : '');
}

function labelsOf({ metadata }: KubernetesObject): Readonly<Record<string, string>> {
  return metadata?.labels ?? NO_LABELS;
}

export class SelectorMatching implements Matching {
  readonly #selectorOf: SelectorOf;
  readonly #acrossNamespaces: boolean;
  readonly #sides: Sides;
  readonly #rights: ReadonlyMap<string, RightRow>;
  readonly #scopes = new Map<string, Scope>();
  readonly #unfilled = new Set<Scope>();
  readonly #scopeOf = new Map<RightRow, Scope>();
  /** Off while the first rows are fed: then all of them are put into the buckets afterwards, in steps. */
  #matches = false;

  constructor(
    selectorOf: SelectorOf,
    acrossNamespaces: boolean,
    rights: ReadonlyMap<string, RightRow>,
    sides: Sides,
  ) {
    this.#sides = sides;
    this.#selectorOf = selectorOf;
    this.#acrossNamespaces = acrossNamespaces;
    this.#rights = rights;
  }

  ofLeft(row: LeftRow, object: never, nowMs: number): readonly Bucket[] {
    const selector = this.#selectorOf(object, nowMs);
    if (selector === undefined || selector === null) return NO_BUCKETS;
    if (isParsed(selector) && selector.isNothing === true) return NO_BUCKETS;
    const isText = typeof selector === 'string' || isParsed(selector);
    const given = isText ? selector.toString() : JSON.stringify(selector);
    const name = this.#nameOf(object, row);
    const [before] = row.buckets as readonly SelectorBucket[];
    if (before?.given === given && before.scope.name === name) return row.buckets;
    return [
      this.#bucket(isParsed(selector) ? selector : parseLabelSelector(selector), name, given),
    ];
  }

  ofRight(row: RightRow, object: never): readonly Bucket[] {
    const scope = this.#scope(this.#nameOf(object, row));
    const before = this.#scopeOf.get(row);
    if (before !== scope) {
      if (before !== undefined) this.#leave(before, row);
      scope.rights.add(row);
      this.#scopeOf.set(row, scope);
    }
    return this.#matches ? scope.index.matching(labelsOf(object)) : NO_BUCKETS;
  }

  removed(row: LeftRow | RightRow): void {
    const scope = this.#scopeOf.get(row);
    if (scope === undefined) return;
    this.#scopeOf.delete(row);
    this.#leave(scope, row);
  }

  vacated(bucket: Bucket): void {
    if (bucket.lefts !== undefined) return;
    const { scope } = bucket as SelectorBucket;
    scope.buckets.delete(bucket.key);
    scope.index.delete(bucket as SelectorBucket);
    scope.unfilled?.delete(bucket as SelectorBucket);
    for (const id of bucket.ids()) {
      const right = this.#rights.get(id);
      if (right !== undefined) right.buckets = right.buckets.filter((each) => each !== bucket);
    }
    this.#dropIfEmpty(scope);
  }

  fill(): Generator<void, void, void> | undefined {
    this.#matches = true;
    return this.#unfilled.size === 0 ? undefined : this.#fill();
  }

  *#fill(): Generator<void, void, void> {
    const scopes = [...this.#unfilled];
    this.#unfilled.clear();
    let rows = 0;
    for (const scope of scopes) {
      const { unfilled } = scope;
      scope.unfilled = undefined;
      if (unfilled === undefined) continue;
      for (const right of scope.rights) {
        for (const bucket of unfilled.matching(labelsOf(right.object))) {
          // Rows change between two steps: the bucket may be dropped, and the row may be in it.
          if (bucket.lefts === undefined || right.buckets.includes(bucket)) continue;
          bucket.add(right.id, right.object);
          right.buckets = [...right.buckets, bucket];
        }
        if (++rows % ROWS_A_STEP === 0) yield;
      }
    }
  }

  #bucket(selector: LabelSelector, name: string, given: string): SelectorBucket {
    const scope = this.#scope(name);
    const text = selector.toString();
    let bucket = scope.buckets.get(text);
    if (bucket === undefined) {
      bucket = new SelectorBucket(selector, scope, given);
      scope.buckets.set(text, bucket);
      scope.index.add(bucket);
      scope.unfilled ??= new SelectorIndex();
      scope.unfilled.add(bucket);
      this.#unfilled.add(scope);
    }
    return bucket;
  }

  /** The name of the scope in which a row selects and is selected. */
  #nameOf(object: KubernetesObject, row: LeftRow | RightRow): string {
    const namespace = this.#acrossNamespaces ? '' : namespaceOf(object, row);
    return this.#sides.isOverClusters ? `${row.of?.cluster}/${namespace}` : namespace;
  }

  #scope(name: string): Scope {
    let scope = this.#scopes.get(name);
    if (scope === undefined) {
      scope = new Scope(name);
      this.#scopes.set(name, scope);
    }
    return scope;
  }

  #leave(scope: Scope, row: RightRow): void {
    scope.rights.delete(row);
    this.#dropIfEmpty(scope);
  }

  #dropIfEmpty(scope: Scope): void {
    if (scope.rights.size > 0 || scope.buckets.size > 0) return;
    this.#scopes.delete(scope.name);
    this.#unfilled.delete(scope);
  }
}

export interface Selecting {
  readonly selector: LabelSelector;
}

/** Finds the selectors that match labels, without testing each: most selectors require some label to have a value. */
class SelectorIndex<S extends Selecting> {
  /** By the name and the value of one label that they require. */
  readonly #byLabel = new Map<string, Map<string, Set<S>>>();
  /** Selectors that require no label to have a value. */
  readonly #others = new Set<S>();
  readonly #places = new Map<S, LabelRequirement | undefined>();

  add(each: S): void {
    const requirement = this.#rarest(each.selector);
    this.#places.set(each, requirement);
    if (requirement === undefined) {
      this.#others.add(each);
      return;
    }
    let byValue = this.#byLabel.get(requirement.key);
    if (byValue === undefined) {
      byValue = new Map();
      this.#byLabel.set(requirement.key, byValue);
    }
    for (const value of requirement.values) {
      const same = byValue.get(value);
      if (same === undefined) byValue.set(value, new Set([each]));
      else same.add(each);
    }
  }

  delete(each: S): void {
    const requirement = this.#places.get(each);
    this.#places.delete(each);
    this.#others.delete(each);
    if (requirement === undefined) return;
    const byValue = this.#byLabel.get(requirement.key);
    for (const value of requirement.values) {
      const same = byValue?.get(value);
      same?.delete(each);
      if (same?.size === 0) byValue?.delete(value);
    }
    if (byValue?.size === 0) this.#byLabel.delete(requirement.key);
  }

  /** The selectors that match the labels. */
  matching(labels: Readonly<Record<string, string>>): S[] {
    const found: S[] = [];
    const test = (each: S) => {
      if (each.selector.matches(labels)) found.push(each);
    };
    this.#others.forEach(test);
    if (this.#byLabel.size === 0) return found;
    for (const name of Object.keys(labels)) {
      this.#byLabel.get(name)?.get(String(labels[name]))?.forEach(test);
    }
    return found;
  }

  /** The requirement that the fewest selectors are found by, so that few are tested in vain. */
  #rarest({ requirements }: LabelSelector): LabelRequirement | undefined {
    let rarest: LabelRequirement | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const requirement of requirements) {
      if (requirement.operator !== 'In') continue;
      const byValue = this.#byLabel.get(requirement.key);
      let found = 0;
      for (const value of requirement.values) found += byValue?.get(value)?.size ?? 0;
      if (found >= fewest) continue;
      fewest = found;
      rarest = requirement;
    }
    return rarest;
  }
}
