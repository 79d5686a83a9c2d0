/** Publishes messages as one atomic batch: the server stores all of them, or none. */
import { headers, type Msg, type MsgHdrs, type NatsConnection, nuid } from '@nats-io/nats-core';
import { isFields } from '../../meta/json-fields.ts';
import { type JetStreamFault, publicationFault } from '../failures.ts';

/** A message to publish. */
export interface Outgoing {
  readonly subject: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  /** The last sequence of the subject, as far as the publisher knows; 0 if it has no message. */
  readonly expected: number;
}

/** How long the server may take to answer, in milliseconds. */
const TIMEOUT_MS = 10_000;

function headersOf(message: Outgoing, batch: string, at: number, isLast: boolean): MsgHdrs {
  const made = headers();
  for (const [name, value] of Object.entries(message.headers)) made.set(name, value);
  made.set('Nats-Expected-Last-Subject-Sequence', String(message.expected));
  made.set('Nats-Batch-Id', batch);
  made.set('Nats-Batch-Sequence', String(at + 1));
  if (isLast) made.set('Nats-Batch-Commit', '1');
  return made;
}

/** Throws the error in an answer. The server answers the first message of a batch with nothing if it is accepted. */
function answerOf(message: Msg, where: string): Readonly<Record<string, unknown>> {
  if (message.data.length === 0) return {};
  const answer: unknown = message.json();
  if (!isFields(answer))
    throw new Error(`${where}: NATS answered ${message.string().slice(0, 200)}`);
  const { error } = answer;
  if (isFields(error)) throw publicationFault(error as unknown as JetStreamFault, where);
  return answer;
}

/** Publishes messages, at most 1,000, and resolves with the sequence of the first one; the others follow it. */
export async function publishAtomically(
  connection: NatsConnection,
  messages: readonly Outgoing[],
  where: string,
): Promise<number> {
  const batch = nuid.next();
  const last = messages.length - 1;
  let answer: Readonly<Record<string, unknown>> = {};
  for (const [at, message] of messages.entries()) {
    const { subject, body } = message;
    const made = headersOf(message, batch, at, at === last);
    // The first message is answered, so that a refusal is known before the others are sent.
    if (at !== 0 && at !== last) connection.publish(subject, body, { headers: made });
    else {
      const reply = await connection.request(subject, body, { headers: made, timeout: TIMEOUT_MS });
      answer = answerOf(reply, where);
    }
  }
  const { seq } = answer;
  if (typeof seq === 'number') return seq - last;
  throw new Error(`${where}: NATS did not confirm the batch; its answer has no sequence`);
}
