/** The objects that belong to an object: its ReplicaSets and pods by selector, and the events of all of them. */
import { useState } from 'react';
import { type KubernetesObject, type LiveQuery, liveQuery, type Stored } from 'rx-informer';
import { useQuery } from 'rx-informer/react';
import { type Event, events, replicaSets } from 'rx-informer/resources';
import { eventRow, seenMs } from '../kinds/events.ts';
import type { Kind, Row } from '../kinds/kind.ts';
import { byValue } from '../kinds/order.ts';
import { rolledUp } from '../kinds/roll-up.ts';
import { replicaSetKind } from '../kinds/workloads.ts';
import { Age, StatusBadge } from '../table/cells.tsx';
import classes from './details.module.css';
import { ObjectLink } from './object-link.tsx';
import { Section } from './pairs.tsx';
import { selectorOf, usePods } from './use-pods.ts';
import { versionOf } from './versions.ts';

/** How many lines a list shows before the user asks for all. */
const FEW = 6;

interface ChildrenProps {
  readonly kind: Kind;
  readonly object: Stored<KubernetesObject>;
}

export function Children({ kind, object }: ChildrenProps) {
  if (kind.id === 'events') return null;
  if (kind.id === 'nodes') return <NodeEvents name={object.metadata.name} />;
  if (selectorOf(kind, object) === undefined) return <Events uids={[object.metadata.uid]} />;
  return <Selected kind={kind} object={object} />;
}

function Selected({ kind, object }: ChildrenProps) {
  const { namespace = '', uid } = object.metadata;
  const selected = usePods(kind, object);
  const sets = useQuery(
    liveQuery({
      from: replicaSets,
      namespace,
      where: { path: 'metadata.ownerReferences.uid', eq: uid },
      select: { key: 'row of replicasets', project: replicaSetKind.row as never },
    }) as LiveQuery<Row>,
  );
  const shownSets = sets.rows
    .filter(({ tone }) => tone !== 'done')
    .map((row) =>
      rolledUp(
        row,
        selected.filter(({ ownerUid }) => ownerUid === row.uid),
      ),
    );
  const uids = [uid, ...[...shownSets, ...selected].map((row) => row.uid)];
  return (
    <>
      {kind.id === 'deployments' && (
        <RowList title="ReplicaSets" kind="replicasets" rows={shownSets} noteOf={versionOf} />
      )}
      <RowList title="Pods" kind="pods" rows={selected} />
      <Events uids={uids} />
    </>
  );
}

function RowList(props: {
  readonly title: string;
  readonly kind: string;
  readonly rows: readonly Row[];
  /** What is said beside the name of a row. */
  readonly noteOf?: (row: Row, rows: readonly Row[]) => string;
}) {
  const { title, kind, rows, noteOf } = props;
  const [showsAll, showAll] = useState(false);
  return (
    <Section title={`${title} (${rows.length})`}>
      <ul className={classes.lines}>
        {rows.slice(0, showsAll ? undefined : FEW).map((row) => {
          const { uid, name, namespace, status, tone, why, ready } = row;
          return (
            <li key={uid}>
              <StatusBadge tone={tone} text={status} why={why} />
              <span className={classes.text}>
                <ObjectLink of={{ kind, uid, name, namespace }} text={name} />
                {noteOf && <span className={classes.quiet}> — {noteOf(row, rows)}</span>}
              </span>
              <span className={classes.age}>{ready} ready</span>
            </li>
          );
        })}
      </ul>
      <More count={rows.length} isOpen={showsAll} onOpen={() => showAll(true)} />
    </Section>
  );
}

function More(props: {
  readonly count: number;
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}) {
  if (props.isOpen || props.count <= FEW) return null;
  return (
    <button type="button" className={classes.more} onClick={props.onOpen}>
      Show all {props.count}
    </button>
  );
}

const isWarning = ({ type }: Event) => Number(type === 'Warning');

const warningsFirst = {
  key: 'warnings first, then the newest',
  compare: (a: Event, b: Event) =>
    byValue(isWarning(b), isWarning(a)) || byValue(seenMs(b), seenMs(a)),
};

/** The events about objects. For one object an index is read. */
function Events({ uids }: { readonly uids: readonly string[] }) {
  const [uid] = uids;
  const where =
    uids.length === 1 && uid !== undefined
      ? { index: 'object', eq: uid }
      : { path: 'involvedObject.uid' as const, in: [...uids].sort() };
  const select = { key: 'row of events', project: eventRow };
  return <EventList query={liveQuery({ from: events, where, select, orderBy: warningsFirst })} />;
}

/** The events of a node have its name in place of its UID. */
function NodeEvents({ name }: { readonly name: string }) {
  const where = {
    and: [
      { path: 'involvedObject.kind' as const, eq: 'Node' },
      { path: 'involvedObject.name' as const, eq: name },
    ],
  };
  const select = { key: 'row of events', project: eventRow };
  return <EventList query={liveQuery({ from: events, where, select, orderBy: warningsFirst })} />;
}

function EventList({ query }: { readonly query: LiveQuery<Row> }) {
  const { rows, synced, status } = useQuery(query);
  const [showsAll, showAll] = useState(false);
  return (
    <Section title="Events">
      {rows.length === 0 && (
        <p className={classes.quiet}>
          {synced
            ? 'No event is known.'
            : status.error
              ? 'The events cannot be read.'
              : 'Loading …'}
        </p>
      )}
      <ul className={classes.lines}>
        {rows.slice(0, showsAll ? undefined : FEW).map((row) => (
          <li key={row.uid}>
            <StatusBadge tone={row.tone} text={row.status} />
            <span className={classes.text}>
              {row['message']}
              {Number(row['count']) > 1 && ` (${row['count']} times)`}
              {query.where !== undefined && 'path' in query.where && (
                <span className={classes.quiet}> — {row['object']}</span>
              )}
            </span>
            <span className={classes.age}>
              <Age sinceMs={Number(row['seenMs'])} />
            </span>
          </li>
        ))}
      </ul>
      <More count={rows.length} isOpen={showsAll} onOpen={() => showAll(true)} />
    </Section>
  );
}
