/** The messages of a set, and their division into batches. */
import type { Outgoing } from './atomic-batch.ts';
import type { Wanted } from './contents.ts';

/** A message, and what it means for the contents. */
export interface Planned extends Outgoing {
  readonly wanted?: Wanted;
  /** The namespace of a record. */
  readonly record?: string;
  /** Whether the record does not end the set. */
  readonly isOpen?: true;
}

/** What headers and the record of a message may need, in bytes. */
export const HEADER_BYTES = 1_024;
/** Splits messages into batches by number and by size. */
export function inBatches(
  messages: readonly Planned[],
  mostMessages: number,
  mostBytes: number,
): Planned[][] {
  const batches: Planned[][] = [];
  let batch: Planned[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = message.body.length + HEADER_BYTES;
    if (batch.length > 0 && (batch.length === mostMessages || bytes + size > mostBytes)) {
      batches.push(batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
