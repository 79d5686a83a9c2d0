/**
 * `Decoding`, the interface of the decode stage: bytes in, events and items out, with access to the known objects. A
 * decoder that works on bytes can replace the default one without changes to other stages.
 */
import type { ApiError } from '../meta/api-error.ts';
import type { KnownObjects } from '../meta/known-objects.ts';
import type { KubernetesObject } from '../meta/kubernetes-object.ts';
import type { Resource } from '../meta/resource.ts';
import type { Projection } from './projection.ts';
import type { ListPart, WatchEvent } from './watch-event.ts';

/**
 * Transforms a received object before it is stored, for example to remove fields. A transform runs once per object.
 * It returns a new object or the received one, which it may change, and must keep name, namespace, UID and
 * resourceVersion. If it throws, the object is refused, and a later try receives the same object again, with what was
 * changed in it. client-go: tools/cache/controller.go, TransformFunc.
 */
export type Transform<T> = (object: T) => T;

/** A refused object, or items that are no objects of the collection, with the reason. */
export interface Refusal {
  /** The reason; of several items that of the last. */
  readonly reason: ApiError;
  /** How many items without a key were refused. @defaultValue 1 */
  readonly count?: number | undefined;
  /** Absent if the object has no key. */
  readonly key?: string;
  readonly resourceVersion?: string;
  /**
   * Runs the transform again on the received object, and throws if it is refused again. Absent if a retry cannot
   * help.
   */
  readonly retry?: () => unknown;
}

/** The options of a decoder. */
export interface DecodeContext<T extends KubernetesObject> {
  /** If the kind is '', objects of any kind are admitted; an object without a kind takes that of its list. */
  readonly resource: Resource<T>;
  /** The projection that was requested instead of complete objects. */
  readonly projection?: Projection | undefined;
  /** The known objects, which may be older than the bytes that are being decoded. */
  readonly known?: KnownObjects<T> | undefined;
  /**
   * Whether an object of a list may be replaced by the known one with the same UID and version. If `false`, nothing that
   * was decoded before the list may be used again. Absent for a watch, whose events are changes.
   */
  readonly reuse?: boolean | undefined;
  /** The longest line or item, in bytes. */
  readonly maxFrameBytes: number;
  /** The longest body of one LIST, in bytes. @defaultValue no limit */
  readonly maxPageBytes?: number | undefined;
  readonly transform?: Transform<T> | undefined;
  /** Whether to keep `managedFields`, which are most of an object's size and rarely read. */
  readonly keepManagedFields: boolean;
  onRefused(refusal: Refusal): void;
}

/** Decodes one body, which arrives in chunks. */
export interface Decoder<Out> {
  /** Decodes a chunk and returns the events or items that it completed, if any. */
  push(chunk: Uint8Array): Out | undefined;
  /** Ends the body and returns the rest. Sets `failure` if the body was cut. */
  end(): Out | undefined;
  /** The error that stopped decoding, if any. Everything decoded before it remains valid. */
  readonly failure: ApiError | undefined;
}

/**
 * Creates one decoder per body. An option `decoding` takes a function that makes the decoding of one collection:
 * {@link jsonDecoding}, {@link differentialDecoding}, {@link projectedDecoding}, or one that calls them with options.
 */
export interface Decoding {
  watch<T extends KubernetesObject>(context: DecodeContext<T>): Decoder<readonly WatchEvent<T>[]>;
  list<T extends KubernetesObject>(context: DecodeContext<T>): Decoder<ListPart<T>>;
  /** The paths to which it reduces objects. Objects that were stored with others are not read. @defaultValue objects are complete */
  readonly keeps?: readonly string[] | undefined;
}
