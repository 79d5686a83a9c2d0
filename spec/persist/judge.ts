/** What the server had at each version, and so what a store may hold and an informer may show. Computed from the objects alone. */
import type { KubernetesObject } from 'rx-informer';
import type { MemorySnapshot } from './memory-store.ts';

/** What is compared of an object: its key, its version, and which content it has. */
function lineOf({ metadata, spec }: KubernetesObject & { readonly spec?: object }): string {
  const { namespace, name, resourceVersion } = metadata ?? {};
  const [member, value] = Object.entries(spec ?? {}).at(-1) ?? [];
  return `${namespace}/${name}@${resourceVersion} ${member} ${String(value).length}`;
}

export function linesOf(objects: Iterable<KubernetesObject>): string {
  return [...objects].map(lineOf).sort().join(' ');
}

/** The lines of the objects that are stored. */
export function storedLines({ objects }: MemorySnapshot): string {
  return linesOf([...objects.values()].map((text) => JSON.parse(text)));
}

/** The settings by which a life knows its own stored objects. */
export interface Owner {
  readonly identity: string;
  readonly appVersion: string;
  readonly labelSelector: string | undefined;
}

/** Stored objects are too old after a day. */
const DAY_MS = 86_000_000;

/** Whether stored objects are those of a life with these settings, and not too old. */
export function isOwn({ head, savedAtMs }: MemorySnapshot, owner: Owner, nowMs: number): boolean {
  const { identity, query, app } = JSON.parse(head);
  return (
    identity === owner.identity &&
    app === owner.appVersion &&
    query.labelSelector === owner.labelSelector &&
    nowMs - savedAtMs < DAY_MS
  );
}

/** The contents of the server by version, in its present history. */
export class Contents {
  #lines = new Map<number, string>();
  /** Before this version the server has no history. */
  compacted = 0;

  record(version: string, objects: Iterable<KubernetesObject>): void {
    this.#lines.set(Number(version), linesOf(objects));
  }

  /** A version between two changes, for example of other collections, has the contents of the change before it. */
  at(resourceVersion: string): string {
    for (let from = Number(resourceVersion); from > 0; from--) {
      const found = this.#lines.get(from);
      if (found !== undefined) return found;
    }
    return '';
  }

  copy(): ReadonlyMap<number, string> {
    return new Map(this.#lines);
  }

  /** The server was restored, and has no history. */
  restored(former: ReadonlyMap<number, string>, version: string): void {
    this.#lines = new Map(former);
    this.compacted = Number(version);
  }

  /** Whether changes since a version can be read from a server that was at another one when the life began. */
  isInWindow(resourceVersion: string, startedAt: number): boolean {
    return Number(resourceVersion) >= this.compacted && Number(resourceVersion) <= startedAt;
  }
}
