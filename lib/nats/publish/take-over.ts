/**
 * Begins or continues a publisher's term, from what it has read in the bucket. A bucket that a publisher of something
 * else keeps is refused, because each would delete what the other one publishes.
 */

import { ApiError } from '../../meta/api-error.ts';
import type { Meta } from '../meta.ts';
import type { Contents } from './contents.ts';
import type { RecordSettings } from './messages.ts';
import { Published } from './published.ts';

/** Throws an `ApiError` if the record names another namespace, cluster or form of the objects. */
export function checkSource(
  own: Pick<RecordSettings, 'prefix' | 'namespace' | 'cluster' | 'content'>,
  meta: Meta | undefined,
  where: string,
): void {
  if (meta === undefined) return;
  // Older records name no namespace, and a publisher need not name its cluster.
  const { namespace = own.namespace, cluster = own.cluster, content } = meta;
  const found = { namespace, content, cluster: own.cluster && cluster };
  for (const [name, value] of Object.entries(found)) {
    const mine = own[name as keyof typeof found];
    if (mine === value) continue;
    const quoted = (text: string | undefined) => JSON.stringify(text ?? '');
    const message = `${where}: the bucket has the ${name} ${quoted(value)}, and this publisher ${quoted(mine)}; choose another bucket, or purge ${own.prefix}.> first`;
    throw new ApiError({ code: 409, reason: 'OtherSource', message });
  }
}

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
