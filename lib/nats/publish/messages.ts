/** The messages of a publisher: objects, tombstones and records; and the division of a set into batches. */
import { utf8 } from '../../decode/utf8.ts';
import { DELETE, HEADERS, metaSubject, objectSubject } from '../layout.ts';
import type { Meta } from '../meta.ts';
import type { Outgoing } from './atomic-batch.ts';
import type { Wanted } from './contents.ts';

/** The settings of a publisher that its records show. */
export interface RecordSettings {
  readonly prefix: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** The namespace that is followed; '' for all. */
  readonly namespace: string;
  readonly cluster?: string | undefined;
  readonly content?: string | undefined;
  /** How often the records are written if nothing changes, in milliseconds. */
  readonly heartbeatMs: number;
  /** How long the server keeps the message of a deletion, in milliseconds. */
  readonly tombstoneMs: number;
  /** The largest message, in bytes, headers included. */
  readonly maxPayload: number;
}

/** The message of an object; `bytes` is its size. Throws if it cannot be written as JSON. */
export function objectMessage(
  { prefix, content }: RecordSettings,
  wanted: Wanted,
  expected: number,
): { readonly message: Planned; readonly bytes: number } {
  const body = utf8(wanted.text());
  const headers = {
    [HEADERS.uid]: wanted.uid,
    [HEADERS.version]: wanted.version,
    ...(content === undefined ? {} : { [HEADERS.content]: content }),
  };
  const subject = objectSubject(prefix, wanted.namespace, wanted.name);
  return { message: { subject, expected, body, headers, wanted }, bytes: body.length };
}

/** Whether a body fits into a message. */
export function fits({ maxPayload }: RecordSettings, bytes: number): boolean {
  return bytes + HEADER_BYTES <= maxPayload;
}

/** The header of a message that the server removes after this time. */
function lastsFor(ms: number): Readonly<Record<string, string>> {
  return { [HEADERS.ttl]: `${Math.ceil(ms / 1000)}s` };
}

/** The last state of a deleted object; empty if it cannot be written. */
function lastText(wanted: Wanted): Uint8Array {
  try {
    return utf8(wanted.text());
  } catch {
    return new Uint8Array();
  }
}

/** The message of a deletion. It has no body if the last state is not known, too large or cannot be written. */
export function tombstoneMessage(
  settings: RecordSettings,
  wanted: Wanted,
  expected: number,
): Planned {
  const text = lastText(wanted);
  const headers = {
    [HEADERS.operation]: DELETE,
    ...lastsFor(settings.tombstoneMs),
    [HEADERS.uid]: wanted.uid,
    [HEADERS.version]: wanted.version,
  };
  const subject = objectSubject(settings.prefix, wanted.namespace, wanted.name);
  const body = fits(settings, text.length) ? text : new Uint8Array();
  return { subject, expected, body, headers, wanted };
}

/** The fields of a record that are not settings. */
export type RecordFields = Omit<
  Meta,
  'heartbeatMs' | 'apiVersion' | 'kind' | 'namespace' | 'cluster' | 'content'
>;

/** The record of a namespace; '' for that of the collection. */
export function recordMessage(
  {
    prefix,
    apiVersion,
    kind,
    namespace,
    cluster,
    content,
    heartbeatMs,
    tombstoneMs,
  }: RecordSettings,
  record: string,
  fields: RecordFields,
  { expected, isFinal }: { readonly expected: number; readonly isFinal?: boolean | undefined },
): Planned {
  const source = { namespace, cluster, content };
  const meta: Meta = { ...fields, heartbeatMs, apiVersion, kind, ...source };
  const body = utf8(JSON.stringify(meta));
  const subject = metaSubject(prefix, record);
  const open = fields.isOpen === true ? { isOpen: fields.isOpen } : {};
  if (isFinal !== true) return { subject, body, headers: {}, expected, record, ...open };
  return { subject, body, headers: lastsFor(tombstoneMs), expected, record, isFinal };
}

/** A message, and what it means for the contents. */
export interface Planned extends Outgoing {
  readonly wanted?: Wanted;
  /** The namespace of a record. */
  readonly record?: string;
  /** Whether the record does not end the set. */
  readonly isOpen?: true;
  /** Whether it is the last record of a namespace without objects, which expires. */
  readonly isFinal?: true;
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
