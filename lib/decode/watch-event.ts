/** What the decoders give: watch events and list parts. */
import type { ApiError } from '../meta/api-error.ts';
import { type KubernetesObject, versionOf } from '../meta/kubernetes-object.ts';
import type { ResourceVersion } from '../meta/resource-version.ts';

/**
 * An existing object whose state was refused. It passes through the queue in its place, so that earlier and later
 * changes of its key keep their order.
 */
export interface Refused {
  readonly key: string;
  /** '' if the object has no UID. */
  readonly uid: string;
  readonly resourceVersion: ResourceVersion | '';
  /** The UID of the object's controller, '' without one; absent if that is not known. Shards by owner need it. */
  readonly controllerUid?: string | undefined;
  readonly reason: ApiError;
  /** Transforms the received object again; throws while it is still refused. */
  retry(): unknown;
}

/** One decoded line of a WATCH. Literals are as on the wire. */
export type WatchEvent<T> =
  | {
      readonly type: 'ADDED' | 'MODIFIED';
      readonly key: string;
      readonly object: T;
      /** The earlier state whose unchanged parts `object` has already, at every depth. */
      readonly basis?: T | undefined;
      /** Whether `object` is the stored one, which was not parsed again because its UID and version are equal. */
      readonly unparsed?: true;
    }
  /** `object` is absent if the transform refused its last state. */
  | {
      readonly type: 'DELETED';
      readonly key: string;
      readonly object?: T;
      readonly resourceVersion: ResourceVersion;
    }
  /** The version that the server has reached. `initialEventsEnd` ends the initial events of a streaming LIST. */
  | {
      readonly type: 'BOOKMARK';
      readonly resourceVersion: ResourceVersion;
      readonly initialEventsEnd: boolean;
    }
  /** The server ended the stream with a Status. */
  | { readonly type: 'ERROR'; readonly error: ApiError }
  /** An existing object that the transform refused: it has a version but no state. */
  | { readonly type: 'REFUSED'; readonly key: string; readonly refused: Refused };

/** The version that an event shows. */
export function versionIn(event: Exclude<WatchEvent<unknown>, { type: 'ERROR' }>): string {
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
      return versionOf(event.object as KubernetesObject);
    case 'REFUSED':
      return event.refused.resourceVersion;
    default:
      return event.resourceVersion;
  }
}

/** A part of a list's items. The last part of a response has its metadata. */
export interface ListPart<T> {
  readonly items: readonly T[];
  /** Whether items are stored objects, which were not parsed again because their UIDs and versions are equal. */
  readonly unparsed?: true;
  /** Objects that the transform refused. */
  readonly refused?: readonly Refused[] | undefined;
  /** Set together with `metadata` if every object of the response had another kind and was refused. */
  readonly wrongKind?: ApiError;
  readonly metadata?: ListMeta;
}

/** `metadata` of a list body. */
export interface ListMeta {
  readonly resourceVersion: ResourceVersion;
  /** The token of the next page. */
  readonly continue?: string;
  readonly remainingItemCount?: number;
  /** Whether the server has applied the `shardSelector` of the request. */
  readonly sharded?: true;
}
