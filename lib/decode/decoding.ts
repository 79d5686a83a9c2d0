/**
 * The port of the decoding stage: bytes in, events and items out, with the known objects at hand. A decoder that
 * works on bytes, or parses lazily, takes this one's place without another stage noticing.
 */
import type { ApiError } from '../meta/api-error.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { Projection } from './projection.ts';
import type { ListPart, WatchEvent } from './watch-event.ts';

/**
 * Makes what is stored of what was received: cuts fields, picks some. Runs once an object, before anything holds
 * it. It must return a new object or the same one unchanged, and keep name, namespace, UID and resourceVersion.
 * client-go: tools/cache/controller.go, TransformFunc.
 */
export type Transform<T> = (object: T) => T;

/** An object that did not get through, and why. */
export interface Skipped {
  readonly reason: ApiError;
  /** Absent where the object has none. */
  readonly key?: string;
  readonly resourceVersion?: string;
  /** Tries again with what was received; absent where that cannot help. */
  readonly retry?: () => unknown;
}

/** What a decoder is made with. */
export interface DecodeContext<T extends KubernetesObject> {
  /** With kind '' an object of any kind is let in, and takes the kind of its list where it has none. */
  readonly resource: Resource<T>;
  /** Asked for instead of whole objects. */
  readonly projection?: Projection;
  /** May be older than the bytes at hand. */
  readonly known?: KnownObjects<T>;
  /** The longest line or item, in bytes. */
  readonly maxFrameBytes: number;
  /** The longest body of one LIST, in bytes. @defaultValue no limit */
  readonly maxPageBytes?: number;
  readonly transform?: Transform<T>;
  /** `managedFields` are most of what an object weighs and seldom read. */
  readonly keepManagedFields: boolean;
  onSkipped(skipped: Skipped): void;
}

/** One body, in chunks. */
export interface Decoder<Out> {
  /** What this chunk closed, if anything. */
  push(chunk: Uint8Array): Out | undefined;
  /** The rest. Sets `failure` when the body was cut. */
  end(): Out | undefined;
  /** Why decoding stopped, once it has. What was decoded before is still good. */
  readonly failure: ApiError | undefined;
}

/** Makes decoders, one a body. */
export interface Decoding {
  watch<T extends KubernetesObject>(context: DecodeContext<T>): Decoder<readonly WatchEvent<T>[]>;
  list<T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>>;
}
