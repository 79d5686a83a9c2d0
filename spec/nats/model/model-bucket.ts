/**
 * A stream of JetStream as a bucket uses it: one message per subject, sequences, atomic batches with a check per
 * subject, messages that expire, purges, and copies of the store.
 */
import {
  collectionPrefix,
  DELETE,
  HEADERS,
  metaSubject,
  readSubject,
  scopeFilter,
} from '../../../lib/nats/layout.ts';
import { type Meta, readMeta } from '../../../lib/nats/meta.ts';
import type { Outgoing } from '../../../lib/nats/publish/atomic-batch.ts';
import type { Contents, InBucket, Tombstone } from '../../../lib/nats/publish/contents.ts';
import type { Received } from '../../../lib/nats/received.ts';

export const PREFIX = collectionPrefix('k8s', { group: '', plural: 'pods' });

interface Stored {
  readonly subject: string;
  readonly sequence: number;
  readonly storedMs: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A copy of the store. */
export interface StoreCopy {
  readonly messages: ReadonlyMap<string, Stored>;
  readonly last: number;
}

/** A write was refused, because the subject has another last message than expected. */
export class Refused extends Error {}

const decoder = new TextDecoder();

export class ModelBucket {
  #messages = new Map<string, Stored>();
  #last = 0;
  nowMs = 0;

  get last(): number {
    return this.#last;
  }

  get count(): number {
    return this.#messages.size;
  }

  /** Stores all messages or none. Returns the sequence of the first. */
  publish(batch: readonly Outgoing[]): number {
    for (const { subject, expected } of batch) {
      const actual = this.#messages.get(subject)?.sequence ?? 0;
      if (actual !== expected) throw new Refused(`${subject}: ${actual} instead of ${expected}`);
    }
    const first = this.#last + 1;
    for (const { subject, body, headers } of batch) {
      const sequence = ++this.#last;
      this.#messages.delete(subject);
      const text = decoder.decode(body);
      this.#messages.set(subject, { subject, sequence, storedMs: this.nowMs, text, headers });
    }
    return first;
  }

  /** Lets time pass. Tombstones expire. */
  pass(ms: number): void {
    this.nowMs += ms;
    for (const { subject, storedMs, headers } of [...this.#messages.values()]) {
      const lifeMs = Number.parseInt(headers[HEADERS.ttl] ?? '', 10) * 1_000;
      if (this.nowMs - storedMs >= lifeMs) this.#messages.delete(subject);
    }
  }

  /** Removes the messages that match; sequences go on. */
  purge(isPurged: (subject: string) => boolean): void {
    for (const subject of [...this.#messages.keys()]) {
      if (isPurged(subject)) this.#messages.delete(subject);
    }
  }

  subjects(): string[] {
    return [...this.#messages.keys()];
  }

  copy(): StoreCopy {
    return { messages: new Map(this.#messages), last: this.#last };
  }

  restore({ messages, last }: StoreCopy): void {
    this.#messages = new Map(messages);
    this.#last = last;
    this.pass(0);
  }

  /** What a publisher reads. Its stopwatch shows the time of the bucket plus `offsetMs`. */
  contents(offsetMs: number): Contents {
    const objects: InBucket[] = [];
    const tombstones: Tombstone[] = [];
    const records = new Map<string, number>();
    for (const { subject, sequence, headers, storedMs } of this.#messages.values()) {
      const meaning = readSubject(PREFIX, subject);
      if (meaning === undefined) continue;
      const { namespace } = meaning;
      const version = headers[HEADERS.version] ?? '';
      if (meaning.kind === 'meta') records.set(namespace, sequence);
      else if (headers[HEADERS.operation] === DELETE) {
        const atMs = storedMs + offsetMs;
        tombstones.push({ namespace, name: meaning.name, version, sequence, atMs });
      } else {
        const uid = headers[HEADERS.uid] ?? '';
        const content = headers[HEADERS.content];
        objects.push({ namespace, name: meaning.name, uid, version, content, sequence });
      }
    }
    return { objects, tombstones, records, meta: this.whole()?.meta, last: this.#last };
  }

  /** The record of the complete collection. */
  whole(): { readonly meta: Meta; readonly sequence: number } | undefined {
    const stored = this.#messages.get(metaSubject(PREFIX, ''));
    const meta = stored === undefined ? undefined : readMeta(stored.text);
    return stored === undefined || meta === undefined
      ? undefined
      : { meta, sequence: stored.sequence };
  }

  /** The first message of a scope from a sequence on. */
  next(namespace: string, from: number): Received | undefined {
    const filter = scopeFilter(PREFIX, namespace).slice(0, -1);
    let found: Stored | undefined;
    let pending = -1;
    // The messages are in the order of their sequences, because a message that is replaced is stored anew.
    for (const stored of this.#messages.values()) {
      if (stored.sequence < from || !stored.subject.startsWith(filter)) continue;
      found ??= stored;
      pending++;
    }
    if (found === undefined) return undefined;
    const { subject, sequence, storedMs, text, headers } = found;
    return {
      ...{ sequence, delivery: 0, pending, storedMs, text: () => text },
      meaning: readSubject(PREFIX, subject),
      isDeletion: headers[HEADERS.operation] === DELETE,
      uid: headers[HEADERS.uid] ?? '',
      version: headers[HEADERS.version] ?? '',
    };
  }
}
