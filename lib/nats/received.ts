/** Reads a message of a pull consumer: its place in the stream, its subject and its headers. */
import type { Msg } from '@nats-io/nats-core';
import { DELETE, HEADERS, readSubject, type SubjectMeaning } from './layout.ts';

/** A message of a collection. */
export interface Received {
  /** The sequence in the stream. */
  readonly sequence: number;
  /** The number of this message within its consumer, from 1. */
  readonly delivery: number;
  /** How many messages of the filter follow. */
  readonly pending: number;
  /** When the server stored the message, in milliseconds of the server's clock. */
  readonly storedMs: number;
  readonly meaning: SubjectMeaning | undefined;
  readonly isDeletion: boolean;
  readonly uid: string;
  readonly version: string;
  /** The form of the object, if its publisher names it. */
  readonly content?: string | undefined;
  /** The body, decoded when it is called. */
  text(): string;
}

/**
 * The numbers in the reply subject: `$JS.ACK.<stream>.<consumer>.<tries>.<sequence>.<delivery>.<time>.<pending>`,
 * with two tokens more after `ACK`, and perhaps one at the end, if the server has a domain.
 */
function placeOf(
  reply: string,
  consumer: string,
): readonly [number, number, number, number] | undefined {
  const tokens = reply.split('.');
  if (tokens[0] !== '$JS' || tokens[1] !== 'ACK' || tokens.length < 9) return undefined;
  const at = tokens.length === 9 ? 5 : 7;
  if (tokens[at - 2] !== consumer) return undefined;
  const [sequence, delivery, time, pending] = tokens.slice(at, at + 4).map(Number);
  const place = [sequence, delivery, time, pending];
  return place.every((number) => number !== undefined && number >= 0)
    ? (place as [number, number, number, number])
    : undefined;
}

/**
 * Reads a message. Returns `undefined` if this consumer did not send it: another reader may have asked for its own
 * messages and named this reader's inbox.
 */
export function received(message: Msg, prefix: string, consumer: string): Received | undefined {
  const place = placeOf(message.reply ?? '', consumer);
  if (place === undefined) return undefined;
  const [sequence, delivery, nanos, pending] = place;
  const { headers } = message;
  return {
    sequence,
    delivery,
    pending,
    storedMs: nanos / 1e6,
    meaning: readSubject(prefix, message.subject),
    isDeletion: headers?.get(HEADERS.operation) === DELETE,
    uid: headers?.get(HEADERS.uid) ?? '',
    version: headers?.get(HEADERS.version) ?? '',
    content: headers?.get(HEADERS.content) || undefined,
    text: () => message.string(),
  };
}
