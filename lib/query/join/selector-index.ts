/** Finds the selectors that match labels, without testing each: most selectors require some label to have a value. */
import type { LabelRequirement, LabelSelector } from '../../meta/label-selector.ts';

export interface Selecting {
  readonly selector: LabelSelector;
}

export class SelectorIndex<S extends Selecting> {
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
