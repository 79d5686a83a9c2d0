/** The messages of the next set: the changes, then the records that end them. */
import type { Wanted } from './contents.ts';
import type { Planned } from './messages.ts';
import type { Published } from './published.ts';

/** The arguments of {@link nextSet}. */
export interface NextSet {
  readonly changes: readonly Wanted[];
  /** The version of the informer. All changes up to it are among `changes` or published. */
  readonly resourceVersion: string;
  /** Whether the records of all namespaces are written, as in a heartbeat. */
  readonly all: boolean;
  /** The time on the publisher's stopwatch. */
  readonly nowMs: number;
  newId(): string;
}

/** Plans the next set. Without changes it is empty, unless all records are written. */
export function nextSet(
  published: Published,
  { changes, resourceVersion, all, nowMs, newId }: NextSet,
): readonly Planned[] {
  const { messages, isBack } = published.plan(changes, resourceVersion);
  if (isBack) published.beginEpoch(newId());
  if (messages.length === 0 && !all) return [];
  const namespaces = all || isBack ? published.namespaces() : [];
  published.age(nowMs);
  return [...messages, ...published.records(messages, resourceVersion, namespaces)];
}
