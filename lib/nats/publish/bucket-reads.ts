/** A publisher's requests to its bucket, other than writes. They end as soon as the connection is lost. */
import { unlessLost } from '../connection-events.ts';
import { scopeFilter } from '../layout.ts';
import { managerOf } from '../pull.ts';
import type { Contents } from './contents.ts';
import type { PublisherSettings } from './publisher-settings.ts';
import { countMessages, readContents } from './read-contents.ts';
import { ensureStream } from './stream-settings.ts';

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
