/** What the renders of suspending hooks have requested, until React shows their providers. */
import type { Given, Provided, ProvidedFactoryOptions } from '../provided.ts';

/** So many providers in one page are unlikely, and each discarded one has sent requests. */
const MOST = 100;

function isSame(one: ProvidedFactoryOptions = {}, other: ProvidedFactoryOptions = {}): boolean {
  const names = Object.keys({ ...one, ...other }) as (keyof ProvidedFactoryOptions)[];
  return names.every((name) => one[name] === other[name]);
}

/** The providers of one client whose renders React may discard. */
export class BegunProviders {
  readonly #all: Provided[] = [];

  /** The provider that an attempt before has begun with the same properties. */
  find({ factory, options }: Given): Provided | undefined {
    return this.#all.find((one) => one.factory === factory && isSame(one.options, options));
  }

  /** Throws an `Error` if many attempts had other options each, because that would go on without end. */
  add(provided: Provided): void {
    if (this.#all.includes(provided)) return;
    if (this.#all.length === MOST) {
      throw new Error(
        'InformerProvider: React discards every render, because a component below suspends; put a <Suspense> below the provider, or create what its options contain outside of components',
      );
    }
    this.#all.push(provided);
  }
}
