/** Where the rows of one subscription of an operator come from: as noted beside its sources, and as their sets say. */
import type { Origin } from '../../store/origin.ts';
import { hasSameForm, type Lineage, lineageWith } from './lineage.ts';

export class Ancestry {
  readonly #noted: readonly Lineage[];
  readonly #descend: (above: readonly Lineage[]) => Lineage;
  /** The origin of the last set of each source. */
  readonly #origins: (Origin | undefined)[] = [];
  readonly #above: Lineage[];
  #lineage: Lineage;

  /** `noted` is what is known of each source and parameter before its first set, and `lineage` what follows from it. */
  constructor(
    noted: readonly Lineage[],
    lineage: Lineage,
    descend: (above: readonly Lineage[]) => Lineage,
  ) {
    this.#noted = noted;
    this.#descend = descend;
    this.#above = [...noted];
    this.#lineage = lineage;
  }

  /** The lineage of each source. The list changes with them. */
  get above(): readonly Lineage[] {
    return this.#above;
  }

  get lineage(): Lineage {
    return this.#lineage;
  }

  /** Notes the origin of a set, and returns whether the ids and keys of the source have another form than before. */
  arrived(input: number, origin: Origin | undefined): boolean {
    if (origin === this.#origins[input]) return false;
    this.#origins[input] = origin;
    const before = this.#above[input] as Lineage;
    const now = lineageWith(this.#noted[input] as Lineage, origin);
    if (now === before) return false;
    this.#above[input] = now;
    this.#lineage = this.#descend(this.#above);
    return !hasSameForm(before, now);
  }
}
