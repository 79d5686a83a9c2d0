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
/** The longest delay of `setTimeout`; a longer one would end at once. */
const LONGEST_MS = 2_147_483_647;

/** The planned end of a consumer. A later right replaces it, and nothing that belongs to the earlier one happens then. */
interface Ending {
  readonly stream: string;
  readonly name: string;
  timer?: ReturnType<typeof setTimeout>;
}

export class ReaderConsumers {
  readonly #manager: Promise<JetStreamManager>;
  readonly #endings = new Map<string, Ending>();
  readonly #onError: (reason: string) => void;
  #adoption: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(connection: NatsConnection, bucket: string, onError: (reason: string) => void) {
    // Without a request for the account: if that were lost, nobody would ever be admitted.
    this.#manager = jetstreamManager(connection, { checkAPI: false });
    this.#onError = onError;
    void this.#adopt(`KV_${bucket}`);
  }

  /** Makes the consumer of a reader, in place of one that it has. */
  async permit({ stream, consumer }: NatsReaderRights, untilMs: number): Promise<void> {
    const { consumers } = await this.#manager;
    const ending = this.#begin(stream, consumer.durable_name);
    try {
      await this.#remove(ending);
      await consumers.add(stream, { ...consumer, metadata: { [UNTIL]: String(untilMs) } });
      this.#endAt(ending, untilMs);
    } catch (error) {
      // The earlier consumer may still be there, and nothing else would end it.
      this.#endAt(ending, Date.now());
      throw error;
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#adoption);
    for (const { timer } of this.#endings.values()) clearTimeout(timer);
    this.#endings.clear();
  }

  /** Ends the consumers that an earlier process has made. */
  async #adopt(stream: string): Promise<void> {
    try {
      const { consumers } = await this.#manager;
      for await (const { name, config } of consumers.list(stream)) {
        const until = config.metadata?.[UNTIL];
        if (until !== undefined && !this.#endings.has(name))
          this.#endAt(this.#begin(stream, name), Number(until));
      }
    } catch (error) {
      const { message } = error as Error;
      if (this.#isStopped || /not found/.test(message)) return;
      this.#onError(`the consumers of ${stream} cannot be listed: ${message}`);
      this.#adoption = setTimeout(() => void this.#adopt(stream), RETRY_MS);
    }
  }

  #begin(stream: string, name: string): Ending {
    clearTimeout(this.#endings.get(name)?.timer);
    const ending: Ending = { stream, name };
    this.#endings.set(name, ending);
    return ending;
  }

  #isNewest(ending: Ending): boolean {
    return this.#endings.get(ending.name) === ending;
  }

  #endAt(ending: Ending, atMs: number): void {
    if (!this.#isNewest(ending)) return;
    const waitMs = Math.max(0, atMs - Date.now());
    const next = () => (waitMs > LONGEST_MS ? this.#endAt(ending, atMs) : void this.#end(ending));
    ending.timer = setTimeout(next, Math.min(waitMs, LONGEST_MS));
  }

  async #end(ending: Ending): Promise<void> {
    try {
      await this.#remove(ending);
      if (this.#isNewest(ending)) this.#endings.delete(ending.name);
    } catch (error) {
      this.#onError(`the consumer ${ending.name} cannot be deleted: ${(error as Error).message}`);
      this.#endAt(ending, Date.now() + RETRY_MS);
    }
  }

  async #remove({ stream, name }: Ending): Promise<void> {
    const { consumers } = await this.#manager;
    await consumers.delete(stream, name).catch((error: Error) => {
      if (!/not found/.test(error.message)) throw error;
    });
  }
}
