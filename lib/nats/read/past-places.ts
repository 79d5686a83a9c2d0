/** The places at which a session stood, with the way back to them, so that a watch can resume from one of them. */

/** The place of a session in the history of its scope: that of the last `_meta` record. */
export interface Place {
  readonly sequence: number;
  readonly epoch: string;
  readonly writer: string;
  readonly resourceVersion: string;
  readonly heartbeatMs: number;
}

/** The way back to an earlier place. */
export interface Step {
  readonly place: Place;
  /** What the reader had under the keys that changed since. */
  readonly before: readonly (readonly [key: string, state: string | undefined])[];
}

/** How many places are remembered, and how many changes between them. */
const MOST_STEPS = 128;
const MOST_CHANGES = 2_000;

export class PastPlaces {
  /** The newest at the end. */
  #steps: Step[] = [];
  #changes = 0;

  remember(step: Step): void {
    this.#steps.push(step);
    this.#changes += step.before.length;
    while (this.#steps.length > MOST_STEPS || this.#changes > MOST_CHANGES) {
      this.#changes -= this.#steps.shift()?.before.length ?? 0;
    }
  }

  /** The steps back to a version, the newest first; `undefined` if the version is not remembered. */
  wayBack(resourceVersion: string): Step[] | undefined {
    const at = this.#steps.findIndex(({ place }) => place.resourceVersion === resourceVersion);
    return at === -1 ? undefined : this.#steps.slice(at).reverse();
  }

  clear(): void {
    this.#steps = [];
    this.#changes = 0;
  }
}
