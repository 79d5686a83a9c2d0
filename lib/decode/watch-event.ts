/** What a watch line and a list body become: the vocabulary of `decode/`. */
import type { ApiError } from '../meta/api-error.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';

/**
 * An object that exists, in a state that was refused. It travels to the store in its place among the others, so that
 * what comes before it and behind it counts as it came.
 */
export interface Refused {
  readonly key: string;
  /** '' where the object has none. */
  readonly uid: string;
  readonly resourceVersion: ResourceVersion | '';
  readonly reason: ApiError;
  /** Makes the object anew of what was received; throws while it is still refused. */
  retry(): unknown;
}

/** One line of a WATCH, decoded. Wire literals stay as on the wire. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED'; readonly key: string; readonly object: T }
  /** `object` is absent where its last state was refused by the transform. */
  | {
      readonly type: 'DELETED';
      readonly key: string;
      readonly object?: T;
      readonly resourceVersion: ResourceVersion;
    }
  /** The server says how far it is; `initialEventsEnd` closes the first part of a streaming LIST. */
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: ResourceVersion;
      readonly initialEventsEnd: boolean;
    }
  /** The server ends the stream with a Status. */
  | { readonly type: 'ERROR'; readonly error: ApiError }
  /** An object that exists but that the transform refused: it has a version, no state. */
  | { readonly type: 'REJECTED'; readonly key: string; readonly refused: Refused };

/** Some items of a list; the last part of a request has its metadata. */
export interface ListPart<T> {
  readonly items: readonly T[];
  /** Items that exist but were refused by the transform. */
  readonly rejected?: readonly Refused[];
  /** Stands beside the metadata of an answer of which every object was of another kind, and was skipped. */
  readonly wrongKind?: ApiError;
  readonly metadata?: ListMeta;
}

/** `metadata` of a list body. */
export interface ListMeta {
  readonly resourceVersion: ResourceVersion;
  /** The token of the next page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
}
