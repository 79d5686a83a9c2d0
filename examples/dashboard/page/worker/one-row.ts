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
import { versionHash, withHash, withoutHash } from '../../shared/fingerprint.ts';
import type { Row } from '../kinds/kind.ts';
import { paced } from './row-queries.ts';

/** A set that replaces the row. */
function rowIn<R>(set: ChangeSet<unknown>, row: R): ChangeSet<R> {
  const { rev, cause, synced, initial, resourceVersion } = set;
  const head = { rev, cause, synced, initial, resourceVersion, reset: true };
  return createChangeSet<R>(head, [{ id: 'row', key: 'row', object: row as never }]);
}

/** The explanation of a query: which informers it reads, and how. */
export interface Explanation {
  readonly text: string;
}

export function explanationOf(
  live: LiveQueries,
  query: LiveQuery<Row, false>,
): ChangeStream<Explanation> {
  return live.stream(query).pipe(
    // It is one row as long as the tab asks for it.
    filter((_set, at) => at === 0),
    map((set) => rowIn<Explanation>(set, { text: live.explain(query).text })),
  ) as ChangeStream<Explanation>;
}

/** The number of pods that the worker holds, and the fingerprint of them and their versions. */
export interface HeldPods {
  readonly pods: number;
  readonly fingerprint: number;
  readonly resourceVersion: string;
}

function heldAfter(before: HeldPods, set: ChangeSet<Pod>): HeldPods {
  let { pods: size, fingerprint } = set.reset ? NOTHING : before;
  for (const { previous, object } of set.changes) {
    if (previous !== undefined) {
      fingerprint = withoutHash(fingerprint, hashOf(previous));
      size--;
    }
    if (object !== undefined) {
      fingerprint = withHash(fingerprint, hashOf(object));
      size++;
    }
  }
  return { pods: size, fingerprint, resourceVersion: set.resourceVersion };
}

const NOTHING: HeldPods = { pods: 0, fingerprint: 0, resourceVersion: '' };

function hashOf({ metadata }: Pod): number {
  return versionHash(metadata?.uid ?? '', metadata?.resourceVersion ?? '');
}

export function truthOf(live: LiveQueries): ChangeStream<HeldPods> {
  return live.stream(liveQuery({ from: pods }) as LiveQuery<Pod, false>).pipe(
    paced<Pod>(),
    scan((state, set) => ({ held: heldAfter(state.held, set), set }), {
      held: NOTHING,
      set: undefined as ChangeSet<Pod> | undefined,
    }),
    map(({ held, set }) => rowIn<HeldPods>(set as ChangeSet<Pod>, held)),
  ) as ChangeStream<HeldPods>;
}
