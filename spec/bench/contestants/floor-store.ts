/**
 * What both floors have in common, the minimum that every informer in JavaScript must do: lines, `JSON.parse`, and a
 * `Map` of the objects. It does not recover from failures and remembers no version.
 */
import type { CorpusName } from '../corpus/corpora.ts';
import { pathOf } from '../corpus/corpora.ts';
import type { Seen } from './contestant.ts';

interface WatchEvent {
  readonly type: string;
  readonly object: Seen & {
    readonly metadata: { readonly namespace?: string; readonly name?: string };
  };
}

/** The path and the query of a streaming LIST that goes on as a watch. */
export function streamingListPath(corpus: CorpusName): string {
  return `${pathOf(corpus)}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
}

/** Applies watch events, one line each. */
export class FloorStore {
  readonly objects = new Map<string, Seen>();
  readonly #onSynced: () => void;
  readonly #onEvent: (object: Seen) => void;
  #synced = false;
  #rest: Buffer | undefined;

  constructor(onSynced: () => void, onEvent: (object: Seen) => void) {
    this.#onSynced = onSynced;
    this.#onEvent = onEvent;
  }

  /** Receives bytes of the response. */
  receive(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      this.#apply(bytes.toString('utf8', from, end));
      from = end + 1;
    }
    this.#rest = from < bytes.length ? bytes.subarray(from) : undefined;
  }

  #apply(line: string): void {
    const { type, object }: WatchEvent = JSON.parse(line);
    const { metadata } = object;
    if (type === 'BOOKMARK') {
      if (metadata.annotations?.['k8s.io/initial-events-end'] !== 'true') return;
      this.#synced = true;
      this.#onSynced();
      return;
    }
    const key = `${metadata.namespace}/${metadata.name}`;
    if (type === 'DELETED') this.objects.delete(key);
    else this.objects.set(key, object);
    if (this.#synced) this.#onEvent(object);
  }
}
