/** A connection to NATS without a server: messages are fed by hand, requests are answered by a function and kept. */
import type { Msg, NatsConnection, Status } from '@nats-io/nats-core';
import { HEADERS } from '../../lib/nats/layout.ts';
import type { Meta } from '../../lib/nats/meta.ts';
import { Tally } from '../../lib/nats/tally.ts';

/** The prefix of the collection, its stream, and the consumer of all messages. */
export const PREFIX = '$KV.test.core.pods';
export const STREAM = 'KV_test';
const NEXT = `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.`;

/** A message of the stream. */
export interface Fed {
  readonly sequence: number;
  readonly subject: string;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly storedMs?: number;
  readonly pending?: number;
}

/** The answer to a request, with headers for that to a direct read of a message. */
export interface Answer {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code?: number;
  readonly description?: string;
}

type Callback = (error: Error | null, message: Msg) => void;

function headersOf(fields: Readonly<Record<string, string>>, code = 0, description = '') {
  const get = (name: string) => fields[name] ?? '';
  return { code, description, get, last: get };
}

export class FakeConnection {
  readonly options = { inboxPrefix: '_INBOX' };
  readonly features = { get: () => ({ ok: true, min: '2.12.0' }) };
  /** The requests for messages, with the number of messages and the times in milliseconds. */
  readonly pulls: {
    readonly batch: number;
    readonly expiresMs: number;
    readonly idleMs: number;
  }[] = [];
  readonly asked: { readonly subject: string; readonly body: unknown }[] = [];
  readonly removed: string[] = [];
  /** Answers a request; that for a consumer has `pending` messages by default. */
  answer: (subject: string, body: unknown) => Answer | Promise<Answer> = () => ({
    body: { num_pending: this.pending, ts: new Date(this.nowMs).toISOString() },
  });
  pending = 0;
  /** The time of the server's clock. */
  nowMs = 1_000_000;
  isSubscribed = false;
  consumer = '';
  #delivery = 0;
  #callback: Callback = () => undefined;
  readonly #events: (Status | undefined)[] = [];
  #wake: () => void = () => undefined;

  /** This object, for code that takes a connection. */
  get connection(): NatsConnection {
    return this as unknown as NatsConnection;
  }

  async *status(): AsyncGenerator<Status> {
    for (;;) {
      while (this.#events.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const event = this.#events.shift();
      if (event === undefined) return;
      yield event;
    }
  }

  /** Reports an event of the connection; without one the connection is closed. */
  report(type?: 'disconnect' | 'reconnect' | 'staleConnection'): void {
    this.#events.push(type === undefined ? undefined : ({ type } as Status));
    this.#wake();
  }

  isClosed(): boolean {
    return false;
  }

  subscribe(_subject: string, { callback }: { readonly callback: Callback }) {
    this.isSubscribed = true;
    this.#callback = callback;
    this.#delivery = 0;
    const unsubscribe = () => {
      this.isSubscribed = this.#callback !== callback && this.isSubscribed;
    };
    return { unsubscribe };
  }

  publish(subject: string, text = ''): void {
    if (!subject.startsWith(NEXT)) {
      this.removed.push(subject);
      return;
    }
    this.consumer = subject.slice(NEXT.length);
    const { batch, expires, idle_heartbeat: idle } = JSON.parse(text);
    this.pulls.push({ batch, expiresMs: expires / 1e6, idleMs: idle / 1e6 });
  }

  async request(subject: string, payload: string | Uint8Array): Promise<Msg> {
    const text = typeof payload === 'string' ? payload : new TextDecoder().decode(payload);
    const sent: unknown = text === '' ? undefined : JSON.parse(text);
    this.asked.push({ subject, body: sent });
    const { body, headers = {}, code, description } = await this.answer(subject, sent);
    const data = new TextEncoder().encode(JSON.stringify(body));
    return {
      data,
      headers: headersOf(headers, code, description),
      json: () => body,
    } as unknown as Msg;
  }

  /** Delivers messages of the stream, numbered in the order of delivery. */
  feed(...messages: readonly Fed[]): void {
    for (const message of messages) this.feedAs(this.consumer, ++this.#delivery, message);
  }

  /** Delivers a message of any consumer under any number. */
  feedAs(consumer: string, delivery: number, message: Fed): void {
    const { sequence, subject, text = '', headers = {}, pending = 0 } = message;
    const nanos = (message.storedMs ?? this.nowMs) * 1e6;
    this.#deliver({
      ...{ subject, headers: headersOf(headers), string: () => text },
      reply: `$JS.ACK.${STREAM}.${consumer}.1.${sequence}.${delivery}.${nanos}.${pending}`,
    });
  }

  /** Delivers a message of the server about a request: 100 is a heartbeat, 408 an expired request. */
  tell(code: number, description = '', fields: Readonly<Record<string, string>> = {}): void {
    this.#deliver({ headers: headersOf(fields, code, description) });
  }

  /** Fails the subscription to the inbox. */
  fail(error: Error): void {
    this.#callback(error, {} as Msg);
  }

  #deliver(message: object): void {
    if (this.isSubscribed) this.#callback(null, message as Msg);
  }
}

/** The message of a Pod in the namespace `shop`, or of its deletion. */
export function podMessage(
  sequence: number,
  name: string,
  resourceVersion: string,
  isDeletion = false,
): Fed {
  const object = { metadata: { namespace: 'shop', name, uid: name, resourceVersion } };
  return {
    ...{ sequence, subject: `${PREFIX}.shop.${name}`, text: JSON.stringify(object) },
    headers: {
      ...{ [HEADERS.uid]: name, [HEADERS.version]: resourceVersion },
      ...(isDeletion ? { [HEADERS.operation]: 'DEL' } : {}),
    },
  };
}

/** The message of a record of the complete collection. */
export function recordMessage(
  sequence: number,
  fields: Partial<Meta> & Pick<Meta, 'count' | 'digest'>,
): Fed {
  return { sequence, subject: `${PREFIX}._._meta`, text: JSON.stringify(metaOf(fields)) };
}

export function metaOf(fields: Partial<Meta> & Pick<Meta, 'count' | 'digest'>): Meta {
  return {
    ...{ epoch: 'e1', terms: [{ writer: 'w1', after: 0 }], resourceVersion: '10', horizon: 0 },
    ...{ heartbeatMs: 1_000, apiVersion: 'v1', kind: 'Pod' },
    ...fields,
  };
}

/** The count and the digest of Pods, given as `name@version`. */
export function of(...pods: string[]): Pick<Meta, 'count' | 'digest'> {
  const tally = new Tally();
  for (const pod of pods) {
    const [name = '', version = ''] = pod.split('@');
    tally.replace(`shop/${name}`, undefined, `${name}/${version}`);
  }
  return { count: tally.count, digest: tally.digest };
}
