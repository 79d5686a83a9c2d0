/**
 * The consumers of readers, each of which lasts as long as the right for which it was made. A request for messages that
 * a reader sent while it had the right may wait for ever, and ends only with its consumer.
 */
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type { NatsReaderRights } from 'rx-informer/nats';

/** The metadata of a consumer that says when it ends, so that another process can end it, too. */
const UNTIL = 'rx-informer-until';
const RETRY_MS = 1_000;

export class ReaderConsumers {
  readonly #manager: Promise<JetStreamManager>;
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #onError: (reason: string) => void;

  constructor(connection: NatsConnection, bucket: string, onError: (reason: string) => void) {
    this.#manager = jetstreamManager(connection);
    this.#onError = onError;
    this.#adopt(`KV_${bucket}`).catch((error: Error) => onError(error.message));
  }

  /** Makes the consumer of a reader, in place of one that it has. */
  async permit({ stream, consumer }: NatsReaderRights, untilMs: number): Promise<void> {
    const { consumers } = await this.#manager;
    await this.#remove(stream, consumer.durable_name);
    await consumers.add(stream, { ...consumer, metadata: { [UNTIL]: String(untilMs) } });
    this.#removeAt(stream, consumer.durable_name, untilMs);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Ends the consumers that an earlier process has made. */
  async #adopt(stream: string): Promise<void> {
    const { consumers } = await this.#manager;
    for await (const { name, config } of consumers.list(stream)) {
      const until = config.metadata?.[UNTIL];
      if (until !== undefined && !this.#timers.has(name))
        this.#removeAt(stream, name, Number(until));
    }
  }

  #removeAt(stream: string, name: string, atMs: number): void {
    clearTimeout(this.#timers.get(name));
    const remove = () =>
      this.#remove(stream, name).catch((error: Error) => {
        this.#onError(`the consumer ${name} cannot be deleted: ${error.message}`);
        this.#removeAt(stream, name, Date.now() + RETRY_MS);
      });
    this.#timers.set(name, setTimeout(remove, Math.max(0, atMs - Date.now())));
  }

  async #remove(stream: string, name: string): Promise<void> {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
    const { consumers } = await this.#manager;
    await consumers.delete(stream, name).catch((error: Error) => {
      if (!/not found/.test(error.message)) throw error;
    });
  }
}
