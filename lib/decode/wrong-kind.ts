/**
 * Detects a collection of another kind than its resource. A single object of another kind is refused, but if every
 * object were refused, an empty store would be reported as synced.
 */
import { ApiError } from '../meta/api-error.ts';
import type { Resource } from '../meta/resource.ts';

/** Creates the error for a list, or for the bookmark that ends a streaming list, of an unexpected kind. */
export function wrongKind({ plural }: Resource, expected: string, got: string): ApiError {
  const shown = JSON.stringify(got.slice(0, 60));
  const message = `${plural}: expected a ${expected}, got ${shown}. Correct the kind or the plural of the resource`;
  return ApiError.local('WrongKind', message);
}

/** Counts the objects of one response: those of the resource's kind, and those of another kind. */
export class KindTally {
  #own = 0;
  #others = 0;
  #last = '';

  /** Counts an object of the right kind, whether it is admitted, or refused for another reason. */
  own(): void {
    this.#own++;
  }

  /** Counts an object of another kind, which `message` describes. */
  other(message: string): void {
    this.#others++;
    this.#last = message;
  }

  /**
   * The error if every object is of another kind; `undefined` if there is an object of the right kind, or no object.
   */
  get failure(): ApiError | undefined {
    if (this.#own > 0 || this.#others === 0) return undefined;
    const message = `every object (${this.#others}) is of another kind; the last: ${this.#last}. Correct the kind or the plural of the resource`;
    return ApiError.local('WrongKind', message);
  }
}
