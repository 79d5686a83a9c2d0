/** A store of snapshots in memory, which a test can read, damage and let fail. */
import type { SnapshotChange, SnapshotStore, StoredSnapshot } from 'rx-informer';

/** A collection as it is stored. */
export interface MemorySnapshot {
  head: string;
  resourceVersion: string;
  savedAtMs: number;
  objects: Map<string, string>;
}

/** One call of `write`, with the keys of its objects. */
export interface Written {
  readonly replaces: boolean;
  readonly resourceVersion: string;
  readonly keys: readonly string[];
  readonly deleted: readonly string[];
}

export class MemoryStore implements SnapshotStore {
  readonly collections = new Map<string, MemorySnapshot>();
  readonly written: Written[] = [];
  readonly calls: string[] = [];
  /** Awaited by each write, to hold it back. */
  gate: Promise<void> | undefined;
  /** Errors by method. */
  readonly failing: Partial<Record<keyof SnapshotStore, Error>> = {};
  /** Called after each write that was stored. */
  onWrite: (stored: MemorySnapshot) => void = () => undefined;
  /** The result of the next writes. */
  answer: 'rewrite' | undefined;
  /** How many writes are in progress. */
  writing = 0;
  mostWriting = 0;
  closed = false;

  /** The only collection. */
  get only(): MemorySnapshot | undefined {
    const [collection, other] = this.collections.values();
    if (other !== undefined) throw new Error('there are several collections');
    return collection;
  }

  async read(id: string): Promise<StoredSnapshot | undefined> {
    this.#called('read');
    const stored = this.collections.get(id);
    if (stored === undefined) return undefined;
    const { head, resourceVersion, savedAtMs } = stored;
    const texts = [...stored.objects.values()];
    const parts = async function* () {
      for (let at = 0; at < texts.length; at += 2) {
        yield texts.slice(at, at + 2).map((text) => new TextEncoder().encode(text));
      }
    };
    return { head, resourceVersion, savedAtMs, parts: parts() };
  }

  async write(id: string, change: SnapshotChange): Promise<'rewrite' | undefined> {
    this.#called('write');
    this.writing++;
    this.mostWriting = Math.max(this.mostWriting, this.writing);
    const { head, resourceVersion, savedAtMs, replaces, deleted } = change;
    const objects = [...change.objects].map(
      ([key, json]) => [key, new TextDecoder().decode(json)] as const,
    );
    await this.gate;
    this.writing--;
    const had = replaces ? undefined : this.collections.get(id);
    if (!replaces && had === undefined) throw new Error('a change without a collection');
    const all = new Map(had?.objects);
    for (const [key, text] of objects) all.set(key, text);
    for (const key of deleted) all.delete(key);
    const stored = { head, resourceVersion, savedAtMs, objects: all };
    this.collections.set(id, stored);
    const keys = objects.map(([key]) => key);
    this.written.push({ replaces, resourceVersion, keys, deleted });
    this.onWrite(stored);
    return this.answer;
  }

  async delete(id: string): Promise<void> {
    this.#called('delete');
    this.collections.delete(id);
  }

  async heads(): Promise<ReadonlyMap<string, string>> {
    this.#called('heads');
    return new Map([...this.collections].map(([id, { head }]) => [id, head]));
  }

  async close(): Promise<void> {
    this.#called('close');
    this.closed = true;
  }

  #called(method: keyof SnapshotStore): void {
    this.calls.push(method);
    const error = this.failing[method];
    if (error !== undefined) throw error;
  }
}
