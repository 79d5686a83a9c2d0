/** Streams of one row, for what the worker alone can say. */
import {
  type ChangeSet,
  type ChangeStream,
  createChangeSet,
  type LiveQueries,
  type LiveQuery,
  liveQuery,
} from 'rx-informer';
import { type Pod, pods } from 'rx-informer/resources';
import { filter, map, scan } from 'rxjs';
import { type Fingerprint, fingerprintAfter, NO_PODS } from '../../shared/fingerprint.ts';
import type { Row } from '../kinds/kind.ts';
import { paced } from './row-queries.ts';

/** A set that replaces the row. */
function rowIn<R>(set: ChangeSet<unknown>, row: R): ChangeSet<R> {
  const { rev, cause, synced, initial, resourceVersion } = set;
  const head = { rev, cause, synced, initial, resourceVersion, reset: true };
  return createChangeSet<R>(head, [{ id: 'row', key: 'row', object: row as never }]);
}

/** The explanation of a query: which informers it reads, and how. */
export function explanationOf(
  live: LiveQueries,
  query: LiveQuery<Row, false>,
): ChangeStream<{ readonly text: string }> {
  return live.stream(query).pipe(
    // It is one row as long as the tab asks for it.
    filter((_set, at) => at === 0),
    map((set) => rowIn(set, { text: live.explain(query).text })),
  ) as ChangeStream<{ readonly text: string }>;
}

/** The fingerprint of the pods that the worker holds. */
export interface HeldPods extends Fingerprint {
  readonly resourceVersion: string;
}

export function truthOf(live: LiveQueries): ChangeStream<HeldPods> {
  return live.stream(liveQuery({ from: pods }) as LiveQuery<Pod, false>).pipe(
    paced<Pod>(),
    scan(
      ({ held }, set) => ({
        set,
        held: set.changes.reduce(
          (now, { previous, object }) => fingerprintAfter(now, previous, object),
          set.reset ? NO_PODS : held,
        ),
      }),
      { held: NO_PODS, set: undefined as ChangeSet<Pod> | undefined },
    ),
    map(({ held, set }) => {
      const { resourceVersion } = set as ChangeSet<Pod>;
      return rowIn<HeldPods>(set as ChangeSet<Pod>, { ...held, resourceVersion });
    }),
  ) as ChangeStream<HeldPods>;
}
