/** The states that the rows of a reader had, one after the other, and whether a reader shows one of them, never an older one than before. */

/** What a reader shows. */
export interface Shown {
  readonly rows: string;
  /** Whether the rows are complete: those of the answer, or of a former one. */
  readonly isWhole: boolean;
}

/** The states that follow each other. `stateAt` says what a reader should show after the change with this number. */
export class ShownHistory {
  readonly #stateAt: (change: number) => string;
  readonly #last: () => number;
  readonly #known = new Map<number, string>();
  /** The number of the change up to which the rows are at least. */
  at = 0;
  /** What was wrong. */
  readonly wrong: string[] = [];
  #shown: string | undefined;

  constructor(stateAt: (change: number) => string, last: () => number) {
    this.#stateAt = stateAt;
    this.#last = last;
  }

  /** Takes what is shown now. */
  take({ rows, isWhole }: Shown): void {
    this.#shown = isWhole ? rows : undefined;
    if (!isWhole) return;
    for (let change = this.at; change <= this.#last(); change++) {
      if (this.#state(change) !== rows) continue;
      for (let passed = this.at; passed < change; passed++) this.#known.delete(passed);
      this.at = change;
      return;
    }
    this.wrong.push(`after change ${this.at} of ${this.#last()}: ${rows.slice(0, 200)}`);
  }

  /** Whether what is shown is right after this change, or a later one. */
  isPast(change: number): boolean {
    for (let at = Math.max(change, this.at); at <= this.last; at++) {
      if (this.#state(at) === this.#shown) return true;
    }
    return false;
  }

  /** The number of the last change. */
  get last(): number {
    return this.#last();
  }

  /** What should be shown after the last change. */
  get expected(): string {
    return this.#state(this.last);
  }

  #state(change: number): string {
    const known = this.#known.get(change) ?? this.#stateAt(change);
    this.#known.set(change, known);
    return known;
  }
}
