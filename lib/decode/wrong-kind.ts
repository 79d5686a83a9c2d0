/**
 * When a whole collection is of another kind than its resource says. A single object of another kind is skipped; with all
 * of them skipped the store would be empty, and call itself synced.
 */
import { ApiError } from '../meta/api-error.ts';
import type { Resource } from '../meta/resource.ts';

/** Names one kind where another was expected: of a list, or of the bookmark that ends a streaming list. */
export function wrongKind({ plural, kind }: Resource, expected: string, got: string): ApiError {
  const shown = JSON.stringify(got.slice(0, 60));
  const message = `${plural}: expected a ${expected}, got ${shown}: the resource is not of kind ${kind}; correct its kind or its plural`;
  return ApiError.local('WrongKind', message);
}

/** Counts the objects of one answer: those of the kind that was asked for, and those of another. */
export class KindTally {
  #own = 0;
  #others = 0;
  #last = '';

  /** One is of the right kind, let in, refused or skipped for another reason. */
  own(): void {
    this.#own++;
  }

  /** One is of another kind, as `message` says. */
  other(message: string): void {
    this.#others++;
    this.#last = message;
  }

  /** Why the answer has no object of the resource; `undefined` if it has one, or none at all. */
  get failure(): ApiError | undefined {
    if (this.#own > 0 || this.#others === 0) return undefined;
    const message = `every object (${this.#others}) is of another kind; the last: ${this.#last}. Correct the kind or the plural of the resource`;
    return ApiError.local('WrongKind', message);
  }
}
