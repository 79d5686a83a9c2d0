/** The objects that belong to an object: its ReplicaSets and pods by selector, and the events of all of them. */
import { useState } from 'react';
import type { Stored } from 'rx-informer';
import { useQuery } from 'rx-informer/react/worker';
import type { Event } from 'rx-informer/resources';
import { type WorkerQuery, workerQuery } from 'rx-informer/worker';
import type { Queries } from '../cluster/cluster.ts';
import type { Row } from '../kinds/kind.ts';
import { rolledUp } from '../kinds/roll-up.ts';
import { Age, StatusBadge } from '../table/cells.tsx';
import classes from './details.module.css';
import { ObjectLink } from './object-link.tsx';
import { Section } from './pairs.tsx';
import { type ObjectProps, selectorOf, usePods } from './use-pods.ts';
import { versionOf } from './versions.ts';

/** How many lines a list shows before the user asks for all. */
const FEW = 6;

export function Children({ kind, object }: ObjectProps) {
  if (kind.id === 'events') {
    const { uid = '' } = (object as Stored<Event>).involvedObject;
    return <Events uids={[uid]} title="Events of the same object" />;
  }
  const { name } = object.metadata;
  if (kind.id === 'namespaces') {
    const query = workerQuery<Queries, 'eventsIn'>('eventsIn', name);
    return <EventList query={query} areOfSeveral title="Events in the namespace" />;
  }
  if (kind.id === 'nodes') {
    const query = workerQuery<Queries, 'eventsOfNode'>('eventsOfNode', name);
    return <EventList query={query} areOfSeveral={false} />;
  }
  if (selectorOf(kind, object) === undefined) return <Events uids={[object.metadata.uid]} />;
  return <Selected kind={kind} object={object} />;
}

function Selected({ kind, object }: ObjectProps) {
  const { namespace = '', uid } = object.metadata;
  const selected = usePods(kind, object);
  const sets = useQuery(
    workerQuery<Queries, 'replicaSetsOf'>('replicaSetsOf', { namespace, owner: uid }),
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

function Events(props: { readonly uids: readonly string[]; readonly title?: string }) {
  const { uids, title } = props;
  const query = workerQuery<Queries, 'eventsOf'>('eventsOf', [...uids].sort());
  return <EventList query={query} areOfSeveral={uids.length > 1} {...(title && { title })} />;
}

function EventList(props: {
  readonly query: WorkerQuery<Row>;
  /** Whether each event says which object it is about. */
  readonly areOfSeveral: boolean;
  readonly title?: string;
}) {
  const { query, areOfSeveral, title = 'Events' } = props;
  const { rows, synced, status } = useQuery(query);
  const [showsAll, showAll] = useState(false);
  return (
    <Section title={title}>
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
              {areOfSeveral && <span className={classes.quiet}> — {row['object']}</span>}
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
