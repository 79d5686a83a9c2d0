/** What is known of the server's part in filtering: whether it selects objects by `shardSelector`. */
import type { ApiError } from '../../meta/api-error.ts';
import type { ShardFilterBy } from '../../meta/shard-ranges/shard-filter.ts';
import type { ShardHolding } from './shard-holding.ts';

/** Whether the server filters; `undefined` while no answer has shown it. */
export class ServerFilter {
  filters: boolean | undefined;
  /** The error with which the server refused the selector. It is not sent again. */
  refusal: ApiError | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  note(filters: boolean, refusal?: ApiError): void {
    if (this.filters === filters && refusal === undefined) return;
    this.filters = filters;
    this.refusal = refusal ?? this.refusal;
    this.#onChange();
  }

  /** Whether the server filters, and who filters in words for a user. */
  told(by: ShardFilterBy): Pick<ShardHolding, 'serverFilters' | 'message'> {
    const filters = by === 'owner' ? false : this.filters;
    return {
      ...(filters === undefined ? {} : { serverFilters: filters }),
      message: this.#words(by),
    };
  }

  #words(by: ShardFilterBy): string {
    const always = 'the client filters';
    if (by === 'owner')
      return `${always}; the server sends all objects, because it cannot select by owner`;
    if (this.refusal !== undefined) {
      return `${always}; the server refuses the shard selector, so it sends all objects: ${this.refusal.message}`;
    }
    if (this.filters === undefined) return `${always}; whether the server does is not known yet`;
    if (this.filters) return 'the server filters, and so does the client';
    return `${always}; the server sends all objects, because it has no feature gate ShardedListAndWatch, or it is off`;
  }
}

/**
 * Whether the server refused the selector. It answers with a 500 without a reason, which would otherwise be retried for
 * ever. apiserver: registry/generic/registry/store.go, ListPredicate.
 */
export function isRefusedSelector({ code, message }: ApiError): boolean {
  return (code === 400 || code === 500) && /shard selector/i.test(message);
}
