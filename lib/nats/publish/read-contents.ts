/**
 * Reads the contents of a bucket without the bodies of its messages, for a comparison. The requests end as soon as the
 * connection is lost.
 */
import { AckPolicy, type JetStreamManager } from '@nats-io/jetstream';
import { type NatsConnection, nanos, nuid } from '@nats-io/nats-core';
import { firstValueFrom, type SchedulerLike } from 'rxjs';
import { first, scan } from 'rxjs/operators';
import { unlessLost } from '../connection-events.ts';
import { WrongSequence } from '../failures.ts';
import { metaSubject, scopeFilter } from '../layout.ts';
import { readMeta } from '../meta.ts';
import { managerOf, type PullSignal, pull } from '../pull.ts';
import type { Contents, InBucket, Tombstone } from './contents.ts';
import type { PublisherSettings } from './publisher-settings.ts';
import { ensureStream } from './stream-settings.ts';

/** The arguments of {@link readContents}. */
export interface ContentsRequest {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly stream: string;
  readonly prefix: string;
  readonly scheduler: SchedulerLike;
  /** The publisher's stopwatch. */
  passedMs(): number;
  readonly where: string;
}

/** Counts the messages of a filter, without reading them. */
async function countMessages(
  manager: JetStreamManager,
  stream: string,
  filter: string,
): Promise<number> {
  const { name, num_pending: messages } = await manager.consumers.add(stream, {
    name: `rx${nuid.next()}`,
    filter_subject: filter,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    headers_only: true,
    inactive_threshold: nanos(5_000),
  });
  await manager.consumers.delete(stream, name);
  return messages;
}

/** After so many periods without a message, the missing messages exist no longer. */
const MOST_QUIET = 2;

/** The messages that were read so far. */
interface Reading {
  readonly objects: Map<string, InBucket>;
  readonly tombstones: Map<string, Tombstone>;
  readonly records: Map<string, number>;
  /** The last sequence of the stream, or of a message that was stored later. */
  last: number;
  isDone: boolean;
  /** How often in a row the server had nothing to send, although messages are missing. */
  quiet: number;
}

/**
 * Reads everything up to the present end of the stream. The times of tombstones are converted with the server's own
 * clock, because the publisher's may differ.
 */
export async function readContents(request: ContentsRequest): Promise<Contents> {
  const { manager, stream, prefix, passedMs } = request;
  const info = await manager.streams.info(stream);
  // biome-ignore lint/style/noRestrictedGlobals: parses a date of the server, reads no clock
  const serverMs = Date.parse(info.ts ?? info.state.last_ts);
  const nowMs = passedMs();
  const begin: Reading = {
    objects: new Map(),
    tombstones: new Map(),
    records: new Map(),
    last: info.state.last_seq,
    isDone: false,
    quiet: 0,
  };
  const read = (reading: Reading, signal: PullSignal): Reading => {
    if (signal.kind === 'opened') reading.isDone = signal.pending === 0;
    if (signal.kind === 'alive' && ++reading.quiet === MOST_QUIET) {
      throw new WrongSequence(`${request.where}: the bucket was purged while it was read`);
    }
    if (signal.kind !== 'message') return reading;
    reading.quiet = 0;
    const { meaning, sequence, pending, isDeletion, uid, version, content, storedMs } =
      signal.message;
    const isEnd = sequence >= reading.last;
    if (isEnd) reading.last = sequence;
    if (meaning?.kind === 'meta') reading.records.set(meaning.namespace, sequence);
    // A set that is written meanwhile moves the record of the collection behind the end.
    reading.isDone = pending === 0 || (isEnd && reading.records.has(''));
    if (meaning?.kind !== 'object') return reading;
    const { namespace } = meaning;
    const { name } = meaning;
    const key = `${namespace}/${name}`;
    reading.objects.delete(key);
    reading.tombstones.delete(key);
    if (isDeletion) {
      const atMs = nowMs - Math.max(0, serverMs - storedMs);
      reading.tombstones.set(key, { namespace, name, version, sequence, atMs });
    } else reading.objects.set(key, { namespace, name, uid, version, content, sequence });
    return reading;
  };
  const read$ = pull({
    connection: request.connection,
    stream,
    prefix,
    filter: scopeFilter(prefix, ''),
    headersOnly: true,
    scheduler: request.scheduler,
    batch: 1_000,
    idleMs: 2_000,
    where: request.where,
  }).pipe(
    scan(read, begin),
    first(({ isDone }) => isDone),
  );
  const reading = await firstValueFrom(read$);
  const subject = metaSubject(prefix, '');
  const message = await manager.direct.getMessage(stream, { last_by_subj: subject });
  const meta = message === null ? undefined : readMeta(message.string());
  // Each batch writes this record, so that it shows whether another publisher wrote while the bucket was read.
  if ((message?.seq ?? 0) !== (reading.records.get('') ?? 0)) {
    throw new WrongSequence(`${request.where}: the bucket changed while it was read`);
  }
  return {
    objects: [...reading.objects.values()],
    tombstones: [...reading.tombstones.values()],
    records: reading.records,
    meta,
    last: reading.last,
  };
}

/** Reads the contents of the bucket, which is created if it does not exist. */
export async function readBucket(
  settings: PublisherSettings,
  passedMs: () => number,
): Promise<Contents> {
  const { connection, bucket, stream, record, replicas, scheduler, where } = settings;
  const manager = await managerOf(connection);
  await unlessLost(connection, () => ensureStream(manager, bucket, replicas), where);
  const { prefix } = record;
  const request = { connection, manager, stream, prefix, scheduler, passedMs, where };
  return unlessLost(connection, () => readContents(request), where);
}

/** Counts the messages of the collection. */
export async function countBucket(settings: PublisherSettings): Promise<number> {
  const { connection, stream, record, where } = settings;
  const manager = await managerOf(connection);
  const filter = scopeFilter(record.prefix, '');
  return unlessLost(connection, () => countMessages(manager, stream, filter), where);
}
