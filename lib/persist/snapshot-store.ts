/** `SnapshotStore`, the interface between informers and a store on disk. Files and IndexedDB implement it, and so may a user. */

/** A collection as it was at one version. */
export interface StoredSnapshot {
  /** The text that was written with the collection. It says what the collection is, and is returned as it was. */
  readonly head: string;
  readonly resourceVersion: string;
  /** When the collection was known to be at this version, in milliseconds since the Unix epoch. */
  readonly savedAtMs: number;
  /**
   * The JSON of the objects, in parts of any size and any order. The bytes of a part are valid until the next one is requested.
   * May be read once. Throws if the store is damaged.
   */
  readonly parts: AsyncIterable<readonly Uint8Array[]>;
}

/** A change of a stored collection, from the version before it to `resourceVersion`. */
export interface SnapshotChange
  extends Pick<StoredSnapshot, 'head' | 'resourceVersion' | 'savedAtMs'> {
  /** Whether the collection consists of exactly these objects, so that everything that was stored before is void. */
  readonly replaces: boolean;
  /** The objects that were added or changed, by key, as JSON. Read once; each object is serialized when it is read. */
  readonly objects: Iterable<readonly [key: string, json: Uint8Array]>;
  /** The keys of the objects that were deleted. */
  readonly deleted: readonly string[];
}

/**
 * Keeps collections of objects, each under an id. An informer calls one method at a time, and awaits it before it calls the
 * next one. A method that rejects makes the informer start without a store, or stop writing, with a warning.
 */
export interface SnapshotStore {
  /** Returns the collection as the last complete `write` left it; `undefined` if there is none. */
  read(id: string): Promise<StoredSnapshot | undefined>;
  /**
   * Stores a change. A crash at any moment must leave the collection as it was before or after the change, never a mixture.
   * Resolves when the change would survive a crash. `'rewrite'` asks for a next change that `replaces` everything, also
   * if the store has not stored this one.
   */
  write(id: string, change: SnapshotChange): Promise<'rewrite' | undefined>;
  /** Deletes a collection. Resolves if there is none. */
  delete(id: string): Promise<void>;
  /** Returns the heads of all collections, by id. */
  heads(): Promise<ReadonlyMap<string, string>>;
  /** Returns the `savedAtMs` of all collections, by id. @defaultValue that of `read` for the ids of the heads */
  times?(): Promise<ReadonlyMap<string, number>>;
  /**
   * Deletes everything of an identity, also what other programs are writing at present. @defaultValue `delete` for the ids of its
   * heads
   */
  forget?(identity: string): Promise<void>;
  /** Releases what the store holds, such as files and locks. No other method is called after it. */
  close(): Promise<void>;
}
