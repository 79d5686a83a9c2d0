/** A publisher's loop in steps. One step is one request to the bucket, so that a publisher can end between two batches. */

import { type Contents, difference, isBehind } from '../../../lib/nats/publish/contents.ts';
import {
  inBatches,
  type Planned,
  type RecordSettings,
} from '../../../lib/nats/publish/messages.ts';
import { nextSet } from '../../../lib/nats/publish/next-set.ts';
import type { Published } from '../../../lib/nats/publish/published.ts';
import { takeOver } from '../../../lib/nats/publish/take-over.ts';
import { type ModelBucket, PREFIX, Refused } from './model-bucket.ts';
import { type ModelCluster, ModelInformer } from './model-cluster.ts';

export const TOMBSTONE_MS = 60_000;
const HEARTBEAT_MS = 1_000;

export interface PublisherOptions {
  readonly batchSize: number;
  readonly content?: string | undefined;
  readonly maxPayload: number;
}

/** What happens to the answer of a request. */
export type Answer = 'arrives' | 'is lost' | 'is not sent';

let ids = 0;

export class ModelPublisher {
  readonly #bucket: ModelBucket;
  readonly #options: PublisherOptions;
  readonly #settings: RecordSettings;
  readonly informer: ModelInformer;
  #published: Published | undefined;
  #contents: Contents | undefined;
  /** The set that is on its way. */
  #sending: { published: Published; version: string; batches: Planned[][] } | undefined;
  #writer = '';
  /** The stopwatch of a process begins at any number. */
  readonly #offsetMs: number;

  constructor(bucket: ModelBucket, cluster: ModelCluster, options: PublisherOptions) {
    this.#bucket = bucket;
    this.#options = options;
    this.informer = new ModelInformer(cluster);
    this.#offsetMs = ids++ * 1_234 - bucket.nowMs;
    this.#settings = {
      ...{ prefix: PREFIX, apiVersion: 'v1', kind: 'Pod', namespace: '', content: options.content },
      ...{ heartbeatMs: HEARTBEAT_MS, tombstoneMs: TOMBSTONE_MS, maxPayload: options.maxPayload },
    };
  }

  get #nowMs(): number {
    return this.#bucket.nowMs + this.#offsetMs;
  }

  /** Whether everything that the informer has is in the bucket, as far as the publisher knows. */
  get isIdle(): boolean {
    return (
      this.#sending === undefined &&
      this.#published !== undefined &&
      !this.informer.mustCompare &&
      this.informer.waiting === 0
    );
  }

  /** The publisher has lost the Lease, or its connection. */
  fail(): void {
    this.informer.mustCompare = true;
    this.informer.take();
    this.#sending = undefined;
    this.#contents = undefined;
    this.#writer = '';
  }

  standBy(): void {
    this.fail();
    this.#published = undefined;
  }

  /** Does the next request. */
  step(answer: Answer = 'arrives'): void {
    if (this.#sending !== undefined) return this.#send(answer);
    if (answer !== 'arrives') return this.fail();
    if (this.informer.mustCompare || this.#published === undefined) return this.#compare();
    if (this.informer.waiting > 0) this.#begin(this.#published, false, this.informer.take());
  }

  /** A heartbeat is due. */
  beat(): void {
    if (!this.isIdle || this.#published === undefined) return;
    if (this.#bucket.count < this.#published.leastMessages) this.informer.mustCompare = true;
    else this.#begin(this.#published, true, this.informer.take());
  }

  /** A comparison is due. */
  compare(): void {
    if (this.isIdle) this.informer.mustCompare = true;
  }

  #compare(): void {
    if (this.#contents === undefined) {
      this.#contents = this.#bucket.contents(this.#offsetMs);
      return;
    }
    const contents = this.#contents;
    this.#contents = undefined;
    if (isBehind(String(this.informer.version), contents)) this.informer.relist();
    const published = takeOver({
      settings: this.#settings,
      contents,
      before: this.#published,
      writer: this.#writer,
      newId: () => `id${ids++}`,
    });
    this.#writer = published.writer;
    this.informer.take();
    this.informer.mustCompare = false;
    this.#begin(published, true, difference(this.informer.store, contents.objects));
  }

  #begin(published: Published, all: boolean, changes: ReturnType<typeof difference>): void {
    const version = String(this.informer.version);
    const messages = nextSet(published, {
      ...{ changes, resourceVersion: version, all },
      nowMs: this.#nowMs,
      newId: () => `id${ids++}`,
    });
    const batches = inBatches(messages, this.#options.batchSize - 1, 1e9);
    if (batches.length > 0) this.#sending = { published, version, batches };
    else this.#published = published;
  }

  #send(answer: Answer): void {
    const { published, version, batches } = this.#sending ?? {};
    const planned = batches?.shift();
    if (published === undefined || version === undefined || planned === undefined) return;
    const batch = published.guarded(planned, batches?.length === 0);
    if (answer === 'is not sent') return this.fail();
    try {
      const first = this.#bucket.publish(batch);
      if (answer === 'is lost') return this.fail();
      published.stored(batch, first, version, this.#nowMs);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return this.fail();
    }
    if (batches?.length !== 0) return;
    this.#sending = undefined;
    this.#published = published;
  }
}
