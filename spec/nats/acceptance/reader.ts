/** A reader of a bucket: an informer, and a digest of what it was told. Runs in Node and in a page. */
import type { NatsConnection } from '@nats-io/nats-core';
import { createSharedInformer, type KubernetesObject, type SharedInformer } from 'rx-informer';
import { createNatsListWatch } from 'rx-informer/nats';
import { pods } from 'rx-informer/resources';
import { Digest } from './digest.ts';

/** What a reader had at one moment. */
export interface Sample {
  readonly name: string;
  readonly namespace: string;
  /** The version of its last change set; 0 before the first complete list. */
  readonly version: number;
  readonly digest: string;
  readonly atMs: number;
  /** How often it was told of a change that it knew already, or of a deletion of an unknown object. */
  readonly oddities: number;
  readonly relists: number;
  readonly reconnects: number;
  readonly error?: string | undefined;
}

export class Reader {
  readonly #name: string;
  readonly #namespace: string;
  readonly #digest = new Digest();
  readonly #informer: SharedInformer<KubernetesObject>;
  #version = 0;
  #oddities = 0;

  constructor(connection: NatsConnection, name: string, namespace: string, bucket: string) {
    this.#name = name;
    this.#namespace = namespace;
    const scope = namespace === '' ? {} : { namespace };
    const listWatch = createNatsListWatch(connection, pods, { bucket, idleMs: 1_000, ...scope });
    this.#informer = createSharedInformer(listWatch, {
      name,
      // Short waits, because the acceptance allows ten seconds for everything.
      backoff: (attempt, random) => Math.min(2_000, 200 * 2 ** attempt) * (0.5 + random),
    }) as unknown as SharedInformer<KubernetesObject>;
    this.#informer.changes$.subscribe((set) => {
      for (const { key, object } of set.changes) {
        const version = object?.metadata?.resourceVersion;
        const before = this.#digest.set(key, version);
        if (before === version) this.#oddities++;
      }
      if (set.synced) this.#version = Number(set.resourceVersion);
    });
  }

  get isSynced(): boolean {
    return this.#version > 0;
  }

  sample(): Sample {
    const { relists, reconnects, error } = this.#informer.status;
    return {
      name: this.#name,
      namespace: this.#namespace,
      version: this.#version,
      digest: this.#digest.text,
      atMs: Date.now(),
      oddities: this.#oddities,
      relists,
      reconnects,
      error: error?.message,
    };
  }

  /** The digest of the store itself, which must be that of what the reader was told. */
  stored(): string {
    const digest = new Digest();
    const { indexer } = this.#informer;
    for (const key of indexer.listKeys()) {
      digest.set(key, indexer.getByKey(key)?.metadata?.resourceVersion);
    }
    return digest.text;
  }
}
