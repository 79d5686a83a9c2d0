/** Begins or continues a publisher's term, from what it has read in the bucket. */
import type { Contents } from './contents.ts';
import type { RecordSettings } from './messages.ts';
import { Published } from './published.ts';

/** The arguments of {@link takeOver}. */
export interface TakeOver {
  readonly settings: RecordSettings;
  readonly contents: Contents;
  /** What this publisher knew before it read the bucket, if it has published before. */
  readonly before: Published | undefined;
  /** The writer of this publisher's last term; '' if it must not continue that term. */
  readonly writer: string;
  newId(): string;
}

/** Whether the bucket has lost messages of this publisher. */
function isRolledBack(before: Published | undefined, now: Published): boolean {
  if (before === undefined) return false;
  const isShorter =
    now.lastSequence < before.lastSequence || now.recordSequence < before.recordSequence;
  return isShorter || !now.hasWriter(before.writer);
}

/** The contents of the bucket in the term of this publisher. A bucket that has lost messages begins a new epoch. */
export function takeOver({ settings, contents, before, writer, newId }: TakeOver): Published {
  const { meta } = contents;
  const continues = meta !== undefined && meta.terms.at(-1)?.writer === writer;
  const published = new Published(settings, contents, continues ? writer : newId(), newId());
  if (isRolledBack(before, published)) published.beginEpoch(newId());
  return published;
}
