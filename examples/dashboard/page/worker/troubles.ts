/** The rows of each kind, whichever table is shown: which of them are in trouble, and which ones a jump finds. */
import { type ChangeStream, type LiveQueries, liveFilter, liveShare } from 'rx-informer';
import { eventKind } from '../kinds/events.ts';
import type { Kind, Row } from '../kinds/kind.ts';
import { nodeKind } from '../kinds/nodes.ts';
import { podKind } from '../kinds/pods.ts';
import { pollingFactory } from './cluster-factory.ts';
import { ownRowsOf } from './row-queries.ts';
import { rowsIn } from './table-rows.ts';

export const inTrouble = liveFilter(({ tone }: Row) => tone === 'bad');

/** Which Events are read again and again: those that say something of the state of their object. */
const TELLING = { fieldSelector: 'involvedObject.kind=PersistentVolumeClaim' };

const podRows = new WeakMap<LiveQueries, ChangeStream<Row>>();

/** The rows of a kind: those of Pods are live, and the others are read every 30 s. */
function readRows(live: LiveQueries, kind: Kind): ChangeStream<Row> {
  const factory = pollingFactory();
  if (factory !== undefined && kind !== podKind)
    return rowsIn(factory, kind, kind === eventKind ? TELLING : {});
  const pods$ = podRows.get(live) ?? ownRowsOf(live, kind).pipe(liveShare());
  podRows.set(live, pods$);
  return pods$;
}

/** The rows of a kind with what other kinds say of their state. */
export function presentRows(live: LiveQueries, kind: Kind): ChangeStream<Row> {
  const own$ = readRows(live, kind);
  // What Pods request of a Node says nothing of its state.
  const join = kind === nodeKind ? undefined : kind.join;
  const joined$ = join?.(own$, (other) => readRows(live, other)) ?? own$;
  return joined$ as ChangeStream<Row>;
}
